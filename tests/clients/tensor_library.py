# SPDX-License-Identifier: Apache-2.0
"""A small tensor library as people write them on pyACL and ctypes; it knows nothing of softnpu.

Each thread has a context, a stream and an allocator of its own. Memory is cached. Descriptors are
destroyed when an operator was launched; its workspace goes back when the stream is done with it.
"""

from __future__ import annotations

import ctypes as ct
import math
import threading
from collections import defaultdict, deque
from collections.abc import Callable, Iterable
from types import TracebackType
from typing import Any

import acl
import numpy as np
import numpy.typing as npt

MALLOC_HUGE_FIRST, HOST_TO_DEVICE, DEVICE_TO_HOST = 0, 1, 2
FORMAT_ND = 2
DTYPES = {"float32": 0, "float16": 1}
DOUBLE = 11

base = ct.CDLL("libnnopbase.so")
operators = ct.CDLL("libopapi.so")
for maker in (base.aclCreateTensor, base.aclCreateScalar):
    maker.restype = ct.c_void_p


def check(status: int, what: str) -> None:
    """Raise for a status that is not 0, with the device's message."""
    if status != 0:
        raise RuntimeError(f"{what} failed with {status}: {acl.get_recent_err_msg()}")


class CachingAllocator:
    """Keeps freed blocks for the next tensors; sizes are rounded, so that blocks fit again."""

    def __init__(self) -> None:
        self._free: dict[int, list[int]] = defaultdict(list)
        self._sizes: dict[int, int] = {}
        self.allocated = self.reused = 0

    def malloc(self, size: int) -> int:
        """Give the address of a block of at least that size."""
        rounded = max(512, 1 << (size - 1).bit_length())
        if self._free[rounded]:
            self.reused += 1
            return self._free[rounded].pop()
        address, status = acl.rt.malloc(rounded, MALLOC_HUGE_FIRST)
        check(status, "acl.rt.malloc")
        self.allocated += 1
        self._sizes[address] = rounded
        return int(address)

    def free(self, address: int) -> None:
        """Keep a block for the next tensor, which the stream uses after what it has now."""
        self._free[self._sizes[address]].append(address)

    def empty_cache(self) -> None:
        """Give kept blocks back to the device."""
        for block in (block for blocks in self._free.values() for block in blocks):
            check(acl.rt.free(block), "acl.rt.free")
            del self._sizes[block]
        self._free.clear()

    @property
    def in_use(self) -> int:
        """How many blocks have an owner."""
        return len(self._sizes) - sum(map(len, self._free.values()))


class Session:
    """A thread's context and stream; `with` makes it the thread's current one."""

    _of_thread = threading.local()

    def __init__(self, device: int = 0) -> None:
        self.context, status = acl.rt.create_context(device)
        check(status, "acl.rt.create_context")
        self.stream, status = acl.rt.create_stream()
        check(status, "acl.rt.create_stream")
        self.memory = CachingAllocator()
        # What must outlive the work before an event: the event, and what then happens.
        self._deferred: deque[tuple[int, Callable[[], None]]] = deque()

    @classmethod
    def current(cls) -> Session:
        """The session of this thread."""
        session: Session = cls._of_thread.session
        return session

    def __enter__(self) -> Session:
        check(acl.rt.set_context(self.context), "acl.rt.set_context")
        self._of_thread.session = self
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.synchronize()
        self.memory.empty_cache()
        check(acl.rt.destroy_stream(self.stream), "acl.rt.destroy_stream")
        check(acl.rt.destroy_context(self.context), "acl.rt.destroy_context")
        del self._of_thread.session

    def defer(self, action: Callable[[], None]) -> None:
        """Do something when the stream has done what it was given so far."""
        event, status = acl.rt.create_event()
        check(status, "acl.rt.create_event")
        check(acl.rt.record_event(event, self.stream), "acl.rt.record_event")
        self._deferred.append((event, action))

    def collect(self) -> None:
        """Do what was deferred, as far as the stream has come."""
        while self._deferred:
            event, action = self._deferred[0]
            not_ready, status = acl.rt.query_event(event)
            check(status, "acl.rt.query_event")
            if not_ready:
                return
            self._deferred.popleft()
            check(acl.rt.destroy_event(event), "acl.rt.destroy_event")
            action()

    def synchronize(self) -> None:
        """Wait for the stream, and do what was deferred until then."""
        check(acl.rt.synchronize_stream(self.stream), "acl.rt.synchronize_stream")
        self.collect()


