# SPDX-License-Identifier: Apache-2.0
"""The operators as functions on arrays, with the documented arguments in snake_case.

Arrays are NumPy arrays, PyTorch tensors on the CPU, or any object on the CPU that speaks DLPack;
kinds may be mixed, and `Array` says how they are read. A new result is contiguous, in row-major
order, and of the kind of the first array: a plain array or tensor where that is a scalar of NumPy's
or of a subclass, and what the ``from_dlpack`` of any other library makes; where there is none,
``out`` must be given. ``out`` is written in place and returned; it may be strided too, must be
aligned and writeable, and must not overlap an input, except that elementwise operators take exactly
the same view as an input.

The environment variable ``SOFTNPU_SOC`` chooses the product that is emulated, once per process. Not
every product has every operator, and Ascend310P and Ascend910 have no bfloat16.

Nothing here takes part in automatic differentiation: a PyTorch tensor that requires grad is read
like any other, and is refused as ``out``. Writing to ``out`` is as invisible to PyTorch as writing
through ``tensor.numpy()``.

New arrays of 4 MB and more get their memory from a pool (`softnpu.pool`); new tensors get theirs
from PyTorch.

What breaks the contract raises a subclass of `softnpu.AclnnError`, with the documented status and
message. TypeError and MemoryError are Python's own: a call does not fit the signature, or memory
runs out. What an array's library raises when it takes a new result over comes through. The GIL is
released while a kernel runs on arrays of 2048 elements or more: no other thread may change an
operator's arrays meanwhile, indices above all, which are looked over before they are used.
"""

from types import FunctionType

from softnpu.arguments import Array
from softnpu.functional.elu import elu, elu_
from softnpu.functional.elu_backward import elu_backward
from softnpu.functional.max_unpool3d import max_unpool3d
from softnpu.functional.max_unpool3d_backward import max_unpool3d_backward
from softnpu.functional.selu import selu, selu_
from softnpu.functional.selu_backward import selu_backward
from softnpu.functional.smooth_l1_loss import smooth_l1_loss
from softnpu.functional.smooth_l1_loss_backward import smooth_l1_loss_backward
from softnpu.functional.upsample_nearest3d import upsample_nearest3d
from softnpu.functional.upsample_nearest3d_backward import upsample_nearest3d_backward

__all__ = [
    "Array",
    "elu",
    "elu_",
    "elu_backward",
    "max_unpool3d",
    "max_unpool3d_backward",
    "selu",
    "selu_",
    "selu_backward",
    "smooth_l1_loss",
    "smooth_l1_loss_backward",
    "upsample_nearest3d",
    "upsample_nearest3d_backward",
]

# Where users and pickle find them: the modules that define them have their names.
for _found in list(globals().values()):
    if isinstance(_found, FunctionType):
        _found.__module__ = __name__
