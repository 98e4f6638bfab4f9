# SPDX-License-Identifier: Apache-2.0
"""The elementwise kernels, and the sums of the loss, against the core's results."""

from __future__ import annotations

import warnings

import pytest
import torch
from torch import Tensor

import softnpu.triton as gpu
from tests.triton.samples import (
    FLOATS,
    LAYOUTS,
    check_bits,
    check_close,
    values,
    with_specials,
)

pytestmark = [
    pytest.mark.torch,
    pytest.mark.filterwarnings("ignore::RuntimeWarning"),  # NumPy's, of the interpreter
]
ops = torch.ops.softnpu
LAYOUT = pytest.mark.parametrize("layout", LAYOUTS)
DTYPE = pytest.mark.parametrize("dtype", FLOATS, ids=str)
NUMBERS = [(1, 1, 1), (1.5, 1.25, 0.75), (0.3, 1.7, 1), (3, 2, 1), (0, 1, 1), (1e20, 1e15, -2)]


def empty_like(tensor: Tensor, layout: str = "contiguous") -> Tensor:
    """Make room for a result, with numbers in it that none may keep."""
    return LAYOUTS[layout](torch.full_like(tensor, 77))


@DTYPE
@pytest.mark.parametrize("numbers", NUMBERS)
def test_elu(dtype: torch.dtype, numbers: tuple[float, ...]) -> None:
    """Ordinary and special values, with scalars that float32 products hold and do not."""
    x = with_specials(40, 50, dtype=dtype)
    out = empty_like(x)
    assert gpu.elu(x, *numbers, out) is out
    check_close(out, ops.elu(x, *numbers))


@DTYPE
@pytest.mark.parametrize("is_result", [True, False])
@pytest.mark.parametrize("numbers", NUMBERS)
def test_elu_backward(dtype: torch.dtype, is_result: bool, numbers: tuple[float, ...]) -> None:
    """From the result and from the input."""
    x, grad = with_specials(40, 50, dtype=dtype), with_specials(40, 50, dtype=dtype, seed=1)
    arguments = (grad, *numbers, is_result, x)
    check_close(gpu.elu_backward(*arguments, empty_like(x)), ops.elu_backward(*arguments))


@DTYPE
def test_selu(dtype: torch.dtype) -> None:
    """The function and its gradient."""
    x, grad = with_specials(40, 50, dtype=dtype), with_specials(40, 50, dtype=dtype, seed=1)
    check_close(gpu.selu(x, empty_like(x)), ops.selu(x))
    check_close(gpu.selu_backward(grad, x, empty_like(x)), ops.selu_backward(grad, x))


@DTYPE
def test_cancelling_in_the_gradient_of_selu(dtype: torch.dtype) -> None:
    """Results next to the lower bound of selu, where y + lambda * alpha keeps few bits."""
    y = -1.7580993408473768 + torch.linspace(-1e-2, 1e-2, 999, dtype=torch.float64)
    y, grad = y.to(dtype), values(999, dtype=dtype)
    check_close(gpu.selu_backward(grad, y, empty_like(y)), ops.selu_backward(grad, y))


@pytest.mark.parametrize("dtype", [torch.int8, torch.int32], ids=str)
def test_selu_of_integers(dtype: torch.dtype) -> None:
    """Truncated and saturated."""
    ends = torch.iinfo(dtype)
    generator = torch.Generator().manual_seed(0)
    x = torch.randint(ends.min, ends.max + 1, (700,), dtype=dtype, generator=generator)
    x[:60] = torch.arange(-30, 30)
    grad = x.flip(0)
    check_bits(gpu.selu(x, empty_like(x)), ops.selu(x))
    check_bits(gpu.selu_backward(grad, x, empty_like(x)), ops.selu_backward(grad, x))


