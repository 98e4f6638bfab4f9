# SPDX-License-Identifier: Apache-2.0
"""float64 definitions of the operators, one file each.

They evaluate the documents' formulas in float64 with NumPy: slow, short, and readable. The tests
compare the device's results with them after one rounding by `round_to`.
"""

from . import operators
from .operators import *  # noqa: F403  all definitions
from .rounding import round_to

__all__ = ["round_to", *operators.__all__]
