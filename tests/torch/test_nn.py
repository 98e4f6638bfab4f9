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


def shown(value: Any) -> str:
    """Tell the cases of a test apart."""
    if isinstance(value, tuple):
        return ",".join(str(list(v.shape)) if isinstance(v, Tensor) else str(v) for v in value)
    return getattr(value, "__name__", str(value))


VOLUME, PAIR = (BOX,), (values(3, 4), values(3, 4, seed=1))
POOLED = torch.nn.functional.max_pool3d(values(2, 3, 8, 8, 8), 2, return_indices=True)
REFUSED: list[tuple[str, dict[str, Any], tuple[Any, ...]]] = [
    ("Upsample", {}, VOLUME),
    ("Upsample", {"scale_factor": 0}, VOLUME),
    ("Upsample", {"size": 4, "scale_factor": 2}, VOLUME),
    ("Upsample", {"size": 4, "recompute_scale_factor": True}, VOLUME),
    ("Upsample", {"size": (4, 4)}, VOLUME),
    ("Upsample", {"size": (4,)}, VOLUME),
    ("Upsample", {"size": (4, 4, 4)}, (BOX[0],)),
    ("Upsample", {"size": (4, None, 4)}, VOLUME),
    ("Upsample", {"size": (4, 4.0, 4)}, VOLUME),
    ("Upsample", {"size": 4.0}, VOLUME),
    ("Upsample", {"size": (4, 0, 4)}, VOLUME),
    ("Upsample", {"scale_factor": (2, 2)}, VOLUME),
    ("Upsample", {"scale_factor": (2, -1, 2)}, VOLUME),
    *[("Upsample", {"scale_factor": 2, "align_corners": yes}, VOLUME) for yes in (True, False)],
    ("Upsample", {"scale_factor": 2, "mode": "bilinear"}, VOLUME),
    ("Upsample", {"scale_factor": 2}, (values(3, 4),)),
    ("SmoothL1Loss", {"reduction": "avg"}, PAIR),
    ("SmoothL1Loss", {"beta": -1.0}, PAIR),
    ("SmoothL1Loss", {}, (values(3, 4), values(4, 3))),
    ("MaxUnpool3d", {"kernel_size": 2}, (values(2, 3), values(2, 3).long())),
    ("MaxUnpool3d", {"kernel_size": 2}, (*POOLED, [3, 8, 8, 8])),
    ("MaxUnpool3d", {"kernel_size": 2}, (*POOLED, [1, 2, 3, 8, 8, 8])),
    ("MaxUnpool3d", {"kernel_size": 2, "stride": -1}, POOLED),
    ("MaxUnpool3d", {"kernel_size": 1, "padding": 8}, POOLED),
    ("MaxUnpool3d", {"kernel_size": 2}, (*POOLED, 8)),
]


@pytest.mark.parametrize(("name", "arguments", "inputs"), REFUSED, ids=shown)
@pytest.mark.filterwarnings("ignore:Using a target size")
def test_what_torch_refuses(name: str, arguments: dict[str, Any], inputs: tuple[Any, ...]) -> None:
    """An error of the same class, or of one that is derived from it."""
    with pytest.raises(Exception) as theirs:  # noqa: PT011
        getattr(torch.nn, name)(**arguments)(*inputs)
    with pytest.raises(theirs.type):
        getattr(snn, name)(**arguments)(*inputs)


@pytest.mark.parametrize(
    ("arguments", "target"),
    [
        ({}, values(1, 4)),
        ({}, values(4)),
        ({"reduction": "elementwise_mean"}, values(3, 4)),
        ({"size_average": False}, values(3, 4)),
        ({"reduce": False}, values(3, 4)),
    ],
)
def test_what_torch_warns_of(arguments: dict[str, Any], target: Tensor) -> None:
    """The same warning, and the same result."""
    results = []
    for nn in (torch.nn, snn):
        with pytest.warns(UserWarning, match="Using a target|reduction=") as warned:
            results.append(nn.SmoothL1Loss(**arguments)(values(3, 4), target))
        assert len(warned) == 1
    torch.testing.assert_close(*results)


SETTINGS = [
    *MODULES,
    ("Upsample", {"scale_factor": 2}, (values(2, 3, 4),)),
    ("MaxUnpool3d", {"kernel_size": 2}, POOLED),
]
GRAPHS = [
    *[("symbolic_trace", *each) for each in SETTINGS],
    *[("script", *each) for each in SETTINGS],
    # PyTorch's MaxUnpool3d, too, fails there.
    *[("trace", *each) for each in SETTINGS if each[0] != "MaxUnpool3d"],
]


@pytest.mark.parametrize(("make", "name", "arguments", "inputs"), GRAPHS, ids=shown)
@pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::torch.jit.TracerWarning")
def test_graphs(
    make: str, name: str, arguments: dict[str, Any], inputs: tuple[Tensor, ...]
) -> None:
    """Every way to make a graph of a module keeps its result, and softnpu's operator in it."""
    module = getattr(snn, name)(**arguments)

    def fresh() -> tuple[Tensor, ...]:
        return tuple(x.clone() for x in inputs)

    graph: Any
    if make == "symbolic_trace":
        graph = torch.fx.symbolic_trace(module)
        shown = graph.code
    else:
        trace = (fresh(),) if make == "trace" else ()
        graph = getattr(torch.jit, make)(module, *trace)
        shown = str(graph.inlined_graph)
    assert torch.equal(graph(*fresh()), module(*fresh()))
    theirs = name == "Upsample" and (inputs[0].dim() != 5 or module.mode != "nearest")
    assert ("softnpu" in shown) or theirs


@pytest.mark.parametrize("strict", [False, True])
@pytest.mark.parametrize(
    ("name", "arguments", "inputs"),
    [
        ("Upsample", {"scale_factor": 2}, (BOX,)),
        ("Upsample", {"scale_factor": (1.5, 1.0, 3.7)}, (BOX,)),
        ("Upsample", {"scale_factor": 1.5, "recompute_scale_factor": True}, (BOX,)),
        ("Upsample", {"size": 4}, (BOX,)),
        ("MaxUnpool3d", {"kernel_size": 2}, POOLED),
        ("ELU", {}, (BOX,)),
        ("SmoothL1Loss", {}, (BOX, BOX)),
    ],
    ids=shown,
)
@pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::FutureWarning")
def test_export_with_sizes_that_vary(
    strict: bool, name: str, arguments: dict[str, Any], inputs: tuple[Tensor, ...]
) -> None:
    """All sizes are symbols, of a range, and no guard narrows it."""
    module = getattr(snn, name)(**arguments)
    sizes = {i: torch.export.Dim(f"size{i}", min=2, max=64) for i in (0, 2, 3, 4)}
    shapes = tuple(sizes for _ in inputs)
    exported = torch.export.export(module, inputs, dynamic_shapes=shapes, strict=strict).module()
    others = tuple(torch.cat([x, x[:1]])[..., :2, 1:, :].contiguous() for x in inputs)
    if name == "MaxUnpool3d":
        others = (others[0], others[1] % 16)
    assert torch.equal(exported(*others), module(*others))
