# SPDX-License-Identifier: Apache-2.0
"""The functions on PyTorch tensors: zero-copy, kinds, and everything that a tensor can be."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import softnpu
from tests.python.operators import ELU, OPERATORS, SELU, TENSORS, UPSAMPLE, Operator

torch = pytest.importorskip("torch")
pytestmark = [
    pytest.mark.torch,
    pytest.mark.usefixtures("without_softnpu_torch"),
    pytest.mark.filterwarnings("ignore:softnpu:UserWarning"),  # of tensors that require grad
]
tensor = torch.from_numpy
INVALID = softnpu.ParamInvalidError
# Since 2.10; older ones are read through their __dlpack__.
EXCHANGES = hasattr(torch.Tensor, "__dlpack_c_exchange_api__")


@pytest.mark.parametrize("operator", OPERATORS, ids=lambda o: o.name)
def test_a_result_is_a_tensor_with_the_same_bits(operator: Operator) -> None:
    """As with NumPy arrays."""
    got = operator(tensor)
    assert type(got) is torch.Tensor
    assert got.is_contiguous()
    assert got.numpy().tobytes() == operator().tobytes()


@pytest.mark.parametrize(("operator", "name"), TENSORS, ids=lambda v: getattr(v, "name", v))
def test_kinds_may_be_mixed(operator: Operator, name: str) -> None:
    """The first array decides the result's kind."""
    got = operator(**{name: tensor(operator.arrays[name])})
    assert type(got) is (torch.Tensor if name == next(iter(operator.arrays)) else np.ndarray)
    assert np.array_equal(np.asarray(got), operator())


@pytest.mark.parametrize("operator", OPERATORS, ids=lambda o: o.name)
def test_out_is_written_in_place_and_returned(operator: Operator) -> None:
    """The very tensor; of either kind."""
    out = tensor(np.zeros_like(operator.out))
    assert operator(tensor, out=out) is out
    assert np.array_equal(out.numpy(), operator())
    assert operator(out=out) is out


LAYOUTS: dict[str, Callable[[Any], Any]] = {
    "transposed": lambda t: t.mT.contiguous().mT if t.ndim > 1 else t,
    "every other": lambda t: t.repeat_interleave(2, -1)[..., ::2],
    "offset": lambda t: torch.cat([t.new_zeros(3), t.ravel()])[3:].view(t.shape),
    "channels last": lambda t: (
        t.contiguous(memory_format=torch.channels_last_3d) if t.ndim == 5 else t
    ),
    "parameter": lambda t: torch.nn.Parameter(t, requires_grad=t.is_floating_point()),
}


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize(("operator", "name"), TENSORS, ids=lambda v: getattr(v, "name", v))
def test_inputs_of_any_layout_give_the_same_bits(
    operator: Operator, name: str, layout: str
) -> None:
    """Strides and offsets are read as they are."""
    moved = LAYOUTS[layout](tensor(operator.arrays[name].copy()))
    got = operator(tensor, **{name: moved})
    assert got.numpy().tobytes() == operator().tobytes()


def test_an_expanded_input() -> None:
    """A stride of 0."""
    x = torch.ones(1).expand(3, 4)
    assert torch.equal(softnpu.selu_backward(x, x), softnpu.selu_backward(x.clone(), x.clone()))


def test_a_strided_out() -> None:
    """Only its own elements are written."""
    wide = torch.zeros(3, 8)
    out = wide[:, ::2]
    assert SELU(tensor, out=out) is out
    assert np.array_equal(out.numpy(), SELU())
    assert not wide[:, 1::2].any()


def test_an_expanded_out() -> None:
    """Elements that share memory cannot be written."""
    with pytest.raises(INVALID, match="gradInput has shape"):
        SELU(tensor, out=torch.zeros(1).expand(3, 4))


@pytest.mark.parametrize("dtype", ["float32", "float16", "bfloat16"])
def test_data_types(dtype: str) -> None:
    """Results have the type of the inputs; elu casts to any wider one."""
    x = tensor(SELU.arrays["grad_output"]).to(getattr(torch, dtype))
    assert softnpu.selu_backward(x, x).dtype == x.dtype
    plain = softnpu.elu_backward(x, 1, 1, 1, False, x)
    assert plain.dtype == x.dtype
    for wide in (torch.float64, torch.complex64, torch.complex128):
        out = torch.zeros(x.shape, dtype=wide)
        assert softnpu.elu_backward(x, 1, 1, 1, False, x, out=out) is out
        # The output is rounded from the same number, once.
        assert torch.equal(torch.real(out).to(x.dtype), plain)
        assert not torch.is_complex(out) or not out.imag.any()


