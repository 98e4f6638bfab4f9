# SPDX-License-Identifier: Apache-2.0
"""Losses and optimisers, against PyTorch in float64."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from softnpu.errors import ParamInvalidError, ParamNullptrError
from tests.everyday.arrays import FLOATS
from tests.everyday.layers import assert_rounded, data, unwritten, wide
from tests.support.described import call

torch = pytest.importorskip("torch")
pytestmark = pytest.mark.torch


@pytest.mark.parametrize("dtype", FLOATS, ids=str)
def test_softmax_cross_entropy(dtype: Any) -> None:
    """Labels are probabilities; an impossible class with label 0 costs nothing."""
    x = data(dtype, (5, 7), 1, "transposed")
    x[0, 1] = -np.inf
    labels = np.abs(data(dtype, (5, 7), 2, "sliced"))
    labels[0, 1] = 0
    loss, back = unwritten(dtype, (5,)), unwritten(dtype, (5, 7), "transposed")
    call("SoftmaxCrossEntropyWithLogits", x, labels, loss, back)
    logs = torch.log_softmax(wide(x), 1)
    terms = torch.where(wide(labels) == 0, 0.0, wide(labels) * logs)
    assert_rounded(loss, -terms.sum(1).detach().numpy())
    assert_rounded(back, (logs.exp() - wide(labels)).detach().numpy())


NUMBERS = [float(np.float32(x)) for x in (1e-2, 0.9, 0.99, 0.1, 1e-6)]


@pytest.mark.parametrize("amsgrad", [False, True])
@pytest.mark.parametrize("maximize", [False, True])
@pytest.mark.parametrize("dtype", ["f4", "f8"])
@pytest.mark.parametrize("step_type", ["f4", "i8"])
def test_adam_w(amsgrad: bool, maximize: bool, dtype: Any, step_type: str) -> None:
    """Three steps, which count from 0."""
    lr, beta1, beta2, decay, eps = NUMBERS
    var = data(dtype, (4, 5), 1, "transposed")
    m, v, top = (np.zeros((4, 5), dtype) for _ in range(3))
    parameter = torch.nn.Parameter(wide(var).detach())
    optimizer = torch.optim.AdamW(
        [parameter], lr, (beta1, beta2), eps, decay, amsgrad, maximize=maximize
    )
    for step in range(3):
        grad = data(dtype, (4, 5), 2 + step, "sliced")
        parameter.grad = wide(grad).detach()
        optimizer.step()
        given = (grad, np.array([step], step_type), *NUMBERS[:3], decay, eps, amsgrad, maximize)
        call("ApplyAdamWV2", var, m, v, top if amsgrad else None, *given)
    tolerance = 1e-6 if dtype == "f4" else 1e-12  # three roundings
    np.testing.assert_allclose(var, parameter.detach().numpy(), tolerance, tolerance)
    state = optimizer.state[parameter]
    np.testing.assert_allclose(m, state["exp_avg"].numpy(), tolerance, tolerance)
    np.testing.assert_allclose(v, state["exp_avg_sq"].numpy(), tolerance, tolerance)
    if amsgrad:
        np.testing.assert_allclose(top, state["max_exp_avg_sq"].numpy(), tolerance, tolerance)


def test_mistakes() -> None:
    """Each is found in phase one."""
    a, b, row = np.zeros((2, 3), "f4"), np.zeros((3, 2), "f4"), np.zeros(2, "f4")
    with pytest.raises(ParamInvalidError, match="labels has shape"):
        call("SoftmaxCrossEntropyWithLogits", a, b, row, a)
    with pytest.raises(ParamInvalidError, match="loss has shape"):
        call("SoftmaxCrossEntropyWithLogits", a, a, np.zeros(3, "f4"), a.copy())
    with pytest.raises(ParamInvalidError, match="expected rank 2"):
        call("SoftmaxCrossEntropyWithLogits", row, row, row, row)
    rest = (*NUMBERS, True, False)
    with pytest.raises(ParamNullptrError, match="maxV is null"):
        call("ApplyAdamWV2", a, a.copy(), a.copy(), None, a.copy(), row[:1], *rest)
    with pytest.raises(ParamInvalidError, match="step has shape"):
        call("ApplyAdamWV2", a, a.copy(), a.copy(), a.copy(), a.copy(), row, *rest)
    with pytest.raises(ParamInvalidError, match="grad has shape"):
        call("ApplyAdamWV2", a, a.copy(), a.copy(), a.copy(), b, row[:1], *rest)
