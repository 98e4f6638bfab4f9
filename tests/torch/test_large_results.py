# SPDX-License-Identifier: Apache-2.0
"""New tensors of any size have memory from PyTorch, and are ordinary tensors."""

from __future__ import annotations

import io
import pickle
from typing import Any

import numpy as np
import pytest

import softnpu
from tests.support.pooled import SMALLEST, usage

torch = pytest.importorskip("torch")
pytestmark = [pytest.mark.torch, pytest.mark.usefixtures("empty_pool")]

COUNT = SMALLEST // 4


def result(value: float = 1.0, count: int = COUNT) -> Any:
    """A tensor, all elements `value`."""
    ones = torch.ones(1)
    return softnpu.elu_backward((ones * value).expand(count), 1, 1, 1, False, ones.expand(count))


@pytest.mark.filterwarnings("ignore:An output with one or more elements was resized")
@pytest.mark.parametrize("count", [0, 3, COUNT, 9 * COUNT])
def test_a_result_can_be_resized(count: int) -> None:
    """Law: as any tensor of PyTorch's own, by PyTorch's operators and by itself."""
    got = result(2, count)
    more = torch.arange(float(count + 5))
    assert torch.equal(torch.add(more, 1, out=got), more + 1)
    got = result(2, count)
    assert got.resize_(count + 7).shape == (count + 7,)
    assert bool((got[:count] == 2).all())


def test_no_buffer_of_the_pool_is_taken() -> None:
    """Its memory could not be resized."""
    got = result(6)
    assert usage() == (0, 0)
    assert bool((got == 6).all())


def test_an_array_beside_a_tensor_makes_an_array() -> None:
    """A result is of the kind of the first input, and an array's memory is the pool's."""
    got = softnpu.selu_backward(np.ones(COUNT, np.float32), torch.ones(COUNT))
    assert isinstance(got, np.ndarray)
    assert usage() == (0, SMALLEST)


@pytest.mark.filterwarnings("ignore:.*weights_only:FutureWarning")  # PyTorch 2.4, when unpickling
def test_a_large_result_is_an_ordinary_tensor() -> None:
    """Of no graph, contiguous, writeable, with a storage of its own size."""
    got = result(2).reshape(2, -1)
    assert type(got) is torch.Tensor
    assert got.is_contiguous()
    assert not got.requires_grad
    assert got.grad_fn is None
    assert got.device.type == "cpu"
    assert got.untyped_storage().nbytes() == SMALLEST
    got += 1
    got[0, 0] = 7
    got.numpy()[0, 1] = 8
    assert got[0, :3].tolist() == [7, 8, 3]
    file = io.BytesIO()
    torch.save(got, file)
    file.seek(0)
    for twin in (got.clone(), torch.load(file, weights_only=True), pickle.loads(pickle.dumps(got))):
        assert torch.equal(twin, got)


def test_a_graph_keeps_what_it_saved() -> None:
    """A tensor that a backward pass needs is not overwritten."""
    w = torch.full((COUNT,), 2.0, requires_grad=True)
    loss = (w * result(3)).sum()
    others = [result(5) for _ in range(3)]
    loss.backward()
    assert bool((w.grad == 3).all())
    assert len(others) == 3


def test_a_result_that_does_not_fit_memory() -> None:
    """Python's own error, which says what was to be made."""
    one = torch.ones(1).expand(2**40, 8)
    with pytest.raises(MemoryError, match=r"shape \[1099511627776, 8\] and data type FLOAT"):
        softnpu.selu_backward(one, one)