@pytest.mark.parametrize("dtype", [torch.int8, torch.int32])
def test_integers(dtype: Any) -> None:
    """As the contract has it."""
    x = torch.tensor([-3, 0, 5, 100], dtype=dtype)
    expected = softnpu.selu_backward(x.numpy(), x.numpy())
    assert np.array_equal(softnpu.selu_backward(x, x).numpy(), expected)


@pytest.mark.parametrize("shape", [(), (0,), (3, 0, 2)])
def test_rank_0_and_empty_tensors(shape: tuple[int, ...]) -> None:
    """Their shape survives."""
    x = torch.ones(shape)
    assert softnpu.elu_backward(x, 1, 1, 1, True, x).shape == shape


def test_tensors_that_require_grad_are_read_like_any_other() -> None:
    """Nothing is recorded."""
    x = tensor(SELU.arrays["grad_output"]).clone().requires_grad_()
    got = softnpu.selu_backward(x, x * 1)
    assert not got.requires_grad
    assert got.grad_fn is None


def test_an_out_that_requires_grad() -> None:
    """Writing to it would go past the graph."""
    for out in (torch.zeros(3, 4, requires_grad=True), torch.zeros(3, 4).requires_grad_() * 1):
        with pytest.raises(INVALID, match="gradInput requires grad"):
            SELU(tensor, out=out)


def lazy() -> dict[str, Any]:
    """Tensors whose memory does not hold their values."""
    values = torch.complex(torch.zeros(3, 4), tensor(SELU.arrays["result"]))
    # A view from the first imaginary part on that takes real parts for imaginary ones.
    padded = torch.nn.functional.pad(tensor(SELU.arrays["result"].copy()).flatten(), (1, 1))
    mixed = torch.view_as_complex(padded.view(-1, 2))
    return {
        "of a conjugate": values.conj().imag,
        "with an odd stride": mixed.conj().imag.as_strided((3, 4), (4, 1)),
        "a part of it": torch.cat([values, values]).conj().imag[3:],
    }


@pytest.mark.parametrize("name", lazy())
def test_a_lazily_negated_input_is_resolved(name: str) -> None:
    """The result is that of the values, not of the memory."""
    x = lazy()[name]
    assert x.is_neg()
    before = x.clone()
    got = SELU(tensor, result=x)
    assert np.array_equal(got.numpy(), SELU(result=-SELU.arrays["result"]))
    assert torch.equal(x, before)
    assert x.is_neg()


@pytest.mark.parametrize("name", lazy())
def test_a_lazily_negated_out(name: str) -> None:
    """Its memory must hold the opposite, so it is refused."""
    with pytest.raises(INVALID, match="lazily negated"):
        SELU(tensor, out=lazy()[name])


def test_a_lazily_conjugated_out() -> None:
    """The same for complex outputs."""
    out = torch.zeros(3, 4, dtype=torch.complex64).conj()
    with pytest.raises(INVALID, match="conjugated"):
        ELU(tensor, out=out)
    assert ELU(tensor, out=out.resolve_conj()) is not None


def refused_tensors() -> dict[str, tuple[Any, str]]:
    """Tensors that have no memory of the CPU to read, and what is said about them."""
    x = torch.ones(3, 4)
    return {
        "sparse": (x.to_sparse(), "layout torch.sparse_coo"),
        "compressed": (x.to_sparse_coo().to_sparse_csr(), "layout torch.sparse_csr"),
        "meta": (x.to("meta"), "lies on device meta"),
        "quantized": (
            torch.ones(3, 4).to(torch.float8_e4m3fn),
            "data type of 8 bits with DLPack's code" if EXCHANGES else "float8",
        ),
    }


@pytest.mark.filterwarnings("ignore:Sparse:UserWarning")
@pytest.mark.parametrize("name", ["sparse", "compressed", "meta", "quantized"])
def test_tensors_that_cannot_be_read(name: str) -> None:
    """The message names operator and argument, and says why."""
    x, reason = refused_tensors()[name]
    with pytest.raises(INVALID, match=re.escape(reason)) as caught:
        SELU(tensor, result=x)
    assert str(caught.value).startswith("aclnnSeluBackwardGetWorkspaceSize: result ")
    assert "\n" not in str(caught.value)
    with pytest.raises(INVALID, match="gradInput "):
        SELU(tensor, out=x)


def test_a_batched_tensor_inside_vmap() -> None:
    """It has no storage; the message says that it cannot be read."""

    def inside(x: Any) -> Any:
        with pytest.raises(INVALID, match="gradOutput cannot be read"):
            softnpu.selu_backward(x, x)
        return x

    torch.vmap(inside)(torch.ones(3, 4))


