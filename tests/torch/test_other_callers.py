# SPDX-License-Identifier: Apache-2.0
"""Callers beside a plain script: workers of a data loader, JAX."""

from __future__ import annotations

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


def test_jax_arrays() -> None:
    """JAX arrays on the CPU are read in place, and results are JAX arrays."""
    jnp = pytest.importorskip("jax.numpy")
    x = jnp.asarray(np.linspace(-3, 3, 24, dtype=np.float32).reshape(2, 3, 4))
    got = softnpu.elu(x, 1.5)
    assert type(got) is type(x)
    np.testing.assert_array_equal(np.asarray(got), softnpu.elu(np.asarray(x), 1.5))
    with pytest.raises(softnpu.ParamInvalidError, match="selfRef"):
        softnpu.elu_(x)  # JAX arrays never change
