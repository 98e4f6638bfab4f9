# SPDX-License-Identifier: Apache-2.0
"""What the log says, where it goes, how its settings are read; failures that no call reported."""

from __future__ import annotations

import ctypes as ct
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from tests.support.acl_runtime import out, run_python
from tests.support.capi import INVALID, RUNTIME, Session
from tests.support.capi_symbols import Functions
from tests.support.capi_symbols import functions as functions
from tests.support.native import compiled, run
from tests.support.prepared import prepare
from tests.support.process import importing_tests

PREFIX = r"softnpu: "
FREE = PREFIX + r"error 107000: aclrtFree: devPtr .* \[foreign-free\]"
INDEX = r"aclnnMaxUnpool3dBackward: indices.*-7.* \[index-out-of-range\]"
SHAPE = r"aclnnEluBackwardGetWorkspaceSize: gradInput has shape \[3, 2\].* \[shape-differs\]"
CONSUMED = r"aclDestroyAclOpExecutor: executor is a consumed .* \[executor-unknown\]"
FAILURES = [
    FREE,
    PREFIX + r"error 161002: " + SHAPE,
    PREFIX + r"error 361001: stream \d+: " + INDEX,
    PREFIX + r"error 361001: aclrtSynchronizeStream: " + INDEX,
    PREFIX + r"error 161002: " + CONSUMED,
]
LAUNCH = PREFIX + (
    r"info: aclnnMaxUnpool3dBackward launched in stream \d+: gradOutput FLOAT \[[\d, ]+\], "
    r"indices INT64 \[[\d, ]+\], out FLOAT \[[\d, ]+\]"
)
MALLOC = PREFIX + r"debug: aclrtMalloc\(devPtr=0x[0-9a-f]+, size=64, policy=0\) -> 0"
LEVELS = ["off", "error", "info", "debug"]


def program(api: Functions) -> None:
    """Calls that are refused, a launch that fails while it runs, and calls that succeed."""
    with Session() as session:
        assert out(ct.c_void_p, api.aclrtMalloc, 64, 0, first=True)[0] == 0
        assert api.aclrtFree(0x1234) == 107000
        elu = prepare(session, "elu_backward")
        other = session.array(np.zeros((3, 2), np.float32), "ND")
        assert elu.try_plan(gradInput=other.handle).status == INVALID
        gather = prepare(session, "max_unpool3d_backward")
        indices = gather.arrays["indices"].like.copy()
        indices.flat[0] = -7
        gather.overwrite("indices", indices)
        assert gather.launch(gather.plan()) == 0
        assert session.synchronize() == RUNTIME


def logged(**environment: str) -> subprocess.CompletedProcess[str]:
    """Run the program."""
    text = "from tests.runtime.test_log import *; program(functions())"
    done = run_python(text, SOFTNPU_BANNER="0", **environment)
    assert done.returncode == 0, done.stderr
    return done


def level_of(text: str) -> str:
    """The level that lines come from; each failure of the program must be there once."""
    lines = text.splitlines()
    if not lines:
        return "off"
    assert all(line.startswith(PREFIX) for line in lines), text

    def count(pattern: str) -> int:
        return sum(re.fullmatch(pattern, line) is not None for line in lines)

    assert [count(pattern) for pattern in FAILURES] == [1] * len(FAILURES), text
    assert sum(line.startswith(PREFIX + "error ") for line in lines) == len(FAILURES), text
    return "debug" if count(MALLOC) else "info" if count(LAUNCH) else "error"


@pytest.mark.parametrize("level", ["", *LEVELS])
def test_levels(level: str) -> None:
    """Nothing is logged without SOFTNPU_LOG; each level has what the one before has."""
    done = logged(SOFTNPU_LOG=level)
    assert level_of(done.stderr) == (level or "off")
    assert done.stdout == ""
    if level == "error":
        assert len(done.stderr.splitlines()) == len(FAILURES)
    if level == "debug":
        assert "-> 107000\n" in done.stderr


