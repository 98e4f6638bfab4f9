# SPDX-License-Identifier: Apache-2.0
"""Tensors of the device: PyTorch's own, with memory of their own."""

from __future__ import annotations

import copy
import io
import pickle
import warnings
from multiprocessing.reduction import ForkingPickler

import pytest
import torch
from torch import nn


def test_they_are_genuine() -> None:
    """No subclass, with an address that the runtime knows as device memory."""
    x = torch.arange(6.0).npu().view(2, 3)
    assert type(x) is torch.Tensor
    assert x.is_npu
    assert x.device == torch.device("npu", 0)
    assert x.data_ptr() % 64 == 0
    assert x[1].data_ptr() == x.data_ptr() + 12
    assert x.untyped_storage().device == x.device
    assert x.cpu().tolist() == [[0, 1, 2], [3, 4, 5]]


def test_ways_to_make_them() -> None:
    """By device=, to(), npu(), a default device, like another, and for modules."""
    assert torch.ones(2, device="npu").is_npu
    assert torch.ones(2).to("npu:0").is_npu
    assert torch.ones(2).npu(0).is_npu
    assert torch.tensor([1, 2], device="npu").is_npu
    assert torch.ones_like(torch.ones(2), device="npu").is_npu
    assert torch.ones(2, device="npu").new_zeros(3).is_npu
    assert nn.Linear(2, 2, device="npu").weight.is_npu
    assert nn.Linear(2, 2).npu().weight.is_npu
    with torch.device("npu"):
        assert torch.randn(2).is_npu
    assert not torch.ones(2).is_npu


def test_parameters_stay_themselves() -> None:
    """A model that moves keeps its parameters, which an optimizer may have already."""
    net = nn.Linear(2, 2)
    before = list(net.parameters())
    optimizer = torch.optim.SGD(before, 1.0)
    net.to("npu")
    assert [a is b for a, b in zip(before, net.parameters(), strict=True)] == [True, True]
    value = net.bias.detach().clone()
    net(torch.ones(1, 2, device="npu")).sum().backward()
    optimizer.step()
    assert torch.equal(net.bias, value - 1)
    net.cpu()
    assert before[0].device.type == "cpu"
    assert before[0].grad is not None
    assert before[0].grad.device.type == "cpu"


def test_other_processes_cannot_have_them() -> None:
    """A model that is shared and a tensor that is sent are refused in words; the CPU's are not."""
    with pytest.raises(RuntimeError, match="npu has no tensors that processes share"):
        nn.Linear(2, 2).npu().share_memory()
    for sent in (torch.ones(2), nn.Parameter(torch.ones(2))):
        with pytest.raises(RuntimeError, match=r"send tensor.cpu\(\)"):
            ForkingPickler.dumps(sent.npu())
        assert ForkingPickler.dumps(sent)


def test_mixing_devices_is_an_error() -> None:
    """But numbers of rank 0, and indices, may lie on the CPU."""
    x, y = torch.ones(2, device="npu"), torch.ones(2)
    for mixed in (
        lambda: x + y,
        lambda: y + x,
        lambda: y.add_(x),
        lambda: torch.cat((x, y)),
        lambda: torch.mm(x[None], y[:, None]),
        lambda: torch.add(x, 1, out=y),
    ):
        with pytest.raises(RuntimeError, match="same device"):
            mixed()
    assert (x + torch.tensor(1.0)).tolist() == [2, 2]
    assert x[torch.tensor([1])].tolist() == [1]


def test_views_share_memory() -> None:
    """Writes through views, masks and indices reach the whole."""
    written = []
    for device in ("cpu", "npu"):
        x = torch.zeros(3, 4, device=device)
        x.t()[1].fill_(1)
        x[x == 1] = 2
        x[0, torch.tensor([3])] = 5
        x.view(-1)[4:6].mul_(3)
        x.unfold(0, 2, 1)[1, 0].add_(1)
        written.append(x.tolist())
    assert written[0] == written[1]
    assert x.diagonal()._base is x


def test_results_in_place_and_in_out() -> None:
    """The written argument is returned, and gets another size where it had none."""
    x, out = torch.arange(3.0, device="npu"), torch.empty(0, device="npu")
    assert x.add_(1) is x
    assert torch.add(x, x, out=out) is out
    assert out.tolist() == [2, 4, 6]
    assert x.resize_(6).shape == (6,)
    assert x[:3].tolist() == [1, 2, 3]
    y = torch.empty(0, device="npu").set_(x.untyped_storage(), 1, (2,), (1,))
    assert y.tolist() == [2, 3]
    versions = x._version
    x.mul_(2)
    assert x._version == versions + 1


def test_float64_becomes_float32() -> None:
    """A conversion on the device warns once in a process."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert torch.ones(2, device="npu").to(torch.float64).dtype == torch.float32
        assert torch.ones(2, device="npu").double().dtype == torch.float32


def test_copies_elsewhere() -> None:
    """Pickles, files, deep copies and DLPack keep values and devices."""
    x = torch.arange(3, device="npu")
    assert pickle.loads(pickle.dumps(x)).is_npu
    assert copy.deepcopy(nn.Linear(2, 2).npu()).weight.is_npu
    file = io.BytesIO()
    torch.save({"x": x, "y": torch.ones(1)}, file)
    for place, expected in ((None, "npu"), ("cpu", "cpu"), ({"npu:0": "cpu"}, "cpu")):
        file.seek(0)
        assert torch.load(file, map_location=place)["x"].device.type == expected
    shared = torch.from_dlpack(x)
    shared[0] = 7
    assert x.tolist() == [7, 1, 2]
    assert x.__dlpack_device__() == (torch.utils.dlpack.DLDeviceType.kDLExtDev, 0)
    with pytest.raises(TypeError, match="can't convert npu:0 device type tensor to numpy"):
        x.numpy()


def test_pinned_memory() -> None:
    """It is the runtime's, and PyTorch knows it."""
    pinned = torch.arange(3.0).pin_memory()
    assert pinned.is_pinned()
    assert pinned[1:].is_pinned()
    assert not torch.ones(2).is_pinned()
    assert torch.empty(2, pin_memory=True).is_pinned()
    assert pinned.to("npu", non_blocking=True).tolist() == [0, 1, 2]
    with pytest.raises(RuntimeError, match="Only dense CPU tensors can be pinned"):
        torch.empty(2, device="npu", pin_memory=True)


def test_printing() -> None:
    """As on the CPU, with the device."""
    assert repr(torch.tensor([1.5, 2], device="npu")) == "tensor([1.5000, 2.0000], device='npu:0')"


def test_wrong_devices() -> None:
    """The text is the one that programs look for."""
    with pytest.raises(RuntimeError, match="Invalid device ID"):
        torch.ones(1, device="npu:7")


def test_layouts_that_the_device_lacks() -> None:
    """They are named, and no result is made."""
    x = torch.ones(2, device="npu")
    with pytest.raises(NotImplementedError, match="has no quantized tensors"):
        torch.quantize_per_tensor(x, 0.1, 5, torch.qint8)
    with pytest.raises(NotImplementedError, match="has no tensors of layout Sparse"):
        x.to_sparse()
