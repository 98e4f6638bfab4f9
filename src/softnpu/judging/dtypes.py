# SPDX-License-Identifier: Apache-2.0
"""The documented names of data types, and the NumPy types that hold them."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np

NUMPY: dict[str, np.dtype[Any]] = {
    "FLOAT": np.dtype(np.float32),
    "FLOAT16": np.dtype(np.float16),
    "BF16": np.dtype(ml_dtypes.bfloat16),
    "DOUBLE": np.dtype(np.float64),
    "INT8": np.dtype(np.int8),
    "UINT8": np.dtype(np.uint8),
    "INT16": np.dtype(np.int16),
    "UINT16": np.dtype(np.uint16),
    "INT32": np.dtype(np.int32),
    "UINT32": np.dtype(np.uint32),
    "INT64": np.dtype(np.int64),
    "UINT64": np.dtype(np.uint64),
    "BOOL": np.dtype(np.bool_),
    "COMPLEX64": np.dtype(np.complex64),
    "COMPLEX128": np.dtype(np.complex128),
}
BFLOAT16 = NUMPY["BF16"]
BY_NAME: dict[str, np.dtype[Any]] = NUMPY | {dtype.name: dtype for dtype in NUMPY.values()}
