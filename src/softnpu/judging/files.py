# SPDX-License-Identifier: Apache-2.0
"""Reads cases from .npz files, and single arguments from .npy and raw files."""

from __future__ import annotations

import os
import stat
from collections.abc import Sequence
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
import numpy.typing as npt

from softnpu.judging.case import CaseError
from softnpu.judging.dtypes import BY_NAME

Array = npt.NDArray[Any]

_LONGEST_REASON = 200


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
    """Read a file of raw elements, in row-major order and this machine's byte order."""
    expected = int(np.prod(shape, dtype=object)) * dtype.itemsize
    with _opened(path) as file:
        size = os.fstat(file.fileno()).st_size
        if size != expected:
            raise CaseError(
                f"{os.fspath(path)} has {size} bytes; expected {expected} for shape {list(shape)} "
                f"of {dtype.name}",
                rule="case-raw-file",
            )
        return shaped(np.frombuffer(file.read(), dtype), shape, os.fspath(path))


def shaped(array: Array, shape: Sequence[int], name: str) -> Array:
    """Reshape an array."""
    try:
        return array.reshape(shape)
    except ValueError as error:  # NumPy limits the rank and, without elements, the sizes
        raise CaseError(
            f"{name} cannot have shape {list(shape)}: {error}", rule="case-shape"
        ) from error


def dtype_named(name: str) -> np.dtype[Any]:
    """Return the data type of a documented or a NumPy name, such as BF16 and bfloat16."""
    if name not in BY_NAME:
        raise CaseError(
            f"there is no data type {name!r}; expected one of {', '.join(BY_NAME)}",
            rule="case-dtype",
        )
    return BY_NAME[name]


def read_as(array: Array, dtype: np.dtype[Any], name: str) -> Array:
    """Reinterpret an array's bits as another type, for files that cannot store the type."""
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
    name = os.fspath(path)
    with _opened(path) as file:
        try:
            loaded = np.load(file, allow_pickle=False)
            if isinstance(loaded, np.ndarray):
                return loaded
            found = {member: loaded[member] for member in loaded.files}
        # NumPy, zipfile and the decompressors raise almost any exception for damaged files:
        # zlib.error, tokenize.TokenError, struct.error, MemoryError and more.
        except Exception as error:
            reason = (str(error).splitlines() or [type(error).__name__])[0][:_LONGEST_REASON]
            raise CaseError(
                f"{name} is no file of NumPy's, or holds objects: {reason}", rule="case-file"
            ) from error
    others = [member for member, value in found.items() if not isinstance(value, np.ndarray)]
    if others:
        raise CaseError(
            f"{name} holds {', '.join(others)}; expected arrays of NumPy's alone", rule="case-file"
        )
    return found


def _opened(path: str | os.PathLike[str]) -> BinaryIO:
    """Open a file. Pipes and devices are refused: they may be endless and cannot seek."""
    mode = Path(path).stat().st_mode
    if not stat.S_ISREG(mode) and not stat.S_ISDIR(mode):
        raise CaseError(
            f"{os.fspath(path)} is a pipe or a device; expected a file", rule="case-file"
        )
    return Path(path).open("rb")
