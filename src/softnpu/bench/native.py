# SPDX-License-Identifier: Apache-2.0
"""The benchmark's C++ parts: compiled for this machine when first needed, loaded into this process.

softnpu itself compiles nothing at run time; a benchmark wants code that fits the machine.
"""

from __future__ import annotations

import ctypes
import functools
import zlib
from collections.abc import Callable
from pathlib import Path

from softnpu.bench.arrays import NumpyArray
from softnpu.bench.machine import cpu_flags

SOURCES = Path(__file__).resolve().parent / "native"


@functools.cache
def library(name: str) -> ctypes.CDLL:
    """Load ``native/NAME.cpp`` as a library; the command ends when it does not compile."""
    # The command line owns compilers and the cache of what they made.
    from softnpu.cli.cache import compiled
    from softnpu.cli.environment import sdk_prefix
    from softnpu.cli.toolchain import toolchain_for

    source = SOURCES / f"{name}.cpp"
    # The cache may be shared with machines of another kind; they must not share these programs.
    machine = zlib.crc32(cpu_flags().encode())
    flags = f"-std=c++17 -O3 -march=native -shared -fPIC -DSOFTNPU_BENCH_MACHINE={machine}"
    with compiled(source, toolchain_for(source, sdk_prefix(), flags)) as made:
        return ctypes.CDLL(str(made.file))


def bandwidth_pass() -> Callable[[int, int, int, int, int, int], float]:
    """Give (kind, streaming, huge pages, bytes, threads, repeats) -> seconds.

    The kind is a number of ``ceilings.KINDS``. The seconds are below 0 where there is no memory.
    """
    function = library("ceilings").bench_pass
    function.restype = ctypes.c_double
    integers = [ctypes.c_int, ctypes.c_int, ctypes.c_int, ctypes.c_int64]
    function.argtypes = [*integers, ctypes.c_int, ctypes.c_int64]
    typed: Callable[[int, int, int, int, int, int], float] = function
    return typed


def has_streaming() -> bool:
    """Whether there are stores that pass the caches by."""
    return bool(library("ceilings").bench_has_streaming())


def release() -> None:
    """Give the memory of the ceilings back."""
    library("ceilings").bench_release()


class CApiCall:
    """One operator's call through the C API, on tensors that hold the values of ``inputs``."""

    def __init__(self, operator: int, inputs: list[NumpyArray], out: NumpyArray) -> None:
        self._library = library("c_api_call")
        self._library.bench_c_api_open.restype = ctypes.c_void_p
        self._library.bench_c_api_call.restype = ctypes.c_double
        addresses = [ctypes.c_void_p(one.ctypes.data) for one in inputs]
        addresses += [ctypes.c_void_p()] * (3 - len(inputs))
        handle = self._library.bench_c_api_open(operator, *addresses)
        if handle is None:
            raise RuntimeError(f"operator {operator} cannot be called through the C API")
        self._handle = ctypes.c_void_p(handle)
        self._out = out

    def __call__(self) -> NumpyArray:
        """Call once, and give the result."""
        self.timed(1)
        self._library.bench_c_api_result(self._handle, ctypes.c_void_p(self._out.ctypes.data))
        return self._out

    def timed(self, repeats: int) -> float:
        """Seconds for so many calls."""
        seconds = float(self._library.bench_c_api_call(self._handle, ctypes.c_int64(repeats)))
        if seconds < 0:
            raise RuntimeError(f"a call through the C API failed with status {-seconds:.0f}")
        return seconds
