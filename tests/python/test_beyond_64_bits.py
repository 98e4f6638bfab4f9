# SPDX-License-Identifier: Apache-2.0
"""Sizes whose product no 64 bits hold: tensors can have them where another size is 0."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

import pytest

import softnpu
from softnpu import acl, aclnn

Make = Callable[..., int]


@pytest.fixture
def tensor(stream: int) -> Iterator[Make]:
    """Make a tensor of a shape and a type on a little device memory."""
    assert stream
    address, ret = acl.rt.malloc(4096, acl.ACL_MEM_MALLOC_HUGE_FIRST)
    assert ret == 0
    yield lambda shape, dtype=aclnn.ACL_FLOAT, strides=None: aclnn.aclCreateTensor(
        shape, dtype, strides, 0, aclnn.ACL_FORMAT_ND, [1], address
    )
    acl.rt.free(address)


def unpool(tensor: Make, self: Sequence[int], output_size: Sequence[int]) -> None:
    """Phase one of the unpool gradient of empty tensors."""
    ones = aclnn.aclCreateIntArray([1, 1, 1])
    aclnn.aclnnMaxUnpool3dBackwardGetWorkspaceSize(
        tensor([0, *output_size]),
        tensor(self),
        tensor(self, aclnn.ACL_INT64),
        aclnn.aclCreateIntArray(output_size),
        ones,
        ones,
        tensor(self),
    )


@pytest.mark.parametrize(
    ("self", "output_size"),
    [
        ([0, 2**21, 2**21, 2**21], [2**62, 1, 1]),
        ([0, 2**40, 2**40, 1], [2**40, 2**31, 1]),
        ([0, 3, 2**31, 2**40], [2**31, 2**21, 2**20]),
        ([0, 2**62, 2**62, 2**62], [2**62, 2**62, 2**62 - 1]),
    ],
)
def test_output_size_must_not_be_smaller(
    tensor: Make, self: Sequence[int], output_size: Sequence[int]
) -> None:
    """The products are compared as they are, and the other way round it is accepted."""
    with pytest.raises(softnpu.ParamInvalidError, match=r"outputSize .* is below"):
        unpool(tensor, self, output_size)
    unpool(tensor, [0, *output_size], self[1:])


def test_the_mean_over_nothing(tensor: Make) -> None:
    """The forward's output has 2**80 elements, of which gradInput has none."""
    repeated = [0, 0, 0]
    size, _ = aclnn.aclnnSmoothL1LossBackwardGetWorkspaceSize(
        tensor([1, 1, 0]),
        tensor([2**40, 1, 1], strides=repeated),
        tensor([1, 2**40, 1], strides=repeated),
        1,
        1.0,
        tensor([2**40, 2**40, 0]),
    )
    assert size == 0
