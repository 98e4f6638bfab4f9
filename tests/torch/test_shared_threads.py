# SPDX-License-Identifier: Apache-2.0
"""Kernels run on the threads of PyTorch's OpenMP runtime where they can, and are right anyhow.

Each test is a process of its own: which threads there are depends on what ran before.
"""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

pytestmark = pytest.mark.torch

START = """
import os, threading
import numpy as np
import softnpu
from softnpu import _core

rng = np.random.default_rng(80)
grad, x = rng.standard_normal((2, 1 << 18)).astype(np.float32)

def run():
    return softnpu.elu_backward(grad, 1.0, 1.0, 1.0, False, x)

def threads():
    return len(os.listdir("/proc/self/task"))

_core.set_threads(2)
"""

PYTORCH = """
import torch
torch.set_num_threads(2)
torch.ones(1 << 20).exp_()  # starts OpenMP's team
"""


def run(source: str, **environment: str) -> str:
    """Run a program; return what it printed."""
    done = subprocess.run(
        [sys.executable, "-c", source],
        env=os.environ | environment,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def test_no_threads_beside_pytorchs() -> None:
    """Law: a kernel on the main thread starts no threads where PyTorch has a team."""
    before, after = run(START + PYTORCH + "n = threads(); run(); print(n, threads())").split()
    assert before == after


def test_threads_of_our_own_without_pytorch() -> None:
    """Law: the test above can fail: without PyTorch the same kernel starts a thread."""
    before, after = run(START + "n = threads(); run(); print(n, threads())").split()
    assert int(after) == int(before) + 1


def test_one_thread_of_pytorchs_is_one_here() -> None:
    """Law: where PyTorch is set to one thread, a kernel on the main thread starts none."""
    source = """
import torch
torch.ones(1 << 20).exp_()
run()
torch.set_num_threads(1)
n = threads()
results = [run() for _ in range(4)]
_core.set_threads(1)
print(threads() - n, all(np.array_equal(result, run()) for result in results))
"""
    assert run(START + source) == "0 True"


def test_one_thread_from_the_start() -> None:
    """Law: the same where PyTorch never had more."""
    source = "import torch\ntorch.set_num_threads(1)\ntorch.ones(1 << 20).exp_()\n"
    before, after = run(START + source + "n = threads(); run(); print(n, threads())").split()
    assert before == after


def test_the_team_changes_no_bit() -> None:
    """Law: results are the same on threads of our own and on OpenMP's."""
    compare = "print(np.array_equal(before.view(np.uint32), run().view(np.uint32)))"
    assert run(START + "before = run()" + PYTORCH + compare) == "True"


@pytest.mark.parametrize("limit", [1, 2, 3, 8])
def test_a_team_may_be_smaller_than_asked_for(limit: int) -> None:
    """Law: every piece of a job is computed where OpenMP gives fewer threads than it promised."""
    source = """
right = []
teams = [(team, n) for team in (4, 16) for n in (20_000, 24_577, 30_000, 40_000, 1 << 16, 1 << 18)]
for team, n in teams:
    torch.set_num_threads(team)
    def part():
        return softnpu.elu_backward(grad[:n], 1.0, 1.0, 1.0, False, x[:n])
    _core.set_threads(1)
    expected = part()
    _core.set_threads(team)
    right += [np.array_equal(part(), expected) for _ in range(3)]
print(all(right), len(right))
"""
    assert run(START + PYTORCH + source, OMP_THREAD_LIMIT=str(limit)) == "True 36"


def test_other_threads_have_no_team() -> None:
    """Law: eight threads that compute at once get right results and no team of OpenMP's each."""
    source = """
expected = run()
results = []
work = lambda: results.extend(np.array_equal(run(), expected) for _ in range(20))
workers = [threading.Thread(target=work) for _ in range(8)]
most = 0
for worker in workers: worker.start()
while any(worker.is_alive() for worker in workers): most = max(most, threads())
print(all(results), len(results), most - base)
"""
    right, count, extra = run(START + PYTORCH + "base = threads()" + source).split()
    assert (right, count) == ("True", "160")
    assert int(extra) <= 9  # the eight, and one of our own pool


def test_a_forked_child_computes() -> None:
    """Law: OpenMP's threads do not survive fork(); a child's kernels neither hang nor differ."""
    source = """
expected = run()
child = os.fork()
if child == 0:
    os._exit(0 if np.array_equal(run(), expected) else 1)
print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
"""
    assert run(START + PYTORCH + source) == "0"


FORK = """
import signal
import torch

torch.set_num_threads(2)

def exit_code():
    child = os.fork()
    if child == 0:
        signal.alarm(60)
        torch.ones(1 << 20).exp_()
        before = threads()
        os._exit(0 if np.array_equal(run(), expected) and threads() == before else 1)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
"""


@pytest.mark.parametrize(
    "source",
    [
        "expected = run()\ncodes = [exit_code(), exit_code()]",
        """
x = torch.from_numpy(x)
expected = run()
torch.ones(1 << 20).exp_()
codes = [exit_code()]
torch.ones(1 << 20).exp_()
codes.append(exit_code())
""",
        """
expected = run()
stop = threading.Event()

def compute():
    while not stop.is_set():
        run()
        torch.ones(1 << 20).exp_()

others = [threading.Thread(target=compute) for _ in range(2)]
for other in others: other.start()
codes = [exit_code() for _ in range(5)]
stop.set()
for other in others: other.join()
""",
        """
expected = run()
codes = []

def compute_and_fork():
    torch.ones(1 << 20).exp_()
    codes.append(exit_code())

other = threading.Thread(target=compute_and_fork)
other.start()
other.join()
""",
    ],
    ids=["arrays", "tensors", "other threads", "by another thread"],
)
def test_pytorch_computes_in_a_child(source: str) -> None:
    """Law: PyTorch does not wait in a child for a team that kernels used, and they share it."""
    codes = "print(len(codes) > 0 and not any(codes))"
    assert run(START + FORK + source + "\n" + codes) == "True"


def test_a_child_computes_where_only_pytorch_did_before() -> None:
    """Law: the child does not wait for a team that its parent's PyTorch started."""
    source = """
child = os.fork()
if child == 0:
    signal.alarm(60)
    run()
    os._exit(0)
print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
"""
    assert run(START + "import signal" + PYTORCH + source) == "0"


def test_a_child_imports_softnpu_where_pytorch_computed_before() -> None:
    """Law: the same where softnpu is loaded after the fork, and has not seen it."""
    source = """
import os, signal
import numpy as np
import torch
torch.set_num_threads(2)
torch.ones(1 << 20).exp_()
child = os.fork()
if child == 0:
    signal.alarm(60)
    import softnpu
    softnpu._core.set_threads(2)
    x = np.ones(1 << 20, np.float32)
    softnpu.selu_backward(x, x)
    os._exit(0)
print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
"""
    assert run(source) == "0"


def test_flushing_subnormals_changes_no_bit() -> None:
    """Law: what a program sets for its own thread's arithmetic is not what kernels compute with."""
    source = """
grad[:] = 1e-40
expected = run()
torch.set_flush_denormal(True)
results = [run() for _ in range(4)]
torch.set_flush_denormal(False)
print(bool(expected.all()), all(np.array_equal(result, expected) for result in results))
"""
    assert run(START + PYTORCH + source) == "True True"


IDLE = """
import time
expected = run()

def masks():
    return {task: os.sched_getaffinity(int(task)) for task in os.listdir("/proc/self/task")}

before = masks()
results = []
for _ in range(15):
    time.sleep(0.02)  # long enough for all threads to sleep
    results.append(run())
print(masks() == before, all(np.array_equal(result, expected) for result in results))
"""


@pytest.mark.parametrize("pytorch", ["", PYTORCH], ids=["own", "PyTorch's"])
@pytest.mark.parametrize("usable", ["all", "one"])
def test_threads_may_use_the_same_processors_afterwards(pytorch: str, usable: str) -> None:
    """Law: threads that leave a processor to one that was woken may come back to it."""
    bind = "os.sched_setaffinity(0, [min(os.sched_getaffinity(0))])" if usable == "one" else ""
    assert run(START + bind + pytorch + IDLE) == "True True"
