# SPDX-License-Identifier: Apache-2.0
"""How much memory the pool keeps, and when it lets go of it."""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import softnpu
from softnpu import _core
from tests.support.pooled import MB, ROWS, SMALLEST, address, idle, live, result, usage
from tests.support.process import resident_bytes

pytestmark = pytest.mark.usefixtures("empty_pool")


def test_the_limit_is_kept() -> None:
    """The oldest buffers go, also when the limit is lowered; results that live are not counted."""
    softnpu.set_pool_limit(3 * SMALLEST)
    results = [result(i) for i in range(5)]
    assert live() == 5 * SMALLEST
    places = [address(r) for r in results]
    while results:
        results.pop(0)
        assert idle() <= 3 * SMALLEST
    assert idle() == 3 * SMALLEST
    kept = [result() for _ in range(3)]
    assert {address(r) for r in kept} == set(places[2:])
    kept.clear()
    softnpu.set_pool_limit(2 * SMALLEST)
    assert idle() == 2 * SMALLEST
    softnpu.set_pool_limit(2 * SMALLEST - 1)
    assert idle() == SMALLEST


def test_a_result_above_the_limit_does_not_push_others_out() -> None:
    """It goes back to the system at once."""
    softnpu.set_pool_limit(2 * SMALLEST)
    small = result()
    large = result(rows=3 * ROWS)
    del small, large
    assert idle() == SMALLEST


def test_0_turns_the_pool_off() -> None:
    """Results are NumPy's own then; those from before are still taken care of."""
    before = result(6)
    softnpu.set_pool_limit(0)
    after = result(7)
    assert live() == SMALLEST
    assert (before == 6).all()
    assert (after == 7).all()
    before.resize((1, 1024), refcheck=False)
    del before, after
    assert usage() == (0, 0)


@pytest.mark.parametrize("wrong", [-1, 2**70, 1.5, "1", None])
def test_a_limit_that_is_none(wrong: Any) -> None:
    """Nothing changes, and the message says what came."""
    expected = f"set_pool_limit: limit is {wrong!r}; expected a number of bytes, an int from 0"
    with pytest.raises(TypeError, match=re.escape(expected)):
        softnpu.set_pool_limit(wrong)
    assert _core.info()["pool_limit"] == 256 * MB


def test_the_variable(script: Callable[[str], str], monkeypatch: pytest.MonkeyPatch) -> None:
    """In MB, read once; what is no number leaves the default, an eighth of the memory at most."""
    ask = "from softnpu import _core; print(_core.info()['pool_limit'])"
    monkeypatch.delenv("SOFTNPU_POOL_MB", raising=False)
    default = int(script(ask))
    assert default <= min(1024 * MB, os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") // 8)
    for text, value in (("0", 0), ("7", 7 * MB), ("100000", 100000 * MB)):
        monkeypatch.setenv("SOFTNPU_POOL_MB", text)
        assert int(script(ask)) == value
    for text in ("", "-1", "many", "1.5", "1 ", "99999999999999999999"):
        monkeypatch.setenv("SOFTNPU_POOL_MB", text)
        assert int(script(ask)) == default


def test_release_memory_gives_all_that_is_idle_back() -> None:
    """It says how much; live results stay."""
    kept = result(8)
    results = [result(i, 4 * ROWS) for i in range(8)]
    results.clear()
    assert idle() == 32 * SMALLEST
    before = resident_bytes()
    assert softnpu.release_memory() == 32 * SMALLEST
    assert before - resident_bytes() > 24 * SMALLEST
    assert usage() == (0, SMALLEST)
    assert softnpu.release_memory() == 0
    assert (kept == 8).all()


def test_idle_pages_are_the_systems_for_the_taking() -> None:
    """It would take them before it ran out of memory."""

    def offered() -> int:
        found = re.search(r"LazyFree: +(\d+) kB", Path("/proc/self/smaps_rollup").read_text())
        if found is None:
            pytest.skip("this system does not say what was offered to it")
        return int(found[1]) << 10

    before = offered()
    results = [result(rows=4 * ROWS) for _ in range(4)]
    assert offered() - before < SMALLEST
    results.clear()
    assert offered() - before > 12 * SMALLEST


def test_too_much_memory_is_a_memory_error(script: Callable[[str], str]) -> None:
    """Idle buffers are let go of first, if that helps."""
    printed = script(
        "import resource\n"
        "from pathlib import Path\n"
        "import numpy as np\n"
        "import softnpu\n"
        "from softnpu import _core\n"
        "from tests.python.foreign import Foreign\n"
        "softnpu.set_pool_limit(1 << 30)\n"
        "_core.set_threads(1)\n"
        "one = np.ones(1, np.float32)\n"
        "def result(mb, like=lambda a: a):\n"
        "    x = np.lib.stride_tricks.as_strided(one, (mb << 18,), (0,))\n"
        "    return softnpu.selu_backward(like(x), x)\n"
        "result(4)\n"
        "pages = Path('/proc/self/statm').read_text().split()[0]\n"
        "used = int(pages) * resource.getpagesize()\n"
        "resource.setrlimit(resource.RLIMIT_AS, (used + (300 << 20),) * 2)\n"
        "held = result(100)\n"
        "result(128)\n"  # idle after this
        "assert _core.info()['pool_idle'] >= 128 << 20\n"
        "assert result(180).all()\n"  # fits only when that is let go of
        "for like in (lambda a: a, Foreign):\n"
        "    try:\n"
        "        result(400, like)\n"
        "    except MemoryError:\n"
        "        print('refused')\n"
        "assert result(100).all() and held.all()\n"
    )
    assert printed.split() == ["refused", "refused"]


@pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")
def test_fork() -> None:
    """The child has its own copy of live results and nothing idle; both go on."""
    kept, gone = result(1), result(2)
    del gone
    child = os.fork()
    if child == 0:
        code = 1
        try:
            fine = usage() == (0, SMALLEST)
            more = [result(3) for _ in range(3)]
            fine = fine and all((r == 3).all() for r in more) and bool((kept == 1).all())
            kept[...] = 9
            del more, kept
            fine = fine and usage() == (4 * SMALLEST, 0)
            code = 0 if fine else 2
        finally:
            os._exit(code)
    assert os.waitpid(child, 0)[1] == 0
    assert (kept == 1).all()
    assert idle() == SMALLEST
    assert (result(4) == 4).all()


def test_results_may_live_until_the_interpreter_ends(script: Callable[[str], str]) -> None:
    """In modules, in cycles, as memory of other objects."""
    printed = script(
        "import sys\n"
        "import numpy as np\n"
        "import softnpu\n"
        "from tests.python.foreign import Foreign\n"
        "x = np.ones(1 << 20, np.float32)\n"
        "kept = softnpu.selu_backward(x, x)\n"
        "cycle = [softnpu.selu_backward(Foreign(x), x).array]; cycle.append(cycle)\n"
        "sys.kept = softnpu.selu_backward(x, x)[3:]\n"
        "print('end')\n"
    )
    assert printed == "end"
