# SPDX-License-Identifier: Apache-2.0
"""torch_npu.profiler: PyTorch's own profiler, which sees the device's operators as the CPU's."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from enum import Enum
from typing import Any

import torch
from torch.profiler import ProfilerAction, record_function, schedule

Handler = Callable[[Any], Any]


class ProfilerActivity(Enum):
    """What is measured: here it is the same."""

    CPU = 0
    NPU = 1


class ProfilerLevel(Enum):
    """How much is measured: the same on all levels."""

    Level_none = "Level_none"
    Level0 = "Level0"
    Level1 = "Level1"
    Level2 = "Level2"


class AiCMetrics(Enum):
    """Counters of the hardware's cores: there are none."""

    AiCoreNone = "ACL_AICORE_NONE"
    PipeUtilization = "ACL_AICORE_PIPE_UTILIZATION"
    ArithmeticUtilization = "ACL_AICORE_ARITHMETIC_UTILIZATION"
    Memory = "ACL_AICORE_MEMORY_BANDWIDTH"


class ExportType(Enum):
    """The form of what is written: a trace in JSON."""

    Text = "text"
    Db = "db"


class _ExperimentalConfig:
    """Settings of the hardware's profiler, without effect."""

    def __init__(self, **settings: Any) -> None:
        self.settings = settings


class profile(torch.profiler.profile):  # noqa: N801
    """`torch.profiler.profile`, with the parameters of torch_npu's."""

    def __init__(
        self,
        *,
        activities: Iterable[ProfilerActivity] | None = None,  # noqa: ARG002
        schedule: Callable[[int], ProfilerAction] | None = None,
        on_trace_ready: Handler | None = None,
        record_shapes: bool = False,
        profile_memory: bool = False,
        with_stack: bool = False,
        with_modules: bool = False,
        with_flops: bool = False,
        experimental_config: _ExperimentalConfig | None = None,  # noqa: ARG002
    ) -> None:
        super().__init__(
            activities=[torch.profiler.ProfilerActivity.CPU],
            schedule=schedule,
            on_trace_ready=on_trace_ready,
            record_shapes=record_shapes,
            profile_memory=profile_memory,
            with_stack=with_stack,
            with_modules=with_modules,
            with_flops=with_flops,
        )


def tensorboard_trace_handler(
    dir_name: str,
    worker_name: str | None = None,
    analyse_flag: bool = True,  # noqa: ARG001
    **_options: Any,
) -> Handler:
    """Write a trace for Perfetto and TensorBoard into a folder."""
    return torch.profiler.tensorboard_trace_handler(dir_name, worker_name)


__all__ = [
    "AiCMetrics",
    "ExportType",
    "ProfilerAction",
    "ProfilerActivity",
    "ProfilerLevel",
    "_ExperimentalConfig",
    "profile",
    "record_function",
    "schedule",
    "tensorboard_trace_handler",
]