@pytest.mark.parametrize(
    ("environment", "level"),
    [
        ({"ASCEND_GLOBAL_LOG_LEVEL": "0"}, "debug"),
        ({"ASCEND_GLOBAL_LOG_LEVEL": "1"}, "info"),
        ({"ASCEND_GLOBAL_LOG_LEVEL": "2"}, "error"),
        ({"ASCEND_GLOBAL_LOG_LEVEL": "3"}, "error"),
        ({"ASCEND_GLOBAL_LOG_LEVEL": "4"}, "off"),
        ({"ASCEND_GLOBAL_LOG_LEVEL": "0", "SOFTNPU_LOG": "error"}, "error"),
        ({"ASCEND_SLOG_PRINT_TO_STDOUT": "0"}, "off"),
    ],
)
def test_the_toolkits_levels(environment: dict[str, str], level: str) -> None:
    """ASCEND_GLOBAL_LOG_LEVEL is followed where SOFTNPU_LOG is not set."""
    assert level_of(logged(**environment).stderr) == level


@pytest.mark.parametrize(
    ("environment", "level"),
    [({}, "error"), ({"SOFTNPU_LOG": "info"}, "info"), ({"ASCEND_GLOBAL_LOG_LEVEL": "1"}, "info")],
)
def test_the_toolkits_stdout(environment: dict[str, str], level: str) -> None:
    """ASCEND_SLOG_PRINT_TO_STDOUT=1 sends the log to stdout, failures where no level is set."""
    done = logged(ASCEND_SLOG_PRINT_TO_STDOUT="1", **environment)
    assert level_of(done.stdout) == level
    assert done.stderr == ""


def test_a_file(tmp_path: Path) -> None:
    """SOFTNPU_LOG_FILE has the log, of all processes that name it, failures where no level is
    set; stderr has nothing.
    """
    file = tmp_path / "log"
    for count in (1, 2):
        done = logged(SOFTNPU_LOG_FILE=str(file))
        assert (done.stdout, done.stderr) == ("", "")
        assert len(file.read_text().splitlines()) == len(FAILURES) * count


@pytest.mark.parametrize(
    ("environment", "said", "level"),
    [
        ({"SOFTNPU_LOG": "loud"}, 'SOFTNPU_LOG is "loud".*off, error, info or debug', "error"),
        ({"ASCEND_GLOBAL_LOG_LEVEL": "9"}, 'LEVEL is "9".*from 0 to 4', "off"),
        ({"SOFTNPU_LOG_FILE": "/no/such/log"}, "SOFTNPU_LOG_FILE is .*a file", "error"),
    ],
)
def test_wrong_settings(environment: dict[str, str], said: str, level: str) -> None:
    """A setting that is an invalid value is told, once, and failures are not lost by it."""
    first, _, rest = logged(**environment).stderr.partition("\n")
    assert re.search(said, first)
    assert level_of(rest) == level


THREADS = """
import threading
from tests.support.capi_symbols import functions
api = functions()
threads = [threading.Thread(target=lambda: [api.aclrtFree(n) for n in range(1, 500)])
           for _ in range(4)]
for thread in threads: thread.start()
for thread in threads: thread.join()
"""


def test_lines_of_threads_and_processes_are_whole(tmp_path: Path) -> None:
    """Threads and processes that log at once do not mix their lines."""
    file = tmp_path / "log"
    environment = importing_tests() | {"SOFTNPU_LOG": "debug", "SOFTNPU_LOG_FILE": str(file)}
    command = [sys.executable, "-c", THREADS]
    processes = [subprocess.Popen(command, env=environment) for _ in range(2)]
    assert [process.wait() for process in processes] == [0, 0]
    lines = file.read_text().splitlines()
    assert len(lines) == 2 * 2 * 4 * 499
    call = re.compile(PREFIX + r"debug: aclrtFree\(devPtr=0x[0-9a-f]+\) -> 107000")
    assert all(call.fullmatch(line) or re.fullmatch(FREE, line) for line in lines)


