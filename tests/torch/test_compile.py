# SPDX-License-Identifier: Apache-2.0
"""torch.compile and torch.export of functions and modules that use the operators."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import Tensor

import softnpu
import softnpu.torch
from tests.support.acl_runtime import run_python
from tests.torch.samples import SAMPLES, Sample, values

pytestmark = [
    pytest.mark.torch,
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),
    pytest.mark.filterwarnings("ignore::FutureWarning"),
]
ops = torch.ops.softnpu


@pytest.fixture(autouse=True)
def fresh() -> None:
    """Nothing is left of what another test compiled."""
    torch._dynamo.reset()


@pytest.mark.parametrize("sample", SAMPLES, ids=lambda s: s.id)
def test_each_operator_in_a_whole_graph(sample: Sample) -> None:
    """fullgraph=True: no graph break; the same result and gradient, in place and out= included."""
    place = sample.differentiable[0]

    def function(*arguments: Any) -> Any:
        return sample.operator(*arguments) * 2

    def gradient(call: Callable[..., Any]) -> tuple[Tensor, Tensor]:
        arguments = list(sample.make())
        arguments[place] = arguments[place].detach().requires_grad_()
        result = call(*arguments)
        return result, torch.autograd.grad(result.sum(), arguments[place])[0]

    compiled = torch.compile(function, fullgraph=True, backend="aot_eager")
    results = list(zip(gradient(compiled), gradient(function), strict=True))
    for got, expected in results:
        torch.testing.assert_close(got, expected)
    assert results[0][0].stride() == results[0][1].stride()


@pytest.mark.parametrize("sample", SAMPLES, ids=lambda s: s.id)
def test_softnpus_functions_in_a_whole_graph(sample: Sample) -> None:
    """The functions are traced as the operators are."""
    function = getattr(softnpu, sample.name)
    compiled = torch.compile(
        lambda *arguments: function(*arguments) + 1, fullgraph=True, backend="aot_eager"
    )
    arguments = sample.make()
    assert torch.equal(compiled(*arguments), function(*arguments) + 1)


def everything(x: Tensor, y: Tensor) -> Tensor:
    """A function of all operators, one in place, one with out=."""
    pooled, indices = torch.nn.functional.max_pool3d(x, 2, return_indices=True)
    z = ops.max_unpool3d(ops.elu(pooled), indices, x.shape[2:], [2, 2, 2], [0, 0, 0])
    z = ops.elu_(ops.selu(z) * 2, 1.5)
    up = ops.upsample_nearest3d(pooled, x.shape[2:])
    out = ops.selu.out(up.detach(), out=torch.empty_like(up))
    return ops.smooth_l1_loss(z + up + out, y, 1, 0.5)  # type: ignore[no-any-return]


@pytest.mark.parametrize("backend", ["aot_eager", "inductor"])
def test_all_operators_together(backend: str) -> None:
    """Both backends give eager mode's result and gradients."""
    compiled = torch.compile(everything, fullgraph=True, backend=backend)
    results = []
    for call in (everything, compiled):
        x = values(2, 3, 4, 4, 6).requires_grad_()
        loss = call(x, values(2, 3, 4, 4, 6, seed=1))
        results.append((loss, *torch.autograd.grad(loss, x)))
    for got, expected in zip(*results, strict=True):
        torch.testing.assert_close(got, expected)


def test_a_new_batch_size_compiles_once_more_at_most() -> None:
    """From the second batch size on, the graph has a symbol in its place."""
    counter = torch._dynamo.testing.CompileCounterWithBackend("aot_eager")
    compiled = torch.compile(everything, fullgraph=True, backend=counter)
    for batch in (2, 3, 4, 5, 7):
        x = values(batch, 3, 4, 4, 6).requires_grad_()
        y = values(batch, 3, 4, 4, 6, seed=1)
        torch.testing.assert_close(compiled(x, y), everything(x, y))
    assert counter.frame_count <= 2


