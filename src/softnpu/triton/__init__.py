# SPDX-License-Identifier: Apache-2.0
"""The operators on an NVIDIA GPU: Triton kernels for CUDA tensors.

`softnpu.torch` calls these functions for CUDA tensors, when it has checked the contract and made
the result; they write to it on the current stream, and check nothing but indices. They need
``softnpu[gpu]``, and nothing of softnpu that is compiled.

With ``TRITON_INTERPRET=1`` Triton's interpreter runs the same kernels on CPU tensors.
"""

from softnpu.triton.elu import elu, elu_
from softnpu.triton.elu_backward import elu_backward
from softnpu.triton.indices import WrongIndexError, check_indices, deferred_index_checks
from softnpu.triton.max_unpool3d import max_unpool3d
from softnpu.triton.max_unpool3d_backward import max_unpool3d_backward
from softnpu.triton.selu import selu, selu_
from softnpu.triton.selu_backward import selu_backward
from softnpu.triton.smooth_l1_loss import smooth_l1_loss
from softnpu.triton.smooth_l1_loss_backward import smooth_l1_loss_backward
from softnpu.triton.upsample_nearest3d import upsample_nearest3d
from softnpu.triton.upsample_nearest3d_backward import upsample_nearest3d_backward

__all__ = [
    "WrongIndexError",
    "check_indices",
    "deferred_index_checks",
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
