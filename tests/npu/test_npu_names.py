# SPDX-License-Identifier: Apache-2.0
"""torch.npu: devices, memory, streams, random numbers, graphs, and settings."""

from __future__ import annotations

import importlib
from pathlib import Path
from typing import Any

import pytest
import torch


def test_devices(npu: Any) -> None:
    """What programs ask first."""
    assert torch.npu is npu
    assert npu.is_available()
    assert npu.device_count() == 1
    assert npu.current_device() == 0
    npu.set_device("npu:0")
    assert npu.get_device_name() == "Ascend910B"
    assert npu.get_soc_version() == 220
    assert npu.get_device_capability() is None
    assert npu.is_bf16_supported()
    properties = npu.get_device_properties(0)
    assert properties.total_memory > 0
    assert (properties.cube_core_num, properties.vector_core_num) == (24, 48)
    assert torch.accelerator.current_accelerator() == torch.device("npu")
    with pytest.raises(RuntimeError, match="Invalid device ID"):
        npu.set_device(3)
    with pytest.raises(AssertionError, match="Invalid device id"):
        npu.get_device_name(3)


def test_memory(npu: Any) -> None:
    """Numbers grow and fall with tensors; the runtime sees the same."""
    npu.empty_cache()
    before, (free, total) = npu.memory_allocated(), npu.mem_get_info()
    x = torch.empty(3 << 20, dtype=torch.uint8, device="npu")
    assert npu.memory_allocated() == before + (3 << 20)
    assert npu.mem_get_info() == (free - (4 << 20), total)
    npu.reset_peak_memory_stats()
    y = torch.empty(1 << 20, dtype=torch.uint8, device="npu")
    peak = npu.max_memory_allocated()
    assert peak == before + (4 << 20)
    del x, y
    assert npu.memory_allocated() == before
    assert npu.max_memory_allocated() == peak
    assert npu.memory_reserved() >= before + (5 << 20)
    npu.empty_cache()
    assert npu.memory_reserved() == npu.memory_allocated()
    assert npu.memory_stats()["allocated_bytes.all.current"] == before
    assert torch.accelerator.memory_allocated() == before
    assert "Allocated memory" in npu.memory_summary()


def test_streams_and_events(npu: Any) -> None:
    """They are the runtime's; order and times mean something."""
    stream, start, end = npu.Stream(), npu.Event(enable_timing=True), npu.Event(enable_timing=True)
    assert stream != npu.current_stream()
    assert npu.current_stream() == npu.default_stream()
    with npu.stream(stream):
        assert npu.current_stream() == stream
        start.record()
        x = torch.randn(64, 64, device="npu") @ torch.randn(64, 64, device="npu")
        end.record()
    assert npu.current_stream() == npu.default_stream()
    npu.current_stream().wait_stream(stream)
    npu.current_stream().wait_event(end)
    x.record_stream(npu.current_stream())
    end.synchronize()
    stream.synchronize()
    npu.synchronize()
    assert end.query()
    assert stream.query()
    assert 0 < start.elapsed_time(end) < 60_000
    assert isinstance(stream.npu_stream, int)
    with pytest.raises(NotImplementedError, match="ExternalStream"):
        npu.ExternalStream(0)


def test_random_numbers(npu: Any) -> None:
    """A seed gives the numbers that it gives on the CPU; states can be kept and set."""
    npu.manual_seed_all(3)
    first = torch.randn(4, device="npu")
    torch.manual_seed(3)
    assert torch.equal(first.cpu(), torch.randn(4))
    state = npu.get_rng_state()
    second = torch.rand(2, device="npu")
    npu.set_rng_state(state)
    assert torch.equal(second, torch.rand(2, device="npu"))
    generator = torch.Generator(device="npu").manual_seed(5)
    assert generator.device.type == "npu"
    assert npu.initial_seed() == 3
    with torch.random.fork_rng(device_type="npu"):
        torch.rand(3, device="npu")
    assert torch.equal(torch.rand(2, device="npu"), torch.rand(2, device="npu")) is False


def test_graphs(npu: Any) -> None:
    """A replay computes from what the inputs hold then, into the same results."""
    x = torch.ones(3, device="npu")
    total = torch.zeros((), device="npu")
    graph = npu.NPUGraph()
    with npu.graph(graph):
        y = (x * 2).t() + 1
        total.add_(y.sum())
    before = y.data_ptr()
    x.fill_(5)
    graph.replay()
    assert y.tolist() == [11, 11, 11]
    assert y.data_ptr() == before
    assert total.item() == 9 + 33
    assert not npu.is_current_stream_capturing()


def test_profiler(tmp_path: Path) -> None:
    """A trace is written where the program says, with the program's marks and ranges."""
    import torch_npu

    handler = torch_npu.profiler.tensorboard_trace_handler(str(tmp_path))
    with torch_npu.profiler.profile(
        activities=[torch_npu.profiler.ProfilerActivity.NPU],
        on_trace_ready=handler,
        experimental_config=torch_npu.profiler._ExperimentalConfig(profiler_level=1),
    ) as profiler:
        first = torch.npu.mstx.range_start("forward")
        torch.ones(3, device="npu").exp()
        torch.npu.mstx.mark("half")
        second = torch.npu.mstx.range_start("backward")
        torch.npu.mstx.range_end(first)
        torch.npu.mstx.range_end(second)
        assert torch.npu.mstx.mstx_range("whole")(lambda x: x + 1)(2) == 3
        profiler.step()
    trace = next(tmp_path.iterdir()).read_text()
    for name in ("aten::exp", "forward", "half", "backward", "whole"):
        assert f'"{name}"' in trace