@DTYPE
@pytest.mark.parametrize("beta", [1.0, 0.0, 0.3, 1e-30, 1e38, float("inf")])
@pytest.mark.parametrize("reduction", [0, 1, 2])
def test_smooth_l1_loss_backward(dtype: torch.dtype, beta: float, reduction: int) -> None:
    """Every reduction, with betas at the ends of their range."""
    x, grad = with_specials(40, 50, dtype=dtype), with_specials(40, 50, dtype=dtype, seed=1)
    target = with_specials(40, 50, dtype=dtype, seed=2)
    target[:5] = x[:5]
    arguments = grad, x, target, reduction, beta
    computed = gpu.smooth_l1_loss_backward(*arguments, empty_like(x))
    check_close(computed, ops.smooth_l1_loss_backward(*arguments))


@DTYPE
@pytest.mark.parametrize("beta", [1.0, 0.0, 0.3, 1e-30, 1e38, float("inf")])
def test_smooth_l1_loss(dtype: torch.dtype, beta: float) -> None:
    """The loss of each element."""
    x, target = with_specials(40, 50, dtype=dtype), with_specials(40, 50, dtype=dtype, seed=2)
    target[:5] = x[:5]
    check_close(
        gpu.smooth_l1_loss(x, target, 0, beta, empty_like(x)),
        ops.smooth_l1_loss(x, target, 0, beta),
    )


@DTYPE
@pytest.mark.parametrize("reduction", [1, 2])
@pytest.mark.parametrize("count", [0, 1, 1000, 1025, 70_000])
def test_sums_of_the_loss(dtype: torch.dtype, reduction: int, count: int) -> None:
    """Mean and sum, of nothing, of one block, and of many."""
    x, target = values(count, dtype=dtype), values(count, dtype=dtype, seed=2)
    expected = ops.smooth_l1_loss(x, target, reduction, 0.5)
    check_close(gpu.smooth_l1_loss(x, target, reduction, 0.5, empty_like(expected)), expected)


@DTYPE
@LAYOUT
def test_layouts(dtype: torch.dtype, layout: str) -> None:
    """The operands and the result each in a layout of their own."""
    x, grad = values(3, 4, 5, 6, dtype=dtype), values(3, 4, 5, 6, dtype=dtype, seed=1)
    for other in LAYOUTS:
        operands = LAYOUTS[layout](grad), LAYOUTS[other](x)
        computed = gpu.selu_backward(*operands, empty_like(x, layout))
        check_close(computed, ops.selu_backward(grad, x))
        check_bits(computed, gpu.selu_backward(grad, x, empty_like(x)))


@LAYOUT
def test_broadcast(layout: str) -> None:
    """Operands of several types and shapes, read where they lie."""
    x = LAYOUTS[layout](values(2, 3, 4, 5, dtype=torch.float32))
    target, grad = values(3, 1, 5, dtype=torch.float16), values(1, dtype=torch.bfloat16)
    arguments = grad, x, target, 1, 0.5
    out = torch.empty(2, 3, 4, 5)
    check_close(
        gpu.smooth_l1_loss_backward(*arguments, out), ops.smooth_l1_loss_backward(*arguments)
    )
    expected = ops.smooth_l1_loss(x, target, 2, 0.5)
    check_close(gpu.smooth_l1_loss(x, target, 2, 0.5, torch.empty(())), expected)


@pytest.mark.parametrize("shape", [(), (1,), (0, 3), (1, 1, 7, 1), (2,) * 8])
def test_shapes(shape: tuple[int, ...]) -> None:
    """Ranks from 0 to 8, and no elements."""
    x = values(*shape, dtype=torch.float32)
    check_close(gpu.elu(x, 1, 1, 1, empty_like(x)), ops.elu(x))


@DTYPE
@pytest.mark.parametrize(
    "to",
    [
        torch.float16,
        torch.bfloat16,
        torch.float32,
        torch.float64,
        torch.complex64,
        torch.complex128,
    ],
    ids=str,
)
def test_types_of_results(dtype: torch.dtype, to: torch.dtype) -> None:
    """Everything that a result is cast to."""
    x, grad = with_specials(300, dtype=dtype), values(300, dtype=dtype, seed=1)
    expected = ops.elu.out(x, 1.5, out=torch.empty(300, dtype=to))
    check_close(gpu.elu(x, 1.5, 1, 1, torch.full((300,), 7, dtype=to)), expected)
    arguments = grad, 1.5, 1, 1, False, x
    expected = ops.elu_backward.out(*arguments, out=torch.empty(300, dtype=to))
    check_close(gpu.elu_backward(*arguments, torch.full((300,), 7, dtype=to)), expected)


