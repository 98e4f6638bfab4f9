# SPDX-License-Identifier: Apache-2.0
"""softnpu.aclnn: two phases under their documented names."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

import softnpu
from softnpu import acl, aclnn
from tests.python.operators import OPERATORS, Operator
from tests.python.two_phases import Bench, X, run
from tests.support.contract import contract

Array = npt.NDArray[Any]


@pytest.mark.parametrize("operator", OPERATORS, ids=lambda o: o.name)
def test_both_phases_give_the_bits_of_the_function(bench: Bench, operator: Operator) -> None:
    """Of every operator; a workspace is used where there is one."""
    expected, arguments = operator(), []
    out = bench.tensor(np.full_like(expected, 9))
    make = {
        "scalar": lambda value: aclnn.aclCreateScalar(value, aclnn.ACL_FLOAT),
        "int_array": aclnn.aclCreateIntArray,
        "int": {"none": 0, "mean": 1, "sum": 2}.get,
    }
    for a in contract(operator.name).arguments:
        if a.kind == "tensor":
            arguments.append(out if a.is_output else bench.tensor(operator.arrays[a.python]))
        else:
            value = operator.rest.get(a.python, 0.0)
            arguments.append(make.get(a.kind, lambda value: value)(value))
    run(bench, operator.aclnn, *arguments)
    assert np.array_equal(bench.read(out, expected.shape), expected)


def unpool(bench: Bench, indices: Array) -> int:
    """Launch it with these indices; the output."""
    x = np.arange(8, dtype=np.float32).reshape(1, 1, 2, 2, 2)
    out = bench.tensor(np.zeros((1, 1, 1, 2, 2), np.float32))
    ints = [aclnn.aclCreateIntArray(v) for v in ([2, 2, 2], [1, 1, 1], [0, 0, 0])]
    tensors = bench.tensor(x), bench.tensor(x[:, :, :1].copy()), bench.tensor(indices)
    run(bench, "aclnnMaxUnpool3dBackward", *tensors, *ints, out)
    return out


def test_one_tensor_as_indices_and_as_another_argument(bench: Bench) -> None:
    """What is wrong with it depends on where it was passed."""
    ones = [aclnn.aclCreateIntArray([1, 1, 1])] * 3
    shape = (1, 1, 1, 1, 1)
    x, indices = bench.tensor(np.zeros(shape, np.float32)), bench.tensor(np.zeros(shape, np.int64))
    with pytest.raises(softnpu.ParamInvalidError, match="indices has data type FLOAT;"):
        run(bench, "aclnnMaxUnpool3dBackward", x, x, x, *ones, x)
    out = bench.tensor(np.ones(shape, np.int64))
    run(bench, "aclnnMaxUnpool3dBackward", indices, indices, indices, *ones, out)
    assert bench.read(out, (2,)).tolist() == [0, 0]  # the halves of an integer


def test_a_failure_while_running_is_the_synchronisations_status(bench: Bench) -> None:
    """As in C: the launch succeeds, and pyACL's convention is to return the status."""
    unpool(bench, np.full((1, 1, 1, 2, 2), 8))
    assert acl.rt.synchronize_stream(bench.stream) == 361001
    message = acl.get_recent_err_msg()
    assert message is not None
    assert "aclnnMaxUnpool3dBackward: indices[0, 0, 0, 0, 0] is 8" in message
    assert acl.get_recent_err_msg() is None