POLLS = """
import ctypes as ct, threading
from tests.support.acl_runtime import Runtime
with Runtime() as rt:
    rt.check(rt.api.aclrtSubscribeReport(threading.get_ident(), rt.stream))
    assert rt.api.aclrtProcessReport(1) == 507046
    rt.check(rt.api.aclrtUnSubscribeReport(threading.get_ident(), rt.stream))
"""


def test_polling_is_no_failure() -> None:
    """Threads poll for callbacks: that none came in time is only told where more than failures
    is asked for.
    """
    assert run_python(POLLS, SOFTNPU_LOG="error").stderr == ""
    assert "aclrtProcessReport: no callback" in run_python(POLLS, SOFTNPU_LOG="info").stderr


def test_a_full_disk() -> None:
    """Lines that cannot be written are told of, once, and change nothing for the program."""
    text = (
        "from tests.support.capi_symbols import functions\n"
        "api = functions()\n"
        "assert api.aclrtFree(1) == 107000\n"
        "assert b'aclrtFree: devPtr' in api.aclGetRecentErrMsg()\n"
    )
    done = run_python(text, SOFTNPU_LOG="debug", SOFTNPU_LOG_FILE="/dev/full")
    said = "softnpu: SOFTNPU_LOG_FILE: lines are lost: No space left on device\n"
    assert (done.returncode, done.stderr) == (0, said)


# All fail after the last launch, which may get the memory that the first freed.
SEVERAL = """
from contextlib import ExitStack
from tests.runtime.test_stream import launch_failure
from tests.support.acl_runtime import Runtime
with Runtime() as rt, ExitStack() as held:
    releases = []
    for stream in [rt.new_stream() for _ in range(3)]:
        releases.append(held.enter_context(rt.held(stream)))
        launch_failure(rt, stream)
    for release in releases:
        release()
    assert rt.api.aclrtSynchronizeDevice() == 107000
"""


def test_a_failure_that_streams_share_keeps_its_rule() -> None:
    """The synchronisation reports the first of them, and counts the others."""
    lines = run_python(SEVERAL, SOFTNPU_LOG="error").stderr.splitlines()
    assert len(lines) == 4
    assert "aclrtSynchronizeDevice: " in lines[-1]
    assert lines[-1].endswith(" (and work of 2 other streams failed) [use-after-free]")


def test_checkers_report_such_a_failure_once_for_each_launch() -> None:
    """And not again for the synchronisation that fetches it."""
    checked = run_python(SEVERAL, SOFTNPU_CHECK="memcheck").stderr
    assert checked.count("memcheck (use-after-free)") == 1
    assert "aclrtSynchronizeDevice: aclrtMemsetAsync" not in checked


WAYS = {
    "at exit": {99: "exit: .* of stream 1"},
    "two streams": {99: "exit: .* of stream 1", 98: "exit: .* of stream 0"},
    "two failures": {99: "exit: .* of stream 1"},
    "fetched": {},
    "fetched by a handler": {},
    "finalized by a handler": {99: "aclFinalize: no call has reported this failure"},
    "fork": {77: "exit: .* of stream 1", 88: "exit: .* of stream 2"},
    "running": {55: "exit: .* of stream 0"},
}


@pytest.mark.parametrize("how", WAYS)
@pytest.mark.parametrize("log", ["off", "error"])
def test_failures_that_no_call_reported(how: str, log: str) -> None:
    """Each stream's first one is printed once, by the process in which it happened, whatever is
    logged; not what a call fetched, be it in an exit handler. Nothing is waited for.
    """
    done = run(compiled("unfetched"), how, SOFTNPU_LOG=log)
    assert done.returncode == 0, done.stderr
    lines = [line for line in done.stderr.splitlines() if "no call has reported" in line]
    wanted = WAYS[how]
    assert len(lines) == len(wanted), done.stderr
    for index, start in wanted.items():
        found = [line for line in lines if str(index) in line.partition("aclnnMax")[2]]
        assert len(found) == 1, done.stderr
        assert re.match(rf"softnpu: {start}.*: aclnnMaxUnpool3dBackward: ", found[0])
