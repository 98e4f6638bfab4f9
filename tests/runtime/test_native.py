# SPDX-License-Identifier: Apache-2.0
"""Programs that only C++ can write: many threads at once, and calls at exit."""

import re
import subprocess
from pathlib import Path

import pytest

from softnpu import _core
from tests.support.capi_symbols import library_folder
from tests.support.native import INTERNAL, PUBLIC, WITHOUT_OPERATORS, compiled, run
from tests.support.process import SANITIZED


def compile_and_run(
    name: str,
    folder: Path,
    options: list[str] = PUBLIC,
    arguments: tuple[str, ...] = (),
    environment: dict[str, str] | None = None,
) -> subprocess.CompletedProcess[str]:
    """Compile a program of this folder without a warning, and run it."""
    return run(compiled(name, folder, options), *arguments, **(environment or {}))


def test_concurrency(tmp_path: Path) -> None:
    """Every function may be called from several threads at once."""
    done = compile_and_run("concurrency", tmp_path)
    assert done.returncode == 0, done.stderr
    found = re.fullmatch(r"(\d+) passed, 0 failed\n", done.stdout)
    assert found is not None, done.stdout
    assert int(found[1]) > 10000


def test_many_operations(tmp_path: Path) -> None:
    """Threads that share streams and an event call everything in any order; results are right."""
    done = compile_and_run("many_operations", tmp_path, arguments=("20000",))
    assert done.returncode == 0, done.stderr
    assert re.search(r" 20000 operations: \d{6,} passed, 0 failed\n$", done.stdout)


def test_the_pool_of_buffers(tmp_path: Path) -> None:
    """No buffer is handed out twice, whatever other threads do."""
    done = compile_and_run("buffer_pool", tmp_path, INTERNAL)
    assert done.returncode == 0, done.stderr


def test_calls_at_exit(tmp_path: Path) -> None:
    """Calls in an exit handler work, and misuse there gives a code and a message, not a crash."""
    done = compile_and_run("at_exit", tmp_path)
    assert done.returncode == 0, done.stderr


def test_closed_library(tmp_path: Path) -> None:
    """What an operator library made works on and is destroyed after the program closed it."""
    library = library_folder().resolve() / "libopapi_nn.so"
    options = [*WITHOUT_OPERATORS, "-ldl", f'-DLIBRARY="{library}"']
    done = compile_and_run("closed_library", tmp_path, options)
    assert done.returncode == 0, done.stderr


def test_throwing_callback(tmp_path: Path) -> None:
    """Whatever a callback throws gives a code and one line of message."""
    done = compile_and_run("throwing_callback", tmp_path)
    assert done.returncode == 0, done.stderr


@pytest.mark.skipif(SANITIZED, reason="a fork leaves the locks of a sanitizer's allocator held")
def test_fork_while_others_call(tmp_path: Path) -> None:
    """A child made by fork() while other threads call can allocate, make handles and destroy."""
    done = compile_and_run("forked_child", tmp_path, arguments=("others call",))
    assert done.returncode == 0, done.stderr


def test_fork_while_a_stream_runs(tmp_path: Path) -> None:
    """A child is told that it cannot use a stream that another thread was running."""
    done = compile_and_run("forked_child", tmp_path, arguments=("a stream runs",))
    assert done.returncode == 0, done.stderr


def test_fork_while_a_callback_waits(tmp_path: Path) -> None:
    """A child is told that a stream waits for a thread it does not have, and can release all."""
    done = compile_and_run("forked_child", tmp_path, arguments=("a callback waits",))
    assert done.returncode == 0, done.stderr


@pytest.mark.skipif(SANITIZED, reason="libstdc++ passes a null reference to such handlers")
def test_ended_threads(tmp_path: Path) -> None:
    """A cancelled thread ends after its call; one that ends itself is reported."""
    done = compile_and_run("ended_threads", tmp_path)
    assert done.returncode == 0, done.stderr


def test_last_failures(tmp_path: Path) -> None:
    """A failure of launched work that no call reported comes with the end of its stream, once."""
    done = compile_and_run("last_failures", tmp_path)
    assert done.returncode == 0, done.stderr
    lines = [line for line in done.stderr.splitlines() if "no call has reported" in line]
    assert len(lines) == 1, done.stderr
    assert "aclnnMaxUnpool3dBackward" in lines[0]
    assert "99" in lines[0]


def test_forced_ends(tmp_path: Path) -> None:
    """No end waits for a callback that nobody runs; what was dropped or failed is told, once."""
    done = compile_and_run("forced_ends", tmp_path)
    assert done.returncode == 0, done.stderr
    lines = [line for line in done.stderr.splitlines() if "no call has reported" in line]
    assert len(lines) == 1, done.stderr
    assert "aclrtMemsetAsync: devPtr is in memory" in lines[0]


def test_no_library_registers_destructors_of_threads() -> None:
    """The C library ends the process where there is no memory for the registration."""
    libraries = [Path(_core.__file__), *library_folder().resolve().glob("*.so")]
    assert len(libraries) > 2
    for library in libraries:
        assert b"__cxa_thread_atexit" not in library.read_bytes(), library


@pytest.mark.skipif(SANITIZED, reason="the program looks at a byte that a stream writes")
def test_waiting_copies(tmp_path: Path) -> None:
    """A copy or a fill that waits for its turn leaves its destination alone."""
    done = compile_and_run("waiting_copies", tmp_path)
    assert done.returncode == 0, done.stderr


def test_mapping_threads(tmp_path: Path) -> None:
    """Threads that map the same memory in the same range succeed one at a time."""
    done = compile_and_run("mapping_threads", tmp_path)
    assert done.returncode == 0, done.stderr


def test_busy_streams(tmp_path: Path) -> None:
    """Threads that wait for each other's streams, as they may on a device, do not hang."""
    done = compile_and_run("busy_streams", tmp_path)
    assert done.returncode == 0, done.stderr


def test_deep_chains(tmp_path: Path) -> None:
    """However many streams wait for each other, or launch from each other's work, all run."""
    done = compile_and_run("deep_chains", tmp_path)
    assert done.returncode == 0, done.stderr


@pytest.mark.skipif(SANITIZED, reason="sanitizers take more stack")
def test_small_stacks(tmp_path: Path) -> None:
    """Threads of 64 KiB can call operators, with or without memory for more, in any layout."""
    done = compile_and_run("small_stacks", tmp_path)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("level", _core.info()["isa_available"])
@pytest.mark.skipif(SANITIZED, reason="a thread sanitizer reports the race that this provokes")
def test_indices_that_change_meanwhile(tmp_path: Path, level: str) -> None:
    """Whoever overwrites indices while a gather reads them, no element outside is ever read."""
    done = compile_and_run("changing_indices", tmp_path, environment={"SOFTNPU_ISA": level})
    assert done.returncode == 0, done.stderr
