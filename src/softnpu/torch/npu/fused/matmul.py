# SPDX-License-Identifier: Apache-2.0
"""Matrix products of groups."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor

from softnpu.torch.npu.fused.calls import fused, refuse

_ROWS, _INNER = 0, 2


@fused
def npu_linear(input: Tensor, weight: Tensor, bias: Tensor | None = None) -> Tensor:
    """Give input @ weight.T + bias."""
    return torch.nn.functional.linear(input, weight, bias)


@fused
def npu_grouped_matmul(
    x: Sequence[Tensor],
    weight: Sequence[Tensor],
    *,
    bias: Sequence[Tensor] | None = None,
    group_list: Sequence[int] | Tensor | None = None,
    split_item: int = 0,
    group_type: int | None = None,
    group_list_type: int = 0,
    act_type: int = 0,
    output_dtype: torch.dtype | None = None,
    **quantization: Any,
) -> list[Tensor]:
    """Multiply each group of rows by its own matrix.

    Parameters
    ----------
    x, weight : list of Tensor
        One of each for a group, or one for all: its rows by `group_list`, the matrices stacked.
    bias : list of Tensor, optional
    group_list : Tensor or list of int, optional
        Where the groups end (`group_list_type` 0), or how long they are (1).
    split_item : int
        0 and 1: a result for each group; 2 and 3: one for all.
    group_type : int, optional
        0: groups of rows of `x`; 2: of its columns; -1: no groups, one `x` for each.
    output_dtype : torch.dtype, optional

    Returns
    -------
    list of Tensor
    """
    refuse("npu_grouped_matmul", act_type=act_type or None, **quantization)
    matrices = [m for w in weight for m in (w if w.dim() == 3 else (w,))]
    inputs = list(x)
    if len(x) == 1 and group_list is not None:
        sizes = _sizes(group_list, group_list_type)
        if group_type == _INNER:
            inputs = list(x[0].split(sizes, -1))
            matrices = list(weight[0].split(sizes, 0)) if len(weight) == 1 else matrices
        else:
            inputs = list(x[0][: sum(sizes)].split(sizes, 0))
    if len(inputs) != len(matrices):
        raise RuntimeError(
            f"npu_grouped_matmul: {len(inputs)} groups, but {len(matrices)} matrices"
        )
    biases = [None] * len(inputs) if not bias else [b for t in bias for b in _rows(t)]
    results = [
        a @ m if b is None else a @ m + b for a, m, b in zip(inputs, matrices, biases, strict=True)
    ]
    if output_dtype is not None:
        results = [result.to(output_dtype) for result in results]
    if split_item < 2:
        return results
    return [torch.stack(results) if group_type == _INNER else torch.cat(results)]


def _rows(bias: Tensor) -> Sequence[Tensor]:
    return bias.unbind() if bias.dim() == 2 else (bias,)


def _sizes(group_list: Sequence[int] | Tensor, kind: int) -> list[int]:
    numbers = group_list.tolist() if isinstance(group_list, Tensor) else list(group_list)
    if kind == 1:
        return numbers
    if kind != 0:
        raise NotImplementedError(f"npu_grouped_matmul: group_list_type is {kind}; expected 0 or 1")
    return [end - begin for begin, end in zip([0, *numbers], numbers, strict=False)]
