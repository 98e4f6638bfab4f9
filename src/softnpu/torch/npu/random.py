# SPDX-License-Identifier: Apache-2.0
"""torch.npu's random numbers: each device has a generator of its own."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import torch
from torch import Tensor

from softnpu.torch.npu.devices import Device, device_count, index_of


def _generator(device: Device = None) -> torch.Generator:
    return torch.ops.softnpu_device.default_generator(index_of(device))


def __getattr__(name: str) -> Any:
    if name == "default_generators":
        return tuple(_generator(index) for index in range(device_count()))
    raise AttributeError(name)


def manual_seed(seed: int) -> None:
    """Set the seed of the current device."""
    _generator().manual_seed(int(seed))


def manual_seed_all(seed: int) -> None:
    """Set the seed of all devices."""
    for index in range(device_count()):
        _generator(index).manual_seed(int(seed))


def seed() -> int:
    """Set the seed of the current device to a random number, and return it."""
    return _generator().seed()


def seed_all() -> None:
    """Set the seed of all devices to one random number."""
    manual_seed_all(seed())


def initial_seed() -> int:
    """Give the seed of the current device."""
    return _generator().initial_seed()


def get_rng_state(device: Device = "npu") -> Tensor:
    """Give the state of a device's generator."""
    return _generator(device).get_state()


def set_rng_state(new_state: Tensor, device: Device = "npu") -> None:
    """Set the state of a device's generator."""
    _generator(device).set_state(new_state.cpu())


def get_rng_state_all() -> list[Tensor]:
    """Give the states of all devices' generators."""
    return [get_rng_state(index) for index in range(device_count())]


def set_rng_state_all(new_states: Iterable[Tensor]) -> None:
    """Set the states of all devices' generators."""
    for index, state in enumerate(new_states):
        set_rng_state(state, index)
