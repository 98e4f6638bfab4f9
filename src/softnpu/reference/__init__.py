# SPDX-License-Identifier: Apache-2.0
"""float64 definitions of the operators, one file each.

They are what the documents' formulas say, evaluated in float64 with NumPy: slow, short, and meant
to be read. The tests compare the device's results with them after one rounding, which `round_to`
does.
"""

from . import operators
from .operators import *  # noqa: F403  all definitions
from .rounding import round_to

__all__ = ["round_to", *operators.__all__]
