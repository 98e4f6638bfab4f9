# SPDX-License-Identifier: Apache-2.0
"""softnpu.torch's functions: what editors show of them, and that every tracer sees through them."""

from __future__ import annotations

import inspect
from typing import Any

import pytest
import torch
from torch.fx.experimental.proxy_tensor import make_fx

import softnpu.torch
from tests.torch.samples import SAMPLES, Sample

pytestmark = pytest.mark.torch
NAMES = [*dict.fromkeys(sample.name for sample in SAMPLES), "elu_", "selu_"]


@pytest.mark.parametrize("name", NAMES)
def test_a_signature_is_the_operators_schema(name: str) -> None:
    """Names, order and defaults of the arguments; the docstring names softnpu's function."""
    function, packet = getattr(softnpu.torch, name), getattr(torch.ops.softnpu, name)
    overloads = [getattr(packet, overload) for overload in packet.overloads()]
    schema = max((each._schema for each in overloads), key=lambda s: len(s.arguments))
    parameters = inspect.signature(function).parameters
    assert list(parameters) == [argument.name for argument in schema.arguments]
    for argument in schema.arguments:
        if argument.name != "out":
            default = argument.default_value if argument.has_default_value() else None
            given = parameters[argument.name].default
            assert given == default or (given is inspect.Parameter.empty and default is None)
    assert f"`softnpu.{name}`" in inspect.getdoc(function)
    assert name in softnpu.torch.__all__


@pytest.mark.parametrize("sample", SAMPLES, ids=lambda s: s.id)
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_every_tracer_sees_the_operator(sample: Sample) -> None:
    """torch.compile, make_fx, fx and TorchScript record a call of ``torch.ops.softnpu``."""
    function: Any = getattr(softnpu.torch, sample.name)
    arguments = sample.make()
    tensors = [a for a in arguments if isinstance(a, torch.Tensor)]
    places = [i for i, a in enumerate(arguments) if isinstance(a, torch.Tensor)]

    def call(*given: Any) -> Any:
        filled = list(arguments)
        for place, tensor in zip(places, given, strict=True):
            filled[place] = tensor
        return function(*filled)

    expected = sample.operator(*arguments)
    torch._dynamo.reset()
    compiled = torch.compile(call, fullgraph=True, backend="aot_eager")
    traced, scripted = make_fx(call)(*tensors), torch.jit.script(function)
    numbers = [
        float(a) if i and type(a) is int and "elu" in sample.name else a
        for i, a in enumerate(arguments)
    ]
    for got in (call(*tensors), compiled(*tensors), traced(*tensors), scripted(*numbers)):
        assert torch.equal(got, expected)
    assert f"softnpu.{sample.name}" in traced.code
    assert f"softnpu::{sample.name}" in str(scripted.graph)
    out = torch.empty_like(expected)
    assert function(*arguments, out=out) is out
    assert torch.equal(out, expected)
