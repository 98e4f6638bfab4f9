# SPDX-License-Identifier: Apache-2.0
"""torch_npu's fused operators against their formulas in float64, with gradients."""

from __future__ import annotations

import functools
import importlib
import math
from typing import Any

import pytest
import torch
from torch import Tensor
from torch.utils._pytree import tree_leaves, tree_map

from softnpu.torch.npu import fused

torch_npu: Any = None


@pytest.fixture(autouse=True)
def _fused() -> None:
    globals()["torch_npu"] = importlib.import_module("torch_npu")


TYPES = [torch.float32, torch.float16, torch.bfloat16]


def _close(got: Tensor, expected: Tensor) -> None:
    """One rounding of the result's type, and some of float32 before it."""
    assert got.is_npu
    limit = {torch.float32: 2e-6, torch.float16: 1e-3, torch.bfloat16: 8e-3}[got.dtype]
    torch.testing.assert_close(got.cpu().double(), expected, rtol=limit, atol=limit)


def _with_gradients(function: Any, formula: Any, *inputs: Tensor) -> None:
    """Compare results and gradients with a formula that is computed in float64 on the CPU."""
    wide = [t.double().requires_grad_() for t in inputs]
    narrow = [t.npu().requires_grad_() for t in inputs]
    expected, got = formula(*wide), function(*narrow)
    _close(got.detach(), expected.detach())
    seed = torch.linspace(-1, 1, expected.numel()).to(inputs[0].dtype).view(expected.shape)
    expected.backward(seed.double())
    got.backward(seed.npu())
    for a, b in zip(wide, narrow, strict=True):
        limit = 1e-5 if b.dtype == torch.float32 else 3e-2
        assert a.grad is not None
        assert b.grad is not None
        torch.testing.assert_close(b.grad.cpu().double(), a.grad, rtol=limit, atol=limit)


@pytest.mark.parametrize("dtype", TYPES)
def test_rms_norm(dtype: torch.dtype) -> None:
    """The result is x / sqrt(mean(x^2) + epsilon) * gamma, and what it was divided by."""
    x, gamma = torch.randn(3, 4, 8).to(dtype), torch.randn(8).to(dtype)

    def formula(x: Tensor, gamma: Tensor) -> Tensor:
        return x / (x.square().mean(-1, keepdim=True) + 1e-5).sqrt() * gamma

    _with_gradients(lambda *t: torch_npu.npu_rms_norm(*t, 1e-5)[0], formula, x, gamma)
    rstd = torch_npu.npu_rms_norm(x.npu(), gamma.npu(), epsilon=1e-5)[1]
    assert rstd.dtype == torch.float32
    _close(rstd, 1 / (x.double().square().mean(-1, keepdim=True) + 1e-5).sqrt())


def test_add_rms_norm() -> None:
    """The sum is normalized, and returned as well."""
    x1, x2, gamma = torch.randn(3, 8), torch.randn(3, 8), torch.randn(8)
    y, rstd, x = torch_npu.npu_add_rms_norm(x1.npu(), x2.npu(), gamma.npu())
    again, rstd2 = torch_npu.npu_rms_norm(x, gamma.npu())
    assert torch.equal(x.cpu(), x1 + x2)
    assert torch.equal(y, again)
    assert torch.equal(rstd, rstd2)


@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("dim", [-1, 0])
def test_swiglu(dtype: torch.dtype, dim: int) -> None:
    """silu(first half) * second half."""

    def formula(x: Tensor) -> Tensor:
        a, b = x.chunk(2, dim)
        return a / (1 + torch.exp(-a)) * b

    _with_gradients(lambda x: torch_npu.npu_swiglu(x, dim), formula, torch.randn(4, 6).to(dtype))


