# SPDX-License-Identifier: Apache-2.0
"""A strict type checker and the functions themselves say the same of a call."""

from __future__ import annotations

import pytest

import softnpu
from tests.support.typed import Call, Program

# One of the calls sets the pool's limit.
pytestmark = pytest.mark.usefixtures("empty_pool")

SETUP = """
from typing import Any
import ml_dtypes
import numpy as np
import numpy.typing as npt
from softnpu import *
from softnpu import acl, aclnn, reference
from tests.python.foreign import Foreign

def floats(*shape: int) -> npt.NDArray[np.float32]:
    return np.ones(shape, np.float32)

def matrix() -> np.ndarray[tuple[int, int], np.dtype[np.float32]]:
    return np.ones((2, 3), np.float32)

untyped: Any = np.ndarray.view  # what NumPy 1 says of it
def subclass() -> np.matrix[tuple[int, int], np.dtype[np.float32]]:
    made: np.matrix[tuple[int, int], np.dtype[np.float32]] = untyped(matrix(), np.matrix)
    return made

x, half = floats(2, 3), floats(2, 3).astype(np.float16)
foreign = Foreign(floats(2, 3))
two = np.float32(2)
box, cell = floats(1, 1, 2, 2, 2), floats(1, 1, 1, 1, 1)
place = np.zeros((1, 1, 1, 1, 1), np.int64)
"""

FLOATS, HALVES = "npt.NDArray[np.float32]", "npt.NDArray[np.float16]"
MATRIX = "np.ndarray[tuple[int, int], np.dtype[np.float32]]"
SIZES = "(2, 2, 2), (1, 1, 1, 1, 1)"

ACCEPTED = [
    # A new array is of the kind of the first, a plain array where that is one of NumPy's.
    Call("selu_backward(x, foreign)", FLOATS),
    Call("selu_backward(matrix(), x)", MATRIX),
    Call("selu_backward(foreign, x)", "Foreign"),
    Call("selu_backward(subclass(), x)", MATRIX),
    Call("selu_backward(two, two)", FLOATS),
    Call("selu_backward(np.int8(2), np.int8(2))", "npt.NDArray[np.int8]"),
    Call("elu_backward(x, 1, 1, 1, True, foreign)", FLOATS),
    Call("elu_backward(foreign, 1, 1, 1, True, x)", "Foreign"),
    Call("elu_backward(two, 1, 1, 1, True, two)", FLOATS),
    Call("smooth_l1_loss_backward(half, x, x, 0, 1)", "npt.NDArray[Any]"),
    Call("smooth_l1_loss_backward(two, x, foreign, 0, 1)", "npt.NDArray[Any]"),
    Call("smooth_l1_loss_backward(foreign, x, two, 'mean', 1)", "Foreign"),
    Call("upsample_nearest3d(box, (2, 2, 2))", FLOATS),
    Call("upsample_nearest3d(Foreign(box), (2, 2, 2))", "Foreign"),
    Call("smooth_l1_loss(half, x, 0, 1)", "npt.NDArray[Any]"),
    Call("smooth_l1_loss(foreign, x, 'sum', 1)", "Foreign"),
    Call("smooth_l1_loss(x, two, 'mean', 1, out=floats())", FLOATS),
    Call(f"upsample_nearest3d_backward(box, {SIZES})", FLOATS),
    Call(f"upsample_nearest3d_backward(Foreign(box), {SIZES})", "Foreign"),
    Call("max_unpool3d(cell, place, *[(2, 2, 2)] * 3)", FLOATS),
    Call("max_unpool3d(Foreign(cell), place, *[(2, 2, 2)] * 3)", "Foreign"),
    Call("max_unpool3d_backward(box, cell, place, *[(2, 2, 2)] * 3)", FLOATS),
    Call("max_unpool3d_backward(Foreign(box), cell, place, *[(2, 2, 2)] * 3)", "Foreign"),
    # out is what is returned, whatever kinds the inputs are of.
    Call("selu_backward(x, x, out=foreign)", "Foreign"),
    Call("selu_backward(foreign, foreign, out=x)", FLOATS),
    Call("selu_backward(np.float32(2), two, out=floats())", FLOATS),
    Call("elu_backward(foreign, 1, 1, 1, True, x, out=half)", HALVES),
    Call("smooth_l1_loss_backward(foreign, two, x, 0, 1, out=x)", FLOATS),
    Call("upsample_nearest3d(Foreign(cell), (2, 2, 2), out=box)", FLOATS),
    Call(f"upsample_nearest3d_backward(Foreign(box), {SIZES}, out=cell)", FLOATS),
    # Numbers are Python's, NumPy's and ml_dtypes'.
    Call("elu_backward(x, two, np.int8(1), np.bool_(True), np.bool_(True), x)", FLOATS),
    Call("elu_backward(x, np.longdouble(1), np.array(1.0), np.float64(1), np.int8(1), x)", FLOATS),
    Call("elu_backward(x, ml_dtypes.bfloat16(1), True, 1, 1, x)", FLOATS),
    Call("smooth_l1_loss_backward(x, x, x, np.int8(1), two)", "npt.NDArray[Any]"),
    Call(f"upsample_nearest3d_backward(box, {SIZES}, two, two, np.float16(2))", FLOATS),
    Call("reference.elu_backward(x, two, two, np.float16(1), True, x)", "npt.NDArray[np.float64]"),
    Call("reference.smooth_l1_loss_backward(x, x, x, 1, two)", "npt.NDArray[np.float64]"),
    Call("reference.smooth_l1_loss(x, x, 1, two)", "npt.NDArray[np.float64]"),
    Call("aclnn.aclCreateScalar(two, acl.ACL_FLOAT)", "int"),
    Call("aclnn.aclCreateScalar(1j, acl.ACL_COMPLEX64)", "int"),
    Call("set_pool_limit(np.int64(1 << 30))"),
]

