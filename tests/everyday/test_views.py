# SPDX-License-Identifier: Apache-2.0
"""Views whose storage is described too small, as by programs that leave out the view's offset."""

from __future__ import annotations

from collections.abc import Iterator

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


def floats(address: int, size: int, offset: int, storage: int) -> int:
    """Make a view of adjacent elements."""
    return aclnn.aclCreateTensor(
        [size], aclnn.ACL_FLOAT, [1], offset, aclnn.ACL_FORMAT_ND, [storage], address
    )


def test_a_view_past_its_storage(memory: int) -> None:
    """It may be read and written where memory is allocated."""
    x, out = floats(memory, 4, 4, 4), floats(memory, 4, 12, 4)
    size, executor = aclnn.aclnnNegGetWorkspaceSize(x, out)
    aclnn.aclnnNeg(None, size, executor, None)
    acl.rt.synchronize_device()
    got = np.zeros(16, "f4")
    acl.rt.memcpy(got.ctypes.data, got.nbytes, memory, got.nbytes, 2)
    np.testing.assert_array_equal(got[12:], [-4, -5, -6, -7])
    np.testing.assert_array_equal(got[:12], range(12))


def test_a_view_past_its_memory(memory: int) -> None:
    """The storage then ends where the view does."""
    with pytest.raises(ParamInvalidError, match="self has storage .17. of 68 bytes, but its"):
        aclnn.aclnnNegGetWorkspaceSize(floats(memory, 4, 13, 4), floats(memory, 4, 0, 4))