@DTYPE
def test_in_place(dtype: torch.dtype) -> None:
    """The same bits as with a result of its own."""
    x = values(5, 6, dtype=dtype)
    computed = gpu.elu_(x.clone(), 1.5, 1, 1)
    check_bits(computed, gpu.elu(x, 1.5, 1, 1, empty_like(x)))
    check_bits(gpu.selu_(x.clone()), gpu.selu(x, empty_like(x)))


def test_one_rounding_to_bfloat16() -> None:
    """Next to the middle of two bfloat16 numbers, which rounding to float32 would hit."""
    middle = 1 + 2.0**-8
    grad = torch.tensor([middle, -middle, 1 + 3 * 2.0**-8], dtype=torch.float32)
    # The product with 1 + y lies below the middle by less than a float32 number can tell.
    y = torch.full((3,), -(2.0**-30))
    out = torch.empty(3, dtype=torch.bfloat16)
    gpu.elu_backward(grad, 1.0, 1.0, 1.0, True, y, out)
    assert out.tolist() == [1.0, -1.0, 1 + 2.0**-7]


@pytest.mark.parametrize("numbers", [(1, 1, 1), (4, 1, 1), (1, 1.0625, 1)])
def test_a_large_gradient_far_below_zero(numbers: tuple[float, ...]) -> None:
    """exp(x) is below what float32 holds, but its product with the gradient is not."""
    x = torch.linspace(-400, 0, 999).to(torch.bfloat16)
    grad = torch.full_like(x, 3e38)
    arguments = (grad, *numbers, False, x)
    check_close(gpu.elu_backward(*arguments, empty_like(x)), ops.elu_backward(*arguments))


@DTYPE
def test_an_infinite_gradient_far_below_zero(dtype: torch.dtype) -> None:
    """exp(x) is 0 in float64, too, in the end."""
    x = torch.tensor([-90, -300, -744, -752, -3000, -float("inf")], dtype=dtype)
    grad = torch.full_like(x, float("inf"))
    arguments = grad, 1, 1, 1, False, x
    check_close(gpu.elu_backward(*arguments, empty_like(x)), ops.elu_backward(*arguments))


@DTYPE
@pytest.mark.parametrize("beta", [0.0, 1.0])
def test_the_gradient_of_no_difference(dtype: torch.dtype, beta: float) -> None:
    """The sign of 0 is 0, whatever the sign of the difference's zero is."""
    grad = torch.tensor([1, -1, 0, -0.0], dtype=dtype).repeat(4)
    x = torch.tensor([0, -0.0], dtype=dtype).repeat_interleave(4).repeat(2)
    target = torch.tensor([0, -0.0], dtype=dtype).repeat_interleave(8)
    arguments = grad, x, target, 0, beta
    computed = gpu.smooth_l1_loss_backward(*arguments, empty_like(x))
    check_bits(computed, ops.smooth_l1_loss_backward(*arguments))


def test_scalars_that_no_float32_holds() -> None:
    """They are infinite, without a word."""
    x, target = torch.tensor([1.0, -1.0]), torch.zeros(2)
    with warnings.catch_warnings():
        warnings.filterwarnings("error", "overflow encountered in cast")
        check_close(gpu.elu(x, 1e300, 1, 1, empty_like(x)), ops.elu(x, 1e300, 1, 1))
        for reduction in (0, 2):
            expected = ops.smooth_l1_loss(x, target, reduction, 1e300)
            out = torch.empty_like(expected)
            check_close(gpu.smooth_l1_loss(x, target, reduction, 1e300, out), expected)
