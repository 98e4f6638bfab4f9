# SPDX-License-Identifier: Apache-2.0
"""Reads cases from .npz files, and single arguments from .npy and raw files."""

from __future__ import annotations

import os
import zipfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from softnpu.judging.case import CaseError
from softnpu.judging.dtypes import BY_NAME

Array = npt.NDArray[Any]


def read_case(path: str | os.PathLike[str]) -> dict[str, Array]:
    """Read all arrays of an .npz file."""
    loaded = _load(path)
    if isinstance(loaded, np.ndarray):
        raise CaseError(
            f"{os.fspath(path)} holds one array; expected an .npz file of named arrays",
            rule="case-file",
        )
    return loaded


def read_array(path: str | os.PathLike[str]) -> Array:
    """Read the array of an .npy file."""
    loaded = _load(path)
    if not isinstance(loaded, np.ndarray):
        raise CaseError(
            f"{os.fspath(path)} holds named arrays; expected an .npy file of one array",
            rule="case-file",
        )
    return loaded


def read_raw(path: str | os.PathLike[str], dtype: np.dtype[Any], shape: Sequence[int]) -> Array:
    """Read a file of nothing but elements, in row-major order and this machine's byte order."""
    data, count = Path(path).read_bytes(), int(np.prod(shape, dtype=object))
    if len(data) != count * dtype.itemsize:
        raise CaseError(
            f"{os.fspath(path)} has {len(data)} bytes; expected {count * dtype.itemsize} for shape "
            f"{list(shape)} of {dtype.name}",
            rule="case-raw-file",
        )
    return np.frombuffer(data, dtype).reshape(shape)


def dtype_named(name: str) -> np.dtype[Any]:
    """Return the data type of a documented or a NumPy name, such as BF16 and bfloat16."""
    if name not in BY_NAME:
        raise CaseError(
            f"there is no data type {name!r}; expected one of {', '.join(BY_NAME)}",
            rule="case-dtype",
        )
    return BY_NAME[name]


def read_as(array: Array, dtype: np.dtype[Any], name: str) -> Array:
    """Read an array's bits as another type, for files that have no name for it."""
    if array.dtype == dtype:
        return array
    if array.dtype.itemsize != dtype.itemsize or array.dtype.kind not in "uV":
        raise CaseError(
            f"{name} has data type {array.dtype}; only unsigned integers and void elements of "
            f"{dtype.itemsize} bytes can be read as {dtype.name}",
            rule="case-dtype",
        )
    return array.view(dtype)


def _load(path: str | os.PathLike[str]) -> Array | dict[str, Array]:
    try:
        loaded = np.load(path, allow_pickle=False)
        if isinstance(loaded, np.ndarray):
            return loaded
        with loaded:
            return {name: loaded[name] for name in loaded.files}
    except (ValueError, EOFError, zipfile.BadZipFile) as error:
        name = os.fspath(path)
        raise CaseError(
            f"{name} is no file of NumPy's, or holds objects: {error}", rule="case-file"
        ) from None