REFUSED = [
    Call("selu_backward(1.0, x)"),
    Call("selu_backward([1.0], x)"),
    Call("selu_backward(None, x)"),
    Call("selu_backward(x, [1.0])"),
    Call("selu_backward(x, x, out=two)"),
    Call("selu_backward(x, x, out=[1.0])"),
    Call("elu_backward(x, 1, 1, 1, two, x)"),
    Call("elu_backward(x, 1, 1, 1, 'yes', x)"),
    Call("elu_backward(x, None, 1, 1, True, x)"),
    Call("elu_backward(x, 1j, 1, 1, True, x)"),
    Call("elu_backward(x, 1, '1', 1, True, x)"),
    Call("smooth_l1_loss_backward(x, x, x, two, 1)"),
    Call("smooth_l1_loss_backward(x, x, x, 'all', 1)"),
    Call("upsample_nearest3d(two, (2, 2, 2))"),
    Call(f"upsample_nearest3d_backward(two, {SIZES})"),
    Call("upsample_nearest3d_backward(box, 2, (1, 1, 1, 1, 1))"),
    Call("max_unpool3d(two, place, *[(2, 2, 2)] * 3)"),
    Call("max_unpool3d_backward(box, two, place, *[(2, 2, 2)] * 3)"),
    Call("aclnn.aclCreateScalar('1', acl.ACL_FLOAT)"),
    Call("set_pool_limit(1.5)"),
]

PROGRAM = Program(SETUP, [*ACCEPTED, *REFUSED])


@pytest.mark.parametrize("call", ACCEPTED, ids=str)
def test_results_are_of_the_types_that_they_are_said_to_have(call: Call) -> None:
    """The call runs, and is accepted."""
    PROGRAM.value(call)
    assert PROGRAM.complaint(call) == ""


@pytest.mark.parametrize("call", REFUSED, ids=str)
def test_what_raises_is_refused(call: Call) -> None:
    """Not every wrong call, but none of these passes."""
    with pytest.raises((softnpu.AclnnError, TypeError)):
        PROGRAM.value(call)
    assert PROGRAM.complaint(call)