class Tensor:
    """A contiguous array on the device; its memory returns to the cache with it."""

    def __init__(self, shape: tuple[int, ...], dtype: str) -> None:
        self.shape, self.dtype = shape, dtype
        self.session = Session.current()
        self.bytes = math.prod(shape) * np.dtype(dtype).itemsize
        self.address = self.session.memory.malloc(self.bytes)
        self.inputs: tuple[Tensor, dict[str, float]] | None = None

    def __del__(self) -> None:
        self.session.memory.free(self.address)

    @classmethod
    def of(cls, array: npt.NDArray[Any]) -> Tensor:
        """Copy an array to the device."""
        array = np.ascontiguousarray(array)
        tensor = cls(array.shape, array.dtype.name)
        source = acl.util.numpy_to_ptr(array)
        # A blocking copy waits for no stream, and the cache's block may still be in use in ours.
        tensor.session.synchronize()
        check(
            acl.rt.memcpy(tensor.address, tensor.bytes, source, tensor.bytes, HOST_TO_DEVICE),
            "acl.rt.memcpy",
        )
        return tensor

    def numpy(self) -> npt.NDArray[Any]:
        """Copy the array back, when the stream is done with it."""
        self.session.synchronize()
        array = np.empty(self.shape, self.dtype)
        target = acl.util.numpy_to_ptr(array)
        check(
            acl.rt.memcpy(target, self.bytes, self.address, self.bytes, DEVICE_TO_HOST),
            "acl.rt.memcpy",
        )
        return array

    def described(self) -> ct.c_void_p:
        """Make a descriptor, which the caller destroys."""
        rank = len(self.shape)
        sizes = (ct.c_int64 * rank)(*self.shape)
        strides = (ct.c_int64 * rank)(*(math.prod(self.shape[i + 1 :]) for i in range(rank)))
        tensor = base.aclCreateTensor(
            sizes,
            ct.c_uint64(rank),
            DTYPES[self.dtype],
            strides,
            ct.c_int64(0),
            FORMAT_ND,
            sizes,
            ct.c_uint64(rank),
            ct.c_void_p(self.address),
        )
        return ct.c_void_p(tensor)

    def backward(self, gradient: Tensor) -> Tensor:
        """The gradient of what elu was computed from."""
        assert self.inputs is not None, "the tensor is no result"
        source, factors = self.inputs
        result = Tensor(source.shape, source.dtype)
        launch("aclnnEluBackward", [gradient, *factors.values(), False, source, result])
        return result


def elu(source: Tensor, alpha: float = 1.0, scale: float = 1.0, input_scale: float = 1.0) -> Tensor:
    """Elu on the device; the result remembers what it came from."""
    result = Tensor(source.shape, source.dtype)
    factors = {"alpha": alpha, "scale": scale, "input_scale": input_scale}
    launch("aclnnElu", [source, *factors.values(), result])
    result.inputs = source, factors
    return result


def launch(name: str, arguments: Iterable[Tensor | float | bool]) -> None:
    """Both phases of an operator; nothing of it is left but its work and its workspace."""
    session = Session.current()
    session.collect()
    passed: list[Any] = []
    destroys: list[Callable[[], int]] = []
    for argument in arguments:
        if isinstance(argument, Tensor):
            described = argument.described()
            destroys.append(lambda tensor=described: base.aclDestroyTensor(tensor))
        elif isinstance(argument, bool):
            described = ct.c_bool(argument)
        else:
            number = ct.c_double(argument)
            described = ct.c_void_p(base.aclCreateScalar(ct.byref(number), DOUBLE))
            destroys.append(lambda scalar=described: base.aclDestroyScalar(scalar))
        passed.append(described)
    size, executor = ct.c_uint64(), ct.c_void_p()
    plan = getattr(operators, f"{name}GetWorkspaceSize")
    check(plan(*passed, ct.byref(size), ct.byref(executor)), name)
    workspace = session.memory.malloc(size.value) if size.value else None
    stream = ct.c_void_p(session.stream)
    run = getattr(operators, name)
    check(run(ct.c_void_p(workspace), size, executor, stream), name)
    if workspace is not None:
        session.defer(lambda: session.memory.free(workspace))
    for destroy in destroys:
        check(destroy(), "destroy")
