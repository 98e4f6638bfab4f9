# SPDX-License-Identifier: Apache-2.0
"""Calls from several threads, and what other threads may do meanwhile."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

import softnpu
from softnpu import _core
from tests.python.operators import OPERATORS, Operator


@pytest.mark.usefixtures("no_forced_switches")
@pytest.mark.parametrize("name", ["selu_backward", "upsample_nearest3d_backward"])
def test_other_threads_run_while_a_kernel_runs(name: str) -> None:
    """Nothing but a released GIL can let them."""
    steps = 0
    stop = threading.Event()

    def count() -> None:
        nonlocal steps
        while not stop.is_set():
            time.sleep(0.0005)
            steps += 1

    x = np.ones((4, 4, 64, 64, 64), np.float32)
    small = np.ones((4, 4, 1, 1, 1), np.float32)
    calls = {
        "selu_backward": lambda: softnpu.selu_backward(x, x, out=x),
        "upsample_nearest3d_backward": lambda: softnpu.upsample_nearest3d_backward(
            x, (64, 64, 64), (4, 4, 1, 1, 1), out=small
        ),
    }
    counter = threading.Thread(target=count)
    counter.start()
    while steps == 0:
        time.sleep(0.001)
    before = steps
    deadline = time.perf_counter() + 20
    while steps == before and time.perf_counter() < deadline:
        calls[name]()
    after = steps
    stop.set()
    counter.join()
    assert after > before


@pytest.mark.parametrize("operator", OPERATORS, ids=lambda o: o.name)
def test_calls_from_many_threads_do_not_disturb_each_other(operator: Operator) -> None:
    """Each gets its own result, with and without out."""
    expected = operator().tobytes()

    def work(_: int) -> bool:
        out = np.zeros_like(operator.out)
        return all(
            operator().tobytes() == expected and operator(out=out).tobytes() == expected
            for _ in range(50)
        )

    with ThreadPoolExecutor(8) as pool:
        assert all(pool.map(work, range(16)))


def test_failures_in_many_threads_keep_their_own_messages() -> None:
    """A message belongs to the call that failed."""

    def work(size: int) -> str:
        x = np.zeros(size, np.float32)
        with pytest.raises(softnpu.ParamInvalidError) as caught:
            softnpu.selu_backward(x, x[1:])
        return str(caught.value)

    with ThreadPoolExecutor(8) as pool:
        for size, message in zip(range(2, 202), pool.map(work, range(2, 202)), strict=True):
            assert f"[{size - 1}]" in message
            assert f"[{size}]" in message


def test_the_number_of_threads_can_be_set() -> None:
    """From 1 to 1024; anything else is an error and changes nothing."""
    before = _core.get_threads()
    try:
        _core.set_threads(3)
        assert _core.get_threads() == _core.info()["threads"] == 3
        for wrong in (0, -1, 1025):
            with pytest.raises(ValueError, match="1 to 1024"):
                _core.set_threads(wrong)
        assert _core.get_threads() == 3
    finally:
        _core.set_threads(before)


def test_info_describes_the_process() -> None:
    """Product, threads, instruction sets, devices, version."""
    info = _core.info()
    assert info["isa"] in info["isa_available"]
    assert info["isa_available"][-1] == "baseline"
    assert info["version"] == softnpu.__version__
    assert isinstance(info["bf16"], bool)
    assert info["devices"] >= 1
    assert info["soc"].startswith("Ascend")


def test_the_first_calls_of_many_threads(script: Callable[[str], str]) -> None:
    """What the first call has to import holds up no other thread's, which has the GIL meanwhile."""
    program = """
import sys, threading
import softnpu

class Producer:
    def __dlpack_device__(self):
        return 1, 0

    def __dlpack__(self, **_):
        import numpy as np
        return np.ones(16, np.float32).__dlpack__()

def call():
    start.wait()
    try:
        softnpu.selu_backward(Producer(), Producer())
    except softnpu.ParamInvalidError:  # no library of its own that a result could be made with
        done.append(1)

assert "numpy" not in sys.modules
sys.setswitchinterval(1e-6)
start, done = threading.Barrier(4), []
threads = [threading.Thread(target=call) for _ in range(4)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
print(len(done))
"""
    assert script(program) == "4"
