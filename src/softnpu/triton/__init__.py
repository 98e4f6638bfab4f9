# SPDX-License-Identifier: Apache-2.0
"""The operators on an NVIDIA GPU: Triton kernels for CUDA tensors.

`softnpu.torch` calls these functions for CUDA tensors, when it has checked the contract and made
the result; they write to it on the current stream, and check nothing but indices. They need
``softnpu[gpu]``, and nothing of softnpu that is compiled.

With ``TRITON_INTERPRET=1`` Triton's interpreter runs the same kernels on CPU tensors.
"""

from softnpu.triton import operators
from softnpu.triton.indices import WrongIndexError, check_indices, deferred_index_checks
from softnpu.triton.operators import *  # noqa: F403  all kernels

__all__ = ["WrongIndexError", "check_indices", "deferred_index_checks", *operators.__all__]
