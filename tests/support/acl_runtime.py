# SPDX-License-Identifier: Apache-2.0
"""What tests of the runtime add to the harness: out-parameters, host functions, held streams.

A process has one device runtime. Tests about its start, its end and its devices run in a process of
their own: see `in_fresh_process`.
"""

from __future__ import annotations

import ctypes as ct
import functools
import os
import subprocess
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeVar

from tests.support.capi import Session
from tests.support.capi_symbols import Functions
from tests.support.command import run_code
from tests.support.paths import ROOT

Result = TypeVar("Result")

INVALID_PARAM, REPEAT_INITIALIZE, REPEAT_FINALIZE = 100000, 100002, 100037
INVALID_FILE, PARSE_FILE = 100003, 100006
PARAM_INVALID, INVALID_DEVICEID, CONTEXT_NULL, STREAM_CONTEXT = 107000, 107001, 107002, 107003
STREAM_NO_CB_REG = 107015
TIMESTAMP_INVALID, TIMESTAMP_REVERSAL, INVALID_HANDLE = 107006, 107007, 107017
SYSPARAMOPT_NOT_SET, MEMORY_ALLOCATION = 107021, 207001
STREAM_SYNC_TIMEOUT, EVENT_SYNC_TIMEOUT = 507046, 507047
NO_BLOCK, BLOCK = 0, 1
NOT_A_HANDLE = 0x1234

CallbackType = ct.CFUNCTYPE(None, ct.c_void_p)


def out(ctype: Any, function: Any, *arguments: Any, first: bool = False) -> tuple[int, Any]:
    """Call a function with one out-parameter, its last or its first; return status and value."""
    value = ctype()
    given = (ct.byref(value), *arguments) if first else (*arguments, ct.byref(value))
    return int(function(*given)), value.value


def made(function: Any, *arguments: Any) -> int:
    """The handle that a creating function makes."""
    status, handle = out(ct.c_void_p, function, *arguments, first=True)
    assert status == 0, f"status {status}"
    assert handle is not None
    return int(handle)


def memory_info(api: Functions) -> tuple[int, int]:
    """Free and all bytes of the thread's device."""
    free, total = ct.c_size_t(), ct.c_size_t()
    assert api.aclrtGetMemInfo(1, ct.byref(free), ct.byref(total)) == 0
    return free.value, total.value


def in_thread(body: Callable[[], Result]) -> Result:
    """What `body` returns in a thread of its own, which starts without a device."""
    results: list[Result] = []
    thread = threading.Thread(target=lambda: results.append(body()))
    thread.start()
    thread.join()
    return results[0]


class Runtime(Session):
    """A thread's device and stream, with what makes streams, events and host functions short."""

    def __enter__(self) -> Runtime:
        super().__enter__()
        return self

    def host(self, function: Callable[[], object]) -> int:
        """The address of a C function that calls `function`."""
        callback = CallbackType(lambda _: function() and None)
        self.keep_alive.append(callback)
        return ct.cast(callback, ct.c_void_p).value or 0

    def new_stream(self) -> int:
        """A stream, destroyed with the session."""
        stream = made(self.api.aclrtCreateStream)
        self.keep("aclrtDestroyStream", stream)
        return stream

    def new_event(self) -> int:
        """An event, destroyed with the session."""
        event = made(self.api.aclrtCreateEvent)
        self.keep("aclrtDestroyEvent", event)
        return event

    def launch_host(self, function: Callable[[], object], stream: int | None = None) -> None:
        """Put a host function into a stream, the session's unless another is given."""
        stream = self.stream if stream is None else stream
        self.check(self.api.aclrtLaunchHostFunc(stream, self.host(function), None))

    def let_one_piece_run(self) -> None:
        """Ask for the stream's status, twice, which lets work run that a schedule holds back."""
        for _ in range(2):
            out(ct.c_int32, self.api.aclrtStreamQuery, self.stream)

    def wait_for(self, condition: Callable[[], bool]) -> None:
        """Give host functions, which run on threads of their own, up to a minute."""
        end = time.monotonic() + 60
        while not condition() and time.monotonic() < end:
            time.sleep(0.001)
        assert condition()

    @contextmanager
    def held(self, stream: int | None = None, limit: int = 60000) -> Iterator[Callable[[], None]]:
        """Hold back what is launched into a stream, until the yielded function is called.

        limit is the time in ms that its callback may take, which never comes if it is dropped.
        """
        stream = self.stream if stream is None else stream
        released = threading.Event()

        def process() -> None:
            released.wait()
            self.api.aclrtProcessReport(limit)

        keeper = threading.Thread(target=process)
        keeper.start()

        def release() -> None:
            released.set()
            keeper.join()

        try:
            self.check(self.api.aclrtSubscribeReport(keeper.ident, stream))
            nothing = self.host(lambda: None)
            self.check(self.api.aclrtLaunchCallback(nothing, None, BLOCK, stream))
            yield release
        finally:
            release()
            self.api.aclrtUnSubscribeReport(keeper.ident, stream)


def in_fresh_process(
    _test: Callable[..., None] | None = None, **environment: str
) -> Callable[..., Any]:
    """Run a test in a new process with these environment variables; it takes the functions."""

    def decorate(test: Callable[[Functions], None]) -> Callable[[], None]:
        relative = Path(test.__code__.co_filename).resolve().relative_to(ROOT)
        module = ".".join(relative.with_suffix("").parts)
        program = (
            f"from {module} import {test.__name__} as test\n"
            "from tests.support.capi_symbols import functions\n"
            "test.alone(functions())"
        )

        # Not functools.wraps: pytest would ask for the test's arguments.
        def outer() -> None:
            done = run_python(program, **environment)
            assert done.returncode == 0, done.stderr

        functools.update_wrapper(outer, test, assigned=("__name__", "__doc__", "__module__"))
        del outer.__wrapped__  # type: ignore[attr-defined]
        outer.alone = test  # type: ignore[attr-defined]
        return outer

    return decorate if _test is None else decorate(_test)


def run_python(program: str, **environment: str) -> subprocess.CompletedProcess[str]:
    """Run a Python program that may import the tests' modules."""
    kept = {
        name: text
        for name, text in os.environ.items()
        if name == "SOFTNPU_SCHEDULE" or not name.startswith("SOFTNPU_")
    }
    if folder := os.environ.get("SOFTNPU_SDK_LIB"):
        kept["SOFTNPU_SDK_LIB"] = str(Path(folder).resolve())
    return run_code(program, ROOT, kept | environment, [str(ROOT)])


def message(api: Functions) -> str:
    """The calling thread's latest message, which reading clears."""
    text = api.aclGetRecentErrMsg()
    return "" if text is None else text.decode()