@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("approximate", ["none", "tanh"])
@pytest.mark.parametrize("left", [False, True])
def test_geglu(dtype: torch.dtype, approximate: str, left: bool) -> None:
    """One half times gelu of the other, and that gelu."""

    def gelu(x: Tensor) -> Tensor:
        if approximate == "none":
            return x * (1 + torch.erf(x / math.sqrt(2))) / 2
        return x * (1 + torch.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x**3))) / 2

    def formula(x: Tensor) -> Tensor:
        a, b = x.chunk(2, 1)
        return b * gelu(a) if left else a * gelu(b)

    def fused(x: Tensor) -> Any:
        return torch_npu.npu_geglu(x, 1, int(approximate == "tanh"), left)

    x = torch.randn(3, 4, 2).to(dtype)
    _with_gradients(lambda x: fused(x)[0], formula, x)
    _close(fused(x.npu())[1], gelu(x.double().chunk(2, 1)[0 if left else 1]))
    with pytest.raises(RuntimeError, match="npu_geglu: dimension -1 has 3 elements"):
        torch_npu.npu_geglu(torch.ones(2, 3).npu())


def test_fused_adamw() -> None:
    """The steps are those of AdamW; learning rates and weight decay are in the usual places."""
    from torch_npu.optim import NpuFusedAdamW

    results = []
    for device, kind in (("cpu", torch.optim.AdamW), ("npu", NpuFusedAdamW)):
        parameter = torch.linspace(-1, 1, 5).to(device).requires_grad_()
        optimizer = kind([parameter], 0.1, (0.8, 0.9), 1e-6, 0.3)
        for _ in range(3):
            optimizer.zero_grad()
            parameter.square().sum().backward()
            optimizer.step()
        results.append(parameter.detach().cpu())
    torch.testing.assert_close(*results)


@pytest.mark.parametrize("mode", ["half", "interleave"])
def test_rotary_mul(mode: str) -> None:
    """Each pair of elements is turned by its angle."""
    angle = torch.randn(5, 1, 4)
    angles = torch.cat((angle, angle), -1) if mode == "half" else angle.repeat_interleave(2, -1)

    def formula(x: Tensor) -> Tensor:
        pairs = (
            x.unflatten(-1, (2, 4)).movedim(-2, -1) if mode == "half" else x.unflatten(-1, (4, 2))
        )
        turned = torch.view_as_complex(pairs.contiguous()) * torch.polar(
            torch.ones_like(angle).double(), angle.double()
        )
        result = torch.view_as_real(turned)
        return result.movedim(-1, -2).flatten(-2) if mode == "half" else result.flatten(-2)

    cos, sin = angles.cos().npu(), angles.sin().npu()
    _with_gradients(
        lambda x: torch_npu.npu_rotary_mul(x, cos, sin, mode), formula, torch.randn(5, 2, 8)
    )


