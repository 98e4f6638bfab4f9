# SPDX-License-Identifier: Apache-2.0
"""Tensors, scalars, arrays and lists: what clients rely on, one test for each promise."""

from __future__ import annotations

import ctypes as ct
import ctypes.util
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

from tests.support.capi import INVALID, NULLPTR, Session, int64s
from tests.support.capi_symbols import DTYPES, FORMATS
from tests.support.prepared import prepare


def delete_array(pointer: Any) -> None:
    """delete[] as a C++ client calls it."""
    try:  # a sanitizer that was loaded first has the one to call
        operator_delete = ct.CDLL(None)._ZdaPv
    except AttributeError:
        operator_delete = ct.CDLL("libstdc++.so.6")._ZdaPv
    operator_delete.argtypes, operator_delete.restype = [ct.c_void_p], None
    operator_delete(ct.cast(pointer, ct.c_void_p))


def list_of(session: Session, getter: str, tensor: int) -> list[int]:
    """What a getter that allocates its result says of a tensor."""
    values, count = ct.POINTER(ct.c_int64)(), ct.c_uint64()
    session.check(getattr(session.api, getter)(tensor, ct.byref(values), ct.byref(count)))
    found = values[: count.value]
    delete_array(values)
    return list(found)


def number_of(session: Session, getter: str, tensor: int, result: Any) -> Any:
    """What a getter of one value says of a tensor."""
    session.check(getattr(session.api, getter)(tensor, ct.byref(result)))
    return result.value


def made(handle: int | None) -> int:
    """A handle that must not be null."""
    assert handle is not None
    return handle


# --- tensors ----------------------------------------


def test_a_tensor_says_what_it_was_made_of(session: Session) -> None:
    """Every getter returns its part of the description."""
    address = session.malloc(4096)
    tensor = made(
        session.tensor(
            "INT16", [2, 3], address, strides=[1, 4], offset=5, format="NHWC", storage=[7, 9]
        )
    )
    assert list_of(session, "aclGetViewShape", tensor) == [2, 3]
    assert list_of(session, "aclGetViewStrides", tensor) == [1, 4]
    assert list_of(session, "aclGetStorageShape", tensor) == [7, 9]
    assert number_of(session, "aclGetViewOffset", tensor, ct.c_int64()) == 5
    assert number_of(session, "aclGetFormat", tensor, ct.c_int32()) == FORMATS["NHWC"]
    assert number_of(session, "aclGetDataType", tensor, ct.c_int32()) == DTYPES["INT16"]
    assert number_of(session, "aclGetRawTensorAddr", tensor, ct.c_void_p()) == address


def test_null_strides_mean_contiguous(session: Session) -> None:
    """A tensor without strides reports row-major ones."""
    tensor = made(session.tensor("FLOAT", [2, 3, 4], None))
    assert list_of(session, "aclGetViewStrides", tensor) == [12, 4, 1]


@pytest.mark.parametrize(
    ("shape", "strides", "offset", "storage"),
    [
        ([2, -1], [1, 1], 0, [2]),
        ([-1], None, 0, [1]),
        ([2, 2], [2, -1], 0, [4]),
        ([2, 2], [2, 1], -1, [4]),
        ([2, 2], [2, 1], 0, [-4]),
    ],
)
def test_a_negative_dimension_stride_or_offset_gives_no_tensor(
    session: Session,
    shape: Sequence[int],
    strides: Sequence[int] | None,
    offset: int,
    storage: Sequence[int],
) -> None:
    """AclCreateTensor returns null, and a message says why."""
    session.message()
    tensor = session.tensor("FLOAT", shape, None, strides=strides, offset=offset, storage=storage)
    assert tensor is None
    assert "aclCreateTensor" in session.message()


def test_rank_0_with_null_arrays_is_one_element(session: Session) -> None:
    """A tensor of rank 0 needs no arrays, and operators compute its one element."""
    handles = []
    for value in (3.0, -0.5, 77.0):
        address = session.upload(np.array([value], np.float32))
        handle = session.api.aclCreateTensor(None, 0, 0, None, 0, 2, None, 0, address)
        handles.append((made(session.keep("aclDestroyTensor", handle)), address))
    (grad, _), (x, _), (out, address) = handles
    assert list_of(session, "aclGetViewShape", grad) == []
    one = session.scalar("FLOAT", 1.0)
    session.run("aclnnEluBackward", grad, one, one, one, True, x, out)
    assert session.download(address, 4).view(np.float32)[0] == 1.5