def test_failures_raise_what_the_c_api_reports(bench: Bench) -> None:
    """The status, and the message that aclGetRecentErrMsg would give."""
    tensor, other = bench.tensor(X), bench.tensor(X[0])
    with pytest.raises(softnpu.ParamInvalidError) as invalid:
        aclnn.aclnnSeluBackwardGetWorkspaceSize(tensor, other, tensor)
    assert str(invalid.value) == (
        "aclnnSeluBackwardGetWorkspaceSize: result has shape [3], but gradOutput has shape [2, 3]; "
        "they must be equal"
    )
    for null in (None, 0):
        with pytest.raises(softnpu.ParamNullptrError, match="result is null"):
            aclnn.aclnnSeluBackwardGetWorkspaceSize(tensor, null, tensor)
    aclnn.aclDestroyTensor(other)
    with pytest.raises(softnpu.ParamInvalidError, match="a destroyed aclTensor"):
        aclnn.aclDestroyTensor(other)
    with pytest.raises(softnpu.ParamInvalidError, match="executor is"):
        aclnn.aclnnSeluBackward(None, 0, 12345, bench.stream)
    with pytest.raises(softnpu.AclnnError) as inner:
        aclnn.aclDestroyAclOpExecutor(None)
    assert inner.value.status == 561103


def test_an_executor_is_launched_once(bench: Bench) -> None:
    """Unless it is repeatable."""
    out = bench.tensor(np.zeros_like(X))
    arguments = bench.tensor(X), bench.tensor(X), out
    size, executor = aclnn.aclnnSeluBackwardGetWorkspaceSize(*arguments)
    aclnn.aclnnSeluBackward(None, size, executor, bench.stream)
    with pytest.raises(softnpu.ParamInvalidError):
        aclnn.aclnnSeluBackward(None, size, executor, bench.stream)


@pytest.mark.parametrize("prefix", ["acl", "Acl"])
def test_a_repeatable_executor_takes_new_addresses(bench: Bench, prefix: str) -> None:
    """By input, by output and by tensor, under both spellings."""
    grad, result, out = bench.tensor(X), bench.tensor(X), bench.tensor(np.zeros_like(X))
    _, executor = aclnn.aclnnSeluBackwardGetWorkspaceSize(grad, result, out)
    getattr(aclnn, prefix + "SetAclOpExecutorRepeatable")(executor)
    target = bench.block(X.nbytes)
    getattr(aclnn, prefix + "SetInputTensorAddr")(executor, 0, grad, bench.upload(X * 2))
    getattr(aclnn, prefix + "SetTensorAddr")(executor, 1, result, bench.upload(X + 1))
    getattr(aclnn, prefix + "SetOutputTensorAddr")(executor, 0, out, target)
    for _ in range(2):
        aclnn.aclnnSeluBackward(None, 0, executor, bench.stream)
    assert acl.rt.synchronize_stream(bench.stream) == 0
    got = acl.util.ptr_to_numpy(target, X.shape, np.float32)
    assert np.array_equal(got, softnpu.selu_backward(X * 2, X + 1))
    with pytest.raises(softnpu.ParamInvalidError):
        aclnn.aclSetInputTensorAddr(executor, 2, grad, target)
    aclnn.aclDestroyAclOpExecutor(executor)
    with pytest.raises(softnpu.ParamInvalidError):
        aclnn.aclDestroyAclOpExecutor(executor)


def test_what_a_tensor_says_of_itself(bench: Bench) -> None:
    """Every getter, and describing it anew."""
    address = bench.block(96)
    tensor = aclnn.aclCreateTensor([2, 3], aclnn.ACL_FLOAT, [8, 2], 4, 30, [4, 6], address)
    assert aclnn.aclGetViewShape(tensor) == [2, 3]
    assert aclnn.aclGetViewStrides(tensor) == [8, 2]
    assert aclnn.aclGetStorageShape(tensor) == [4, 6]
    assert aclnn.aclGetViewOffset(tensor) == 4
    assert aclnn.aclGetFormat(tensor) == aclnn.ACL_FORMAT_NCDHW
    assert aclnn.aclGetDataType(tensor) == aclnn.ACL_FLOAT
    assert aclnn.aclGetRawTensorAddr(tensor) == address
    aclnn.aclSetRawTensorAddr(tensor, None)
    assert aclnn.aclGetRawTensorAddr(tensor) == 0
    aclnn.aclInitTensor(tensor, [], aclnn.ACL_INT8, None, 0, 2, [], address)
    assert aclnn.aclGetViewShape(tensor) == aclnn.aclGetViewStrides(tensor) == []
    assert aclnn.aclGetDataType(tensor) == aclnn.ACL_INT8


