# SPDX-License-Identifier: Apache-2.0
"""The laws that every operator passes through, whatever its formula."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any, Protocol

import numpy.typing as npt

from softnpu import _core
from softnpu.judging.ulp import same_bits
from tests.support.layouts import (
    CONTIGUOUS,
    LAYOUTS,
    Layout,
    Placed,
    broadcast_along,
    place,
    place_output,
)

THREADS = (1, 2, 3, 8)


class Operator(Protocol):
    """A call of an operator with everything but its arrays fixed."""

    def __call__(
        self, *arrays: npt.NDArray[Any], out: npt.NDArray[Any] | None = None
    ) -> npt.NDArray[Any]:
        """Run the operator."""


@contextmanager
def threads(count: int) -> Iterator[None]:
    """Run with this many threads."""
    before = _core.info()["threads"]
    _core.set_threads(count)
    try:
        yield
    finally:
        _core.set_threads(before)


def run(call: Operator, inputs: Sequence[Placed], out: Placed | None = None) -> npt.NDArray[Any]:
    """Run on placed inputs; their buffers keep their bits, and ``out`` is what comes back."""
    result = call(*(p.view for p in inputs), out=None if out is None else out.view)
    for position, placed in enumerate(inputs):
        assert placed.buffer_unchanged(), f"input {position} or its surroundings were written to"
    if out is not None:
        assert result is out.view, "the result is not the array passed as out"
    return result


def input_layouts_do_not_matter(
    call: Operator, values: Sequence[npt.NDArray[Any]], layouts: Sequence[Layout] = LAYOUTS
) -> None:
    """Law: each input alone, and all together, give the same bits in any layout."""
    plain = [place(v, CONTIGUOUS) for v in values]
    expected = run(call, plain)
    for layout in layouts:
        moved = [place(v, layout) for v in values]
        choices = [[*plain[:i], moved[i], *plain[i + 1 :]] for i in range(len(values))]
        for position, choice in enumerate([*choices, moved]):
            got = run(call, choice)
            which = "all inputs" if position == len(values) else f"input {position}"
            assert same_bits(got, expected), f"{which} {layout.name}: other bits than contiguous"


def broadcast_equals_copy(call: Operator, values: Sequence[npt.NDArray[Any]]) -> None:
    """Law: an input with strides of 0 gives the same bits as its contiguous copy."""
    rank = values[0].ndim
    for position in range(len(values)):
        for axes in [(axis,) for axis in range(rank)] + [tuple(range(rank))]:
            arrays = list(values)
            arrays[position] = broadcast_along(values[position], *axes)
            copies = list(values)
            copies[position] = arrays[position].copy()
            expected = call(*copies)
            assert same_bits(call(*arrays), expected), f"input {position} broadcast along {axes}"


def output_is_written_fully_and_nothing_else(
    call: Operator, values: Sequence[npt.NDArray[Any]], layouts: Sequence[Layout] = LAYOUTS
) -> None:
    """Law: every element of out is written, whatever it held, and no byte around it is."""
    inputs = [place(v, CONTIGUOUS) for v in values]
    expected = run(call, inputs)
    for layout in layouts:
        for poison in (0x00, 0xA5, 0xFF):
            out = place_output(expected.shape, expected.dtype, layout, poison=poison)
            got = run(call, inputs, out)
            where = f"out {layout.name}, poison {poison:#04x}"
            assert same_bits(got, expected), f"{where}: other bits than contiguous"
            assert out.surroundings_unchanged(), f"{where}: bytes outside out were written"


def threads_do_not_matter(call: Operator, values: Sequence[npt.NDArray[Any]]) -> None:
    """Law: any number of threads gives the same bits."""
    with threads(1):
        expected = call(*values)
    for count in THREADS:
        with threads(count):
            assert same_bits(call(*values), expected), f"{count} threads: other bits than 1"


def check_laws(
    call: Operator, values: Sequence[npt.NDArray[Any]], *, strided_output: bool = True
) -> None:
    """All laws above. ``strided_output`` is false for operators whose output must be contiguous."""
    output_layouts = LAYOUTS if strided_output else LAYOUTS[:2]
    input_layouts_do_not_matter(call, values)
    broadcast_equals_copy(call, values)
    output_is_written_fully_and_nothing_else(call, values, output_layouts)
    threads_do_not_matter(call, values)
