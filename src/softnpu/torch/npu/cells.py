# SPDX-License-Identifier: Apache-2.0
"""Recurrent cells: what PyTorch calls on devices other than the CPU, with kernels for GPUs alone.

Here they are the sums that PyTorch computes on the CPU, which autograd records.
"""

from __future__ import annotations

import torch
from torch import Tensor

_ATEN = torch.library.Library("aten", "IMPL")


def _with_bias(gates: Tensor, bias: Tensor | None) -> Tensor:
    return gates if bias is None else gates + bias


def _lstm_cell(
    input_gates: Tensor,
    hidden_gates: Tensor,
    cx: Tensor,
    input_bias: Tensor | None = None,
    hidden_bias: Tensor | None = None,
) -> tuple[Tensor, Tensor, Tensor]:
    gates = _with_bias(hidden_gates, hidden_bias) + _with_bias(input_gates, input_bias)
    enter, forget, cell, leave = gates.chunk(4, 1)
    enter, forget, leave = enter.sigmoid(), forget.sigmoid(), leave.sigmoid()
    cell = cell.tanh()
    cy = (forget * cx) + (enter * cell)
    return leave * cy.tanh(), cy, torch.cat((enter, forget, cell, leave), 1)


def _gru_cell(
    input_gates: Tensor,
    hidden_gates: Tensor,
    hx: Tensor,
    input_bias: Tensor | None = None,
    hidden_bias: Tensor | None = None,
) -> tuple[Tensor, Tensor]:
    of_input = _with_bias(input_gates, input_bias).chunk(3, 1)
    of_hidden = _with_bias(hidden_gates, hidden_bias).chunk(3, 1)
    reset = (of_hidden[0] + of_input[0]).sigmoid()
    update = (of_hidden[1] + of_input[1]).sigmoid()
    new = (of_input[2] + of_hidden[2] * reset).tanh()
    return (hx - new) * update + new, torch.cat((reset, update, new, hx, of_hidden[2]), 1)


def register() -> None:
    """Give the device its cells, above autograd."""
    for key in ("AutogradPrivateUse1", "PrivateUse1"):
        _ATEN.impl("_thnn_fused_lstm_cell", _lstm_cell, key)
        _ATEN.impl("_thnn_fused_gru_cell", _gru_cell, key)
