# SPDX-License-Identifier: Apache-2.0
"""Indices that are out of range, or do not fit the tensor."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from softnpu.errors import ParamInvalidError
from tests.everyday.arrays import data, equal
from tests.support.described import call

SHAPE = (4, 3, 5)

# name, its arguments with `bad` as index, the limit
OUT_OF_RANGE: list[tuple[str, Any, str]] = [
    (
        "Gather",
        lambda _, bad: (0, bad.reshape(3, 1, 1), np.zeros((3, 1, 1), "f4")),
        r"index\[1, 0, 0\]",
    ),
    ("GatherV2", lambda _, bad: (0, bad, np.zeros((3, 3, 5), "f4")), r"index\[1\]"),
    ("IndexSelect", lambda _, bad: (0, bad, np.zeros((3, 3, 5), "f4")), r"index\[1\]"),
    ("InplaceIndexCopy", lambda _, bad: (0, bad, np.ones((3, 3, 5), "f4")), r"index\[1\]"),
    ("InplaceIndexFill", lambda _, bad: (0, bad, 1.0), r"index\[1\]"),
    ("InplaceIndexFillTensor", lambda _, bad: (0, bad.tolist(), 1.0), r"index\[1\]"),
    ("IndexAdd", lambda x, bad: (0, bad, np.ones((3, 3, 5), "f4"), 1, x), r"index\[1\]"),
    ("InplaceScatter", lambda x, bad: (0, bad.reshape(3, 1, 1), x.copy(), 0), r"index\[1, 0, 0\]"),
    ("InplaceScatterValue", lambda _, bad: (0, bad.reshape(3, 1, 1), 1, 0), r"index\[1, 0, 0\]"),
    ("Index", lambda _, bad: ([None, None, bad], np.zeros((4, 3, 3), "f4")), r"indices\[2\]\[1\]"),
    ("IndexPutImpl", lambda _, bad: ([bad], np.ones(5, "f4"), True, True), r"indices\[0\]\[1\]"),
]


@pytest.mark.parametrize(("name", "arguments", "position"), OUT_OF_RANGE, ids=lambda c: str(c)[:22])
@pytest.mark.parametrize("value", [-7, 9, 2**40])
def test_indices_out_of_range(name: str, arguments: Any, position: str, value: int) -> None:
    """The message names argument, position, number and range, and nothing is written."""
    x = data("f4", SHAPE)
    before = x.copy()
    given = arguments(x, np.array([0, value, 1]))
    with pytest.raises(RuntimeError, match=rf"{position} is {value}; expected .* and less than \d"):
        call(name, x, *given)
    equal(x, before)


def test_other_indices_out_of_range() -> None:
    """Of operators whose first tensor is not indexed."""
    weight, bad = data("f4", (3, 2)), np.array([0, -1])
    with pytest.raises(
        RuntimeError, match=r"indices\[1\] is -1; expected 0 or more and less than 3"
    ):
        call("Embedding", weight, bad, np.zeros((2, 2), "f4"))
    with pytest.raises(RuntimeError, match=r"indices\[1\] is -1"):
        call("EmbeddingDenseBackward", weight[:2], bad, 3, -1, False, np.zeros((3, 2), "f4"))
    with pytest.raises(RuntimeError, match=r"self\[1\] is -1; expected 0 or more and less than 2"):
        call("OneHot", bad, 2, np.ones(1, "f4"), np.zeros(1, "f4"), -1, np.zeros((2, 2), "f4"))
    with pytest.raises(RuntimeError, match="source has 2 elements; expected 3"):
        call("InplaceMaskedScatter", data("f4", (3,)), np.ones(3, "?"), np.ones(2, "f4"))


@pytest.mark.parametrize(
    ("name", "arguments", "message"),
    [
        ("Gather", (3, np.zeros(SHAPE, "i8"), np.zeros(SHAPE, "f4")), "dim is 3; expected -3 to 2"),
        (
            "Gather",
            (0, np.zeros((1, 4, 5), "i8"), np.zeros((1, 4, 5), "f4")),
            "not larger except in dim",
        ),
        ("Gather", (0, np.zeros(SHAPE, "f4"), np.zeros(SHAPE, "f4")), "expected an integer type"),
        ("Gather", (0, np.zeros((1, 1, 1), "i8"), np.zeros(SHAPE, "f4")), r"expected \[1, 1, 1\]"),
        ("IndexSelect", (1, np.zeros((1, 1), "i8"), np.zeros(SHAPE, "f4")), "expected rank 1"),
        ("GatherV2", (1, np.zeros(2, "i8"), np.zeros(SHAPE, "f4")), r"expected \[4, 2, 5\]"),
        (
            "Scatter",
            (0, np.zeros(SHAPE, "i8"), np.zeros((4, 3, 1), "f4"), 0, np.zeros(SHAPE, "f4")),
            "src has",
        ),
        (
            "Scatter",
            (0, np.zeros(SHAPE, "i8"), np.zeros(SHAPE, "f4"), 3, np.zeros(SHAPE, "f4")),
            "reduce is 3",
        ),
        (
            "IndexAdd",
            (0, np.zeros(2, "i8"), np.zeros(SHAPE, "f4"), 1, np.zeros(SHAPE, "f4")),
            "source has shape",
        ),
        ("Index", ([None] * 4, np.zeros(SHAPE, "f4")), "expected at most 3, the rank of self"),
        ("Index", ([np.zeros(4, "?")], np.zeros(SHAPE, "f4")), r"indices\[0\] has data type"),
        (
            "Index",
            ([np.zeros(4, "i8"), np.zeros(3, "i8")], np.zeros(SHAPE, "f4")),
            "cannot be broadcast",
        ),
        (
            "IndexPutImpl",
            ([np.zeros(4, "i8")], np.zeros(4, "f4"), False, False),
            "values has shape",
        ),
        (
            "InplaceMaskedScatter",
            (np.zeros((9, 1, 1, 1), "?"), np.zeros(9, "f4")),
            "mask has shape",
        ),
        ("Embedding", (np.zeros(1, "i8"), np.zeros(SHAPE, "f4")), "expected rank 2"),
    ],
)
def test_mistakes(name: str, arguments: Any, message: str) -> None:
    """Each is reported with what was given and what was expected."""
    with pytest.raises(ParamInvalidError, match=message):
        call(name, np.zeros(SHAPE, "f4"), *arguments)