def test_null_data_is_legal_until_an_operator_needs_it(session: Session) -> None:
    """A tensor without data exists; an operator that needs the data says 161001, after its own
    checks have passed.
    """
    call = prepare(session, "elu_backward")
    empty_handed = made(session.tensor("FLOAT", [2, 2], None))
    end = call.try_plan(gradOutput=empty_handed)
    assert end.status == NULLPTR
    assert "gradOutput" in end.message
    other_shape = made(session.tensor("FLOAT", [3], None))
    assert call.try_plan(gradOutput=other_shape).status == INVALID


def test_the_storage_may_have_another_rank(session: Session) -> None:
    """Only the extent of the storage matters: a count of elements in one dimension will do."""
    call = prepare(session, "elu_backward")
    address = call.arrays["gradOutput"].address
    assert (
        call.try_plan(gradOutput=session.tensor("FLOAT", [2, 2], address, storage=[4])).status == 0
    )
    end = call.try_plan(gradOutput=session.tensor("FLOAT", [2, 2], address, storage=[3]))
    assert end.status == INVALID
    assert "gradOutput" in end.message


def test_the_storage_may_be_larger_than_its_memory(session: Session) -> None:
    """What the view reaches must be there: some programs declare its shape as the storage's."""
    call = prepare(session, "elu_backward")
    address = session.malloc(4)

    def planned(strides: list[int]) -> Any:
        tensor = session.tensor("FLOAT", [2, 2], address, strides=strides, storage=[2, 2])
        return call.try_plan(gradOutput=tensor)

    assert planned([0, 0]).status == 0
    end = planned([0, 1])
    assert end.status == INVALID
    assert "which reach byte 8 of its storage" in end.message


def test_init_tensor_describes_another_view_with_the_same_handle(session: Session) -> None:
    """AclInitTensor replaces the whole description; a refused one changes nothing."""
    tensor = made(session.tensor("FLOAT", [2, 2], None, format="NCHW"))
    address = session.malloc(64)
    storage = int64s([16])
    describe = session.api.aclInitTensor
    new = (int64s([3]), 1, DTYPES["INT8"], int64s([2]), 1, FORMATS["NCL"], storage, 1, address)
    session.check(describe(tensor, *new))
    assert list_of(session, "aclGetViewShape", tensor) == [3]
    assert list_of(session, "aclGetViewStrides", tensor) == [2]
    assert list_of(session, "aclGetStorageShape", tensor) == [16]
    assert number_of(session, "aclGetViewOffset", tensor, ct.c_int64()) == 1
    assert number_of(session, "aclGetDataType", tensor, ct.c_int32()) == DTYPES["INT8"]
    bad = (int64s([-3]), *new[1:])
    assert describe(tensor, *bad) == INVALID
    assert list_of(session, "aclGetViewShape", tensor) == [3]


def test_a_raw_address_can_be_set_and_read(session: Session) -> None:
    """AclSetRawTensorAddr gives a tensor other memory, which the next phase one plans with."""
    call = prepare(session, "elu_backward")
    address = session.upload(2 * call.arrays["gradOutput"].like)
    session.check(session.api.aclSetRawTensorAddr(call.arguments["gradOutput"], address))
    found = number_of(session, "aclGetRawTensorAddr", call.arguments["gradOutput"], ct.c_void_p())
    assert found == address
    session.check(call.launch(call.plan()))
    session.check(session.synchronize())
    np.testing.assert_array_equal(call.out.read(), 2 * call.expect)


GETTERS = {
    "aclGetViewShape": 2,
    "aclGetStorageShape": 2,
    "aclGetViewStrides": 2,
    "aclGetViewOffset": 1,
    "aclGetFormat": 1,
    "aclGetDataType": 1,
    "aclGetRawTensorAddr": 1,
}


@pytest.mark.parametrize("getter", GETTERS)
def test_getters_refuse_what_is_no_live_tensor(session: Session, getter: str) -> None:
    """A null tensor or result is 161001, a dead handle or one of another kind 161002."""
    results = [ct.c_uint64(99) for _ in range(GETTERS[getter])]
    pointers = [ct.byref(result) for result in results]
    dead = made(session.tensor("FLOAT", [2], None))
    session.check(session.api.aclDestroyTensor(dead))
    function = getattr(session.api, getter)
    assert function(None, *pointers) == NULLPTR
    assert function(dead, *pointers) == INVALID
    assert function(session.scalar("FLOAT", 1.0), *pointers) == INVALID
    assert [result.value for result in results] == [99] * len(results)
    alive = made(session.tensor("FLOAT", [2], None))
    assert function(alive, *[None] * len(pointers)) == NULLPTR


