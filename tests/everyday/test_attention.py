# SPDX-License-Identifier: Apache-2.0
"""Attention, against NumPy in float64."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from softnpu.errors import ParamInvalidError, ParamNullptrError
from tests.everyday.layers import assert_rounded, data, unwritten
from tests.support.described import call

BATCH, HEADS, SHARED, QUERIES, KEYS, WIDTH, OUT = 2, 6, 3, 5, 7, 16, 8
ANY = 65535


def attention(q: Any, k: Any, v: Any, shift: Any, mask: Any, scale: float) -> Any:
    """Of arrays [batch, heads, length, width]; heads of the query share those of the keys."""
    k, v = (np.repeat(each.astype("f8"), q.shape[1] // each.shape[1], 1) for each in (k, v))
    scores = q.astype("f8") @ np.swapaxes(k, -1, -2) * scale
    scores = np.where(mask, -np.inf, scores + shift)
    with np.errstate(invalid="ignore"):
        weights = np.exp(scores - scores.max(-1, keepdims=True))
        weights /= weights.sum(-1, keepdims=True)
    return np.nan_to_num(weights) @ v


def arranged(array: Any, layout: str) -> Any:
    """Bring [batch, heads, length, width] to a layout, for BSND as a view."""
    if layout == "BNSD":
        return array
    moved = np.swapaxes(array, 1, 2)
    return moved if layout == "BSND" else moved.reshape(*moved.shape[:2], -1)


def call_attention(
    q: Any, k: Any, v: Any, out: Any, shift: Any, mask: Any, layout: str | None, **others: Any
) -> None:
    """Run the operator without what softnpu does not compute with."""
    absent: list[Any] = [None] * 19
    for at, value in others.get("given", {}).items():
        absent[at] = value
    heads, shared = others.get("heads", HEADS), others.get("shared", SHARED)
    call(
        *("FusedInferAttentionScoreV2", q, [k], [v], shift, mask, *absent, heads, 0.3),
        *(others.get("tokens", ANY), ANY, layout, shared, others.get("sparse", 0), 0, 0, 0, False),
        *(0, 0, out, None),
    )


def operands(dtype: Any, layout: str) -> list[Any]:
    """Make query, key, value and output."""
    return [
        *(arranged(data(dtype, (BATCH, HEADS, QUERIES, WIDTH), 1), layout),),
        *(arranged(data(dtype, (BATCH, SHARED, KEYS, width), width), layout) for width in (16, 8)),
        *(arranged(unwritten(dtype, (BATCH, HEADS, QUERIES, OUT)), layout),),
    ]


@pytest.mark.parametrize("layout", ["BNSD", "BSND", "BSH"])
@pytest.mark.parametrize("dtype", ["f4", "f2"])
@pytest.mark.parametrize("shifted", [False, True])
@pytest.mark.parametrize("masked", [False, True])
def test_attention(layout: str, dtype: Any, shifted: bool, masked: bool) -> None:
    """Shift and mask are broadcast; a row that is masked as a whole is 0."""
    q, k, v, _ = operands(dtype, "BNSD")
    shift = np.broadcast_to(data(dtype, (BATCH, 1, QUERIES, KEYS)), (BATCH, HEADS, QUERIES, KEYS))
    mask = np.random.default_rng(1).random((1, 1, QUERIES, KEYS)) < 0.5
    mask[..., 2, :] = True
    *given, out = operands(dtype, layout)
    call_attention(*given, out, shift if shifted else None, mask if masked else None, layout)
    wanted = attention(q, k, v, shift * shifted, mask & masked, 0.3)
    assert_rounded(out, arranged(wanted, layout))


@pytest.mark.parametrize(
    ("others", "message"),
    [
        ({"given": {0: [5, 5]}}, "actualSeqLengths is given, but softnpu only computes without"),
        ({"given": {7: np.ones(1, "f2")}}, "antiquantScale is given"),
        ({"sparse": 2}, "sparseMode is 2, but softnpu only computes with 0"),
        ({"tokens": 3}, "preTokens is 3"),
        ({"heads": 4}, "numHeads is 4 and numKeyValueHeads 3"),
        ({"heads": 3}, "query has shape .*, which has 6 heads; expected 3"),
    ],
)
def test_what_is_refused(others: dict[str, Any], message: str) -> None:
    """Softnpu does not ignore what changes the result."""
    q, k, v, out = operands("f2", "BNSD")
    with pytest.raises(ParamInvalidError, match=message):
        call_attention(q, k, v, out, None, None, "BNSD", **others)


@pytest.mark.parametrize("layout", ["TND", "", "bnsd"])
def test_other_layouts(layout: str) -> None:
    """The message lists those that there are."""
    with pytest.raises(ParamInvalidError, match=f"inputLayout is {layout}; expected BSH, BSND or"):
        call_attention(*operands("f2", "BNSD"), None, None, layout)


def test_no_layout() -> None:
    """A text may be null as any pointer may."""
    with pytest.raises(ParamNullptrError, match="inputLayout is null"):
        call_attention(*operands("f2", "BNSD"), None, None, None)
