# SPDX-License-Identifier: Apache-2.0
"""Tokens to their experts, and back."""

from __future__ import annotations

import torch
from torch import Tensor

from softnpu.torch.npu.fused.calls import fused, wide


@fused
def npu_moe_token_permute(
    tokens: Tensor, indices: Tensor, num_out_tokens: int | None = None, padded_mode: bool = False
) -> tuple[Tensor, Tensor]:
    """Order tokens by their experts.

    Parameters
    ----------
    tokens : Tensor
        One in each row.
    indices : Tensor
        The experts of each: one, or a row of several.
    num_out_tokens : int, optional
        How many rows are kept.

    Returns
    -------
    tuple of Tensor
        The rows in the order of their experts, and where each of `indices` has gone.
    """
    _refuse_padding(padded_mode)
    experts = indices.shape[1] if indices.dim() == 2 else 1
    order = torch.argsort(indices.flatten(), stable=True)
    places = torch.argsort(order, stable=True)
    kept = order[: num_out_tokens or None]
    return tokens.index_select(0, kept // experts), places.to(torch.int32)


@fused
def npu_moe_token_unpermute(
    permuted_tokens: Tensor,
    sorted_indices: Tensor,
    probs: Tensor | None = None,
    padded_mode: bool = False,
    restore_shape: list[int] | None = None,
) -> Tensor:
    """Undo `npu_moe_token_permute`: add up what the experts of a token made, by their weights."""
    _refuse_padding(padded_mode)
    places = sorted_indices.long()
    there = places < permuted_tokens.shape[0]
    rows = wide(permuted_tokens).index_select(0, places.clamp(max=permuted_tokens.shape[0] - 1))
    rows = torch.where(there.unsqueeze(-1), rows, torch.zeros_like(rows))
    experts = 1 if probs is None or probs.dim() == 1 else probs.shape[1]
    rows = rows.view(-1, experts, rows.shape[-1])
    if probs is not None:
        rows = rows * wide(probs).reshape(-1, experts, 1)
    return rows.sum(1).to(permuted_tokens.dtype)


def _refuse_padding(padded_mode: bool) -> None:
    if padded_mode:
        raise RuntimeError("padded_mode is True; the operator has only False")
