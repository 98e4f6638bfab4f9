# SPDX-License-Identifier: Apache-2.0
"""torch.npu's functions about devices."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import torch

_ops = torch.ops.softnpu_device

# What programs take for a device: its index, "npu", "npu:1", or a torch.device.
Device = int | str | torch.device | None

# The numbers that get_soc_version() returns, by the product's name.
_SOC_VERSIONS = {
    "Ascend910PremiumA": 100,
    "Ascend910ProA": 101,
    "Ascend910A": 102,
    "Ascend910ProB": 103,
    "Ascend910": 104,
    "Ascend310P1": 200,
    "Ascend310P2": 201,
    "Ascend310P3": 202,
    "Ascend310P4": 203,
    "Ascend310P": 202,
    "Ascend910B": 220,
    "Ascend910B1": 220,
    "Ascend910B2": 221,
    "Ascend910B2C": 222,
    "Ascend910B3": 223,
    "Ascend910B4": 224,
    "Ascend910B4-1": 225,
    "Ascend310B": 240,
    "Ascend310B1": 240,
    "Ascend310B2": 241,
    "Ascend310B3": 242,
    "Ascend310B4": 243,
    "Ascend910_93": 250,
    "Ascend910_9391": 250,
    "Ascend910_9392": 251,
    "Ascend910_9381": 252,
    "Ascend910_9382": 253,
    "Ascend910_9372": 254,
    "Ascend910_9362": 255,
    "Ascend950": 260,
}


def is_available() -> bool:
    """Whether there is a device."""
    return device_count() > 0


def device_count() -> int:
    """Give the number of devices."""
    return int(_ops.device_count())


def current_device() -> int:
    """Give the index of this thread's current device."""
    return int(_ops.current_device())


def set_device(device: Device) -> None:
    """Make a device this thread's current one."""
    index = index_of(device, optional=True)
    if index >= 0:
        torch.accelerator.set_device_index(index)
        _ops.set_up(index)


def index_of(device: Device | torch.Tensor, optional: bool = False) -> int:
    """Give a device's index: the current one's for None, or -1 for a negative one if `optional`."""
    if isinstance(device, str):
        device = torch.device(device)
    if isinstance(device, torch.device):
        if device.type != "npu":
            raise ValueError(f"Expected a npu device, but got: {device}")
        device = device.index
    if device is None:
        return current_device()
    if isinstance(device, int):
        if device < 0 and not optional:
            raise RuntimeError("Invalid device ID.")
        return device
    raise ValueError(f"Expected an index, a string or a torch.device, but got: {device!r}")


class device:  # noqa: N801
    """A context in which a device is the current one; a negative index changes nothing."""

    def __init__(self, device: Any) -> None:
        self.idx = index_of(device, optional=True)
        self.prev_idx = -1

    def __enter__(self) -> None:
        self.prev_idx = torch._C._accelerator_exchangeDevice(self.idx)

    def __exit__(self, *_error: object) -> None:
        torch._C._accelerator_maybeExchangeDevice(self.prev_idx)


class device_of(device):  # noqa: N801
    """A context in which the device of a tensor is the current one."""

    def __init__(self, obj: Any) -> None:
        super().__init__(obj.get_device() if getattr(obj, "is_npu", False) else -1)


def synchronize(device: Device = None) -> None:
    """Wait for all work of a device; raises what failed in it."""
    torch.accelerator.synchronize(index_of(device))


@dataclass(frozen=True)
class _NpuDeviceProperties:
    """What is known of a device."""

    name: str
    total_memory: int
    L2_cache_size: int
    cube_core_num: int
    vector_core_num: int
    uuid: str = ""
    major: int = 0
    minor: int = 0

    @property
    def multi_processor_count(self) -> int:
        return self.cube_core_num

    @property
    def gcnArchName(self) -> str:  # noqa: N802
        return self.name


def get_device_properties(device: Device = None) -> _NpuDeviceProperties:
    """Tell the emulated product's name, memory and core counts."""
    from softnpu import _core, acl

    index = index_of(device)
    _check_index(index)
    cores, _ = acl.rt.get_device_info(index, 0)
    vectors, _ = acl.rt.get_device_info(index, 1)
    cache, _ = acl.rt.get_device_info(index, 2)
    return _NpuDeviceProperties(
        acl.get_soc_name(), _core.info()["device_memory"], cache, cores, vectors
    )


def get_device_name(device: Device = None) -> str:
    """Give the emulated product's name, `SOFTNPU_SOC`."""
    from softnpu import acl

    _check_index(index_of(device))
    return acl.get_soc_name()


def get_device_capability(device: Device = None) -> None:
    """Return None: NPUs have no such number."""
    _check_index(index_of(device))


def _check_index(index: int) -> None:
    if not 0 <= index < device_count():
        raise AssertionError(f"Invalid device id: {index}; expected 0 to {device_count() - 1}")


def get_soc_version() -> int:
    """Give the number of the emulated product; -1 for one that has none."""
    from softnpu import acl

    return _SOC_VERSIONS.get(acl.get_soc_name(), -1)


def is_bf16_supported() -> bool:
    """Whether the emulated product has bfloat16."""
    from softnpu import _core

    return bool(_core.info()["bf16"])


def can_device_access_peer(device: Device, peer_device: Device) -> bool:
    """Whether two devices can copy to each other: all can."""
    first, second = index_of(device), index_of(peer_device)
    _check_index(first)
    _check_index(second)
    return first != second


def get_arch_list() -> list[str]:
    """List the products that code was compiled for: the emulated one."""
    return [get_device_name()]


def utilization(device: Device = None) -> int:
    """Give the share of time in which the device was busy; unknown here, so 0."""
    _check_index(index_of(device))
    return 0


def init() -> None:
    """Set the current device up, which its first use does as well."""
    _ops.set_up(current_device())


def is_initialized() -> bool:
    """Whether a device was set up, in this process."""
    return not _is_in_bad_fork() and any(_ops.is_set_up(i) for i in range(device_count()))


def _is_in_bad_fork() -> bool:
    return bool(_ops.is_bad_fork())


def _lazy_init() -> None:
    init()
