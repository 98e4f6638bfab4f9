# SPDX-License-Identifier: Apache-2.0
"""The runtime of the device under pyACL's names and with its conventions.

What C returns through pointers comes before the status, as in
``ptr, ret = acl.rt.malloc(size, policy)``; functions that return nothing else return the status
alone. A status never raises an exception: `get_recent_err_msg` returns the message. An argument
that does not fit its C type is a TypeError. Handles and addresses are ints, and None is null. Every
call releases the GIL while it waits or runs work.

``softnpu run script.py``, ``softnpu env`` and set_env.sh make this module importable as ``acl``.
"""

from __future__ import annotations

from typing import NoReturn

from softnpu import _core
from softnpu.acl import op, rt, util
from softnpu.acl.constants import *  # noqa: F403  the names are documented, and many

data_type_size = _core.aclDataTypeSize
finalize = _core.aclFinalize
float16_to_float = _core.aclFloat16ToFloat
float_to_float16 = _core.aclFloatToFloat16
get_recent_err_msg = _core.aclGetRecentErrMsg
init = _core.aclInit
get_device_capability = _core.aclGetDeviceCapability
get_soc_name = _core.aclrtGetSocName
get_version = _core.aclrtGetVersion

__all__ = [
    *(name for name in dir() if name.startswith("ACL_")),
    "data_type_size",
    "finalize",
    "float16_to_float",
    "float_to_float16",
    "get_device_capability",
    "get_recent_err_msg",
    "get_soc_name",
    "get_version",
    "init",
    "op",
    "rt",
    "util",
]


def __getattr__(name: str) -> NoReturn:
    raise AttributeError(
        f"softnpu.acl has no {name}: it has the runtime, but neither models (acl.mdl), media "
        "(acl.media) nor what they need",
        name=name,
    )
