# SPDX-License-Identifier: Apache-2.0
"""What the checkers and traces say of PyTorch programs: of memory, streams, and their repairs."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

TESTS = """
import pytest
import torch

KEPT = []


def test_operator():
    x = torch.ones(3).npu()
    assert (x + 1).cpu().tolist() == [2, 2, 2]


def test_training():
    net = torch.nn.Linear(3, 3).npu()
    net(torch.ones(2, 3).npu()).sum().backward()


def test_streams_and_pinned_memory():
    stream, host = torch.npu.Stream(), torch.ones(4).pin_memory()
    with torch.npu.stream(stream):
        x = host.to("npu", non_blocking=True) + 1
    torch.npu.current_stream().wait_stream(stream)
    stream.record_event().synchronize()
    assert x.tolist() == [2, 2, 2, 2]


def test_a_tensor_that_lives_on():
    KEPT.append(torch.ones(3).npu())


def test_leak():
    from softnpu import acl

    torch.ones(3).npu()
    acl.rt.malloc(64, 0)
"""


def test_pytest_reports_only_leaks_of_the_program(tmp_path: Path) -> None:
    """What PyTorch keeps for the next tensors is none."""
    (tmp_path / "test_device.py").write_text(TESTS)
    words = ["--softnpu-npu", "--softnpu-check", "-p", "no:cacheprovider"]
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", *words, str(tmp_path)],
        capture_output=True,
        text=True,
        check=False,
        cwd=tmp_path,
    )
    assert "5 passed, 1 error" in done.stdout, done.stdout
    assert "softnpu check: 1 finding\n" in done.stdout
    assert "1 allocation of 64 bytes was never freed" in done.stdout


TRAINING = """
import torch
net = torch.nn.Linear(8, 4).npu()
for _ in range(2):
    net(torch.ones(2, 8).npu()).square().mean().backward()
"""


def test_memory_that_is_not_kept_is_freed_after_its_work(run: Any) -> None:
    """As on a device, so that nothing is freed while work may use it."""
    done = run(TRAINING, "check", env={"PYTORCH_NO_NPU_MEMORY_CACHING": "1"})
    assert done.returncode == 0, done.stderr


REUSED = """
import torch
old = torch.ones(100, device="npu")
address = old.data_ptr()
del old
new = torch.{new}(100, device="npu")
print(new.data_ptr() == address)
new.sum()
"""


def test_memory_that_another_tensor_wrote(run: Any) -> None:
    """A new tensor has no contents, even if the allocator kept its memory."""
    wrong = run(REUSED.format(new="empty"), "check")
    assert wrong.stdout == "True\n"
    assert wrong.returncode == 86, wrong.stderr
    assert "aten::sum reads self, but nothing has written" in wrong.stderr
    made = wrong.stderr.split("was allocated here")[1]
    assert "program.py:6" in made.split("\n")[1]
    right = run(REUSED.format(new="zeros"), "check")
    assert (right.returncode, right.stdout) == (0, "True\n"), right.stderr


def test_memory_that_grows_keeps_its_contents(run: Any) -> None:
    """What the old memory had counts as written."""
    script = "import torch\nx = torch.ones(4).npu()\nx.untyped_storage().resize_(4096)\nx.sum()\n"
    done = run(script, "check")
    assert done.returncode == 0, done.stderr


ORDER = """
import torch
x = torch.ones(256, device="npu")
side = torch.npu.Stream()
side.wait_stream(torch.npu.current_stream())
with torch.npu.stream(side):
    y = x + 1
y * 2
"""
PINNED = """
import torch
x = torch.ones(4, device="npu")
host = torch.zeros(4).pin_memory()
host.copy_(x, non_blocking=True)
print(host.sum().item())
"""


@pytest.mark.parametrize(
    ("program", "kind", "repair"),
    [
        (ORDER, "stream-race", "stream.wait_stream(other)"),
        (PINNED, "host-buffer-in-use", "Synchronise the stream"),
    ],
)
def test_a_wait_that_is_missing(run: Any, program: str, kind: str, repair: str) -> None:
    """Is found once, with its repair, where it helps in PyTorch's words."""
    done = run(program, "check")
    assert done.returncode == 86, done.stderr
    assert kind in done.stderr
    assert "softnpu check: 1 finding\n" in done.stderr
    assert repair in done.stderr


TRACED = """
import time
import torch
a = torch.randn(1024, 1024).npu()
start = time.monotonic_ns()
b = a @ a
print(time.monotonic_ns() - start)
"""


def test_traces_have_the_work_and_its_operands(run: Any, tmp_path: Path) -> None:
    """An operator takes the time that it computes, and has all of its tensors."""
    trace = tmp_path / "trace.json"
    done = run(TRACED, "run", "--trace", str(trace))
    assert done.returncode == 0, done.stderr
    (found,) = (each for each in json.loads(trace.read_text()) if each.get("name") == "aten::mm")
    assert int(done.stdout) / 8 < found["dur"] * 1000 <= int(done.stdout)
    matrix = "FLOAT [1024, 1024] contiguous"
    operands = {name: found["args"].get(name) for name in ("self", "mat2", "result")}
    assert operands == {"self": matrix, "mat2": matrix, "result": matrix}
