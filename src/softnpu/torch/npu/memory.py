# SPDX-License-Identifier: Apache-2.0
"""torch.npu's functions about memory: PyTorch's statistics of softnpu's allocations."""

from __future__ import annotations

from collections import OrderedDict
from typing import Any, NoReturn

from torch.accelerator import memory

from softnpu.torch.npu.devices import Device, index_of

_MIB = 1 << 20


def empty_cache() -> None:
    """Free memory that no tensor uses and that is kept for the next ones."""
    memory.empty_cache()


def memory_allocated(device: Device = None) -> int:
    """Give the bytes that tensors use."""
    return memory.memory_allocated(index_of(device))


def max_memory_allocated(device: Device = None) -> int:
    """Give the most that `memory_allocated` was since the start, or the last reset."""
    return memory.max_memory_allocated(index_of(device))


def memory_reserved(device: Device = None) -> int:
    """Give the bytes that tensors use or that are kept for the next ones."""
    return memory.memory_reserved(index_of(device))


def max_memory_reserved(device: Device = None) -> int:
    """Give the most that `memory_reserved` was since the start, or the last reset."""
    return memory.max_memory_reserved(index_of(device))


memory_cached = memory_reserved
max_memory_cached = max_memory_reserved


def memory_stats(device: Device = None) -> OrderedDict[str, Any]:
    """Give all counters, by name."""
    return memory.memory_stats(index_of(device))


def memory_stats_as_nested_dict(device: Device = None) -> dict[str, Any]:
    """Give all counters, as nested dictionaries."""
    nested: dict[str, Any] = {}
    for name, value in memory_stats(device).items():
        *groups, last = name.split(".")
        place = nested
        for group in groups:
            place = place.setdefault(group, {})
        place[last] = value
    return nested


def reset_peak_memory_stats(device: Device = None) -> None:
    """Let peaks start anew at what is used now."""
    memory.reset_peak_memory_stats(index_of(device))


reset_max_memory_allocated = reset_peak_memory_stats
reset_max_memory_cached = reset_peak_memory_stats


def reset_accumulated_memory_stats(device: Device = None) -> None:
    """Let the counters of all that was allocated and freed start at 0."""
    memory.reset_accumulated_memory_stats(index_of(device))


def mem_get_info(device: Device = None) -> tuple[int, int]:
    """Give the device's free and total bytes, as aclrtGetMemInfo does."""
    return memory.get_memory_info(index_of(device))


def memory_summary(device: Device = None, abbreviated: bool = False) -> str:
    """Describe the memory in a table."""
    stats = memory_stats(device)
    rows = [
        ("Allocated memory", "allocated_bytes"),
        ("Active memory", "active_bytes"),
        ("Reserved memory", "reserved_bytes"),
    ]
    lines = [f"| {'NPU ' + str(index_of(device)):<18} | {'now':>12} | {'peak':>12} |"]
    for title, name in rows[: 1 if abbreviated else None]:
        now, peak = (stats.get(f"{name}.all.{key}", 0) / _MIB for key in ("current", "peak"))
        lines.append(f"| {title:<18} | {now:>8.1f} MiB | {peak:>8.1f} MiB |")
    return "\n".join(lines)


def memory_snapshot(*_arguments: Any, **_options: Any) -> NoReturn:
    """Refuse: allocations are not recorded."""
    raise NotImplementedError(
        "softnpu records no snapshots of memory; torch.npu.memory_stats() has the counters"
    )


_record_memory_history = _snapshot = _dump_snapshot = memory_snapshot


def set_per_process_memory_fraction(fraction: float, device: Device = None) -> None:
    """Refuse: `SOFTNPU_MEMORY_MB` limits a device's memory."""
    index_of(device)
    if not 0 <= fraction <= 1:
        raise ValueError(f"Invalid fraction value: {fraction}. Allowed range: 0~1")
    if fraction < 1:
        raise NotImplementedError(
            "softnpu does not limit memory by a fraction; set SOFTNPU_MEMORY_MB before the start"
        )
