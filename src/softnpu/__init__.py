# SPDX-License-Identifier: Apache-2.0
"""Runs Ascend aclnn operators on machines that have no Ascend NPU.

The functions here take NumPy arrays, PyTorch tensors on the CPU, or any array that speaks DLPack.
``softnpu.aclnn`` and ``softnpu.acl`` hold the documented two-phase and runtime interfaces,
``softnpu.reference`` the definitions in float64. ``verify`` judges results that were computed
elsewhere.
"""

from softnpu._core import info as _info
from softnpu.errors import (
    AclnnError,
    DeviceRuntimeError,
    IndexOutOfRangeError,
    ParamInvalidError,
    ParamNullptrError,
)
from softnpu.functional import (
    elu,
    elu_,
    elu_backward,
    max_unpool3d,
    max_unpool3d_backward,
    selu,
    selu_,
    selu_backward,
    smooth_l1_loss,
    smooth_l1_loss_backward,
    upsample_nearest3d,
    upsample_nearest3d_backward,
)
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
    "elu",
    "elu_",
    "elu_backward",
    "max_unpool3d",
    "max_unpool3d_backward",
    "release_memory",
    "selu",
    "selu_",
    "selu_backward",
    "set_pool_limit",
    "smooth_l1_loss",
    "smooth_l1_loss_backward",
    "upsample_nearest3d",
    "upsample_nearest3d_backward",
    "verify",
]
