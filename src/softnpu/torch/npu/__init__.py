# SPDX-License-Identifier: Apache-2.0
"""PyTorch's device `npu` on a CPU. Importing this registers it; then it is `torch.npu`.

Tensors of the device have storage of their own in the memory of softnpu's runtime. PyTorch's CPU
kernels compute on it, softnpu's operators by their documented contract.
"""

from __future__ import annotations

import sys
from typing import Any

import torch

import softnpu.torch
from softnpu.torch.npu import registration

registration.register(sys.modules[__name__])

from softnpu.torch.npu import amp, devices, memory, mstx, profiler, random, streams
from softnpu.torch.npu.amp import (
    GradScaler,
    autocast,
    get_amp_supported_dtype,
    get_autocast_dtype,
    is_autocast_enabled,
    set_autocast_dtype,
    set_autocast_enabled,
)
from softnpu.torch.npu.devices import (
    _is_in_bad_fork,
    _lazy_init,
    _NpuDeviceProperties,
    can_device_access_peer,
    current_device,
    device,
    device_count,
    device_of,
    get_arch_list,
    get_device_capability,
    get_device_name,
    get_device_properties,
    get_soc_version,
    init,
    is_available,
    is_bf16_supported,
    is_initialized,
    set_device,
    synchronize,
    utilization,
)
from softnpu.torch.npu.graphs import (
    NPUGraph,
    graph,
    graph_pool_handle,
    is_current_stream_capturing,
)
from softnpu.torch.npu.memory import (
    empty_cache,
    max_memory_allocated,
    max_memory_cached,
    max_memory_reserved,
    mem_get_info,
    memory_allocated,
    memory_cached,
    memory_reserved,
    memory_snapshot,
    memory_stats,
    memory_stats_as_nested_dict,
    memory_summary,
    reset_accumulated_memory_stats,
    reset_max_memory_allocated,
    reset_max_memory_cached,
    reset_peak_memory_stats,
    set_per_process_memory_fraction,
)
from softnpu.torch.npu.options import (
    aclnn,
    clear_npu_overflow_flag,
    config,
    conv,
    get_npu_overflow_flag,
    get_sync_debug_mode,
    is_jit_compile_false,
    matmul,
    set_compile_mode,
    set_option,
    set_sync_debug_mode,
)
from softnpu.torch.npu.random import (
    get_rng_state,
    get_rng_state_all,
    initial_seed,
    manual_seed,
    manual_seed_all,
    seed,
    seed_all,
    set_rng_state,
    set_rng_state_all,
)
from softnpu.torch.npu.streams import (
    Event,
    ExternalStream,
    Stream,
    StreamContext,
    current_stream,
    default_stream,
    set_stream,
    stream,
)


def __getattr__(name: str) -> Any:
    if name == "default_generators":
        return random.default_generators
    raise AttributeError(name)


registration.finish(sys.modules[__name__])