def test_a_rank_0_tensor_is_a_number() -> None:
    """For alpha, scale and the like."""
    assert torch.equal(ELU(tensor, scale=torch.tensor(2.0)), ELU(tensor, scale=2.0))
    with pytest.raises(INVALID, match="scale is an array of shape"):
        ELU(tensor, scale=torch.ones(1))


@pytest.mark.parametrize(
    ("make", "reason"),
    [
        (lambda: torch.tensor(2.0, device="meta"), "scale lies on device meta"),
        (lambda: torch.tensor(2.0).to_sparse(), "scale has layout torch.sparse_coo"),
        (
            lambda: torch.ones(()).to(torch.float8_e4m3fn),
            "scale has a data type of 8 bits" if EXCHANGES else "scale cannot be read: .* float8",
        ),
    ],
    ids=["meta", "sparse", "float8"],
)
def test_a_rank_0_tensor_that_cannot_be_read(make: Callable[[], Any], reason: str) -> None:
    """The message says why, as for any tensor."""
    with pytest.raises(INVALID, match=reason):
        ELU(tensor, scale=make())


def test_torch_sizes_are_sizes() -> None:
    """torch.Size is a tuple."""
    x = tensor(UPSAMPLE.arrays["grad_out"])
    got = softnpu.upsample_nearest3d_backward(x, x.shape[2:], torch.Size((1, 2, 1, 2, 3)))
    assert np.array_equal(got.numpy(), UPSAMPLE())


class Sub(torch.Tensor):  # type: ignore[misc]
    """A subclass."""


def test_subclasses() -> None:
    """They are read; a result is a plain tensor."""
    x = tensor(SELU.arrays["result"]).as_subclass(Sub)
    got = SELU(tensor, grad_output=x)
    assert type(got) is torch.Tensor


def test_many_types_in_turn() -> None:
    """What is remembered of a type is not mixed up when there are many."""
    x = tensor(SELU.arrays["result"])
    kinds = [type(f"Kind{i}", (torch.Tensor,), {}) for i in range(20)]
    for _ in range(3):
        for kind in kinds:
            assert np.array_equal(SELU(result=x.as_subclass(kind)), SELU())


def test_out_overlapping_an_input_across_kinds() -> None:
    """Memory is memory, whatever it is seen as."""
    memory = np.ones(13, np.float32)
    with pytest.raises(INVALID, match="gradInput overlaps gradOutput"):
        softnpu.selu_backward(tensor(memory)[:12], np.ones(12, np.float32), out=memory[1:])
    same = memory[:12]
    assert softnpu.selu_backward(tensor(same), np.ones(12, np.float32), out=same) is same


@pytest.mark.parametrize("operator", OPERATORS, ids=lambda o: o.name)
def test_references_are_returned(operator: Operator) -> None:
    """Tensors' counts are what they were."""
    arguments = {**{n: tensor(a) for n, a in operator.arrays.items()}, **operator.rest}
    arguments["out"] = tensor(operator.out.copy())
    before = [sys.getrefcount(a) for a in arguments.values()]
    for _ in range(100):
        operator.function(**arguments)
    assert [sys.getrefcount(a) for a in arguments.values()] == before


@pytest.mark.parametrize(
    ("resize", "message"),
    [
        (lambda x: x.resize_(4), r"shape \[4\]"),
        (
            lambda x: x.untyped_storage().resize_(0),
            "gradOutput has no data|gradOutput cannot be read: .* storage of size 0",
        ),
    ],
    ids=["tensor", "storage"],
)
def test_a_tensor_that_is_resized_while_a_number_is_read(
    resize: Callable[[Any], object], message: str
) -> None:
    """The contract sees the tensor as it is when all arguments are read."""
    x = torch.ones(2**16)

    class Resizing:
        def __float__(self) -> float:
            resize(x)
            return 1.0

    with pytest.raises(softnpu.AclnnError, match=message):
        softnpu.elu_backward(x, Resizing(), 1, 1, True, torch.ones(2**16))


@pytest.mark.parametrize("dtype", [torch.float32, torch.float16, torch.bfloat16])
def test_results_in_tensors_are_judged(dtype: Any) -> None:
    """`softnpu.verify` takes tensors, with whatever hangs on them."""
    grad, result = torch.randn(2, 100).to(dtype)
    got = softnpu.selu_backward(grad, result)
    case = {"gradOutput": grad, "result": result.requires_grad_(), "gradInput": got}
    assert softnpu.verify("selu_backward", case).ok
    case["gradInput"] = got * 2
    report = softnpu.verify("selu_backward", case)
    assert (report.ok, report.dtype) == (False, str(dtype).removeprefix("torch."))
