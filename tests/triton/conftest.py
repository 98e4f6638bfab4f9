# SPDX-License-Identifier: Apache-2.0
"""Triton's interpreter runs the GPU's kernels on CPU tensors; tests/conftest.py chooses it."""

from __future__ import annotations

import pytest

pytest.importorskip("torch")
pytest.importorskip("triton")
