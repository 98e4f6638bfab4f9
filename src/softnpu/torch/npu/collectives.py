# SPDX-License-Identifier: Apache-2.0
"""The backend ``hccl`` of torch.distributed: gloo, over the device's memory."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import torch
import torch.distributed as dist


def register() -> None:
    """Give torch.distributed the backend, if it was built with gloo."""
    distributed: Any = dist
    available = dist.is_available() and dist.is_gloo_available()
    distributed.is_hccl_available = lambda: available
    if not available:
        return
    torch.ops.softnpu_device.prefer_cpu_collectives()
    dist.Backend.register_backend("hccl", _backend, devices=["npu", "cpu"])


def _backend(store: Any, rank: int, size: int, timeout: timedelta) -> Any:
    return dist.ProcessGroupGloo(store, rank, size, timeout=timeout)
