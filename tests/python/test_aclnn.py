# SPDX-License-Identifier: Apache-2.0
"""softnpu.aclnn: two phases under their documented names."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from decimal import Decimal
from fractions import Fraction
from typing import Any

import ml_dtypes
import numpy as np
import numpy.typing as npt
import pytest

import softnpu
from softnpu import acl, aclnn

Array = npt.NDArray[Any]
TYPES = {np.dtype(np.float32): aclnn.ACL_FLOAT, np.dtype(np.int64): aclnn.ACL_INT64}


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


@pytest.fixture
def bench(stream: int) -> Iterator[Bench]:
    """A bench on the stream."""
    made = Bench(stream)
    yield made
    for block in made.blocks:
        acl.rt.free(block)


def run(bench: Bench, name: str, *arguments: Any) -> None:
    """Both phases."""
    size, executor = getattr(aclnn, name + "GetWorkspaceSize")(*arguments)
    workspace = bench.block(size) if size else None
    assert getattr(aclnn, name)(workspace, size, executor, bench.stream) is None


X = np.array([[-2, -1, 3], [0, 1, -0.5]], np.float32)


def test_elu_backward(bench: Bench) -> None:
    """The same bits as the function on arrays."""
    one = aclnn.aclCreateScalar(1.0, aclnn.ACL_FLOAT)
    out = bench.tensor(np.zeros_like(X))
    tensors = bench.tensor(X), bench.tensor(X[::-1].copy())
    run(bench, "aclnnEluBackward", tensors[0], one, one, one, False, tensors[1], out)
    expected = softnpu.elu_backward(X, 1, 1, 1, False, X[::-1])
    assert np.array_equal(bench.read(out, X.shape), expected)


def test_selu_backward(bench: Bench) -> None:
    """The same bits as the function on arrays."""
    out = bench.tensor(np.zeros_like(X))
    run(bench, "aclnnSeluBackward", bench.tensor(X), bench.tensor(X), out)
    assert np.array_equal(bench.read(out, X.shape), softnpu.selu_backward(X, X))


def test_smooth_l1_loss_backward(bench: Bench) -> None:
    """The same bits as the function on arrays."""
    out = bench.tensor(np.zeros_like(X))
    tensors = [bench.tensor(X), bench.tensor(X), bench.tensor(X * 2)]
    run(bench, "aclnnSmoothL1LossBackward", *tensors, 1, 0.5, out)
    expected = softnpu.smooth_l1_loss_backward(X, X, X * 2, 1, 0.5)
    assert np.array_equal(bench.read(out, X.shape), expected)


def test_upsample_nearest3d_backward(bench: Bench) -> None:
    """The same bits as the function on arrays; the workspace is used."""
    x = np.arange(64, dtype=np.float32).reshape(1, 2, 2, 4, 4)
    out = bench.tensor(np.zeros((1, 2, 1, 2, 2), np.float32))
    sizes = aclnn.aclCreateIntArray([2, 4, 4]), aclnn.aclCreateIntArray((1, 2, 1, 2, 2))
    name = "aclnnUpsampleNearest3dBackward"
    run(bench, name, bench.tensor(x), *sizes, 0.0, 0.0, 0.0, out)
    expected = softnpu.upsample_nearest3d_backward(x, (2, 4, 4), (1, 2, 1, 2, 2))
    assert np.array_equal(bench.read(out, expected.shape), expected)


def unpool(bench: Bench, indices: Array) -> int:
    """Launch it with these indices; the output."""
    x = np.arange(8, dtype=np.float32).reshape(1, 1, 2, 2, 2)
    out = bench.tensor(np.zeros((1, 1, 1, 2, 2), np.float32))
    ints = [aclnn.aclCreateIntArray(v) for v in ([2, 2, 2], [1, 1, 1], [0, 0, 0])]
    tensors = bench.tensor(x), bench.tensor(x[:, :, :1].copy()), bench.tensor(indices)
    run(bench, "aclnnMaxUnpool3dBackward", *tensors, *ints, out)
    return out


def test_max_unpool3d_backward(bench: Bench) -> None:
    """A gather."""
    out = unpool(bench, np.array([7, 0, 3, 3]).reshape(1, 1, 1, 2, 2))
    assert bench.read(out, (4,)).tolist() == [7, 0, 3, 3]


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


@pytest.mark.parametrize(
    ("value", "dtype"),
    [
        (1.5, "ACL_FLOAT"),
        (1.5, "ACL_FLOAT16"),
        (1.5, "ACL_BF16"),
        (1.5, "ACL_DOUBLE"),
        (2, "ACL_INT8"),
        (2, "ACL_UINT64"),
        (True, "ACL_BOOL"),
    ],
)
def test_a_scalar_holds_its_value_in_its_type(bench: Bench, value: Any, dtype: str) -> None:
    """As an operator reads it."""
    scale = aclnn.aclCreateScalar(value, getattr(aclnn, dtype))
    one = aclnn.aclCreateScalar(1.0, aclnn.ACL_FLOAT)
    out = bench.tensor(np.zeros_like(X))
    tensors = bench.tensor(np.ones_like(X)), bench.tensor(np.abs(X) + 1)
    run(bench, "aclnnEluBackward", tensors[0], one, scale, one, True, tensors[1], out)
    assert (bench.read(out, X.shape) == float(value)).all()
    aclnn.aclDestroyScalar(scale)


def test_scalars_that_cannot_be() -> None:
    """No value, no such type, a value that does not fit."""
    with pytest.raises(softnpu.AclnnError):
        aclnn.aclCreateScalar(None, aclnn.ACL_FLOAT)
    with pytest.raises(softnpu.AclnnError):
        aclnn.aclCreateScalar(1, aclnn.ACL_STRING)
    with pytest.raises(OverflowError):
        aclnn.aclCreateScalar(1000, aclnn.ACL_INT8)


@pytest.mark.parametrize("dtype", ["ACL_FLOAT", "ACL_INT32", "ACL_BOOL", "ACL_COMPLEX32"])
@pytest.mark.parametrize(
    "value", ["1", b"1", [1, 2], [1.0], np.ones(1), np.datetime64(1, "s"), object()], ids=repr
)
def test_what_is_no_number_is_no_scalar(value: Any, dtype: str) -> None:
    """It is not converted behind the caller's back."""
    with pytest.raises(TypeError, match="aclCreateScalar: value is of class"):
        aclnn.aclCreateScalar(value, getattr(aclnn, dtype))