@pytest.mark.parametrize("layout", ["BSH", "SBH", "BSND", "BNSD", "TND"])
def test_fusion_attention(layout: str) -> None:
    """softmax(q k^T scale, masked) v in every layout, two heads of queries for one of keys."""
    b, n, g, s, d = 2, 4, 2, 5, 8
    q, k, v = torch.randn(b, n, s, d), torch.randn(b, g, s, d), torch.randn(b, g, s, d)
    mask = torch.ones(s, s).triu(1).bool()

    def formula(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
        k, v = k.repeat_interleave(2, 1), v.repeat_interleave(2, 1)
        scores = torch.einsum("bnsd,bntd->bnst", q, k) / math.sqrt(d)
        return scores.masked_fill(mask, -math.inf).softmax(-1) @ v

    def arranged(t: Tensor) -> Tensor:
        if layout == "BNSD":
            return t
        if layout == "BSND":
            return t.transpose(1, 2)
        if layout == "BSH":
            return t.transpose(1, 2).flatten(2)
        if layout == "SBH":
            return t.permute(2, 0, 1, 3).flatten(2)
        return t.transpose(1, 2).flatten(0, 1)

    lengths = {"actual_seq_qlen": [s, 2 * s], "actual_seq_kvlen": [s, 2 * s]}
    options = lengths if layout == "TND" else {}

    def call(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
        out = torch_npu.npu_fusion_attention(
            arranged(q),
            arranged(k),
            arranged(v),
            n,
            layout,
            atten_mask=mask.npu(),
            scale=1 / math.sqrt(d),
            **options,
        )
        assert out[1].shape[-1] == 8
        return out[0]

    _with_gradients(call, lambda *t: arranged(formula(*t)), q, k, v)


@pytest.mark.parametrize(("mode", "shift"), [(2, 0), (3, 2)])
def test_sparse_modes_of_attention(mode: int, shift: int) -> None:
    """Causal, counted from the first or from the last of the tokens."""
    q, k = torch.randn(1, 1, 3, 4), torch.randn(1, 1, 5, 4)
    hidden = torch.ones(3, 5).triu(1 + shift).bool()
    expected = (q.double() @ k.double().mT).masked_fill(hidden, -math.inf).softmax(-1) @ k.double()
    for mask in (None, PATTERN.npu()):
        got = torch_npu.npu_fusion_attention(
            q.npu(), k.npu(), k.npu(), 1, "BNSD", atten_mask=mask, sparse_mode=mode
        )
        _close(got[0], expected)


def test_tokens_of_attention_without_a_mask() -> None:
    """They count only beside one."""
    q = torch.randn(1, 2, 5, 4)
    call = functools.partial(torch_npu.npu_fusion_attention, *[q.npu()] * 3, 2, "BNSD")
    assert torch.equal(call()[0], call(pre_tockens=1, next_tockens=0)[0])
    none = torch.zeros(5, 5, dtype=torch.bool).npu()
    band = call(pre_tockens=1, next_tockens=0, atten_mask=none)[0]
    hidden = torch.ones(5, 5).tril(0).triu(-1) == 0
    scores = (q.double() @ q.double().mT).masked_fill(hidden, -math.inf)
    _close(band, scores.softmax(-1) @ q.double())


PATTERN = torch.ones(2048, 2048).triu(1).bool()
BSH, TND, Q_HEADS = torch.zeros(2, 5, 12), torch.zeros(10, 4, 3), torch.zeros(2, 4, 5, 3)
REFUSED: list[tuple[tuple[Any, ...], dict[str, Any], str]] = [
    ((BSH, BSH, BSH, 4, "HSB"), {}, "input_layout is 'HSB'"),
    ((BSH, BSH, BSH, 4, "BNSD"), {}, r"query has shape \[2, 5, 12\]; input_layout BNSD has 4"),
    ((BSH, BSH, BSH, 5, "BSH"), {}, "head_num is 5, which does not divide .* query, 12"),
    ((BSH, BSH, BSH, 0, "SBH"), {}, "head_num is 0"),
    ((BSH, BSH[..., :4], BSH, 4, "BSH"), {}, "last dimension of key is 4; expected 3, .* 4"),
    ((BSH, BSH, BSH[..., :9], 4, "BSH"), {}, "last dimension of value is 9"),
    ((Q_HEADS, Q_HEADS, Q_HEADS, 2, "BNSD"), {}, "head_num is 2, but query has 4 heads"),
    ((Q_HEADS, Q_HEADS[:, :3], Q_HEADS, 4, "BNSD"), {}, "key has 3 heads; expected a divisor"),
    ((TND, TND, TND[:, :3], 4, "TND"), {}, "value has 3 heads; expected a divisor"),
    ((TND, TND, TND, 4, "TND"), {}, "TND needs actual_seq_qlen"),
    ((BSH, BSH, BSH, 4, "BSH"), {"keep_prob": 0.0}, "keep_prob is 0.0"),
    ((BSH, BSH, BSH, 4, "BSH"), {"sparse_mode": 5}, "no sparse_mode 5"),
    (
        (BSH, BSH, BSH, 4, "BSH"),
        {"sparse_mode": 2, "atten_mask": PATTERN[:5, :5]},
        r"atten_mask has shape \[5, 5\]; sparse_mode 2 expects \[2048, 2048\]",
    ),
    (
        (BSH, BSH, BSH, 4, "BSH"),
        {"sparse_mode": 3, "atten_mask": ~PATTERN},
        "true above the diagonal only",
    ),
]


@pytest.mark.parametrize(("arguments", "options", "message"), REFUSED)
def test_attention_that_a_device_refuses(
    arguments: tuple[Any, ...], options: dict[str, Any], message: str
) -> None:
    """Each with what was given and expected."""
    placed = [t.npu() if isinstance(t, Tensor) else t for t in arguments]
    options = {k: t.npu() if isinstance(t, Tensor) else t for k, t in options.items()}
    with pytest.raises(RuntimeError, match=message):
        torch_npu.npu_fusion_attention(*placed, **options)


def test_shift_of_attention() -> None:
    """The shift is added before the scale."""
    q, pse = torch.randn(1, 2, 3, 4), torch.randn(1, 2, 3, 3)
    scores = (q.double() @ q.double().mT + pse.double()) * 0.5
    got = torch_npu.npu_fusion_attention(q.npu(), q.npu(), q.npu(), 2, "BNSD", pse.npu(), scale=0.5)
    _close(got[0], scores.softmax(-1) @ q.double())


def test_tokens_and_experts() -> None:
    """Permuting and unpermuting with weights that add up to 1 gives the tokens back."""
    tokens, experts = torch.randn(6, 4), torch.randint(0, 3, (6, 2))
    permuted, places = torch_npu.npu_moe_token_permute(tokens.npu(), experts.npu())
    order = torch.argsort(experts.flatten(), stable=True)
    assert torch.equal(permuted.cpu(), tokens[order // 2])
    assert places.dtype == torch.int32
    weights = torch.rand(6, 1)
    probs = torch.cat((weights, 1 - weights), 1)
    back = torch_npu.npu_moe_token_unpermute(permuted, places, probs.npu())
    _close(back, tokens.double())
    assert torch_npu.npu_moe_token_permute(tokens.npu(), experts.npu(), 5)[0].shape == (5, 4)


def test_grouped_matmul() -> None:
    """Each group of rows by its own matrix, in one result or several."""
    x, w = torch.randn(6, 4), torch.randn(3, 4, 2)
    expected = torch.cat([x[:1] @ w[0], x[1:4] @ w[1], x[4:] @ w[2]]).double()
    for ends, kind in (([1, 4, 6], 0), ([1, 3, 2], 1)):
        (got,) = torch_npu.npu_grouped_matmul(
            [x.npu()],
            [w.npu()],
            group_list=torch.tensor(ends).npu(),
            group_list_type=kind,
            split_item=3,
            group_type=0,
        )
        _close(got, expected)
    several = torch_npu.npu_grouped_matmul([x[:1].npu(), x[1:].npu()], [w[0].npu(), w[1].npu()])
    assert [t.shape for t in several] == [(1, 2), (5, 2)]
    with pytest.raises(NotImplementedError, match="antiquant_scale"):
        torch_npu.npu_grouped_matmul([x.npu()], [w.npu()], antiquant_scale=1)


def test_quantization() -> None:
    """Rows of 8-bit integers and their scales, and products of them."""
    x, w = torch.randn(3, 16), torch.randint(-128, 128, (16, 4), dtype=torch.int8)
    y, scale = torch_npu.npu_dynamic_quant(x.npu())
    assert y.dtype == torch.int8
    assert y.abs().amax(-1).tolist() == [127] * 3
    torch.testing.assert_close(y.cpu() * scale.cpu()[:, None], x, atol=scale.max().item(), rtol=0)
    columns = torch.rand(4)
    got = torch_npu.npu_quant_matmul(
        y, w.npu(), columns.npu(), pertoken_scale=scale, output_dtype=torch.float32
    )
    expected = (y.cpu().double() @ w.double()) * columns.double() * scale.cpu().double()[:, None]
    torch.testing.assert_close(got.cpu().double(), expected, rtol=1e-6, atol=1e-6)


X = torch.linspace(-2, 2, 32).view(4, 8)
Q, ENDS = X.view(1, 2, 4, 4), torch.tensor([1, 4])
EXPERTS, PLACES = torch.tensor([1, 0, 2, 1]), torch.tensor([1, 0, 3, 2])
INTEGERS = (X * 9).to(torch.int8)
CALLS: list[tuple[str, tuple[Any, ...], dict[str, Any]]] = [
    ("get_npu_format", (X,), {}),
    ("npu_add_rms_norm", (X, X, X[0]), {}),
    ("npu_dtype_cast", (X, torch.bfloat16), {}),
    ("npu_dynamic_quant", (X,), {"smooth_scales": X[1]}),
    ("npu_fast_gelu", (X,), {}),
    ("npu_format_cast", (X, 29), {}),
    ("npu_fusion_attention", (Q, Q, Q, 2, "BNSD"), {"scale": 0.25}),
    ("npu_fusion_attention", (Q, Q, Q, 2, "BNSD"), {"atten_mask": Q[0, 0] > 0}),
    ("npu_fusion_attention", (Q, Q, Q, 2, "BNSD", Q), {"sparse_mode": 3}),
    ("npu_geglu", (X,), {}),
    ("npu_grouped_matmul", ([X], [X.view(2, 8, 2)]), {}),
    ("npu_linear", (X, X, X[0, :4]), {}),
    ("npu_moe_token_permute", (X, EXPERTS), {}),
    ("npu_moe_token_unpermute", (X, PLACES, X[:, :1]), {}),
    ("npu_quant_matmul", (INTEGERS, INTEGERS.T, X[0, :4]), {"output_dtype": torch.bfloat16}),
    ("npu_rms_norm", (X, X[0]), {}),
    ("npu_rotary_mul", (X, X, X), {}),
    ("npu_silu", (X,), {}),
    ("npu_swiglu", (X,), {}),
]
OPTIONS = {"npu_grouped_matmul": {"group_list": ENDS, "split_item": 3, "group_type": 0}}


@pytest.mark.parametrize("autocast", [torch.float16, torch.bfloat16])
@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize(("name", "arguments", "options"), CALLS)
def test_autocast_changes_nothing(
    name: str,
    arguments: tuple[Any, ...],
    options: dict[str, Any],
    dtype: torch.dtype,
    autocast: torch.dtype,
) -> None:
    """The bits and types of results and gradients are those of the call without it."""

    def placed(value: Any) -> Any:
        if not isinstance(value, Tensor):
            return value
        return value.to("npu", dtype if value.is_floating_point() else None)

    def results(is_on: bool) -> Any:
        given, named = tree_map(placed, (arguments, {**options, **OPTIONS.get(name, {})}))
        floats = [t for t in tree_leaves(given) if isinstance(t, Tensor) and t.is_floating_point()]
        for tensor in floats:
            tensor.requires_grad_()
        with torch.autocast("npu", dtype=autocast, enabled=is_on):
            found = tree_leaves(getattr(torch_npu, name)(*given, **named))
        if sums := [t.float().sum() for t in found if getattr(t, "requires_grad", False)]:
            torch.stack(sums).sum().backward()
        return [*found, *(t.grad for t in floats)]

    torch.testing.assert_close(results(True), results(False), rtol=0, atol=0)


def test_each_operator_is_called_under_autocast() -> None:
    """The list above leaves none out."""
    assert {name for name, *_ in CALLS} == set(fused.__all__)


def test_tensors_elsewhere_are_refused() -> None:
    """The text is the one that programs look for."""
    with pytest.raises(RuntimeError, match="Expected NPU tensor"):
        torch_npu.npu_swiglu(torch.ones(2))


def test_other_spellings() -> None:
    """The functions are those of `torch.ops.npu`, too; those of formats are methods of tensors."""
    x = torch.randn(3, 8).npu()
    for name in fused.__all__:
        assert getattr(torch.ops.npu, name) is getattr(torch_npu, name)
    assert x.npu_format_cast(29) is x
    assert x.npu_dtype_cast(torch.float16).dtype == torch.float16
    compiled = torch.compile(lambda x: torch.ops.npu.npu_swiglu(x), backend="aot_eager")
    assert torch.equal(compiled(x), torch_npu.npu_swiglu(x))
