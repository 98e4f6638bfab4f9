# SPDX-License-Identifier: Apache-2.0
"""Attention."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from softnpu.torch.npu.fused.calls import fused, refuse, wide

_EVERYWHERE = 2147483647
_STATS = 8  # the copies that softmax_max and softmax_sum have of each number
_PATTERN = (2048, 2048)  # the mask of sparse modes, whatever the number of tokens

# How each layout becomes [batch, heads, tokens, size of a head].
_LAYOUTS = ("BSH", "SBH", "BSND", "BNSD", "TND")

Lengths = Sequence[int] | Tensor | None


@dataclass(frozen=True)
class _Rules:
    """What holds for all sequences of a call."""

    pse: Tensor | None
    mask: Tensor | None
    scale: float
    keep: float
    before: int
    after: int
    mode: int


@fused
def npu_fusion_attention(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    head_num: int,
    input_layout: str,
    pse: Tensor | None = None,
    padding_mask: Tensor | None = None,
    atten_mask: Tensor | None = None,
    scale: float = 1.0,
    keep_prob: float = 1.0,
    pre_tockens: int = _EVERYWHERE,
    next_tockens: int = _EVERYWHERE,
    inner_precise: int = 0,
    prefix: Sequence[int] | None = None,
    actual_seq_qlen: Lengths = None,
    actual_seq_kvlen: Lengths = None,
    sparse_mode: int = 0,
    gen_mask_parallel: bool = True,
    sync: bool = False,
) -> tuple[Tensor, Tensor, Tensor, Tensor, int, int, int]:
    """Give dropout(softmax((query @ key.T + pse) * scale, masked)) @ value.

    `atten_mask` is true where nothing is attended to. `sparse_mode` 0 takes it as it is, with the
    tokens from `pre_tockens` before to `next_tockens` after, which do not count without a mask;
    1 takes it alone; 2 and 3 attend to nothing after a token, counted from the first or from the
    last; 4 is a band, counted from the last. With 2 to 4, the mask is none or, of 2048 tokens,
    true above the diagonal.

    Returns
    -------
    tuple
        The result in the input's layout; the largest and the sum of each row of the softmax, eight
        times; an empty tensor; and three numbers of the dropout, which are 0.
    """
    if input_layout not in _LAYOUTS:
        raise RuntimeError(
            f"input_layout is {input_layout!r}; expected one of {', '.join(_LAYOUTS)}"
        )
    refuse("npu_fusion_attention", padding_mask=padding_mask, prefix=prefix)
    if not 0 < keep_prob <= 1:
        raise RuntimeError(f"keep_prob is {keep_prob}; expected more than 0, and at most 1")
    _check_mask(atten_mask, sparse_mode)
    rules = _Rules(pse, atten_mask, scale, keep_prob, pre_tockens, next_tockens, sparse_mode)
    if input_layout != "TND":
        q, k, v = _all_heads_first(query, key, value, head_num, input_layout)
        out, high, total = _attend(q, k, v, rules)
        return _as_before(out, input_layout), high, total, _nothing(query), 0, 0, 0
    _check_heads(query, key, value, head_num, 1)
    queries = _sequences(query, actual_seq_qlen)
    keys, values = (_sequences(t, actual_seq_kvlen) for t in (key, value))
    parts = []
    for each in zip(queries, keys, values, strict=True):
        q, k, v = (t.transpose(0, 1).unsqueeze(0) for t in each)
        parts.append(_attend(q, k, v, rules))
    packed = [torch.cat([t[0].transpose(0, 1) for t in each]) for each in zip(*parts, strict=True)]
    return packed[0].contiguous(), packed[1], packed[2], _nothing(query), 0, 0, 0


def _nothing(like: Tensor) -> Tensor:
    return like.new_empty(0)


def _sequences(tensor: Tensor, ends: Lengths) -> Sequence[Tensor]:
    if ends is None:
        raise RuntimeError("input_layout TND needs actual_seq_qlen and actual_seq_kvlen")
    numbers = ends.tolist() if isinstance(ends, Tensor) else list(ends)
    return tensor.split([b - a for a, b in zip([0, *numbers], numbers, strict=False)])


def _check_mask(mask: Tensor | None, mode: int) -> None:
    if not 0 <= mode <= 4:
        raise NotImplementedError(f"softnpu's npu_fusion_attention has no sparse_mode {mode}")
    if mask is None or mode < 2:
        return
    if mask.shape != _PATTERN:
        raise RuntimeError(
            f"atten_mask has shape {list(mask.shape)}; sparse_mode {mode} expects {list(_PATTERN)}"
        )
    if not torch.equal(mask.bool(), torch.ones_like(mask, dtype=torch.bool).triu(1)):
        raise RuntimeError(
            f"atten_mask is not what sparse_mode {mode} expects: true above the diagonal only"
        )


def _all_heads_first(
    query: Tensor, key: Tensor, value: Tensor, heads: int, layout: str
) -> tuple[Tensor, Tensor, Tensor]:
    """Arrange as [batch, heads, tokens, size of a head]."""
    for name, tensor in (("query", query), ("key", key), ("value", value)):
        if tensor.dim() != len(layout):
            raise RuntimeError(
                f"{name} has shape {list(tensor.shape)}; input_layout {layout} has {len(layout)} "
                "dimensions"
            )
    if layout in ("BSND", "BNSD"):
        _check_heads(query, key, value, heads, layout.index("N"))
        q, k, v = (t.transpose(1, 2) if layout == "BSND" else t for t in (query, key, value))
        return q, k, v
    if heads <= 0 or query.shape[-1] % heads != 0:
        raise RuntimeError(
            f"head_num is {heads}, which does not divide the last dimension of query, "
            f"{query.shape[-1]}"
        )
    size = query.shape[-1] // heads
    for name, tensor in (("key", key), ("value", value)):
        width = tensor.shape[-1]
        if width == 0 or width % size != 0 or heads % (width // size) != 0:
            raise RuntimeError(
                f"the last dimension of {name} is {width}; expected {size}, the size of a head of "
                f"query, times a divisor of head_num, {heads}"
            )
    order = (1, 2, 0, 3) if layout == "SBH" else (0, 2, 1, 3)
    q, k, v = (t.unflatten(-1, (-1, size)).permute(order) for t in (query, key, value))
    return q, k, v


def _check_heads(query: Tensor, key: Tensor, value: Tensor, heads: int, at: int) -> None:
    """Raise unless dimension `at` has `heads` of `query`, and a divisor of the others."""
    if query.shape[at] != heads:
        raise RuntimeError(f"head_num is {heads}, but query has {query.shape[at]} heads")
    for name, tensor in (("key", key), ("value", value)):
        count = tensor.shape[at]
        if count == 0 or heads % count != 0:
            raise RuntimeError(f"{name} has {count} heads; expected a divisor of head_num, {heads}")


def _as_before(out: Tensor, layout: str) -> Tensor:
    if layout == "BNSD":
        return out
    if layout == "BSND":
        return out.transpose(1, 2).contiguous()
    if layout == "SBH":
        return out.permute(2, 0, 1, 3).flatten(2)
    return out.transpose(1, 2).flatten(2)


def _attend(q: Tensor, k: Tensor, v: Tensor, rules: _Rules) -> tuple[Tensor, Tensor, Tensor]:
    groups = q.shape[1] // k.shape[1]
    k, v = (t.repeat_interleave(groups, 1) if groups > 1 else t for t in (k, v))
    scores = wide(q) @ wide(k).transpose(-1, -2)
    if rules.pse is not None:
        scores = scores + wide(rules.pse)
    scores = scores * rules.scale
    hidden = _hidden(scores, rules)
    if hidden is not None:
        scores = scores.masked_fill(hidden, -math.inf)
    high = scores.amax(-1, keepdim=True).clamp(min=torch.finfo(torch.float32).min)
    exponentials = (scores - high).exp()
    total = exponentials.sum(-1, keepdim=True)
    weights = exponentials / total.clamp(min=torch.finfo(torch.float32).tiny)
    weights = torch.nn.functional.dropout(weights, 1 - rules.keep) if rules.keep < 1 else weights
    stats = [t.detach().expand(*t.shape[:-1], _STATS).contiguous() for t in (high, total)]
    return (weights @ wide(v)).to(q.dtype), stats[0], stats[1]


def _hidden(scores: Tensor, rules: _Rules) -> Tensor | None:
    """Say which scores do not count; None where all do."""
    rows, columns = scores.shape[-2:]
    before, after, mode = rules.before, rules.after, rules.mode
    if mode in (0, 1):
        if rules.mask is None:
            return None
        hidden = rules.mask.bool()
        if mode == 1 or (before >= columns and after >= columns):
            return hidden
        return hidden | _outside(scores, before, after, 0)
    if mode == 2:
        return _outside(scores, _EVERYWHERE, 0, 0)
    if mode == 3:
        return _outside(scores, _EVERYWHERE, 0, columns - rows)
    return _outside(scores, before, after, columns - rows)


def _outside(scores: Tensor, before: int, after: int, shift: int) -> Tensor:
    rows, columns = scores.shape[-2:]
    row = torch.arange(rows, device=scores.device).unsqueeze(1) + shift
    column = torch.arange(columns, device=scores.device)
    return (column > row + after) | (column < row - before)
