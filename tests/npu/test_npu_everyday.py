# SPDX-License-Identifier: Apache-2.0
"""Everyday operators of the C API on tensors of the device `npu`, in its streams."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch

from softnpu import aclnn

Tensor = torch.Tensor
TYPES = {torch.float32: aclnn.ACL_FLOAT, torch.float16: aclnn.ACL_FLOAT16}


def handle(tensor: Tensor) -> Any:
    """What the C API calls a tensor, over the memory of a tensor of PyTorch."""
    storage = tensor.untyped_storage()
    return aclnn.aclCreateTensor(
        list(tensor.shape),
        TYPES[tensor.dtype],
        list(tensor.stride()),
        tensor.storage_offset(),
        aclnn.ACL_FORMAT_ND,
        [storage.nbytes() // tensor.element_size()],
        storage.data_ptr(),
    )


def launch(operator: str, *arguments: Any) -> None:
    """Plan and launch an operator in the current stream of PyTorch."""
    given = [handle(each) if isinstance(each, Tensor) else each for each in arguments]
    size, executor = getattr(aclnn, f"{operator}GetWorkspaceSize")(*given)
    workspace = torch.empty(max(size, 1), dtype=torch.uint8, device="npu")
    stream = torch.npu.current_stream().npu_stream
    getattr(aclnn, operator)(workspace.data_ptr(), size, executor, stream)


Expected = Callable[[Tensor, Tensor], Tensor]
OPERATORS: dict[str, tuple[Callable[[Tensor, Tensor, Tensor], tuple[Any, ...]], Expected]] = {
    "aclnnMul": (lambda a, b, out: (a, b, out), lambda a, b: a * b),
    "aclnnMaximum": (lambda a, b, out: (a, b, out), torch.maximum),
    "aclnnMatmul": (lambda a, b, out: (a, b, out, 0), lambda a, b: a @ b),
    "aclnnSoftmax": (lambda a, _, out: (a, -1, out), lambda a, _: a.softmax(-1)),
    "aclnnSigmoid": (lambda a, _, out: (a, out), lambda a, _: a.sigmoid()),
}


@pytest.mark.parametrize("dtype", TYPES, ids=str)
@pytest.mark.parametrize("operator", OPERATORS)
def test_they_compute_what_pytorch_does(operator: str, dtype: torch.dtype) -> None:
    """Of strided tensors with an offset, too, and in the order of a stream of PyTorch."""
    arguments, expected = OPERATORS[operator]
    with torch.npu.stream(torch.npu.Stream()):
        a = torch.randn(9, 8, dtype=dtype, device="npu").t()[:, 1:]
        b = torch.randn(8, 8, dtype=dtype, device="npu")
        out = torch.empty(8, 8, dtype=dtype, device="npu")
        launch(operator, *arguments(a, b, out))
        doubled = 2 * out
    torch.npu.synchronize()
    exact = expected(a.cpu().double(), b.cpu().double())
    torch.testing.assert_close(out.cpu(), exact.to(dtype), rtol=0, atol=0)
    assert torch.equal(doubled.cpu(), 2 * out.cpu())
