# SPDX-License-Identifier: Apache-2.0
"""The same elements in another order or shape."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from softnpu.errors import ParamInvalidError
from tests.everyday.arrays import TYPES, data, equal, is_whole, layouts, like, wide
from tests.support.described import call

SHAPE = (3, 4, 5)

# name, arguments between self and out, the same in NumPy
CASES: list[tuple[str, tuple[Any, ...], Any]] = [
    ("Permute", ([1, 2, 0],), lambda x: x.transpose(1, 2, 0)),
    ("Permute", ([-1, -3, 1],), lambda x: x.transpose(2, 0, 1)),
    ("Expand", ([2, 3, 4, 5],), lambda x: np.broadcast_to(x, (2, 3, 4, 5))),
    ("Expand", ([2, -1, 4, -1],), lambda x: np.broadcast_to(x, (2, 3, 4, 5))),
    ("Repeat", ([1, 2, 3],), lambda x: np.tile(x, (1, 2, 3))),
    ("Repeat", ([2, 1, 3, 2],), lambda x: np.tile(x, (2, 1, 3, 2))),
    ("Repeat", ([1, 0, 3],), lambda x: np.tile(x, (1, 0, 3))),
    ("RepeatInterleaveInt", (2, 120), lambda x: np.repeat(x, 2)),
    ("RepeatInterleaveIntWithDim", (3, 1, 12), lambda x: np.repeat(x, 3, 1)),
    ("RepeatInterleaveIntWithDim", (0, -1, 0), lambda x: np.repeat(x, 0, 2)),
    ("Flip", ([0],), lambda x: np.flip(x, 0)),
    ("Flip", ([-1, 0],), lambda x: np.flip(x, (0, 2))),
    ("Flip", ([],), lambda x: x),
    ("Roll", ([2], []), lambda x: np.roll(x, 2)),
    ("Roll", ([-7, 2], [1, -1]), lambda x: np.roll(x, (-7, 2), (1, 2))),
    ("Roll", ([1, 1], [0, 0]), lambda x: np.roll(x, 2, 0)),
    ("Slice", (-1, 1, 4, 2), lambda x: x[..., 1:4:2]),
    ("Slice", (1, -3, 2**62, 1), lambda x: x[:, -3:]),
    ("Slice", (0, 2, 1, 1), lambda x: x[2:1]),
    ("Slice", (0, 1, 3, 2**62), lambda x: x[1:2]),
    ("ConstantPadNd", ([1, 2], 3.0), lambda x: pad(x, [(0, 0), (0, 0), (1, 2)], 3)),
    ("ConstantPadNd", ([1, 0, 0, 2, 3, 1], 2), lambda x: pad(x, [(3, 1), (0, 2), (1, 0)], 2)),
    ("ConstantPadNd", ([-1, 1], 0), lambda x: pad(x, [(0, 0), (0, 0), (0, 1)], 0)[:, :, 1:]),
    ("ConstantPadNd", ([-2, -1, 0, -4], 1), lambda x: x[:, :0, 2:4]),
    ("ConstantPadNd", ([-6, 9], 1), lambda _: np.ones((3, 4, 8))),
    ("ConstantPadNd", ([-(2**63), 2**63 - 1], 1), lambda _: np.ones((3, 4, 4))),
    ("ConstantPadNd", ([], 1), lambda x: x),
    ("ReflectionPad1d", ([4, 3],), lambda x: np.pad(x, [(0, 0), (0, 0), (4, 3)], "reflect")),
    (
        "ReflectionPad1d",
        ([-1, 2],),
        lambda x: np.pad(x, [(0, 0), (0, 0), (0, 2)], "reflect")[..., 1:],
    ),
    ("Tril", (0,), np.tril),
    ("Tril", (-2,), lambda x: np.tril(x, -2)),
    ("Triu", (1,), lambda x: np.triu(x, 1)),
    ("Triu", (-(2**62),), lambda x: x),
    ("Triu", (2**63 - 1,), lambda x: x * 0),
]


def pad(x: np.ndarray, widths: Any, value: float) -> np.ndarray:
    """Pad with a number."""
    return np.pad(x, widths, constant_values=value)


@pytest.mark.parametrize("dtype", TYPES, ids=str)
@pytest.mark.parametrize(
    ("name", "arguments", "wanted"), CASES, ids=[f"{c[0]}-{c[1]}" for c in CASES]
)
def test_views(dtype: Any, name: str, arguments: Any, wanted: Any) -> None:
    """Each layout of the input and of the output gives the same."""
    for layout in range(3):
        x = layouts(dtype, SHAPE)[layout]
        result = wanted(wide(x))
        out = like(dtype, result.shape, 2 - layout)
        call(name, x, *arguments, out)
        equal(out, result)


@pytest.mark.parametrize("name", ["Flip", "Roll", "ConstantPadNd"])
def test_output_is_the_input(name: str) -> None:
    """Everything is read before it is written."""
    x = data("f4", (4, 4))
    arguments = {"Flip": ([0],), "Roll": ([1], [0]), "ConstantPadNd": ([1, -1], 9.0)}[name]
    wanted = np.zeros((4, 4), "f4")
    call(name, x, *arguments, wanted)
    call(name, x, *arguments, x)
    equal(x, wanted)


@pytest.mark.parametrize("name", ["Tril", "Triu"])
def test_triangles_in_place(name: str) -> None:
    """The other elements become 0."""
    for layout in range(3):
        x = layouts("f4", SHAPE)[layout]
        wanted = getattr(np, name.lower())(wide(x), -1)
        call(f"Inplace{name}", x, -1)
        equal(x, wanted)


@pytest.mark.parametrize("dtype", TYPES, ids=str)
@pytest.mark.parametrize("dim", [0, 1, -1])
def test_joined_and_split(dtype: Any, dim: int) -> None:
    """Empty tensors are joined, too, even those of rank 1; pieces are what was joined."""
    for layout in range(3):
        sizes = [2, 0, 3]
        shapes = [np.delete(np.array(SHAPE), dim).tolist() for _ in sizes]
        for shape, size in zip(shapes, sizes, strict=True):
            shape.insert(dim % 3, size)
        parts = [layouts(dtype, tuple(s), i)[layout] for i, s in enumerate(shapes)]
        whole = np.concatenate([wide(p) for p in parts], dim)
        out = like(dtype, whole.shape, 2 - layout)
        call("Cat", [*parts, np.zeros(0, dtype)], dim, out)
        equal(out, whole)
        pieces = [like(dtype, tuple(s), layout) for s in shapes]
        call("SplitWithSize", out, sizes, dim, pieces)
        for piece, part in zip(pieces, parts, strict=True):
            equal(piece, wide(part))


@pytest.mark.parametrize("dim", [0, 2, -1, -4])
def test_stack(dim: int) -> None:
    """The new dimension may be any, the last one too."""
    for layout in range(3):
        parts = [layouts("f2", SHAPE, seed)[layout] for seed in range(3)]
        wanted = np.stack([wide(p) for p in parts], dim)
        out = like("f4", wanted.shape, layout)
        call("Stack", parts, dim, out)
        equal(out, wanted)
    scalars = [np.array(i, "f4") for i in range(3)]
    call("Stack", scalars, 0, out := np.zeros(3, "f4"))
    equal(out, [0, 1, 2])


def test_rank_0_and_no_elements() -> None:
    """Such tensors are accepted."""
    x, out = np.array(3, "f4"), np.zeros((), "f4")
    for name, arguments in (
        ("Permute", ([],)),
        ("Flip", ([0],)),
        ("Roll", ([5], [])),
        ("Expand", ([],)),
    ):
        out[...] = 0
        call(name, x, *arguments, out)
        assert out == 3
    for name, arguments in (("Repeat", ([4],)), ("RepeatInterleaveIntWithDim", (4, 0, 4))):
        call(name, x, *arguments, four := np.zeros(4, "f4"))
        equal(four, [3] * 4)
    empty = np.zeros((0, 3), "f4")
    for name, arguments in (
        ("Flip", ([0],)),
        ("Roll", ([1], [0])),
        ("Tril", (0,)),
        ("Slice", (0, 0, 1, 1)),
    ):
        call(name, empty, *arguments, np.zeros((0, 3), "f4"))
    call("ConstantPadNd", empty, [0, 0, 1, 0], 2, one := np.zeros((1, 3), "f4"))
    equal(one, [[2, 2, 2]])


@pytest.mark.parametrize(
    ("name", "arguments", "message"),
    [
        ("Repeat", ([1, 2**62, 2**62], (3, 0, 0)), "sizes that fit 64 bits"),
        ("RepeatInterleaveIntWithDim", (2**62, 1, 0, (3, 0, 5)), "sizes that fit 64 bits"),
        ("ConstantPadNd", ([2**63 - 1, 2**63 - 1], 0, (3, 4, 3)), "padding is"),
        ("ReflectionPad1d", ([-(2**63), -(2**63)], SHAPE), "padding is"),
        ("Permute", ([0, 1], (2, 3)), "dims has 2 elements; expected 3"),
        ("Permute", ([0, 1, -2], SHAPE), "dimension 1 twice"),
        ("Expand", ([2, 4, 5], (2, 4, 5)), "cannot be broadcast to"),
        ("Expand", ([4, 5], (4, 5)), "expected 3 or more, the rank of self"),
        ("Repeat", ([4, 5], (4, 5)), "expected 3 or more, the rank of self"),
        ("Repeat", ([1, 1, -1], SHAPE), "repeats is .* expected 0 or more"),
        ("RepeatInterleaveIntWithDim", (2, 0, 5, (5, 4, 5)), "outputSize is 5; expected 6"),
        ("Flip", ([3], SHAPE), "dims is 3; expected -3 to 2"),
        ("Roll", ([1], [0, 1], SHAPE), "shifts has 1 elements; expected 2"),
        ("Roll", ([1], [3], SHAPE), "expected -3 to 2"),
        ("Slice", (0, 0, 1, 0, (1, 4, 5)), "step is 0; expected 1 or more"),
        ("Slice", (0, 0, 1, 1, (2, 4, 5)), r"expected \[1, 4, 5\]"),
        ("ConstantPadNd", ([1], 0, SHAPE), "expected pairs"),
        ("ConstantPadNd", ([-3, -3], 0, SHAPE), "leaves -1 elements of dimension 2"),
        ("ReflectionPad1d", ([5, 0], (3, 4, 10)), "expected less than 5"),
        ("Tril", (0, (3, 4)), r"expected \[3, 4, 5\]"),
    ],
)
def test_mistakes(name: str, arguments: Any, message: str) -> None:
    """Each is reported with what was given and what was expected."""
    *given, shape = arguments
    with pytest.raises(ParamInvalidError, match=message):
        call(name, np.zeros(SHAPE, "f4"), *given, np.zeros(shape, "f4"))


def test_mistakes_in_lists() -> None:
    """The message says which member is wrong."""
    x, out = np.zeros((2, 3), "f4"), np.zeros((4, 3), "f4")
    with pytest.raises(ParamInvalidError, match="tensors is empty"):
        call("Cat", [], 0, out)
    with pytest.raises(ParamInvalidError, match=r"tensors\[1\] is null"):
        call("Cat", [x, None], 0, out)
    with pytest.raises(ParamInvalidError, match=r"tensors\[1\] has shape \[3, 2\]"):
        call("Cat", [x, x.T], 0, out)
    with pytest.raises(ParamInvalidError, match=r"out has shape \[4, 3\]; expected \[2, 3\]"):
        call("Cat", [x], 0, out)
    with pytest.raises(ParamInvalidError, match=r"dim is 3; expected -3 to 2"):
        call("Stack", [x, x], 3, np.zeros((2, 2, 3), "f4"))
    with pytest.raises(ParamInvalidError, match=r"out\[1\] has shape \[2, 3\]; expected \[1, 3\]"):
        call("SplitWithSize", out, [3, 1], 0, [np.zeros((3, 3), "f4"), x])
    one, none = np.zeros((), "f4"), np.zeros(0, "f4")
    with pytest.raises(ParamInvalidError, match=r"out has shape \[\]; expected \[0\]"):
        call("Slice", one, 0, 1, 1, 1, one.copy())
    with pytest.raises(ParamInvalidError, match=r"out\[0\] has shape \[\]; expected \[0\]"):
        call("SplitWithSize", one, [0, 1], 0, [one.copy(), one.copy()])
    call("Slice", one, 0, 1, 1, 1, none)
    with pytest.raises(ParamInvalidError, match="whose sum is 4"):
        call("SplitWithSize", out, [1, 1], 0, [np.zeros((1, 3), "f4"), np.zeros((1, 3), "f4")])


@pytest.mark.parametrize("dtype", TYPES, ids=str)
@pytest.mark.parametrize("diagonal", [0, 1, 3, -2])
def test_diagonals(dtype: Any, diagonal: int) -> None:
    """Of a matrix, into a matrix, and their sum."""
    for layout in range(3):
        x = layouts(dtype, (3, 5))[layout]
        wanted = np.diagonal(wide(x), diagonal)
        call("Diag", x, diagonal, out := like(dtype, wanted.shape, layout))
        equal(out, wanted)
        row = x[1]
        wanted = np.diag(wide(row), diagonal)
        call("Diag", row, diagonal, out := like(dtype, wanted.shape, layout))
        equal(out, wanted)
        call("Trace", x, total := np.zeros((), "i8" if is_whole(dtype) else dtype))
        equal(total, np.trace(wide(x)))
    call("Diag", np.zeros((3, 5), dtype), 9, np.zeros(0, dtype))
    with pytest.raises(ParamInvalidError, match=r"out has shape \[3\]; expected \[2\]"):
        call("Diag", np.zeros((3, 5), dtype), -1, np.zeros(3, dtype))
    with pytest.raises(ParamInvalidError, match="expected rank 1 or 2"):
        call("Diag", np.zeros((3, 5, 2), dtype), 0, np.zeros(3, dtype))
    with pytest.raises(ParamInvalidError, match="sizes that fit 64 bits"):
        call("Diag", np.zeros(3, dtype), -(2**63), np.zeros((3, 3), dtype))


@pytest.mark.parametrize("dtype", TYPES, ids=str)
def test_repeats_from_a_tensor(dtype: Any) -> None:
    """One count for each slice, or one for all; their sum must be what the caller says."""
    for layout in range(3):
        x = layouts(dtype, SHAPE)[layout]
        for dim, counts in ((0, [2, 0, 1]), (1, [1, 3, 0, 1]), (-1, [2])):
            wanted = np.repeat(wide(x), counts, dim)
            out = like(dtype, wanted.shape, layout)
            given = (np.array(counts), dim, wanted.shape[dim])
            call("RepeatInterleaveWithDim", x, *given, out)
            equal(out, wanted)
        every = np.arange(60, dtype="i4") % 3
        call("RepeatInterleave", x, every, 60, out := like(dtype, (60,), layout))
        equal(out, np.repeat(wide(x), every))
    out = np.zeros((4, 5), "f4")
    for counts, message in (([1, -1, 4], "repeats has -1"), ([1, 1, 1], "sum of repeats is 3")):
        with pytest.raises(RuntimeError, match=message):
            call("RepeatInterleaveWithDim", out[:3], np.array(counts), 0, 4, out)
    with pytest.raises(ParamInvalidError, match=r"expected \[1\] or \[3\]"):
        call("RepeatInterleaveWithDim", out[:3], np.array([2, 2]), 0, 4, out)
