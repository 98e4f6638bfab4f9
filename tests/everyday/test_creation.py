# SPDX-License-Identifier: Apache-2.0
"""Tensors from numbers, random ones among them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from softnpu.errors import ParamInvalidError
from tests.everyday.arrays import FLOATS, TYPES, close, data, equal, layouts, like, wide
from tests.support.described import call

N = 20_000


@pytest.mark.parametrize("dtype", [t for t in TYPES if t.kind != "b"], ids=str)
def test_progressions(dtype: Any) -> None:
    """Scalars may have any type."""
    for layout in range(3):
        call("Arange", 3, 30, 4, out := like(dtype, (7,), layout))
        equal(out, np.arange(3, 30, 4))
        call("Range", 3, 27, 4, out)
        equal(out, np.arange(3, 28, 4))
        call("Arange", 30.0, np.float32(2), np.int64(-4), out)
        equal(out, np.arange(30, 2, -4))
        call("Linspace", 1, 10, 7, out)
        equal(out, np.linspace(1, 10, 7))
        call("Eye", 3, 5, matrix := like(dtype, (3, 5), layout))
        equal(matrix, np.eye(3, 5))
    call("Arange", 0, 0, 1, np.zeros(0, dtype))
    call("Linspace", 3.0, 5.0, 1, one := np.zeros(1, dtype))
    equal(one, [3])


def test_a_progression_in_a_tensor_of_higher_rank() -> None:
    """The other dimensions have size 1."""
    call("Arange", 0, 3, 1, out := np.zeros((1, 3, 1, 1), "f4"))
    np.testing.assert_array_equal(out.ravel(), [0, 1, 2])
    call("Arange", 0, 1, 1, out := np.ones((1, 1), "f4"))
    assert out[0, 0] == 0


def test_progressions_are_rounded_once() -> None:
    """Integers are exact, and so are both ends."""
    call("Arange", 0.0, 1.0, 0.1, out := np.zeros(10, "f4"))
    close(out, np.arange(10) * 0.1)
    call("Arange", 2**53 + 1, 2**53 + 4, 1, whole := np.zeros(3, "i8"))
    equal(whole, np.arange(2**53 + 1, 2**53 + 4))
    call("Linspace", 0.1, 0.7, 9, out := np.zeros(9, "f8"))
    assert (out[0], out[-1]) == (0.1, 0.7)
    close(out, np.linspace(0.1, 0.7, 9))


def sample(name: str, *arguments: Any, dtype: Any = "f8", seed: int = 1, offset: int = 0) -> Any:
    """Draw numbers."""
    call(name, out := np.zeros(N, dtype), *arguments, seed, offset)
    return out


@pytest.mark.parametrize(
    ("name", "arguments", "mean", "deviation"),
    [
        ("InplaceUniform", (-1.0, 3.0), 1, 4 / 12**0.5),
        ("InplaceNormal", (5.0, 2.0), 5, 2),
        ("InplaceRandom", (-3, 8), 2, (120 / 12) ** 0.5),
        ("InplaceBernoulli", (0.25,), 0.25, 0.1875**0.5),
    ],
)
@pytest.mark.parametrize("dtype", FLOATS, ids=str)
def test_random_numbers(
    name: str, arguments: Any, mean: float, deviation: float, dtype: Any
) -> None:
    """They have the mean and deviation, and depend on seed and offset alone."""
    numbers = sample(name, *arguments, dtype=dtype)
    assert abs(wide(numbers).mean() - mean) < 5 * deviation / N**0.5
    assert abs(wide(numbers).std() / deviation - 1) < 0.05
    assert abs(np.corrcoef(wide(numbers)[1:], wide(numbers)[:-1])[0, 1]) < 5 / N**0.5
    equal(sample(name, *arguments, dtype=dtype), wide(numbers))
    others = [{"seed": 2}, {"offset": 10}, {"seed": -1}, {"seed": 0, "offset": 1}]
    for other in others:
        again = sample(name, *arguments, dtype=dtype, **other)
        assert abs(np.corrcoef(wide(numbers), wide(again))[0, 1]) < 5 / N**0.5


@pytest.mark.parametrize("dtype", FLOATS, ids=str)
def test_uniform_stays_below_its_end(dtype: Any) -> None:
    """Even where the data type rounds up."""
    numbers = wide(sample("InplaceUniform", 1.0, 2.0, dtype=dtype))
    assert numbers.min() >= 1
    assert numbers.max() < 2
    equal(sample("InplaceUniform", 3.0, 3.0, dtype=dtype), np.full(N, 3))


def test_kinds_of_random_numbers() -> None:
    """All numbers of a range occur, and only they; layouts get the same."""
    assert set(sample("InplaceRandom", -3, 8, dtype="i4")) == set(range(-3, 8))
    assert set(sample("InplaceBernoulli", 0.5, dtype="?")) == {False, True}
    assert not sample("InplaceBernoulli", 0).any()
    assert sample("InplaceBernoulli", 1).all()
    probabilities = np.repeat([0, 0.25, 1], 4000)[:, None]
    call("InplaceBernoulliTensor", out := np.zeros((12000, 2), "i1"), probabilities, 7, 0)
    means = out.reshape(3, 8000).mean(axis=1)
    assert (means[0], means[2]) == (0, 1)
    assert abs(means[1] - 0.25) < 0.025
    wide_range = sample("InplaceRandom", -(2**63), 2**63 - 1, dtype="i8")
    assert wide_range.min() < -(2**62)
    assert wide_range.max() > 2**62
    view = layouts("f4", (3, 4))[2]
    call("InplaceNormal", view, 0.0, 1.0, 1, 0)
    call("InplaceNormal", same := np.zeros((3, 4), "f4"), 0.0, 1.0, 1, 0)
    equal(view, wide(same))


@pytest.mark.parametrize("prob", [0.0, 0.25, 1.0])
def test_dropout(prob: float) -> None:
    """A set bit keeps an element; the shape of the mask is that of its bits."""
    shape = (100, 30)
    mask = np.zeros((3000 + 127) // 128 * 16, "u1")
    call("DropoutGenMask", [100, 30], prob, 3, 0, mask)
    kept = np.unpackbits(mask, bitorder="little")[:3000].reshape(shape) != 0
    assert abs(kept.mean() - (1 - prob)) < 0.05
    again = np.zeros_like(mask)
    call("DropoutGenMask", [3000], prob, 3, 0, again)
    equal(again, mask)
    for dtype in FLOATS:
        x = layouts(dtype, shape)[1]
        call("DropoutDoMask", x, mask, prob, out := like(dtype, shape, 2))
        close(out, np.where(kept, wide(x) / max(1 - prob, 0.1), 0))


@pytest.mark.parametrize(
    ("name", "arguments", "message"),
    [
        ("Arange", (0, 5, 1, np.zeros(4)), "out has 4 elements; expected 5"),
        ("Arange", (0, 5, 0, np.zeros(4)), "step is 0; expected"),
        ("Arange", (0, 4, 1, np.zeros((2, 2))), "expected rank 1"),
        ("Linspace", (0, 4, 3, np.zeros(4)), r"expected \[3\]"),
        ("Eye", (2, 3, np.zeros((3, 2))), r"expected \[2, 3\]"),
        ("InplaceUniform", (np.zeros(2), 2.0, 1.0, 0, 0), "low is 2; expected"),
        ("InplaceNormal", (np.zeros(2), 0.0, -1.0, 0, 0), "std is -1; expected 0 or more"),
        ("InplaceRandom", (np.zeros(2), 1, 1, 0, 0), "low is 1; expected less than high, 1"),
        ("InplaceBernoulli", (np.zeros(2), 1.5, 0, 0), "prob is 1.5; expected 0 to 1"),
        ("InplaceBernoulliTensor", (np.zeros(2), np.zeros(3), 0, 0), "cannot be broadcast to"),
        ("DropoutGenMask", ([129], 0.5, 0, 0, np.zeros(16, "u1")), "expected 32 bytes"),
        ("DropoutGenMask", ([1], 0.5, 0, 0, np.zeros(16, "i1")), "expected UINT8"),
        ("DropoutGenMask", ([-1], 0.5, 0, 0, np.zeros(16, "u1")), "expected sizes of 0 or more"),
        ("DropoutDoMask", (np.zeros(9), np.zeros(15, "u1"), 0.5, np.zeros(9)), "expected 16 bytes"),
        ("DropoutDoMask", (np.zeros(9), np.zeros(16, "u1"), 0.5, np.zeros(8)), r"expected \[9\]"),
    ],
)
def test_mistakes(name: str, arguments: Any, message: str) -> None:
    """Each is reported with what was given and what was expected."""
    with pytest.raises(ParamInvalidError, match=message):
        call(name, *arguments)


def test_data_is_not_all_the_same() -> None:
    """The tests' own elements would hide mistakes if they were."""
    assert len(np.unique(data("f4", (3, 4, 5)))) > 5


def test_permutations() -> None:
    """Each number once, in an order that the seed and the offset decide."""
    drawn = []
    for seed, offset, dtype in ((1, 0, "i8"), (1, 0, "f8"), (2, 0, "i8"), (1, 1, "i4")):
        call("Randperm", N, seed, offset, out := np.zeros(N, dtype))
        equal(np.sort(out), np.arange(N))
        drawn.append(out.astype("i8"))
    equal(drawn[0], drawn[1])
    for other in (np.arange(N), drawn[2], drawn[3]):
        assert np.mean(drawn[0] == other) < 0.01
    # The place of a number does not depend on the number.
    assert abs(np.corrcoef(drawn[0], np.arange(N))[0, 1]) < 0.05
    with pytest.raises(ParamInvalidError, match="out has shape"):
        call("Randperm", 3, 0, 0, np.zeros(4, "i8"))
