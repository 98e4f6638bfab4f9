# SPDX-License-Identifier: Apache-2.0
"""Attention for training and its gradient, against PyTorch in float64."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

from softnpu.errors import ParamInvalidError
from tests.everyday.layers import ROUNDING, assert_rounded, data, unwritten
from tests.support.described import call

torch = pytest.importorskip("torch")
pytestmark = pytest.mark.torch

BATCH, HEADS, SHARED, QUERIES, KEYS, WIDTH = 2, 6, 3, 5, 7, 16
SCALE = 0.3
ANY = 2**31 - 1
SCORES = (BATCH, HEADS, QUERIES, KEYS)


@dataclass
class Case:
    """One call of the forward operator and of the gradient, but for query, key and value."""

    layout: str = "BNSD"
    shift: Any = None
    shift_type: int | None = None  # None: the functions without V2
    mask: Any = None
    drop: Any = None
    keep: float = 1.0
    before: int = ANY
    after: int = ANY
    mode: int = 0
    heads: int = HEADS

    def tail(self) -> tuple[Any, ...]:
        """Make the numbers at the end of the inputs."""
        numbers = (SCALE, self.keep, self.before, self.after, self.heads, self.layout, 0, self.mode)
        starts = () if self.shift_type is None else (None, None)
        return (None, *starts, *numbers, *(() if self.shift_type is None else (self.shift_type,)))

    def name(self, direction: str) -> str:
        """Name the function."""
        return f"FlashAttentionScore{direction}" + ("" if self.shift_type is None else "V2")


def arranged(array: Any, layout: str) -> Any:
    """Bring [batch, heads, length, width] to a layout."""
    if layout == "BNSD":
        return array
    moved = np.swapaxes(array, 1, 2)
    if layout == "BSND":
        return moved
    flat = moved.reshape(*moved.shape[:2], -1)
    return flat if layout == "BSH" else np.swapaxes(flat, 0, 1)


def inputs(dtype: Any) -> list[Any]:
    """Make query, key, value and the gradient of the result."""
    heads = (HEADS, SHARED, SHARED, HEADS)
    lengths = (QUERIES, KEYS, KEYS, QUERIES)
    return [
        data(dtype, (BATCH, count, length, WIDTH), seed)
        for seed, (count, length) in enumerate(zip(heads, lengths, strict=True))
    ]


def kept(case: Case) -> Any:
    """Say which weights the dropout keeps, from the bits."""
    if case.drop is None:
        return 1.0
    bits = np.unpackbits(case.drop, bitorder="little")[: math.prod(SCORES)]
    return torch.from_numpy(bits.reshape(SCORES).astype("f8") / case.keep)


def hidden_by(case: Case) -> Any:
    """Say which scores the mode masks."""
    row, key = np.arange(QUERIES)[:, None], np.arange(KEYS)
    if case.mode == 2:
        return key > row
    shift = KEYS - QUERIES if case.mode in (3, 4) else 0
    after = 0 if case.mode == 3 else case.after
    before = ANY if case.mode == 3 else case.before
    outside = (key > row + shift + after) | (key < row + shift - before)
    if case.mode > 2:
        return outside
    if case.mask is None:
        return np.zeros(SCORES, bool)
    return (case.mask != 0) | (outside if case.mode == 0 else False)


def weights(case: Case, q: Any, k: Any, shift: Any) -> tuple[Any, Any]:
    """Compute scores, masked, and their softmax; a row that is masked as a whole is 0."""
    k = k.repeat_interleave(HEADS // SHARED, 1)
    moved = 0 if shift is None else shift
    scores = q @ k.mT * SCALE + moved if case.shift_type == 0 else (q @ k.mT + moved) * SCALE
    hidden = torch.from_numpy(np.broadcast_to(hidden_by(case), SCORES).copy())
    scores = scores.masked_fill(hidden, -math.inf)
    return scores, scores.softmax(-1).masked_fill(hidden, 0)


def forward(case: Case, given: list[Any]) -> tuple[Any, Any, Any]:
    """Run the forward operator: the result and its statistics."""
    q, k, v = (arranged(each, case.layout) for each in given[:3])
    out = arranged(unwritten(q.dtype, given[0].shape), case.layout)
    high, total = (unwritten("f4", (*given[0].shape[:3], 8)) for _ in range(2))
    masks = (case.shift, case.drop, None, case.mask)
    call(case.name(""), q, k, v, *masks, *case.tail(), high, total, None, out)
    return out, high, total


def wide(array: Any) -> Any:
    """Make a float64 tensor that records what is computed from it."""
    return torch.from_numpy(np.asarray(array, "f8")).requires_grad_()


def check_forward(case: Case, given: list[Any]) -> tuple[Any, Any, Any]:
    """Compare the result, and the statistics to their own rounding."""
    out, high, total = forward(case, given)
    q, k, v = (wide(each).detach() for each in given[:3])
    shift = None if case.shift is None else wide(case.shift).detach()
    scores, softmax = weights(case, q, k, shift)
    wanted = softmax * kept(case) @ v.repeat_interleave(HEADS // SHARED, 1)
    assert_rounded(out, arranged(wanted.numpy(), case.layout))
    assert (high == high[..., :1]).all()
    assert (total == total[..., :1]).all()
    top = scores.amax(-1).numpy()
    assert_rounded(high[..., 0], np.where(np.isinf(top), np.finfo("f4").min, top))
    stored = torch.from_numpy(high[..., :1].astype("f8"))
    assert_rounded(total[..., 0], (scores - stored).exp().sum(-1).numpy())
    return out, high, total


def check_gradient(case: Case, given: list[Any]) -> None:
    """Compare with the derivative of the same formula, to the rounding of what is taken over."""
    out, high, total = check_forward(case, given)
    q, k, v, dy = (arranged(each, case.layout) for each in given)
    found = [arranged(unwritten(q.dtype, each.shape), case.layout) for each in given[:3]]
    shift = None if case.shift is None else unwritten(case.shift.dtype, case.shift.shape)
    masks = (case.shift, case.drop, None, case.mask)
    taken = (*masks, high, total, None, out)
    call(case.name("Grad"), q, k, v, dy, *taken, *case.tail(), *found, shift)

    leaves = [wide(each) for each in given[:3]]
    pse = None if case.shift is None else wide(case.shift)
    softmax = weights(case, leaves[0], leaves[1], pse)[1]
    result = softmax * kept(case) @ leaves[2].repeat_interleave(HEADS // SHARED, 1)
    wanted = torch.autograd.grad(
        result, leaves + ([] if pse is None else [pse]), wide(given[3]).detach()
    )
    got = [*found, *([] if shift is None else [shift])]
    for one, expected in zip(got, wanted, strict=True):
        like = expected.numpy() if one is shift else arranged(expected.numpy(), case.layout)
        near = 64 * ROUNDING[one.dtype.name]
        np.testing.assert_allclose(one.astype("f8"), like, near, near)


@pytest.mark.parametrize("layout", ["BNSD", "BSND", "BSH", "SBH"])
@pytest.mark.parametrize("dtype", ["f4", "f2"])
def test_layouts(layout: str, dtype: Any) -> None:
    """Heads of the query share those of the keys in every layout."""
    check_gradient(Case(layout), inputs(dtype))


@pytest.mark.parametrize("shape", [SCORES, (1, HEADS, QUERIES, KEYS), (BATCH, HEADS, 1, KEYS)])
@pytest.mark.parametrize("shift_type", [None, 0, 1])
def test_shifts(shape: tuple[int, ...], shift_type: int | None) -> None:
    """The shift is added before the scale, or after it; its gradient is summed to its shape."""
    check_gradient(Case(shift=data("f4", shape), shift_type=shift_type), inputs("f4"))


@pytest.mark.parametrize(
    "shape", [SCORES, (BATCH, 1, *SCORES[2:]), (1, 1, *SCORES[2:]), SCORES[2:]]
)
@pytest.mark.parametrize("dtype", ["?", "u1"])
@pytest.mark.parametrize("mode", [0, 1])
def test_masks(shape: tuple[int, ...], dtype: Any, mode: int) -> None:
    """A mask is broadcast; a row that is masked as a whole is 0, and so are its gradients."""
    mask = np.random.default_rng(1).random(shape) < 0.5
    mask[..., 2, :] = True
    check_gradient(Case(mask=mask.astype(dtype), mode=mode), inputs("f4"))


def test_tokens_beside_a_mask() -> None:
    """Mode 0 masks what the tokens leave out, too, but only if there is a mask."""
    mask = np.zeros(SCORES[2:], bool)
    check_gradient(Case(mask=mask, before=1, after=2), inputs("f4"))
    check_gradient(Case(before=1, after=2), inputs("f4"))
    check_gradient(Case(mask=mask, before=1, after=2, mode=1), inputs("f4"))


@pytest.mark.parametrize("mode", [2, 3, 4])
@pytest.mark.parametrize("has_pattern", [False, True])
def test_sparse_modes(mode: int, has_pattern: bool) -> None:
    """Positions decide, counted from the first or from the last; the mask is a fixed pattern."""
    pattern = np.triu(np.ones((2048, 2048), bool), 1) if has_pattern else None
    check_gradient(Case(mask=pattern, mode=mode, before=3, after=-1), inputs("f4"))


def test_another_pattern() -> None:
    """A pattern that is not the expected one would mask something else on a device."""
    pattern = np.triu(np.ones((2048, 2048), bool), 2)
    with pytest.raises(
        RuntimeError, match=r"element \[0, 1\] of attenMask is 0; sparseMode 2 to 4"
    ):
        forward(Case(mask=pattern, mode=2), inputs("f4"))


def test_dropout() -> None:
    """A weight whose bit is 0 is dropped; the others are divided by keepProb."""
    drop = np.random.default_rng(2).integers(0, 256, math.prod(SCORES) // 8 + 1, np.uint8)
    check_gradient(Case(drop=drop, keep=0.5), inputs("f4"))


def test_part_of_the_keys() -> None:
    """The gradient uses the statistics and the result that it gets, which may be of more keys."""
    q, k, v, dy = inputs("f4")
    case = Case()
    out, high, total = forward(case, [q, k, v])
    found = []
    for keys in (slice(0, 3), slice(3, None)):
        part = [np.ascontiguousarray(each[:, :, keys]) for each in (k, v)]
        grads = [unwritten("f4", each.shape) for each in (q, *part)]
        taken = (None, None, None, None, high, total, None, out)
        call("FlashAttentionScoreGrad", q, *part, dy, *taken, *case.tail(), *grads, None)
        found.append(grads)
    whole = [unwritten("f4", each.shape) for each in (q, k, v)]
    taken = (None, None, None, None, high, total, None, out)
    call("FlashAttentionScoreGrad", q, k, v, dy, *taken, *case.tail(), *whole, None)
    np.testing.assert_allclose(found[0][0] + found[1][0], whole[0], 1e-5, 1e-5)
    for at in (1, 2):
        assert (np.concatenate([found[0][at], found[1][at]], 2) == whole[at]).all()


@pytest.mark.parametrize("sign", [1, -1])
def test_scores_beyond_float(sign: int) -> None:
    """The result does not depend on the range of the statistics, which do not hide it."""
    q, k = np.full((1, 1, 1, 1), 1e20, "f4"), np.array([1, 3, 2], "f4").reshape(1, 1, 3, 1)
    k *= np.float32(sign * 1e20)
    v, case = data("f4", (1, 1, 3, 1)), Case(heads=1)
    out, high, total = forward(case, [q, k, v])
    assert out.item() == v[0, 0, 1 if sign > 0 else 0].item()
    assert (high == sign * np.inf).all()
    assert np.isnan(total).all()


@pytest.mark.parametrize("sizes", [(0, 2, 3, 4), (2, 2, 0, 4), (2, 2, 3, 0)])
def test_no_elements(sizes: tuple[int, ...]) -> None:
    """Without rows nothing is written; heads without width have equal scores."""
    q, out = data("f4", sizes), unwritten("f4", sizes)
    high, total = (unwritten("f4", (*sizes[:3], 8)) for _ in range(2))
    case = Case(heads=2)
    call("FlashAttentionScore", q, q, q, *[None] * 4, *case.tail(), high, total, None, out)
    assert (high == 0).all()
    assert (total == 3).all()


@pytest.mark.parametrize(
    ("case", "message"),
    [
        (Case(mode=5), "sparseMode is 5, but softnpu only computes with 0 to 4"),
        (Case(keep=0.5), "keepProb is 0.5; expected 1, or more than 0 with dropMask"),
        (Case(keep=0.5, drop=np.zeros(3, np.uint8)), "dropMask has shape .3.; expected 53 bytes"),
        (Case(drop=np.zeros(99, np.int8)), "dropMask has data type INT8; expected UINT8"),
        (Case(shift_type=2), "pseType is 2, but softnpu only computes with 0 and 1"),
        (Case("TND"), "inputLayout is TND; expected BSH, SBH, BSND or BNSD"),
        (Case(heads=0), "headNum is 0; expected more than 0"),
        (Case(heads=4), "headNum is 4, but key has 3 heads; expected a divisor"),
        (
            Case(mask=np.zeros((9, 9), bool)),
            "attenMask has shape .9, 9., which cannot be broadcast",
        ),
        (Case(mask=np.zeros(SCORES, bool), mode=3), "attenMask has shape .*expected .2048, 2048."),
    ],
)
def test_what_is_refused(case: Case, message: str) -> None:
    """Softnpu does not ignore what changes the result."""
    given = inputs("f4")
    with pytest.raises(ParamInvalidError, match=message):
        forward(case, given)