class Model(torch.nn.Module):
    """Layers of `softnpu.torch.nn` between PyTorch's."""

    def __init__(self) -> None:
        super().__init__()
        self.convolution = torch.nn.Conv3d(2, 4, 3, padding=1)
        self.pool = torch.nn.MaxPool3d(2, return_indices=True)
        self.unpool = softnpu.torch.nn.MaxUnpool3d(2)
        self.elu = softnpu.torch.nn.ELU(inplace=True)
        self.selu = softnpu.torch.nn.SELU()
        self.upsample = softnpu.torch.nn.Upsample(scale_factor=2)

    def forward(self, x: Tensor) -> Tensor:
        """Pool and unpool, and upsample."""
        pooled, indices = self.pool(self.elu(self.convolution(x)))
        return self.unpool(self.selu(pooled), indices) + self.upsample(pooled)  # type: ignore[no-any-return]


@pytest.mark.parametrize("dynamic", [False, True])
def test_export(dynamic: bool) -> None:
    """An exported module has our operators in its graph, and computes the same."""
    model, x = Model().eval(), values(2, 2, 4, 4, 6)
    shapes = {"x": {0: torch.export.Dim("batch", min=1, max=64)}} if dynamic else None
    exported = torch.export.export(model, (x,), dynamic_shapes=shapes)
    used = {str(n.target) for n in exported.graph.nodes if "softnpu" in str(n.target)}
    wanted = {"elu", "selu", "max_unpool3d", "upsample_nearest3d"}
    assert wanted <= {name.split(".")[1].removesuffix("_") for name in used}
    other = values(5, 2, 4, 4, 6) if dynamic else x
    torch.testing.assert_close(exported.module()(other), model(other))


def rows(x: Tensor) -> Tensor:
    """Rows of x, nobody knows how many before it runs."""
    return x[x[:, 0] > 0]


def of_unknown_sizes(x: Tensor) -> list[Tensor]:
    """Results whose sizes, and the order of whose strides, depend on what x holds."""
    columns = rows(x).t().contiguous()
    return [
        ops.elu(x[x > 0]),
        ops.elu_(rows(x) * 2),
        ops.selu(columns),
        ops.selu(columns.t()),
        ops.elu(x.nonzero() * x[0]),
        ops.elu(rows(x).unsqueeze(0).expand(3, -1, -1)),
        ops.smooth_l1_loss(rows(x), rows(x).exp(), 0),
        ops.upsample_nearest3d(rows(x).view(-1, 1, 1, 2, 1), [2, 2, 4]),
    ]


def test_sizes_that_depend_on_data() -> None:
    """One graph serves any; the strides that it was made for are those that come."""
    module = torch.nn.Module()
    module.forward = of_unknown_sizes  # type: ignore[method-assign]
    x = values(6, 2)
    with torch._dynamo.config.patch(capture_dynamic_output_shape_ops=True):
        compiled = torch.compile(of_unknown_sizes, fullgraph=True, backend="inductor")
        exported = torch.export.export(module, (x,)).module()
        for call in (compiled, exported):
            for each in (x, -x, x.abs()):
                torch.testing.assert_close(call(each), of_unknown_sizes(each), check_stride=True)


COMPILES_LATER = """
import sys
import softnpu
import softnpu.torch.npu
import torch
assert not {"torch._dynamo", "sympy"} & set(sys.modules)
compiled = torch.compile(lambda x: softnpu.elu(x, 1.5) + 1, fullgraph=True, backend="eager")
assert torch.equal(compiled(torch.tensor([2.0])), torch.tensor([3.0]))
print([type(finder).__name__ for finder in sys.meta_path])
"""


def test_the_compiler_is_imported_when_it_is_used() -> None:
    """Its import takes as long as that of the rest of PyTorch; functions are in its graphs."""
    done = run_python(COMPILES_LATER)
    assert done.returncode == 0, done.stderr
    assert "_AtImport" not in done.stdout
