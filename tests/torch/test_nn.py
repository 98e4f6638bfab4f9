# SPDX-License-Identifier: Apache-2.0
"""softnpu.torch.nn beside torch.nn: the same arguments, results and gradients."""

from __future__ import annotations

import inspect
from typing import Any

import pytest
import torch
from torch import Tensor

import softnpu.torch.nn as snn
from tests.torch.samples import values

pytestmark = pytest.mark.torch

BOX = values(2, 3, 4, 6, 5)
MODULES: list[tuple[str, dict[str, Any], tuple[Tensor, ...]]] = [
    ("ELU", {}, (BOX,)),
    ("ELU", {"alpha": 0.5, "inplace": True}, (BOX,)),
    ("SELU", {}, (BOX,)),
    ("SELU", {"inplace": True}, (BOX,)),
    *[
        (
            "SmoothL1Loss",
            {"reduction": reduction, "beta": beta},
            (BOX, values(2, 3, 4, 6, 5, seed=1)),
        )
        for reduction in ("none", "mean", "sum")
        for beta in (1.0, 0.3, 0.0)
    ],
    ("Upsample", {"scale_factor": 2}, (BOX,)),
    ("Upsample", {"scale_factor": (1.5, 2.0, 3.0)}, (BOX,)),
    ("Upsample", {"scale_factor": 1.7, "recompute_scale_factor": True}, (BOX,)),
    ("Upsample", {"size": 7}, (BOX,)),
    ("Upsample", {"size": (8, 6, 11), "mode": "nearest"}, (BOX,)),
    ("Upsample", {"scale_factor": 2}, (values(2, 3, 4, 6),)),
    ("Upsample", {"scale_factor": 2, "mode": "trilinear"}, (BOX,)),
]


@pytest.mark.parametrize(
    ("name", "arguments", "inputs"),
    MODULES,
    ids=[f"{name} {arguments} {inputs[0].dim()}-D" for name, arguments, inputs in MODULES],
)
def test_a_module_is_its_counterpart(
    name: str, arguments: dict[str, Any], inputs: tuple[Tensor, ...]
) -> None:
    """Result and gradient agree to float32's accuracy; names and settings are the same."""
    theirs, ours = getattr(torch.nn, name)(**arguments), getattr(snn, name)(**arguments)
    assert repr(ours) == repr(theirs)
    assert inspect.signature(type(ours)) == inspect.signature(type(theirs))
    results = []
    for module in (theirs, ours):
        x = inputs[0].clone().requires_grad_()
        y = module(x * 1, *inputs[1:])
        (gradient,) = torch.autograd.grad(y.square().sum(), x)
        results.append((y.detach(), gradient))
    for got, expected in zip(results[1], results[0], strict=True):
        torch.testing.assert_close(got, expected)


@pytest.mark.parametrize("settings", [(2,), (3, 2, 1), ((2, 3, 2), (1, 2, 2), 0)])
@pytest.mark.parametrize("batched", [True, False])
def test_unpooling(settings: tuple[Any, ...], batched: bool) -> None:
    """The volume that was pooled comes back, with output_size and without."""
    x = values(2, 3, 7, 8, 9) if batched else values(3, 7, 8, 9)
    pooled, indices = torch.nn.MaxPool3d(*settings, return_indices=True)(x)
    theirs, ours = torch.nn.MaxUnpool3d(*settings), snn.MaxUnpool3d(*settings)
    assert repr(ours) == repr(theirs)
    for size in (x.shape, x.shape[-3:]) if batched else (x.shape[-3:],):
        expected = theirs(pooled, indices, output_size=list(size))
        assert torch.equal(ours(pooled, indices, output_size=list(size)), expected)


def test_unpooling_to_the_default_size() -> None:
    """Without output_size, the smallest volume that pools to this."""
    x = values(2, 3, 8, 8, 8)
    pooled, indices = torch.nn.MaxPool3d(2, return_indices=True)(x)
    assert torch.equal(
        snn.MaxUnpool3d(2)(pooled, indices), torch.nn.MaxUnpool3d(2)(pooled, indices)
    )


@pytest.mark.parametrize("size", [[1, 1, 1], [4, 4], [2, 3, 12, 8, 8]])
def test_an_output_size_that_no_pooling_came_from(size: list[int]) -> None:
    """Both modules refuse it; ours names what came and what was expected."""
    pooled, indices = torch.nn.MaxPool3d(2, return_indices=True)(values(2, 3, 8, 8, 8))
    with pytest.raises(ValueError, match="size"):
        torch.nn.MaxUnpool3d(2)(pooled, indices, output_size=size)
    with pytest.raises(ValueError, match="MaxUnpool3d: output_size"):
        snn.MaxUnpool3d(2)(pooled, indices, output_size=size)


def test_one_import_swaps_a_model_over() -> None:
    """A state_dict fits both, and a module of theirs can be replaced by ours."""

    def build(nn: Any) -> torch.nn.Module:
        return torch.nn.Sequential(
            torch.nn.Linear(4, 4), nn.ELU(), torch.nn.Linear(4, 2), nn.SELU()
        )

    theirs, ours = build(torch.nn), build(snn)
    ours.load_state_dict(theirs.state_dict())
    x = values(5, 4)
    torch.testing.assert_close(ours(x), theirs(x))


def test_a_reduction_that_does_not_exist() -> None:
    """The error names the argument, and what is expected."""
    loss = snn.SmoothL1Loss(reduction="avg")
    with pytest.raises(ValueError, match="reduction is 'avg'; expected one of"):
        loss(torch.ones(2), torch.ones(2))
