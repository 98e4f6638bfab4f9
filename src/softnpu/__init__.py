# SPDX-License-Identifier: Apache-2.0
"""Runs Ascend aclnn operators on machines that have no Ascend NPU.

The functions here take NumPy arrays, PyTorch tensors on the CPU, or any array that speaks DLPack.
``softnpu.aclnn`` and ``softnpu.acl`` hold the documented two-phase and runtime interfaces,
``softnpu.reference`` the definitions in float64. ``verify`` judges results that were computed
elsewhere.
"""

from softnpu import functional
from softnpu._core import info as _info
from softnpu.errors import (
    AclnnError,
    DeviceRuntimeError,
    IndexOutOfRangeError,
    ParamInvalidError,
    ParamNullptrError,
)
from softnpu.functional import *  # noqa: F403  the operators
from softnpu.judging import verify
from softnpu.pool import release_memory, set_pool_limit

__version__: str = _info()["version"]

__all__ = [
    "AclnnError",
    "DeviceRuntimeError",
    "IndexOutOfRangeError",
    "ParamInvalidError",
    "ParamNullptrError",
    "__version__",
    "release_memory",
    "set_pool_limit",
    "verify",
]
__all__ += functional.__all__
