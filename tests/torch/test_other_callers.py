# SPDX-License-Identifier: Apache-2.0
"""Callers beside a plain script: workers, forks, several processes, other thread counts, JAX."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import numpy as np
import pytest
import torch
from torch import Tensor
from torch.utils.data import DataLoader, Dataset

import softnpu
import softnpu.torch
from tests.support.acl_runtime import in_fresh_process
from tests.support.capi_symbols import Functions
from tests.support.paths import ROOT
from tests.torch.groups import run_group
from tests.torch.samples import values

pytestmark = pytest.mark.torch
LARGE = (64, 64, 64)  # worth several threads


class Activations(Dataset[Tensor]):
    """Computes its items by softnpu, in whichever process asks."""

    def __len__(self) -> int:
        return 6

    def __getitem__(self, index: int) -> Tensor:
        return torch.ops.softnpu.elu(values(*LARGE, seed=index), 1.5)  # type: ignore[no-any-return]


@pytest.mark.filterwarnings("ignore::DeprecationWarning")  # fork() in a process with threads
def test_workers_of_a_data_loader() -> None:
    """Workers are forks of a process that has used all its threads."""
    expected = torch.stack([Activations()[i] for i in range(6)])
    loader = DataLoader(Activations(), batch_size=3, num_workers=2)
    assert torch.equal(torch.cat(list(loader)), expected)


@in_fresh_process  # autograd refuses a child of a process that has the device npu
def test_a_fork_after_use(_functions: Functions) -> None:
    """Forward and backward work in a child, and still in the parent."""

    def gradient() -> Tensor:
        x = values(*LARGE).requires_grad_()
        torch.ops.softnpu.selu(x).square().sum().backward()
        assert x.grad is not None
        return x.grad

    expected = gradient()
    child = os.fork()
    if child == 0:
        try:
            os._exit(0 if torch.equal(gradient(), expected) else 1)
        finally:
            os._exit(2)
    _, status = os.waitpid(child, 0)
    assert os.waitstatus_to_exitcode(status) == 0
    assert torch.equal(gradient(), expected)


def test_pytorchs_number_of_threads() -> None:
    """torch.set_num_threads changes no bit."""
    x = values(*LARGE)
    before = torch.get_num_threads()
    results = []
    try:
        for count in (1, 2, 4):
            torch.set_num_threads(count)
            results.append(torch.ops.softnpu.elu(x, 1.5))
    finally:
        torch.set_num_threads(before)
    assert torch.equal(results[0], results[1])
    assert torch.equal(results[0], results[2])


PARALLEL = """
import sys

import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel

sys.path.insert(0, sys.argv[1])
import train
import softnpu.torch.nn

dist.init_process_group("gloo")
rank = dist.get_rank()
torch.manual_seed(0)
model = DistributedDataParallel(train.UNet(softnpu.torch.nn, channels=4))
loss = softnpu.torch.nn.SmoothL1Loss(beta=0.5)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
noisy, clean = train.volumes(4, 8, torch.Generator().manual_seed(1))
for _ in range(3):
    optimizer.zero_grad()
    half = slice(2 * rank, 2 * rank + 2)
    loss(model(noisy[half]), clean[half]).backward()
    optimizer.step()
if rank == 0:
    torch.save(model.module.state_dict(), "model.pt")
dist.destroy_process_group()
"""


def test_two_processes_train_what_one_does(tmp_path: Path) -> None:
    """DistributedDataParallel over gloo: half a batch each gives the whole batch's model."""
    example = str(ROOT / "examples" / "torch")
    (tmp_path / "part.py").write_text(PARALLEL, encoding="utf-8")
    run_group(2, ["part.py", example], tmp_path)
    sys.path.insert(0, example)
    try:
        import train  # type: ignore[import-not-found]
    finally:
        sys.path.remove(example)
    torch.manual_seed(0)
    model, loss = train.UNet(torch.nn, channels=4), torch.nn.SmoothL1Loss(beta=0.5)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    noisy, clean = train.volumes(4, 8, torch.Generator().manual_seed(1))
    for _ in range(3):
        optimizer.zero_grad()
        loss(model(noisy), clean).backward()
        optimizer.step()
    for name, value in torch.load(tmp_path / "model.pt").items():
        torch.testing.assert_close(value, model.state_dict()[name], rtol=1e-3, atol=1e-5)


def test_jax_arrays() -> None:
    """JAX arrays on the CPU are read in place, and results are JAX arrays."""
    jnp = pytest.importorskip("jax.numpy")
    x = jnp.asarray(np.linspace(-3, 3, 24, dtype=np.float32).reshape(2, 3, 4))
    got = softnpu.elu(x, 1.5)
    assert type(got) is type(x)
    np.testing.assert_array_equal(np.asarray(got), softnpu.elu(np.asarray(x), 1.5))
    with pytest.raises(softnpu.ParamInvalidError, match="selfRef"):
        softnpu.elu_(x)  # JAX arrays never change
