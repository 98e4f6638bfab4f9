# SPDX-License-Identifier: Apache-2.0
"""A typed harness over the C API of the installed SDK.

A `Session` is a thread's device with a stream. What is made through it is released when it ends.
Its methods call one function each and hand back what the function said; nothing is retried.
"""

from __future__ import annotations

import atexit
import ctypes as ct
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from types import TracebackType
from typing import Any

import numpy as np
import numpy.typing as npt

from softnpu.judging.dtypes import NUMPY
from tests.support.capi_symbols import (
    DEVICE_TO_HOST,
    DTYPES,
    FORMATS,
    HOST_TO_DEVICE,
    Functions,
    functions,
)

NULLPTR, INVALID, RUNTIME, INNER_NULLPTR = 161001, 161002, 361001, 561103
REPEAT_INITIALIZE = 100002
# What workspaceSize and executor hold before phase one: a failure must leave them.
SIZE_BEFORE, EXECUTOR_BEFORE = 0x5AFE_C0DE_5AFE_C0DE, 0x0BAD_CAFE

_NAMES = {NUMPY[name]: name for name in NUMPY}


def dtype_name(dtype: np.dtype[Any]) -> str:
    """The documented name of a NumPy type."""
    return _NAMES[dtype]


@cache
def _initialised() -> Functions:
    """The library, initialised once in this process, finalised at its end."""
    library = functions()
    status = library.aclInit(None)
    assert status in (0, REPEAT_INITIALIZE), f"aclInit: {status}"
    atexit.register(library.aclFinalize)
    return library


@dataclass
class PhaseOne:
    """What phase one returned and left behind its two pointers."""

    status: int
    message: str
    workspace_size: int
    executor: int | None

    @property
    def untouched(self) -> bool:
        """Both results still hold what they held before the call."""
        return (self.workspace_size, self.executor) == (SIZE_BEFORE, EXECUTOR_BEFORE)


@dataclass
class DeviceArray:
    """A tensor handle with the device memory under it."""

    session: Session
    handle: int
    address: int
    like: npt.NDArray[Any]

    def read(self) -> npt.NDArray[Any]:
        """The memory's present contents."""
        raw = self.session.download(self.address, max(self.like.nbytes, 1))
        return raw[: self.like.nbytes].view(self.like.dtype).reshape(self.like.shape)


