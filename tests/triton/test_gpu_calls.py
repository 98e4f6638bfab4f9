# SPDX-License-Identifier: Apache-2.0
"""What stands between PyTorch and the kernels: checks, registration, Triton itself."""

from __future__ import annotations

import importlib
import subprocess
import sys
from typing import Any

import pytest
import torch
from torch._subclasses.fake_tensor import FakeTensorMode

import softnpu
import softnpu.torch
from softnpu import _core
from softnpu.torch import schemas
from softnpu.torch.fake import like_first
from softnpu.torch.gpu import gpu_kernel
from softnpu.triton import layouts
from tests.torch.samples import SAMPLES, Sample
from tests.triton.samples import check_bits, check_close

pytestmark = [
    pytest.mark.torch,
    pytest.mark.filterwarnings("ignore::RuntimeWarning"),
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),
]


def kernel_of(name: str) -> Any:
    """The kernel registered for CUDA tensors; the interpreter runs it on CPU tensors."""
    module = sys.modules[f"softnpu.torch.{name}"]
    return gpu_kernel(getattr(schemas, name), getattr(module, "_fake", like_first))


@pytest.mark.parametrize("sample", SAMPLES, ids=lambda sample: sample.id)
def test_calls_as_pytorch_makes_them(sample: Sample) -> None:
    """Results are like the core's, in shape, strides, type and values."""
    arguments = sample.make()
    expected = sample.operator(*arguments)
    computed = kernel_of(sample.name)(*arguments)
    assert computed.stride() == expected.stride()
    check_close(computed, expected)
    out = torch.full_like(expected, 77)
    assert kernel_of(sample.name)(*arguments, out=out) is out
    check_bits(out, computed)


@pytest.mark.parametrize("sample", SAMPLES, ids=lambda sample: sample.id)
def test_the_contract_is_checked(sample: Sample) -> None:
    """A call that breaks it gets the error that the CPU gives, and nothing is written."""
    arguments = sample.make()
    wrong = torch.full((9, 9, 9), 77.0)
    with pytest.raises(softnpu.ParamInvalidError) as on_cpu:
        getattr(torch.ops.softnpu, sample.name).out(*arguments, out=wrong)
    with pytest.raises(softnpu.ParamInvalidError) as on_gpu:
        kernel_of(sample.name)(*arguments, out=wrong)
    assert str(on_gpu.value) == str(on_cpu.value)
    assert (wrong == 77).all()


def test_operators_are_registered_for_cuda() -> None:
    """Both below autograd and for it."""
    has = torch._C._dispatch_has_kernel_for_dispatch_key
    for name in {sample.name for sample in SAMPLES}:
        for key in ("CUDA", "AutogradCUDA"):
            assert has(f"softnpu::{name}", key), (name, key)


def test_fake_cuda_tensors_stay_on_their_device() -> None:
    """As torch.compile sees them."""
    with FakeTensorMode(allow_non_fake_inputs=True):
        y = torch.ops.softnpu.elu(torch.empty(3, 4, device="cuda"))
        assert (y.device.type, y.shape) == ("cuda", (3, 4))


def test_wide_offsets(monkeypatch: pytest.MonkeyPatch) -> None:
    """What tensors of 2**31 elements get computes the same."""
    for module in ("layouts", "upsample_axes", "max_unpool3d", "max_unpool3d_backward"):
        # By the module's name: the package has functions of these names.
        found = importlib.import_module(f"softnpu.triton.{module}")
        monkeypatch.setattr(found, "index_type", lambda *_: layouts.tl.int64)
    for sample in SAMPLES:
        arguments = sample.make()
        check_close(kernel_of(sample.name)(*arguments), sample.operator(*arguments))


def test_when_offsets_are_wide() -> None:
    """The larger of two tensors decides."""
    small = torch.empty(2**16, 2**14, device="meta")
    large = torch.empty(2**16, 2**15, device="meta")
    assert layouts.index_type(small) == layouts.tl.int32
    assert layouts.index_type(small, large) == layouts.tl.int64


def test_dimensions_become_few() -> None:
    """Those that lie behind each other become one."""
    x = torch.empty(2, 3, 4, 5)
    assert layouts.walk(x.shape, (x, x)).sizes == (120,)
    last = x.movedim(1, -1).contiguous().movedim(-1, 1)
    assert layouts.walk(x.shape, (last, last)).sizes == (120,)
    assert layouts.walk(x.shape, (last, x)).strides == ((3, 1, 60), (1, 20, 60))
    assert layouts.walk((), (x[0, 0, 0, 0],) * 2).sizes == (1,)


def test_without_triton() -> None:
    """The error names what to install, and softnpu itself needs no Triton."""
    script = """
import sys
sys.modules["triton"] = None
import softnpu.torch
from softnpu.torch.fake import like_first
from softnpu.torch.gpu import gpu_kernel
from softnpu.torch.schemas import elu
import torch
try:
    gpu_kernel(elu, like_first)(torch.ones(3))
except ImportError as error:
    print(error)
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    assert "pip install 'softnpu[gpu]'" in done.stdout, done.stderr


def test_checks_refuse_what_lies_elsewhere() -> None:
    """Checks alone take tensors of one device; the first one's counts."""
    x = torch.ones(3)
    assert _core.checks.elu(x, 1, 1, 1, torch.empty(3)) is None
    with pytest.raises(softnpu.ParamNullptrError, match="self is null"):
        _core.checks.elu(None, 1, 1, 1, None)


def test_when_offsets_of_a_broadcast_are_wide() -> None:
    """Two small tensors broadcast to a large shape, which a sum never makes."""
    column = torch.empty(2**16, 1, device="meta")
    row = torch.empty(1, 2**16, device="meta")
    assert layouts.walk((2**16, 2**16), (column, row)).index == layouts.tl.int64


def test_in_place_on_a_lazily_negated_tensor() -> None:
    """Refused as on the CPU; a resolved copy would be written instead."""
    x = torch.tensor([1 + 2j]).conj().imag
    with pytest.raises(softnpu.ParamInvalidError, match="lazily negated"):
        gpu_kernel(schemas.elu_)(x)


def test_errors_of_the_program_in_a_deferred_block() -> None:
    """They stay what they are."""
    with pytest.raises(IndexError) as caught, softnpu.torch.deferred_index_checks():
        _ = [][0]
    assert type(caught.value) is IndexError
