# SPDX-License-Identifier: Apache-2.0
"""Callers beside a plain script: workers, forks, other thread counts, JAX."""

from __future__ import annotations

import os

import numpy as np
import pytest
import torch
from torch import Tensor
from torch.utils.data import DataLoader, Dataset

import softnpu
import softnpu.torch
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


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_a_fork_after_use() -> None:
    """Forward and backward work in a child, and still in the parent."""

    def gradient() -> Tensor:
        x = values(*LARGE).requires_grad_()
        torch.ops.softnpu.selu(x).square().sum().backward()
        assert x.grad is not None
        return x.grad

    expected = gradient()
    child = os.fork()
    if child == 0:
        torch.set_num_threads(1)  # PyTorch's own threads do not survive a fork
        os._exit(0 if torch.equal(gradient(), expected) else 1)
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


def test_jax_arrays() -> None:
    """JAX arrays on the CPU are read in place, and results are JAX arrays."""
    jnp = pytest.importorskip("jax.numpy")
    x = jnp.asarray(np.linspace(-3, 3, 24, dtype=np.float32).reshape(2, 3, 4))
    got = softnpu.elu(x, 1.5)
    assert type(got) is type(x)
    np.testing.assert_array_equal(np.asarray(got), softnpu.elu(np.asarray(x), 1.5))
    with pytest.raises(softnpu.ParamInvalidError, match="selfRef"):
        softnpu.elu_(x)  # JAX arrays never change
