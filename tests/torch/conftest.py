# SPDX-License-Identifier: Apache-2.0
"""These tests need PyTorch; without it they are skipped."""

from __future__ import annotations

import pytest

pytest.importorskip("torch")
