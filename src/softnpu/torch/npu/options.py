# SPDX-License-Identifier: Apache-2.0
"""Settings of the hardware that programs change. softnpu keeps them, and computes as before."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

config = SimpleNamespace(allow_internal_format=False)
matmul = SimpleNamespace(allow_hf32=False, cube_math_type=0)
conv = SimpleNamespace(allow_hf32=True)
aclnn = SimpleNamespace(allow_hf32=True, version=lambda: None)

_options: dict[str, Any] = {"jit_compile": False}


def set_compile_mode(jit_compile: bool = False) -> None:
    """Keep whether operators are to be compiled when they are called: nothing is compiled here."""
    _options["jit_compile"] = jit_compile


def is_jit_compile_false() -> bool:
    """Whether operators are not compiled when they are called."""
    return not _options["jit_compile"]


def set_option(option: dict[str, Any]) -> None:
    """Keep options of the hardware's compiler."""
    _options.update(option)


def set_sync_debug_mode(debug_mode: int | str) -> None:
    """Take the default; refuse to report calls that synchronize."""
    if debug_mode not in (0, "default"):
        raise NotImplementedError(
            f"softnpu does not report calls that synchronize; sync_debug_mode is {debug_mode!r}"
        )


def get_sync_debug_mode() -> int:
    """Return 0: calls that synchronize are not reported."""
    return 0


def get_npu_overflow_flag() -> bool:
    """Whether a computation overflowed: not known, as on NPUs with infinities."""
    return False


def clear_npu_overflow_flag() -> None:
    """Forget overflows."""
