# SPDX-License-Identifier: Apache-2.0
"""Views whose storage is described too small, as by programs that leave out the view's offset."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from softnpu import acl, aclnn
from softnpu.errors import ParamInvalidError


@pytest.fixture
def memory() -> Iterator[int]:
    """Sixteen floats on the device: 0, 1, 2, ..."""
    values = np.arange(16, dtype="f4")
    address, error = acl.rt.malloc(values.nbytes, 0)
    assert error == 0
    acl.rt.memcpy(address, values.nbytes, values.ctypes.data, values.nbytes, 1)
    yield address
    acl.rt.free(address)


def view(address: int, sizes: list[int], offset: int, storage: int, dtype: Any = 0) -> int:
    """Make a contiguous view of one or two dimensions; data type 0 is FLOAT."""
    strides = [*sizes[1:], 1]
    return aclnn.aclCreateTensor(
        sizes, dtype, strides, offset, aclnn.ACL_FORMAT_ND, [storage], address
    )


def test_a_view_past_its_storage(memory: int) -> None:
    """It may be read and written where memory is allocated."""
    x, out = view(memory, [4], 4, 4), view(memory, [4], 12, 4)
    size, executor = aclnn.aclnnNegGetWorkspaceSize(x, out)
    aclnn.aclnnNeg(None, size, executor, None)
    acl.rt.synchronize_device()
    got = np.zeros(16, "f4")
    acl.rt.memcpy(got.ctypes.data, got.nbytes, memory, got.nbytes, 2)
    np.testing.assert_array_equal(got[12:], [-4, -5, -6, -7])
    np.testing.assert_array_equal(got[:12], range(12))


def test_a_view_past_its_memory(memory: int) -> None:
    """The storage then ends where the view does."""
    with pytest.raises(ParamInvalidError, match=r"self has shape .*, which reach byte 68 of its"):
        aclnn.aclnnNegGetWorkspaceSize(view(memory, [4], 13, 4), view(memory, [4], 0, 4))


def test_int4_past_its_memory(memory: int) -> None:
    """Two elements share a byte: 128 of them fit 64 bytes."""
    x = view(memory, [1, 64], 0, 64, aclnn.ACL_INT8)
    scale, out = (view(memory, [1, 2], 0, 2) for _ in range(2))
    for offset, message in ((1, "which reach byte 65 of its storage"), (0, "out overlaps x")):
        weight = view(memory, [64, 2], offset, 128, aclnn.ACL_INT4)
        arguments = (x, weight, scale, None, None, None, None, 0, out)
        with pytest.raises(ParamInvalidError) as failed:
            aclnn.aclnnWeightQuantBatchMatmulV2GetWorkspaceSize(*arguments)
        assert message in str(failed.value)