class Session:
    """One thread's device and stream."""

    def __init__(self) -> None:
        self.api: Any = _initialised()
        self._blocks: list[int] = []
        self._handles: list[tuple[str, int]] = []
        self.keep_alive: list[object] = []
        self.stream = 0

    def __enter__(self) -> Session:
        self.check(self.api.aclrtSetDevice(0))
        stream = ct.c_void_p()
        self.check(self.api.aclrtCreateStream(ct.byref(stream)))
        self.stream = stream.value or 0
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        tb: TracebackType | None,
    ) -> None:
        # A test may have destroyed a handle by itself: the code that says so is of no interest.
        for destroy, handle in reversed(self._handles):
            getattr(self.api, destroy)(handle)
        for block in reversed(self._blocks):
            self.api.aclrtFree(block)
        self.api.aclrtDestroyStream(self.stream)
        with suppress(AttributeError):
            self.message()

    def check(self, status: int) -> None:
        """Fail on a status that is not 0."""
        assert status == 0, f"status {status}: {self.message()}"

    def message(self) -> str:
        """Read the thread's latest message, which clears it."""
        text = self.api.aclGetRecentErrMsg()
        return "" if text is None else text.decode()

    # --- memory ----------------------------------------

    def malloc(self, size: int) -> int:
        """Device memory."""
        pointer = ct.c_void_p()
        self.check(self.api.aclrtMalloc(ct.byref(pointer), size, 0))
        self._blocks.append(pointer.value or 0)
        return pointer.value or 0

    def upload(self, raw: npt.NDArray[Any], address: int | None = None) -> int:
        """Copy an array's bytes to device memory, its own or that at `address`."""
        raw = np.ascontiguousarray(raw)
        address = self.malloc(max(raw.nbytes, 1)) if address is None else address
        if raw.nbytes:
            host = raw.ctypes.data
            self.check(self.api.aclrtMemcpy(address, raw.nbytes, host, raw.nbytes, HOST_TO_DEVICE))
        return address

    def download(self, address: int, size: int) -> npt.NDArray[np.uint8]:
        """The bytes at an address of the device."""
        raw = np.empty(size, np.uint8)
        self.check(self.api.aclrtMemcpy(raw.ctypes.data, size, address, size, DEVICE_TO_HOST))
        return raw

    # --- descriptors ----------------------------------------

    def keep(self, destroy: str, handle: int | None) -> int | None:
        """Release a handle when the session ends."""
        if handle is not None:
            self._handles.append((destroy, handle))
        return handle

    def tensor(
        self,
        dtype: str,
        shape: Sequence[int],
        address: int | None,
        *,
        strides: Sequence[int] | None = None,
        offset: int = 0,
        format: str = "ND",
        storage: Sequence[int] | None = None,
    ) -> int | None:
        """A tensor, exactly as described, or null where the library refuses the description."""
        storage = shape if storage is None else storage
        return self.keep(
            "aclDestroyTensor",
            self.api.aclCreateTensor(
                int64s(shape),
                len(shape),
                DTYPES[dtype],
                None if strides is None else int64s(strides),
                offset,
                FORMATS[format],
                int64s(storage),
                len(storage),
                address,
            ),
        )

    def array(self, values: npt.NDArray[Any], format: str = "ND") -> DeviceArray:
        """A contiguous tensor that holds these values."""
        address = self.upload(values)
        handle = self.tensor(dtype_name(values.dtype), values.shape, address, format=format)
        assert handle is not None, self.message()
        return DeviceArray(self, handle, address, values)

    def scalar(self, dtype: str, value: Any) -> int | None:
        """A scalar."""
        raw = np.array(value).astype(NUMPY[dtype])
        return self.keep(
            "aclDestroyScalar", self.api.aclCreateScalar(raw.ctypes.data, DTYPES[dtype])
        )

    def int_array(self, values: Sequence[int]) -> int | None:
        """An array of integers."""
        return self.keep(
            "aclDestroyIntArray", self.api.aclCreateIntArray(int64s(values), len(values))
        )

    # --- operators ----------------------------------------

    def phase_one(
        self, operator: str, *arguments: Any, size: bool = True, executor: bool = True
    ) -> PhaseOne:
        """Phase one; without `size` or `executor` that pointer is null."""
        self.message()
        planned = ct.c_uint64(SIZE_BEFORE)
        handle = ct.c_void_p(EXECUTOR_BEFORE)
        status = getattr(self.api, operator + "GetWorkspaceSize")(
            *arguments,
            ct.byref(planned) if size else None,
            ct.byref(handle) if executor else None,
        )
        if status == 0:
            self.keep("aclDestroyAclOpExecutor", handle.value)
        return PhaseOne(status, self.message() if status else "", planned.value, handle.value)

    def plan(self, operator: str, *arguments: Any) -> PhaseOne:
        """Phase one that must succeed."""
        planned = self.phase_one(operator, *arguments)
        assert planned.status == 0, planned.message
        return planned

    def launch(self, operator: str, planned: PhaseOne, workspace: int | None = None) -> int:
        """Phase two, with a workspace of the planned size unless one is given."""
        size = planned.workspace_size
        if workspace is None and size:
            workspace = self.malloc(size)
        return int(getattr(self.api, operator)(workspace, size, planned.executor, self.stream))

    def synchronize(self) -> int:
        """Wait for the session's stream."""
        return int(self.api.aclrtSynchronizeStream(self.stream))

    def run(self, operator: str, *arguments: Any) -> None:
        """Both phases and the synchronisation, all of which must succeed."""
        self.check(self.launch(operator, self.plan(operator, *arguments)))
        self.check(self.synchronize())


def int64s(values: Sequence[int]) -> Any:
    """A C array of int64_t; null for none."""
    return (ct.c_int64 * len(values))(*values) if len(values) else None
