# SPDX-License-Identifier: Apache-2.0
"""softnpu's functions while something traces or watches: the graph calls them, too."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
import torch
from torch import Tensor
from torch.autograd import forward_ad
from torch.fx.experimental.proxy_tensor import make_fx
from torch.utils._python_dispatch import TorchDispatchMode

import softnpu
import softnpu.torch
from softnpu import _core
from softnpu.torch import calls
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


@pytest.fixture
def asked() -> Iterator[list[str]]:
    """The calls that the core asks softnpu.torch about, and computes itself."""
    names: list[str] = []

    def ask(name: str, _arguments: tuple[Any, ...]) -> Any:
        names.append(name)
        return NotImplemented

    _core.set_autograd(ask)
    yield names
    calls.take_part()


WATCHERS: dict[str, Callable[[], contextlib.AbstractContextManager[Any]]] = {
    "mode": Seen,
    "autocast": lambda: torch.autocast("cpu", torch.bfloat16),
    "forward mode": forward_ad.dual_level,
}
STATES: dict[str, Callable[[], contextlib.AbstractContextManager[Any]]] = {
    "grad": torch.enable_grad,
    "no_grad": torch.no_grad,
    "inference": torch.inference_mode,
}


@pytest.mark.parametrize("state", STATES)
@pytest.mark.parametrize("watcher", WATCHERS)
def test_watchers_are_noticed(watcher: str, state: str, asked: list[str]) -> None:
    """Law: a call on plain tensors is asked about while a watcher is active, and only then."""

    def scenario() -> None:
        for _ in range(2):
            with STATES[state]():
                x = torch.ones(3)
                softnpu.selu_(x)
                assert asked == []
                with WATCHERS[watcher]():
                    softnpu.elu(x)
                    softnpu.selu_(x)
                assert asked == ["elu", "selu_"]
                asked.clear()
                softnpu.elu(x)
                assert asked == []

    scenario()
    with contextlib.ExitStack() as stack:
        if watcher != "forward mode":  # its level is that of all threads
            stack.enter_context(WATCHERS[watcher]())
        with ThreadPoolExecutor(1) as pool:
            pool.submit(scenario).result()


def test_a_tracer_is_noticed(asked: list[str]) -> None:
    """Law: the same for calls on tensors that are no input of what is traced."""
    constant = torch.ones(3)

    def function(x: Tensor) -> Tensor:
        return x + softnpu.elu(constant)

    function(constant)
    assert asked == []
    torch.jit.trace(function, constant, check_trace=False)
    assert asked == ["elu"]
    function(constant)
    assert asked == ["elu"]
