# SPDX-License-Identifier: Apache-2.0
"""What all tests share: the repository's root on the path, where `tests.support` is found."""

from __future__ import annotations

import sys
from pathlib import Path

ROOT = str(Path(__file__).resolve().parent.parent)
if ROOT not in sys.path:
    sys.path.insert(0, ROOT)
