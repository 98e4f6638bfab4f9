# SPDX-License-Identifier: Apache-2.0
"""softnpu's functions while something traces or watches: the graph calls them, too."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import Tensor
from torch.fx.experimental.proxy_tensor import make_fx
from torch.utils._python_dispatch import TorchDispatchMode

import softnpu
import softnpu.torch
from tests.torch.samples import SAMPLES, Sample

pytestmark = [
    pytest.mark.torch,
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),  # torch.jit.trace is deprecated
    pytest.mark.filterwarnings("ignore::torch.jit.TracerWarning"),
]

FUNCTIONS: dict[str, Callable[[Tensor], Tensor]] = {
    "function": lambda t: softnpu.elu(t) * 2,
    "in place": lambda t: softnpu.selu_(t.clone()) * 2,
    "out": lambda t: softnpu.elu(t, out=torch.empty_like(t)) * 2,
    "operator": lambda t: torch.ops.softnpu.elu(t) * 2,
    "loss": lambda t: softnpu.smooth_l1_loss(t, t * 0.5, "sum"),
}


class Model(torch.nn.Module):
    """A module that calls one function."""

    def __init__(self, function: Callable[[Tensor], Tensor]) -> None:
        super().__init__()
        self.function = function

    def forward(self, x: Tensor) -> Tensor:
        """Call the function."""
        return self.function(x)


TRACERS: dict[str, Callable[[Callable[[Tensor], Tensor], Tensor], Any]] = {
    "jit.trace": torch.jit.trace,
    "make_fx": lambda f, x: make_fx(f)(x),
    "make_fx fake": lambda f, x: make_fx(f, tracing_mode="fake")(x),
    "make_fx symbolic": lambda f, x: make_fx(f, tracing_mode="symbolic")(x),
    "symbolic_trace": lambda f, _x: torch.fx.symbolic_trace(f),
    "export": lambda f, x: torch.export.export(Model(f), (x,)).module(),
    "compile": lambda f, _x: torch.compile(f, backend="aot_eager", fullgraph=True),
}


@pytest.mark.parametrize("tracer", TRACERS)
@pytest.mark.parametrize("name", FUNCTIONS)
def test_a_graph_computes_with_other_inputs(name: str, tracer: str) -> None:
    """Law: what was traced with one tensor is right for another."""
    torch._dynamo.reset()
    function, x, other = FUNCTIONS[name], torch.tensor([-1.0, 1.0]), torch.tensor([-3.0, 5.0])
    graph = TRACERS[tracer](function, x)
    graph(x)
    assert torch.equal(graph(other), function(other))


class Seen(TorchDispatchMode):
    """Notes the operators that are called."""

    def __init__(self) -> None:
        super().__init__()
        self.names: list[str] = []

    def __torch_dispatch__(
        self, func: Any, types: Any, args: tuple[Any, ...] = (), kwargs: Any = None
    ) -> Any:
        self.names.append(str(func))
        return func(*args, **(kwargs or {}))


@pytest.mark.parametrize("sample", SAMPLES, ids=lambda s: s.id)
def test_modes_see_every_function(sample: Sample) -> None:
    """A dispatch mode sees calls of softnpu's functions on plain tensors."""
    arguments = sample.make()
    expected = getattr(softnpu, sample.name)(*arguments)
    with Seen() as seen:
        got = getattr(softnpu, sample.name)(*arguments)
    assert seen.names == [f"softnpu.{sample.name}.default"]
    assert torch.equal(got, expected)
