# SPDX-License-Identifier: Apache-2.0
"""Order that a program forgot: late values under ``deferred``, and what the checkers find."""

from __future__ import annotations

import math
from typing import Any

import pytest

LATE = """
import torch
x = torch.full((4,), 7.0).npu()
host = torch.zeros(4).pin_memory()
host.copy_(x, non_blocking=True)
print(host.tolist())
torch.npu.synchronize()
print(host.tolist())
"""


def test_late_values(run: Any) -> None:
    """A copy that nobody waited for has not happened yet; usually it has."""
    early = run(LATE, "run", "--schedule", "deferred")
    assert early.stdout == "[0.0, 0.0, 0.0, 0.0]\n[7.0, 7.0, 7.0, 7.0]\n", early.stderr
    assert run(LATE).stdout == "[7.0, 7.0, 7.0, 7.0]\n" * 2


REUSED = """
import torch
host = torch.ones(4).pin_memory()
x = host.to("npu", non_blocking=True)
{wait}
host.fill_(9)
print((x * 2).tolist())
"""


@pytest.mark.parametrize(
    ("wait", "expected"), [("", 18.0), ("torch.npu.current_stream().synchronize()", 2.0)]
)
def test_a_pinned_buffer_that_is_used_again(run: Any, wait: str, expected: float) -> None:
    """What the program writes before the copy has run, the copy copies."""
    done = run(REUSED.format(wait=wait), "run", "--schedule", "deferred")
    assert done.stdout == f"{[expected] * 4}\n", done.stderr


INDEX = """
import torch
table, wrong = torch.ones(4, 3, device="npu"), torch.tensor([1, 9]).npu()
for call in (lambda: table[wrong], lambda: torch.nn.functional.embedding(wrong, table)):
    try:
        print(call().shape)
        torch.npu.synchronize()
    except (RuntimeError, IndexError) as error:
        print(type(error).__name__, "out of" in str(error))
print(table[wrong.clamp(max=3)].sum().item())
"""


@pytest.mark.parametrize("blocking", ["0", "1"])
def test_a_wrong_index_is_an_error_of_the_next_wait(run: Any, blocking: str) -> None:
    """Under ``deferred``, unless each call waits for its work."""
    environment = {"ASCEND_LAUNCH_BLOCKING": blocking}
    done = run(INDEX, "run", "--schedule", "deferred", env=environment)
    late = "torch.Size([2, 3])\nRuntimeError True\n" * 2
    assert done.stdout == (late if blocking == "0" else "IndexError True\n" * 2) + "6.0\n"


BUFFERS = """
import torch
loaded = torch.ones(4).pin_memory().to("npu", non_blocking=True)  # PyTorch keeps what it copies
host = torch.zeros(4).pin_memory()
host.copy_(loaded * 2, non_blocking=True)
{wait}
print(host.sum().item())
"""


def test_a_pinned_tensor_that_is_read_too_early(run: Any) -> None:
    """The checkers name the lines of the access and of the copy."""
    wrong = run(BUFFERS.format(wait=""), "check")
    assert wrong.returncode == 86, wrong.stderr
    assert "host-buffer-in-use" in wrong.stderr
    assert "program.py:7" in wrong.stderr
    assert "program.py:5" in wrong.stderr
    assert "1 finding" in wrong.stderr
    right = run(BUFFERS.format(wait="torch.npu.synchronize()"), "check")
    assert (right.returncode, right.stdout) == (0, "8.0\n"), right.stderr


SIDE = """
import torch
import torch.nn.functional as F
import softnpu
side = torch.npu.Stream()
for wait in (False, True):
    for operator, result in {operators!r}:
        x = torch.ones(4, device="npu")
        y = torch.ones(4, device="npu")
        z = torch.ones(2, 4, device="npu")
        side.wait_stream(torch.npu.current_stream())
        with torch.npu.stream(side):
            y.add_(x)
            exec(operator)
        if wait:
            torch.npu.current_stream().wait_stream(side)
        found = eval(result).tolist()
        print(y.tolist() == [2.0] * 4, found)
        torch.npu.synchronize()
"""
# An operator on another stream, what shows its result, and this before and after a wait.
OPERATORS = [
    ("r = x + 2", "r[:2]", [math.nan, math.nan], [3.0, 3.0]),
    ("x.mul_(3)", "x[:2]", [1.0, 1.0], [3.0, 3.0]),
    ("z[1].copy_(x + 1)", "z[:, 0]", [1.0, 1.0], [1.0, 2.0]),
    ("r = torch.arange(2, device='npu') + 1", "r", [0, 0], [1, 2]),
    ("r = torch.empty(0).npu(); torch.add(x, 1, out=r)", "r[0]", math.nan, 2.0),
    ("r = F.elu(-x * 100)", "r[0]", math.nan, -1.0),
    ("softnpu.elu_(x.mul_(-100))", "x[0]", -100.0, -1.0),
    ("softnpu.elu(x * 5, out=z[1])", "z[:, 0]", [1.0, 1.0], [1.0, 5.0]),
]


def test_what_another_stream_computes_is_late(run: Any) -> None:
    """The last operator's result is not there before something waits, and whole after."""
    script = SIDE.format(operators=[each[:2] for each in OPERATORS])
    done = run(script, "run", "--schedule", "deferred")
    expected = [each[2] for each in OPERATORS] + [each[3] for each in OPERATORS]
    assert done.stdout.splitlines() == [f"True {value}" for value in expected], done.stderr


STREAMS = """
import torch
side = torch.npu.Stream()
x = torch.ones(256, device="npu")
side.wait_stream(torch.npu.current_stream())
with torch.npu.stream(side):
    y = x + 1
{wait}
z = y * 2
print(z.sum().item())
"""


def test_a_stream_that_does_not_wait(run: Any) -> None:
    """The checkers name both lines; with the wait they find nothing."""
    wrong = run(STREAMS.format(wait=""), "check")
    assert wrong.returncode == 86, wrong.stderr
    assert "racecheck" in wrong.stderr
    assert "aten::add" in wrong.stderr
    assert "aten::mul" in wrong.stderr
    assert "program.py:7" in wrong.stderr
    assert "program.py:9" in wrong.stderr
    right = run(STREAMS.format(wait="torch.npu.current_stream().wait_stream(side)"), "check")
    assert right.returncode == 0, right.stderr


def test_reads_of_what_nothing_wrote(run: Any) -> None:
    """An operator that reads new memory is found."""
    done = run("import torch\nx = torch.empty(9, device='npu')\nprint(x.add(1).shape)\n", "check")
    assert done.returncode == 86, done.stderr
    assert "initcheck" in done.stderr
    assert "program.py:3" in done.stderr


def test_a_host_pointer_into_device_memory(run: Any) -> None:
    """Under the checkers, device memory cannot be read by its address."""
    script = """
import ctypes, torch
x = torch.ones(4, device="npu")
print(ctypes.c_float.from_address(x.data_ptr()).value)
"""
    assert run(script, "check").returncode != 0
    assert run(script).stdout == "1.0\n"
