# SPDX-License-Identifier: Apache-2.0
"""torch.npu.amp: PyTorch's own, for the device."""

from __future__ import annotations

from typing import Any

import torch


class autocast(torch.amp.autocast_mode.autocast):  # noqa: N801
    """`torch.autocast` of the device."""

    def __init__(
        self, enabled: bool = True, dtype: torch.dtype | None = None, cache_enabled: bool = True
    ) -> None:
        super().__init__(
            "npu", dtype=dtype or torch.float16, enabled=enabled, cache_enabled=cache_enabled
        )


class GradScaler(torch.amp.GradScaler):
    """`torch.amp.GradScaler` of the device."""

    def __init__(
        self,
        init_scale: float = 2.0**16,
        growth_factor: float = 2.0,
        backoff_factor: float = 0.5,
        growth_interval: int = 2000,
        dynamic: bool = True,
        enabled: bool = True,
    ) -> None:
        interval = growth_interval if dynamic else 2**31 - 1
        super().__init__("npu", init_scale, growth_factor, backoff_factor, interval, enabled)


def custom_fwd(*arguments: Any, **options: Any) -> Any:
    """`torch.amp.custom_fwd` of the device."""
    return torch.amp.custom_fwd(*arguments, device_type="npu", **options)


def custom_bwd(*arguments: Any) -> Any:
    """`torch.amp.custom_bwd` of the device."""
    return torch.amp.custom_bwd(*arguments, device_type="npu")


def get_amp_supported_dtype() -> list[torch.dtype]:
    """List the types that autocast can compute in."""
    return [torch.float16, torch.bfloat16, torch.float32]


def is_autocast_enabled() -> bool:
    """Whether autocast is active for the device."""
    return torch.is_autocast_enabled("npu")


def set_autocast_enabled(enabled: bool) -> None:
    """Switch autocast for the device."""
    torch.set_autocast_enabled("npu", enabled)


def get_autocast_dtype() -> torch.dtype:
    """Give the type that autocast computes in."""
    return torch.get_autocast_dtype("npu")


def set_autocast_dtype(dtype: torch.dtype) -> None:
    """Set the type that autocast computes in."""
    torch.set_autocast_dtype("npu", dtype)
