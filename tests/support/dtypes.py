# SPDX-License-Identifier: Apache-2.0
"""Kinds of data types, by their documented names."""

from __future__ import annotations

FLOATING = ("FLOAT", "FLOAT16", "BF16", "DOUBLE")
COMPLEX = ("COMPLEX64", "COMPLEX128")


def is_inexact(dtype: str) -> bool:
    """Whether a type has a NaN and a sign of zero."""
    return dtype in FLOATING or dtype in COMPLEX