def test_settings_of_the_hardware(npu: Any) -> None:
    """They are kept, and change nothing; what would need an answer is refused."""
    npu.config.allow_internal_format = True
    npu.set_compile_mode(jit_compile=True)
    assert not npu.is_jit_compile_false()
    npu.set_compile_mode(jit_compile=False)
    npu.set_option({"ACL_PRECISION_MODE": "must_keep_origin_dtype"})
    npu.set_sync_debug_mode("default")
    assert npu.get_sync_debug_mode() == 0
    with pytest.raises(NotImplementedError, match="sync_debug_mode is 'warn'"):
        npu.set_sync_debug_mode("warn")


def test_snapshots_of_memory_are_refused(npu: Any) -> None:
    """Under each of their names."""
    memory = npu.memory
    for refuse in (npu.memory_snapshot, memory._record_memory_history, memory._dump_snapshot):
        with pytest.raises(NotImplementedError, match=r"no snapshots of memory; .*memory_stats"):
            refuse("file")


def test_graphs_share_a_pool(npu: Any) -> None:
    """A pool's graphs keep their own memory, so none overwrites what another one gave."""
    x, first, second = torch.ones(3, device="npu"), npu.NPUGraph(), npu.NPUGraph()
    with npu.graph(first, pool=npu.graph_pool_handle()):
        y = x + 1
    with npu.graph(second, pool=first.pool()):
        z = x + 2
    x.fill_(4)
    first.replay()
    second.replay()
    assert (y.tolist(), z.tolist()) == ([5] * 3, [6] * 3)


@pytest.mark.parametrize(
    ("module", "name", "close"),
    [
        ("torch_npu", "npu_rms_nrom", "npu_rms_norm, npu_add_rms_norm"),
        ("torch_npu", "step_bac", None),
        ("torch_npu", "optimm", "optim"),
        ("torch_npu.optim", "NpuFusedSGD", "NpuFusedAdamW"),
        ("torch_npu.profiler", "profil", "profile"),
        ("torch_npu.contrib", "transfer", None),
        ("torch.npu", "sychronize", "synchronize"),
        ("torch.npu", "collectivs", None),
        ("torch.npu", "confi", "config"),
        ("torch.npu.memory", "empty_cach", "empty_cache"),
        ("torch.npu.random", "manual_sed", "manual_seed, manual_seed_all"),
    ],
)
def test_names_that_are_missing(module: str, name: str, close: str | None) -> None:
    """One message, with the closest names that there are; hasattr() tells the truth."""
    asked = importlib.import_module(module)
    with pytest.raises(AttributeError) as error:
        getattr(asked, name)
    hint = f"; the closest names are {close}" if close else ""
    start = f"softnpu has no {module}.{name}{hint}"
    assert str(error.value).startswith(start)
    assert str(error.value).endswith("docs/npu.md lists what there is")
    assert not hasattr(asked, name)


@pytest.mark.parametrize("name", ["torch_npu.dynamo", "torch_npu.contrib.module"])
def test_parts_that_are_missing(name: str) -> None:
    """Importing one says that softnpu does not have it; other modules' errors are their own."""
    with pytest.raises(ModuleNotFoundError, match=rf"softnpu has no {name}\b.*docs/npu.md"):
        importlib.import_module(name)
    with pytest.raises(ModuleNotFoundError, match="No module named 'torch_npus'"):
        importlib.import_module("torch_npus")


def test_submodules_are_the_same_under_both_names(npu: Any) -> None:
    """`torch_npu.npu.streams` is no second copy."""
    for name in ("amp", "memory", "mstx", "profiler", "random", "streams"):
        assert importlib.import_module(f"torch_npu.npu.{name}") is getattr(npu, name)
        assert importlib.import_module(f"torch.npu.{name}") is getattr(npu, name)


def test_programs_for_gpus(run: Any) -> None:
    """transfer_to_npu lets "cuda" mean "npu"."""
    script = """
import torch
import torch_npu
from torch_npu.contrib import transfer_to_npu
x = torch.ones(2, device="cuda")
y = torch.nn.Linear(2, 2).to("cuda:0")(x.cuda())
print(x.device, y.is_cuda, torch.cuda.is_available(), torch.cuda.device_count())
torch.cuda.synchronize()
print(torch.tensor([1.0]).to(torch.device("cuda")).device)
for autocast in (torch.autocast, torch.amp.autocast):
    with autocast("cuda", dtype=torch.bfloat16):
        print((x @ x).dtype)
print(torch.amp.GradScaler("cuda").scale(x).device)
net = torch.nn.Linear(2, 1).cuda()
optimizer = torch.optim.AdamW(net.parameters(), lr=0.1)  # imports PyTorch's compiler
with torch.cuda.amp.autocast():
    y = torch.utils.checkpoint.checkpoint(net, x, use_reentrant=False)
y.sum().backward()
optimizer.step()
print(y.dtype, torch.cuda.memory.memory_allocated() > 0)
"""
    assert run(script).stdout.split("\n") == [
        "npu:0 True True 1",
        "npu:0",
        "torch.bfloat16",
        "torch.bfloat16",
        "npu:0",
        "torch.float16 True",
        "",
    ]
