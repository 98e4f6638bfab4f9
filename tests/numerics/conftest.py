# SPDX-License-Identifier: Apache-2.0
"""NumPy without warnings."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest


@pytest.fixture(autouse=True)
def _numpy_is_quiet() -> Iterator[None]:
    """Keep NumPy from warning about the infinities and NaN that these tests are about."""
    with np.errstate(all="ignore"):
        yield
