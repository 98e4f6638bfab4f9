# SPDX-License-Identifier: Apache-2.0
"""Phase one with tensors without addresses, which the launches of the executor get."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from softnpu import acl, aclnn
from softnpu.errors import ParamInvalidError, ParamNullptrError

SIZES = [2, 3]


class Memory:
    """Six numbers on the device."""

    def __init__(self, values: Any) -> None:
        self._host = np.array(values, np.float32).reshape(SIZES)
        self.address, error = acl.rt.malloc(32, 0)
        assert error == 0
        acl.rt.memcpy(self.address, 24, self._host.ctypes.data, 24, 1)

    def read(self) -> Any:
        """Copy the numbers to the host."""
        assert acl.rt.synchronize_device() == 0
        acl.rt.memcpy(self._host.ctypes.data, 24, self.address, 24, 2)
        return self._host


def tensor(address: int = 0) -> Any:
    """Make a tensor, without an address by default."""
    strides = [3, 1]
    return aclnn.aclCreateTensor(
        SIZES, aclnn.ACL_FLOAT, strides, 0, aclnn.ACL_FORMAT_ND, SIZES, address
    )


@pytest.fixture
def memories() -> Iterator[list[Memory]]:
    """Make four blocks of memory."""
    made = [Memory(np.arange(6) * (i + 1)) for i in range(4)]
    yield made
    for each in made:
        acl.rt.free(each.address)


def planned(name: str, count: int, *others: Any) -> tuple[list[Any], Any]:
    """Plan with tensors without addresses: a repeatable executor."""
    tensors = [tensor() for _ in range(count)]
    phase_one = getattr(aclnn, f"aclnn{name}GetWorkspaceSize")
    size, executor = phase_one(*tensors[:-1], *others, tensors[-1])
    assert size == 0
    aclnn.aclSetAclOpExecutorRepeatable(executor)
    return tensors, executor


def test_addresses_before_each_launch(memories: list[Memory]) -> None:
    """One plan computes on other memory each time."""
    one = aclnn.aclCreateScalar(1.0, aclnn.ACL_FLOAT)
    tensors, executor = planned("Add", 3, one)
    for chosen in ((0, 1, 3), (1, 2, 3), (2, 2, 3)):
        for i, memory in enumerate(chosen):
            aclnn.AclSetTensorAddr(executor, i, tensors[i], memories[memory].address)
        aclnn.aclnnAdd(None, 0, executor, None)
        wanted = np.arange(6) * (chosen[0] + chosen[1] + 2)
        np.testing.assert_array_equal(memories[3].read().ravel(), wanted)
    aclnn.aclDestroyAclOpExecutor(executor)


def test_a_missing_address(memories: list[Memory]) -> None:
    """The launch names the tensor, and the executor can still be used."""
    tensors, executor = planned("Exp", 2)
    for at, name in enumerate(("self", "out")):
        with pytest.raises(ParamNullptrError, match=f"{name} has no data .*aclSetTensorAddr"):
            aclnn.aclnnExp(None, 0, executor, None)
        aclnn.aclSetTensorAddr(executor, at, tensors[at], memories[at].address)
    aclnn.aclnnExp(None, 0, executor, None)
    np.testing.assert_allclose(memories[1].read().ravel(), np.exp(np.arange(6)), 1e-6)
    aclnn.aclDestroyAclOpExecutor(executor)


def test_an_address_is_checked(memories: list[Memory]) -> None:
    """It must be device memory, large enough, and no other operand's."""
    tensors, executor = planned("Relu", 2)
    host = np.zeros(6, np.float32)
    with pytest.raises(ParamInvalidError, match="not device memory"):
        aclnn.aclSetTensorAddr(executor, 0, tensors[0], host.ctypes.data)
    with pytest.raises(ParamNullptrError, match="self has no data"):
        aclnn.aclSetTensorAddr(executor, 0, tensors[0], 0)
    aclnn.aclSetTensorAddr(executor, 0, tensors[0], memories[0].address)
    with pytest.raises(ParamInvalidError, match="allocation ends after"):
        aclnn.aclSetTensorAddr(executor, 1, tensors[1], memories[1].address + 12)
    with pytest.raises(ParamInvalidError, match="out overlaps self in memory"):
        aclnn.aclSetTensorAddr(executor, 1, tensors[1], memories[0].address + 4)
    aclnn.aclDestroyAclOpExecutor(executor)


def test_one_address_is_known(memories: list[Memory]) -> None:
    """Tensors with and without an address may be mixed."""
    source, out = tensor(memories[0].address), tensor()
    _, executor = aclnn.aclnnReluGetWorkspaceSize(source, out)
    aclnn.aclSetTensorAddr(executor, 1, out, memories[1].address)
    aclnn.aclnnRelu(None, 0, executor, None)
    np.testing.assert_array_equal(memories[1].read().ravel(), np.arange(6))


def test_documented_operators() -> None:
    """Their documents have null data fail in phase one."""
    alpha = aclnn.aclCreateScalar(1.0, aclnn.ACL_FLOAT)
    with pytest.raises(ParamNullptrError, match="self has no data"):
        aclnn.aclnnEluGetWorkspaceSize(tensor(), alpha, alpha, alpha, tensor())
