# SPDX-License-Identifier: Apache-2.0
"""Types that devices have and the CPU's kernels lack."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch
from torch import Tensor
from torch.nn import functional

CLASSES = torch.tensor([1, 0, 2])
WIDENED: dict[str, Callable[[Tensor], Tensor]] = {
    "avg_pool3d": lambda x: functional.avg_pool3d(x.view(1, 1, 3, 3, 4), 2),
    "bilinear with antialias": lambda x: functional.interpolate(
        x.view(1, 1, 9, 4), (5, 3), mode="bilinear", antialias=True
    ),
    "multi_margin_loss": lambda x: functional.multi_margin_loss(
        x.view(3, 12), CLASSES.to(x.device)
    ),
    "multilabel_margin_loss": lambda x: functional.multilabel_margin_loss(
        x.view(12, 3), CLASSES.to(x.device).expand(12, 3)
    ),
    "round": lambda x: torch.round(x, decimals=1),
}


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
@pytest.mark.parametrize("name", WIDENED)
def test_computed_in_float32(name: str, dtype: torch.dtype) -> None:
    """Results and gradients are those of float32, rounded once."""
    function = WIDENED[name]
    x = torch.randn(36).to(dtype)
    wide, narrow = x.float().requires_grad_(), x.npu().requires_grad_()
    expected, got = function(wide), function(narrow)
    assert got.is_npu
    assert torch.equal(got.cpu(), expected.to(dtype))
    expected.sum().backward()
    got.sum().backward()
    assert wide.grad is not None
    assert narrow.grad is not None
    assert narrow.grad.dtype == dtype
    torch.testing.assert_close(narrow.grad.cpu(), wide.grad.to(dtype))


@pytest.mark.parametrize("dtype", [torch.uint8, torch.int32, torch.int64])
def test_histograms_of_integers(dtype: torch.dtype) -> None:
    """The counts have the type of the input."""
    x = torch.tensor([0, 1, 1, 3, 3, 3], dtype=dtype, device="npu")
    counts = torch.histc(x, 4, 0, 3)
    assert counts.is_npu
    assert counts.dtype == dtype
    assert counts.tolist() == [1, 2, 0, 3]