@pytest.mark.parametrize("dtype", ["ACL_FLOAT", "ACL_BF16", "ACL_INT32"])
@pytest.mark.parametrize("value", [1j, np.complex64(1)], ids=repr)
def test_a_complex_number_is_no_real_scalar(value: Any, dtype: str) -> None:
    """The imaginary part is not dropped."""
    with pytest.raises(TypeError, match="aclCreateScalar: value is complex, but dataType is"):
        aclnn.aclCreateScalar(value, getattr(aclnn, dtype))


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize(
    "dtype", ["ACL_FLOAT", "ACL_FLOAT16", "ACL_BF16", "ACL_COMPLEX64", "ACL_COMPLEX32"]
)
@pytest.mark.parametrize("value", [1e300, -1e300, 1e-300, np.float64(1e300)], ids=repr)
def test_a_scalar_beyond_the_range_of_its_type(value: Any, dtype: str) -> None:
    """It is infinity, or zero, without a warning."""
    with np.errstate(all="raise"):
        aclnn.aclDestroyScalar(aclnn.aclCreateScalar(value, getattr(aclnn, dtype)))


@pytest.mark.parametrize("value", [Decimal("2.5"), Fraction(5, 2), np.float32(2.5), np.array(2.5)])
def test_every_kind_of_number_makes_a_scalar(bench: Bench, value: Any) -> None:
    """As given for a floating type, cut for an integer type."""
    for dtype, expected in ((aclnn.ACL_FLOAT, 2.5), (aclnn.ACL_INT16, 2)):
        scale = aclnn.aclCreateScalar(value, dtype)
        one = aclnn.aclCreateScalar(1.0, aclnn.ACL_FLOAT)
        out = bench.tensor(np.zeros_like(X))
        tensors = bench.tensor(np.ones_like(X)), bench.tensor(np.abs(X) + 1)
        run(bench, "aclnnEluBackward", tensors[0], one, scale, one, True, tensors[1], out)
        assert (bench.read(out, X.shape) == expected).all()


def test_complex_and_bfloat16_scalars_exist() -> None:
    """They are descriptors like any other, whatever takes them."""
    for value, dtype in ((1 + 2j, aclnn.ACL_COMPLEX64), (ml_dtypes.bfloat16(2), aclnn.ACL_BF16)):
        scalar = aclnn.aclCreateScalar(value, dtype)
        assert scalar > 0
        aclnn.aclDestroyScalar(scalar)
        with pytest.raises(softnpu.ParamInvalidError):
            aclnn.aclDestroyScalar(scalar)


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


def test_arguments_of_the_wrong_kind_are_type_errors() -> None:
    """Python's own error, before anything is called."""
    with pytest.raises(TypeError):
        aclnn.aclDestroyTensor("tensor")  # type: ignore[arg-type]
    with pytest.raises(TypeError):
        aclnn.aclCreateIntArray([2**64])
    with pytest.raises(TypeError):
        aclnn.aclDestroyTensor(-1)
