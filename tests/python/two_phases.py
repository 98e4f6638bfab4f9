# SPDX-License-Identifier: Apache-2.0
"""Calls of both phases on device memory."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from softnpu import acl, aclnn

Array = npt.NDArray[Any]
TYPES = {np.dtype(np.float32): aclnn.ACL_FLOAT, np.dtype(np.int64): aclnn.ACL_INT64}
X = np.array([[-2, -1, 3], [0, 1, -0.5]], np.float32)


class Bench:
    """Device tensors and scalars that are released at the end."""

    def __init__(self, stream: int) -> None:
        self.stream = stream
        self.blocks: list[int] = []

    def block(self, size: int) -> int:
        """Device memory."""
        address, ret = acl.rt.malloc(size, acl.ACL_MEM_MALLOC_HUGE_FIRST)
        assert ret == 0
        self.blocks.append(address)
        return address

    def upload(self, array: Array) -> int:
        """A copy of an array on the device."""
        address = self.block(array.nbytes)
        source = acl.util.numpy_to_ptr(array)
        assert acl.rt.memcpy(address, array.nbytes, source, array.nbytes, 1) == 0
        return address

    def tensor(self, array: Array, strides: Sequence[int] | None = None) -> int:
        """A tensor with an array's contents."""
        address = self.upload(array)
        kind = TYPES[array.dtype]
        return aclnn.aclCreateTensor(array.shape, kind, strides, 0, 2, array.shape, address)

    def read(self, tensor: int, shape: tuple[int, ...]) -> Array:
        """A float32 tensor's contents."""
        assert acl.rt.synchronize_stream(self.stream) == 0
        return acl.util.ptr_to_numpy(aclnn.aclGetRawTensorAddr(tensor), shape, 11).copy()


def run(bench: Bench, name: str, *arguments: Any) -> None:
    """Both phases."""
    size, executor = getattr(aclnn, name + "GetWorkspaceSize")(*arguments)
    workspace = bench.block(size) if size else None
    assert getattr(aclnn, name)(workspace, size, executor, bench.stream) is None
