# SPDX-License-Identifier: Apache-2.0
"""softnpu's functions, computed by libraries for another machine.

A program that uses these libraries, `tests/arm/serve.cpp`, runs under an emulator as long as a
`Machine` is open. Calls go to it with the whole memory that their arrays are views of, and come
back with it, so that a stray write there is seen here.
"""

from __future__ import annotations

import ctypes as ct
import inspect
import struct
import subprocess
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from types import TracebackType
from typing import Any

import numpy as np
import numpy.typing as npt

import softnpu
from tests.support.capi import dtype_name
from tests.support.capi_symbols import DTYPES, FORMATS
from tests.support.contract import OPERATORS, Contract, contract

Array = npt.NDArray[Any]
POISON = 0xA5
REDUCTIONS = {"none": 0, "mean": 1, "sum": 2}
PLAIN = {"b": "?", "l": "q", "f": "f", "d": "d"}  # letters of prototypes: forms of struct


def _list(values: Sequence[int]) -> bytes:
    return struct.pack(f"<I{len(values)}q", len(values), *values)


def _memory(array: Array) -> Array:
    """The array that owns a view's memory, or that first gave it a type."""
    while isinstance(array.base, np.ndarray):
        array = array.base
    return array


class Message:
    """One call, as the program reads it, and the memory that it is about."""

    def __init__(self, spec: Contract, values: dict[str, Any]) -> None:
        self.buffers: list[Array] = []
        self.written = _memory(values["out"])
        arguments = b"".join(self._arguments(spec, values))
        name = spec.operator.encode()
        parts = [struct.pack("<I", len(name)), name, struct.pack("<I", len(self.buffers))]
        for buffer in self.buffers:
            parts += [struct.pack("<Q", buffer.nbytes), raw_bytes(buffer)]
        self.bytes = b"".join([*parts, arguments])

    def _arguments(self, spec: Contract, values: dict[str, Any]) -> Iterator[bytes]:
        letters = [a.letter for a in spec.arguments]
        for argument, letter in zip(spec.arguments, letters, strict=True):
            value = values[argument.python]
            if argument.kind == "tensor":
                format = values.get("format", "ND") if argument.formats else "ND"
                yield self._tensor(value, format)
            elif argument.kind == "scalar":
                yield struct.pack("<f", value)
            elif argument.kind == "int_array":
                yield _list(list(value))
            else:
                yield struct.pack("<" + PLAIN[letter], REDUCTIONS.get(value, value))

    def _tensor(self, array: Array, format: str) -> bytes:
        memory = _memory(array)
        at = next((i for i, b in enumerate(self.buffers) if b is memory), len(self.buffers))
        if at == len(self.buffers):
            self.buffers.append(memory)
        item = array.itemsize
        offset = (array.ctypes.data - memory.ctypes.data) // item
        kind = (DTYPES[dtype_name(array.dtype)], FORMATS[format])
        head = struct.pack("<Iiiqq", at, *kind, offset, memory.nbytes // item)
        return head + _list(array.shape) + _list([stride // item for stride in array.strides])


def raw_bytes(memory: Array) -> bytes:
    """What an array's memory holds, in the order of addresses."""
    return ct.string_at(memory.ctypes.data, memory.nbytes)


class Machine:
    """The program under its emulator."""

    def __init__(self, command: Sequence[str], environment: dict[str, str]) -> None:
        self._process = subprocess.Popen(
            command, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE
        )

    def __enter__(self) -> Machine:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        tb: TracebackType | None,
    ) -> None:
        failed_before = not self.is_running
        self._process.communicate()
        assert failed_before or self._process.returncode == 0, "the program failed at its end"

    @property
    def is_running(self) -> bool:
        """Whether the program is there; a failure within a call ends it."""
        return self._process.poll() is None

    def _read(self, count: int) -> bytes:
        assert self._process.stdout is not None
        raw = self._process.stdout.read(count)
        assert len(raw) == count, f"the program ended: {self._process.wait()}"
        return raw

    def run(self, message: Message) -> None:
        """Make a call, which must succeed, and take over what it left in memory."""
        assert self._process.stdin is not None
        self._process.stdin.write(message.bytes)
        self._process.stdin.flush()
        status, length = struct.unpack("<iI", self._read(8))
        text = self._read(length).decode()
        assert status == 0, f"status {status}: {text}"
        for buffer in message.buffers:
            raw = self._read(buffer.nbytes)
            if buffer is message.written:
                ct.memmove(buffer.ctypes.data, raw, buffer.nbytes)
            else:
                assert raw == raw_bytes(buffer), "an input or its surroundings were written to"

    def function(self, op: str) -> Callable[..., Array]:
        """One of softnpu's functions on NumPy arrays, computed here."""
        spec = contract(op)
        own = getattr(softnpu, spec.python)
        signature = inspect.signature(own)

        def call(*args: Any, **keywords: Any) -> Array:
            bound = signature.bind(*args, **keywords)
            bound.apply_defaults()
            if bound.arguments["out"] is None:
                like: Array = own(*args, **keywords)  # for its shape and its type
                poison = bytearray([POISON]) * like.nbytes
                bound.arguments["out"] = np.frombuffer(poison, like.dtype).reshape(like.shape)
            self.run(Message(spec, bound.arguments))
            out: Array = bound.arguments["out"]
            return out

        return call


@contextmanager
def softnpu_on(machine: Machine) -> Iterator[None]:
    """Have softnpu's functions compute on a machine, for code that calls them by their names."""
    own = {op: getattr(softnpu, contract(op).python) for op in OPERATORS}
    other = {op: machine.function(op) for op in OPERATORS}
    try:
        for op in OPERATORS:
            setattr(softnpu, contract(op).python, other[op])
        yield
    finally:
        for op in OPERATORS:
            setattr(softnpu, contract(op).python, own[op])
