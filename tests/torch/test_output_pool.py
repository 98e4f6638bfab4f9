# SPDX-License-Identifier: Apache-2.0
"""Large tensors have memory of the pool, and are ordinary tensors."""

from __future__ import annotations

import gc
import io
import pickle
import threading
from collections.abc import Callable
from typing import Any

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


def test_the_memory_of_a_tensor_that_is_gone_is_used_again() -> None:
    """By the next tensor, or by an array."""
    first = result(2)
    at = first.data_ptr()
    assert usage() == (0, SMALLEST)
    del first
    assert usage() == (SMALLEST, 0)
    second = result(3)
    assert second.data_ptr() == at
    assert bool((second == 3).all())


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


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32", "int8", "int32"])
def test_data_types(dtype: str) -> None:
    """Each result is right, fresh or not."""
    x = torch.ones(SMALLEST + 77, dtype=getattr(torch, dtype))
    expected = softnpu.selu_backward(x[:1], x[:1])
    for _ in range(3):
        got = softnpu.selu_backward(x, x)
        assert got.dtype == x.dtype
        assert torch.equal(got, expected.expand_as(x))


VIEWS: dict[str, Callable[[Any], Any]] = {
    "slice": lambda t: t[5:6],
    "reshaped": lambda t: t.view(2, -1).mT,
    "detached": lambda t: t.detach(),
    "array": lambda t: t.numpy(),
    "array's slice": lambda t: t.numpy()[3:9],
    "through DLPack": torch.from_dlpack,
    "storage": lambda t: t.untyped_storage(),
    "in a graph": lambda t: t.requires_grad_().view(-1),
}


@pytest.mark.parametrize("name", VIEWS)
def test_a_buffer_is_not_reused_while_it_is_viewed(name: str) -> None:
    """Whatever shares the storage keeps it."""
    got = result(4)
    at = got.data_ptr()
    view = VIEWS[name](got)
    del got
    gc.collect()
    assert usage() == (0, SMALLEST)
    others = [result(5) for _ in range(3)]
    assert at not in [o.data_ptr() for o in others]
    if name != "storage":
        assert bool((view == 4).all())
    del view, others
    gc.collect()
    assert usage() == (4 * SMALLEST, 0)


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


def test_tensors_freed_by_other_threads() -> None:
    """A deleter runs on any thread."""
    for _ in range(20):
        held = [result(i) for i in range(3)]
        assert [float(t[-1]) for t in held] == [0, 1, 2]
        thread = threading.Thread(target=held.clear)
        thread.start()
        thread.join()
    assert usage() == (3 * SMALLEST, 0)


def test_0_turns_the_pool_off() -> None:
    """Tensors are PyTorch's own then."""
    softnpu.set_pool_limit(0)
    got = result(6)
    assert usage() == (0, 0)
    assert bool((got == 6).all())
