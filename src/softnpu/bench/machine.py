# SPDX-License-Identifier: Apache-2.0
"""What ran: the machine, the versions, the settings."""

from __future__ import annotations

import ctypes
import os
import platform
import threading
import time
from importlib import metadata
from pathlib import Path
from typing import Any

_SETTLE_STEP = 1e-3


def describe(threads: int) -> dict[str, Any]:
    """Describe this machine and what softnpu makes of it."""
    from softnpu import _core

    core = _core.info()
    return {
        "cpu": _cpu_field("model name") or platform.processor() or platform.machine(),
        "architecture": platform.machine(),
        "cores": len(os.sched_getaffinity(0)),
        "caches": _caches(),
        "memory_bytes": memory("MemTotal"),
        "kernel": platform.release().partition("-")[0],
        "huge_pages": _huge_pages(),
        "isa": str(core["isa"]),
        "threads": threads,
    }


def versions() -> dict[str, str]:
    """Give the versions of everything that was timed; what is not installed is left out."""
    found = {"python": platform.python_version()}
    for package in ("softnpu", "torch", "numpy"):
        try:
            found[package] = metadata.version(package)
        except metadata.PackageNotFoundError:
            continue
    return found


def others_seconds() -> float:
    """Give the processor time that all programs but this process have used since the start.

    What the hypervisor gave to other machines counts too.
    """
    first = next(iter(_lines(Path("/proc/stat"))), "").split()
    if len(first) < 9:
        return 0.0
    user, nice, system, _idle, _io, irq, soft_irq, steal = map(int, first[1:9])
    ticks = user + nice + system + irq + soft_irq + steal
    own = os.times()
    return ticks / os.sysconf("SC_CLK_TCK") - own.user - own.system


def settle(longest: float = 0.05) -> None:
    """Wait until no other thread of this process runs, but no longer than so many seconds."""
    own = str(threading.get_native_id())
    end = time.perf_counter() + longest
    while True:
        time.sleep(_SETTLE_STEP)
        tasks = Path("/proc/self/task")
        others = [task for task in tasks.glob("*") if task.name != own]
        if not any(_runs(task) for task in others) or time.perf_counter() > end:
            return


def return_freed_memory() -> None:
    """Have the C library return to the system what was freed; nothing where it cannot.

    Else results that are made would lie in memory that the cases before had freed, or not, as the
    order of cases has it.
    """
    trim = getattr(ctypes.CDLL(None), "malloc_trim", None)
    if trim is not None:
        trim(0)


def _runs(task: Path) -> bool:
    # The name of the program, in parentheses, may hold anything; the state follows it.
    return "".join(_lines(task / "stat")).rpartition(")")[2].strip().startswith("R")


def cpu_flags() -> str:
    """Name the CPU and its instruction sets, as the kernel lists them."""
    return _cpu_field("model name") + _cpu_field("flags") + _cpu_field("Features")


def memory(field: str) -> int:
    """Give a field of the kernel's table of memory in bytes; 0 when it is not told."""
    for line in _lines(Path("/proc/meminfo")):
        if line.startswith(f"{field}:"):
            return int(line.split()[1]) * 1024
    return 0


def _cpu_field(name: str) -> str:
    for line in _lines(Path("/proc/cpuinfo")):
        label, _, value = line.partition(":")
        if label.strip() == name:
            return value.strip()
    return ""


def _caches() -> dict[str, str]:
    folder = Path("/sys/devices/system/cpu/cpu0/cache")
    found = {}
    for index in sorted(folder.glob("index*")):
        level, kind, size = (
            "".join(_lines(index / name)[:1]) for name in ("level", "type", "size")
        )
        if kind != "Instruction":
            found[f"L{level}"] = size
    return found


def _huge_pages() -> str:
    text = "".join(_lines(Path("/sys/kernel/mm/transparent_hugepage/enabled")))
    return text.partition("[")[2].partition("]")[0]


def _lines(file: Path) -> list[str]:
    try:
        return file.read_text(encoding="utf-8").splitlines()
    except OSError:
        return []
