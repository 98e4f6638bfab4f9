# SPDX-License-Identifier: Apache-2.0
"""PyTorch's own test inputs: every OpInfo sample of the operators that softnpu has, too.

Forward and backward; both compiled with ``aot_eager`` for the first samples. A sample that the
contract does not admit is refused with the contract's error, and counted with the reason.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import Tensor

import softnpu
import softnpu.torch.nn as snn

pytestmark = [
    pytest.mark.torch,
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),
    pytest.mark.filterwarnings("ignore::FutureWarning"),
    pytest.mark.filterwarnings("ignore::UserWarning"),
]

ops = torch.ops.softnpu
Call = Callable[..., Tensor]


def _elu(x: Tensor, alpha: float = 1.0, inplace: bool = False) -> Tensor:
    return ops.elu_(x * 1, alpha) if inplace else ops.elu(x, alpha)  # type: ignore[no-any-return]


def _selu(x: Tensor, inplace: bool = False) -> Tensor:
    return ops.selu_(x * 1) if inplace else ops.selu(x)  # type: ignore[no-any-return]


def _loss(x: Tensor, target: Tensor, **settings: Any) -> Tensor:
    return snn.SmoothL1Loss(**settings)(x, target)  # type: ignore[no-any-return]


def _interpolate(x: Tensor, *arguments: Any, **settings: Any) -> Tensor:
    return snn.Upsample(*arguments, **settings)(x)  # type: ignore[no-any-return]


def _unpool(x: Tensor, indices: Tensor, *arguments: Any, **settings: Any) -> Tensor:
    size = settings.pop("output_size", None)
    return snn.MaxUnpool3d(*arguments, **settings)(x, indices, output_size=size)  # type: ignore[no-any-return]


# PyTorch's name and variant of each, and how softnpu computes the same.
FUNCTIONS: dict[tuple[str, str], Call] = {
    ("nn.functional.elu", ""): _elu,
    ("nn.functional.selu", ""): _selu,
    ("nn.functional.smooth_l1_loss", ""): _loss,
    ("nn.functional.interpolate", "nearest"): _interpolate,
    ("nn.functional.max_unpool3d", ""): _unpool,
    ("nn.functional.max_unpool3d", "grad"): _unpool,
}


def _infos() -> dict[tuple[str, str], Any]:
    from torch.testing._internal.common_methods_invocations import op_db

    return {(op.name, op.variant_test_name): op for op in op_db}


DTYPES = (torch.float32, torch.float16, torch.bfloat16, torch.float64)
COMPILED = 2  # samples of each case, as compiling takes long
CASES = [(*key, dtype) for key in FUNCTIONS for dtype in DTYPES]


def refusal(call: Call, *arguments: Any, **settings: Any) -> str | None:
    """Why the contract does not admit a call, in a few words; None if it does."""
    try:
        call(*arguments, **settings)
    except softnpu.ParamInvalidError as error:
        return str(error).split(": ", 1)[1]
    return None


@pytest.mark.parametrize(("name", "variant", "dtype"), CASES, ids=str)
def test_samples(name: str, variant: str, dtype: torch.dtype) -> None:
    """What the contract admits has PyTorch's result and gradients; the rest is counted."""
    info, ours = _infos()[name, variant], FUNCTIONS[name, variant]
    theirs: Call = info.op
    refused: Counter[str] = Counter()
    admitted = 0
    for sample in info.sample_inputs("cpu", dtype, requires_grad=True):
        if name.endswith("interpolate") and sample.input.dim() != 5:
            continue  # PyTorch's operators of one and two dimensions are none of softnpu's
        arguments, settings = sample.args, sample.kwargs
        if reason := refusal(ours, sample.input, *arguments, **settings):
            refused[reason] += 1
            continue
        admitted += 1
        expected = outcome(theirs, sample.input, arguments, settings)
        compare(outcome(ours, sample.input, arguments, settings), expected, sample)
        if admitted > COMPILED:
            continue
        torch._dynamo.reset()
        compiled = torch.compile(ours, fullgraph=True, backend="aot_eager")
        compare(outcome(compiled, sample.input, arguments, settings), expected, sample)
    print(f"{name} {variant} {dtype}: {admitted} samples, refused: {dict(refused)}")
    lacks = {torch.float64: ("DOUBLE", ("elu", "loss")), torch.bfloat16: ("BF16", ("unpool3d",))}
    kind, operators = lacks.get(dtype, ("", ()))
    if name.endswith(operators):
        assert admitted == 0
        assert all(kind in reason for reason in refused)
    else:
        assert admitted > 0
        assert all(explained(reason) for reason in refused), refused


def explained(reason: str) -> bool:
    """Whether a refusal is one that the documents ask for."""
    return any(word in reason for word in ("empty", "above 0", "must", "supports"))


def outcome(call: Call, x: Tensor, arguments: Any, settings: Any) -> list[Tensor]:
    """The result, and the gradient of each tensor that has one."""

    def fresh(value: Any) -> Any:
        if not isinstance(value, Tensor):
            return value
        return value.detach().clone().requires_grad_(value.requires_grad)

    tensors = [fresh(x), *map(fresh, arguments)]
    result = call(*tensors, **settings)
    wanted = [t for t in tensors if isinstance(t, Tensor) and t.requires_grad]
    weights = torch.linspace(0.5, 1.5, max(result.numel(), 1))[: result.numel()]
    loss = (result * weights.reshape(result.shape).to(result.dtype)).sum()
    return [result.detach(), *torch.autograd.grad(loss, wanted)]


def compare(got: list[Tensor], expected: list[Tensor], sample: Any) -> None:
    """Close for the type; exactly the same shapes and types."""
    assert len(got) == len(expected)
    for ours, theirs in zip(got, expected, strict=True):
        assert ours.dtype == theirs.dtype, sample
        torch.testing.assert_close(ours, theirs, msg=lambda text: f"{sample}: {text}")


def test_pytorchs_gradient_of_upsampling_that_is_no_adjoint() -> None:
    """PyTorch is wrong where an axis keeps its size and its scale is 1.25; ours is the adjoint."""
    x = torch.randn(1, 1, 4, 4, 4, dtype=torch.float64)
    scales, size = (1.25, 1.25, 1.25), [5, 5, 4]
    weights = torch.randn(1, 1, *size, dtype=torch.float64)

    def gap(forward: Call, backward: Call) -> float:
        one = (forward(x) * weights).sum()
        other = (x * backward(weights)).sum()
        return abs((one - other) / one).item()

    aten = torch.ops.aten
    theirs = gap(
        lambda t: aten.upsample_nearest3d(t, size, *scales),
        lambda g: aten.upsample_nearest3d_backward(g, size, list(x.shape), *scales),
    )
    ours = gap(
        lambda t: ops.upsample_nearest3d(t, size, None, None, None),
        lambda g: ops.upsample_nearest3d_backward(g, size, list(x.shape), None, None, None),
    )
    assert ours < 1e-14
    assert theirs > 1e-3, "PyTorch's gradient has become the adjoint; this page can go"