@pytest.mark.parametrize(
    ("shape", "stride", "offset"),
    [([-1], None, 0), ([2], [-1], 0), ([2], None, -1), ([2, 2], [1], 0)],
)
def test_a_tensor_that_cannot_be(shape: list[int], stride: list[int] | None, offset: int) -> None:
    """Null in C is an exception here; a list of strides of another length is never read past."""
    with pytest.raises(softnpu.ParamInvalidError):
        aclnn.aclCreateTensor(shape, aclnn.ACL_FLOAT, stride, offset, 2, shape, None)


def test_arrays_and_lists() -> None:
    """Sizes are those of what they were made from; a list destroys its members."""
    ints = aclnn.aclCreateIntArray([1, 2, 3])
    floats = aclnn.aclCreateFloatArray([1.0, 2.0])
    bools = aclnn.aclCreateBoolArray([True, False, True, True])
    assert aclnn.aclGetIntArraySize(ints) == 3
    assert aclnn.aclGetFloatArraySize(floats) == 2
    assert aclnn.aclGetBoolArraySize(bools) == 4
    assert aclnn.aclGetIntArraySize(aclnn.aclCreateIntArray([])) == 0
    tensor = aclnn.aclCreateTensor([1], 0, None, 0, 2, [1], None)
    scalar = aclnn.aclCreateScalar(1, aclnn.ACL_INT64)
    tensors = aclnn.aclCreateTensorList([tensor, None])
    scalars = aclnn.aclCreateScalarList([scalar])
    assert aclnn.aclGetTensorListSize(tensors) == 2
    assert aclnn.aclGetScalarListSize(scalars) == 1
    aclnn.aclDestroyTensorList(tensors)
    aclnn.aclDestroyScalarList(scalars)
    for destroy, handle in ((aclnn.aclDestroyTensor, tensor), (aclnn.aclDestroyScalar, scalar)):
        with pytest.raises(softnpu.ParamInvalidError):
            destroy(handle)
    aclnn.aclDestroyIntArray(ints)
    aclnn.aclDestroyFloatArray(floats)
    aclnn.aclDestroyBoolArray(bools)


def test_a_list_whose_copy_does_not_fit_memory(script: Callable[[str], str]) -> None:
    """Python's own error, as where a result does not; the list itself is left alone."""
    program = """
import resource
from pathlib import Path
from softnpu import aclnn

ones = [1] * (1 << 24)
pages = Path("/proc/self/statm").read_text().split()[0]
used = int(pages) * resource.getpagesize()
resource.setrlimit(resource.RLIMIT_AS, (used + (64 << 20),) * 2)
for create in (
    lambda: aclnn.aclCreateIntArray(ones),
    lambda: aclnn.aclCreateIntArray(range(len(ones))),
    lambda: aclnn.aclCreateTensor(ones, aclnn.ACL_FLOAT, None, 0, 2, [1], None),
):
    try:
        create()
    except MemoryError:
        print("refused")
aclnn.aclDestroyIntArray(aclnn.aclCreateIntArray(ones[:9]))
"""
    assert script(program).split() == ["refused"] * 3


def test_init_and_finalize() -> None:
    """Optional, and harmless: what was made before lives on, and more can be made."""
    before = aclnn.aclCreateIntArray([1, 2])
    aclnn.aclnnInit()
    aclnn.aclnnInit(None)
    aclnn.aclnnFinalize()
    after = aclnn.aclCreateIntArray([3])
    assert aclnn.aclGetIntArraySize(before) == 2
    assert aclnn.aclGetIntArraySize(after) == 1
    aclnn.aclDestroyIntArray(before)
    aclnn.aclDestroyIntArray(after)
