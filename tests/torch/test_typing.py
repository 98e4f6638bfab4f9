# SPDX-License-Identifier: Apache-2.0
"""What a strict type checker makes of calls with tensors."""

from __future__ import annotations

import pytest

from tests.support.typed import Call, Program

pytestmark = pytest.mark.torch

SETUP = """
import numpy as np
import numpy.typing as npt
import torch
import softnpu.torch as st
from softnpu import elu_backward, selu_backward, smooth_l1_loss_backward

def floats() -> npt.NDArray[np.float32]:
    return np.ones(3, np.float32)

tensor, array, two = torch.ones(3), floats(), np.float32(2)
"""
TENSOR, ARRAY = "torch.Tensor", "npt.NDArray[np.float32]"

ACCEPTED = [
    Call("selu_backward(tensor, array)", TENSOR),
    Call("selu_backward(array, tensor)", ARRAY),
    Call("elu_backward(tensor, two, tensor[0], torch.tensor(1), True, tensor)", TENSOR),
    Call("smooth_l1_loss_backward(tensor, array, two, 'sum', two)", TENSOR),
    Call("selu_backward(tensor, tensor, out=array)", ARRAY),
    Call("selu_backward(array, array, out=torch.ones(3))", TENSOR),
    Call("selu_backward(two, two, out=torch.tensor(1.0))", TENSOR),
    Call("st.elu(tensor, 1.5, out=tensor)", TENSOR),
    Call("st.elu_(tensor, scale=2)", TENSOR),
    Call("st.smooth_l1_loss(tensor, tensor, 0)", TENSOR),
    Call("st.upsample_nearest3d(torch.ones(1, 1, 2, 2, 2), torch.Size([4, 4, 4]))", TENSOR),
    Call("st.upsample_nearest3d(torch.ones(1, 1, 2, 2, 2), (4, 4, 4), 2, None, 2.0)", TENSOR),
]
REFUSED = [Call("selu_backward(tensor, 1.0)"), Call("selu_backward(tensor, tensor, out=two)")]
# These raise what PyTorch does for arguments that are not a schema's.
NO_ARGUMENTS = [
    Call("st.selu(1.0)"),
    Call("st.elu(tensor, '1')"),
    Call("st.elu(tensor, 1, 1, 1, 1)"),
]
PROGRAM = Program(SETUP, [*ACCEPTED, *REFUSED, *NO_ARGUMENTS])


@pytest.mark.parametrize("call", ACCEPTED, ids=str)
def test_results_are_of_the_types_that_they_are_said_to_have(call: Call) -> None:
    """The call runs, and is accepted."""
    PROGRAM.value(call)
    assert PROGRAM.complaint(call) == ""


@pytest.mark.parametrize("call", REFUSED, ids=str)
def test_what_raises_is_refused(call: Call) -> None:
    """No tensor stands in for a number, and no number for a tensor."""
    with pytest.raises(ValueError, match=r"expected a NumPy array|NumPy scalar"):
        PROGRAM.value(call)
    assert PROGRAM.complaint(call)


@pytest.mark.parametrize("call", NO_ARGUMENTS, ids=str)
def test_functions_of_tensors_refuse_what_is_none(call: Call) -> None:
    """The type checker says so, too."""
    with pytest.raises(RuntimeError, match="match any schema"):
        PROGRAM.value(call)
    assert PROGRAM.complaint(call)