# --- scalars and arrays ----------------------------------------


@pytest.mark.parametrize("dtype", ["DOUBLE", "INT64", "BOOL", "COMPLEX128"])
def test_scalars_that_clients_make(session: Session, dtype: str) -> None:
    """The four types that one client uses give scalars."""
    assert session.scalar(dtype, 1) is not None


def test_a_scalar_owns_a_copy_of_its_value(session: Session) -> None:
    """The memory that a scalar was created from may change at once."""
    call = prepare(session, "elu_backward")
    value = ct.c_float(1.0)
    scale = session.keep("aclDestroyScalar", session.api.aclCreateScalar(ct.byref(value), 0))
    value.value = 1000.0
    session.check(call.launch(call.try_plan(scale=scale)))
    session.check(session.synchronize())
    call.assert_computed()


def test_an_array_owns_a_copy_of_its_values(session: Session) -> None:
    """The memory that an array was created from may change at once."""
    call = prepare(session, "upsample_nearest3d_backward")
    values = int64s([2, 2, 2])
    sizes = session.keep("aclDestroyIntArray", session.api.aclCreateIntArray(values, 3))
    values[:] = [-1, -1, -1]
    assert call.try_plan(outputSize=sizes).status == 0


def test_arrays_know_their_size(session: Session) -> None:
    """Arrays of every kind say how many members they have; none is a size too."""
    api = session.api
    count = ct.c_uint64(99)
    arrays = {
        "Int": api.aclCreateIntArray(int64s([1, 2, 3]), 3),
        "Float": api.aclCreateFloatArray((ct.c_float * 3)(1, 2, 3), 3),
        "Bool": api.aclCreateBoolArray((ct.c_bool * 3)(True, False, True), 3),
    }
    for kind, handle in arrays.items():
        session.check(getattr(api, f"aclGet{kind}ArraySize")(handle, ct.byref(count)))
        assert count.value == 3
        session.check(getattr(api, f"aclDestroy{kind}Array")(handle))


@pytest.mark.parametrize("kind", ["Int", "Float", "Bool"])
def test_an_array_of_nothing_is_an_array(session: Session, kind: str) -> None:
    """Creating from null with size 0 gives an empty array, not null."""
    count = ct.c_uint64(99)
    array = made(getattr(session.api, f"aclCreate{kind}Array")(None, 0))
    session.check(getattr(session.api, f"aclGet{kind}ArraySize")(array, ct.byref(count)))
    assert count.value == 0
    session.check(getattr(session.api, f"aclDestroy{kind}Array")(array))


# --- lists ----------------------------------------


def test_destroying_a_list_destroys_its_members(session: Session) -> None:
    """Tensors of a destroyed list are dead; null members are allowed and counted."""
    api = session.api
    members = [session.tensor("FLOAT", [2], None), None, session.tensor("FLOAT", [3], None)]
    tensors = made(api.aclCreateTensorList((ct.c_void_p * 3)(*members), 3))
    count = ct.c_uint64()
    session.check(api.aclGetTensorListSize(tensors, ct.byref(count)))
    assert count.value == 3
    assert list_of(session, "aclGetViewShape", made(members[2])) == [3]
    session.check(api.aclDestroyTensorList(tensors))
    assert [api.aclDestroyTensor(m) for m in members if m is not None] == [INVALID, INVALID]


def test_destroying_a_list_of_scalars_destroys_its_members(session: Session) -> None:
    """Scalars of a destroyed list are dead; null members are allowed and counted."""
    api = session.api
    members = [None, session.scalar("DOUBLE", 1.0)]
    scalars = made(api.aclCreateScalarList((ct.c_void_p * 2)(*members), 2))
    count = ct.c_uint64()
    session.check(api.aclGetScalarListSize(scalars, ct.byref(count)))
    assert count.value == 2
    session.check(api.aclDestroyScalarList(scalars))
    assert api.aclDestroyScalar(members[1]) == INVALID
