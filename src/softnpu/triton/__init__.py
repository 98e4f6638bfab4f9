# SPDX-License-Identifier: Apache-2.0
"""The operators on an NVIDIA GPU: Triton kernels for CUDA tensors.

`softnpu.torch` calls these functions for CUDA tensors, after it has checked the contract and
created the result. They write to it on the current stream, and check only indices. They need
``softnpu[gpu]``, but no compiled part of softnpu.

With ``TRITON_INTERPRET=1`` Triton's interpreter runs the same kernels on CPU tensors.
"""

from softnpu.triton import operators
from softnpu.triton.indices import WrongIndexError, check_indices, deferred_index_checks
from softnpu.triton.operators import *  # noqa: F403  all kernels

__all__ = ["WrongIndexError", "check_indices", "deferred_index_checks", *operators.__all__]
