# SPDX-License-Identifier: Apache-2.0
"""Callbacks and host functions: who runs them, what waits for them, misuse."""

import ctypes as ct
import threading
import time

import pytest

from tests.support.acl_runtime import (
    BLOCK,
    INVALID_HANDLE,
    NO_BLOCK,
    NOT_A_HANDLE,
    PARAM_INVALID,
    STREAM_NO_CB_REG,
    STREAM_SYNC_TIMEOUT,
    Runtime,
    in_fresh_process,
    made,
)
from tests.support.capi_symbols import Functions


class Reporter:
    """A thread that processes reports until the block ends."""

    def __init__(self, rt: Runtime) -> None:
        self.rt = rt
        self.stop = threading.Event()
        self.thread = threading.Thread(target=self.process)

    def process(self) -> None:
        """Process reports, as programs do it."""
        while not self.stop.is_set():
            self.rt.api.aclrtProcessReport(5)

    def __enter__(self) -> int:
        self.thread.start()
        assert self.thread.ident is not None
        return self.thread.ident

    def __exit__(self, *_: object) -> None:
        self.stop.set()
        self.thread.join()


def launch(rt: Runtime, function: object, block: int, stream: int | None = None) -> None:
    """Launch a callback."""
    stream = rt.stream if stream is None else stream
    rt.check(rt.api.aclrtLaunchCallback(rt.host(function), None, block, stream))  # type: ignore[arg-type]


@pytest.mark.parametrize("block", [NO_BLOCK, BLOCK])
def test_callback_runs_on_subscribed_thread(rt: Runtime, block: int) -> None:
    """Callbacks run on the subscribed thread, in the order of their launches."""
    seen: list[tuple[int, int]] = []
    with Reporter(rt) as thread:
        rt.check(rt.api.aclrtSubscribeReport(thread, rt.stream))
        for i in range(20):
            launch(rt, lambda i=i: seen.append((i, threading.get_ident())), block)
        assert rt.synchronize() == 0
        while len(seen) < 20:
            time.sleep(0.001)
        rt.check(rt.api.aclrtUnSubscribeReport(thread, rt.stream))
    assert seen == [(i, thread) for i in range(20)]


def test_blocking_callback_holds_the_stream(rt: Runtime) -> None:
    """Work after a blocking callback runs after it; work after another need not wait."""
    seen: list[str] = []
    self = threading.get_ident()
    rt.check(rt.api.aclrtSubscribeReport(self, rt.stream))
    launch(rt, lambda: seen.append("free"), NO_BLOCK)
    rt.launch_host(lambda: seen.append("work 1"))
    launch(rt, lambda: seen.append("block"), BLOCK)
    rt.launch_host(lambda: seen.append("work 2"))
    rt.wait_for(lambda: seen == ["work 1"])
    while "block" not in seen:
        rt.check(rt.api.aclrtProcessReport(60_000))
    assert rt.synchronize() == 0
    assert seen == ["work 1", "free", "block", "work 2"]
    rt.check(rt.api.aclrtUnSubscribeReport(self, rt.stream))


def test_one_thread_for_streams(rt: Runtime) -> None:
    """A thread may serve several streams; a stream has one thread."""
    other, self = rt.new_stream(), threading.get_ident()
    seen: list[str] = []
    for stream in (rt.stream, other):
        rt.check(rt.api.aclrtSubscribeReport(self, stream))
    assert rt.api.aclrtSubscribeReport(self, other) == PARAM_INVALID
    launch(rt, lambda: seen.append("a"), BLOCK)
    launch(rt, lambda: seen.append("b"), BLOCK, other)
    while len(seen) < 2:
        rt.check(rt.api.aclrtProcessReport(1000))
    assert sorted(seen) == ["a", "b"]
    for stream in (rt.stream, other):
        assert rt.api.aclrtSynchronizeStream(stream) == 0
        rt.check(rt.api.aclrtUnSubscribeReport(self, stream))


def test_process_report_times_out(rt: Runtime) -> None:
    """Without callbacks aclrtProcessReport waits for its timeout and gives a timeout's code."""
    self = threading.get_ident()
    rt.check(rt.api.aclrtSubscribeReport(self, rt.stream))
    start = time.monotonic()
    assert rt.api.aclrtProcessReport(30) == STREAM_SYNC_TIMEOUT
    assert time.monotonic() - start >= 0.03
    assert "no callback came within the timeout of 30 ms" in rt.message()
    for timeout in (0, -2):
        assert rt.api.aclrtProcessReport(timeout) == PARAM_INVALID
    rt.check(rt.api.aclrtUnSubscribeReport(self, rt.stream))
    assert rt.api.aclrtProcessReport(1000) == PARAM_INVALID


def test_unsubscribing_ends_the_wait(rt: Runtime) -> None:
    """A thread that waits for reports for ever is let go when its last stream is unsubscribed."""
    codes: list[int] = []
    waiter = threading.Thread(
        target=lambda: codes.extend([begin.wait(), rt.api.aclrtProcessReport(-1)])
    )
    begin = threading.Event()
    waiter.start()
    assert waiter.ident is not None
    rt.check(rt.api.aclrtSubscribeReport(waiter.ident, rt.stream))
    begin.set()
    time.sleep(0.02)
    rt.check(rt.api.aclrtUnSubscribeReport(waiter.ident, rt.stream))
    waiter.join(10)
    assert codes[1:] == [PARAM_INVALID]


def test_unsubscribing_drops_callbacks(rt: Runtime) -> None:
    """A callback dropped by unsubscribing lets its stream go on, which reports it."""
    seen: list[str] = []
    self = threading.get_ident()
    rt.check(rt.api.aclrtSubscribeReport(self, rt.stream))
    launch(rt, lambda: seen.append("callback"), BLOCK)
    rt.launch_host(lambda: seen.append("work"))
    rt.let_one_piece_run()  # hands the callback over
    rt.check(rt.api.aclrtUnSubscribeReport(self, rt.stream))
    assert rt.synchronize() == PARAM_INVALID
    assert seen == ["work"]
    assert "its thread was unsubscribed before" in rt.message()
    assert rt.synchronize() == 0


def test_no_subscription(rt: Runtime) -> None:
    """A callback in a stream that no thread serves is refused; it would never run."""
    nothing = rt.host(lambda: None)
    assert rt.api.aclrtLaunchCallback(nothing, None, BLOCK, rt.stream) == STREAM_NO_CB_REG
    assert "aclrtSubscribeReport" in rt.message()
    assert rt.api.aclrtUnSubscribeReport(threading.get_ident(), rt.stream) == STREAM_NO_CB_REG
    for timeout in (10, -1):
        assert rt.api.aclrtProcessReport(timeout) == PARAM_INVALID


def test_thread_that_waits_before_it_is_subscribed(rt: Runtime) -> None:
    """It runs the callbacks, although aclrtProcessReport was called first."""
    seen: list[str] = []
    codes: list[int] = []
    thread = threading.Thread(target=lambda: codes.append(rt.api.aclrtProcessReport(60_000)))
    thread.start()
    time.sleep(0.05)
    rt.check(rt.api.aclrtSubscribeReport(thread.ident, rt.stream))
    work = rt.host(lambda: seen.append("work"))
    rt.check(rt.api.aclrtLaunchCallback(work, None, BLOCK, rt.stream))
    rt.check(rt.synchronize())
    thread.join()
    assert (seen, codes) == (["work"], [0])


def test_misuse(rt: Runtime) -> None:
    """Null functions, unknown block types, other threads and dead streams are refused."""
    self = threading.get_ident()
    rt.check(rt.api.aclrtSubscribeReport(self, rt.stream))
    nothing = rt.host(lambda: None)
    assert rt.api.aclrtLaunchCallback(None, None, BLOCK, rt.stream) == PARAM_INVALID
    for block in (-1, 2):
        assert rt.api.aclrtLaunchCallback(nothing, None, block, rt.stream) == PARAM_INVALID
    assert rt.api.aclrtUnSubscribeReport(self + 1, rt.stream) == PARAM_INVALID
    assert rt.api.aclrtLaunchCallback(nothing, None, BLOCK, NOT_A_HANDLE) == INVALID_HANDLE
    assert rt.api.aclrtUnSubscribeReport(self, NOT_A_HANDLE) == INVALID_HANDLE
    rt.check(rt.api.aclrtUnSubscribeReport(self, rt.stream))


def test_waiting_on_the_serving_thread(rt: Runtime) -> None:
    """A thread that is to run a blocking callback cannot wait for its stream: an error, no hang."""
    self, other, event = threading.get_ident(), rt.new_stream(), rt.new_event()
    rt.check(rt.api.aclrtSubscribeReport(self, rt.stream))
    codes: list[int] = []
    launch(rt, lambda: codes.append(rt.api.aclrtSynchronizeStream(rt.stream)), BLOCK)
    rt.check(rt.api.aclrtRecordEvent(event, rt.stream))
    rt.check(rt.api.aclrtStreamWaitEvent(other, event))
    assert rt.synchronize() == PARAM_INVALID
    assert "waits for the calling thread" in rt.message()
    assert rt.api.aclrtSynchronizeStream(other) == PARAM_INVALID
    assert rt.api.aclrtSynchronizeEvent(event) == PARAM_INVALID
    assert rt.api.aclrtDestroyStream(rt.stream) == PARAM_INVALID
    rt.check(rt.api.aclrtProcessReport(1000))
    assert codes == [PARAM_INVALID]
    assert rt.synchronize() == 0
    assert rt.api.aclrtSynchronizeStream(other) == 0
    rt.check(rt.api.aclrtUnSubscribeReport(self, rt.stream))


def test_destroying_ends_the_subscription(rt: Runtime) -> None:
    """A destroyed stream's thread serves it no more."""
    stream = made(rt.api.aclrtCreateStream)
    rt.check(rt.api.aclrtSubscribeReport(threading.get_ident(), stream))
    rt.check(rt.api.aclrtDestroyStream(stream))
    assert rt.api.aclrtProcessReport(1000) == PARAM_INVALID


@in_fresh_process
def test_going_out_of_use_ends_the_subscription(api: Functions) -> None:
    """A thread that waits for a default stream's callbacks is let go when its context ends."""
    context = made(api.aclrtCreateContext, 0)
    for use, end in (
        (lambda: api.aclrtSetDevice(0), lambda: api.aclrtResetDevice(0)),
        (lambda: api.aclrtSetCurrentContext(context), lambda: api.aclrtDestroyContext(context)),
    ):
        codes: list[int] = []
        begin = threading.Event()

        def process(codes: list[int] = codes, begin: threading.Event = begin) -> None:
            begin.wait()
            codes.append(api.aclrtProcessReport(20000))

        waiter = threading.Thread(target=process)
        waiter.start()
        assert use() == 0
        assert api.aclrtSubscribeReport(waiter.ident, None) == 0
        begin.set()
        time.sleep(0.02)
        assert end() == 0
        waiter.join()
        assert codes == [PARAM_INVALID]


def test_released_work_runs_by_itself(rt: Runtime) -> None:
    """What had to wait runs though nobody waits for it, and may call for its stream's device."""
    ran = threading.Event()
    threads: list[int] = []

    def work() -> None:
        rt.launch_host(ran.set)
        threads.append(threading.get_ident())

    with rt.held() as release:
        rt.launch_host(work)
        release()
        assert ran.wait(60)
    assert rt.synchronize() == 0
    assert threads != [threading.get_ident()]


def test_host_function_gets_its_argument(rt: Runtime) -> None:
    """`aclrtLaunchHostFunc` and callbacks hand their argument on."""
    seen: list[int] = []
    function = ct.CFUNCTYPE(None, ct.c_void_p)(lambda argument: seen.append(argument))
    address = ct.cast(function, ct.c_void_p)
    rt.check(rt.api.aclrtLaunchHostFunc(rt.stream, address, 1234))
    assert rt.synchronize() == 0
    self = threading.get_ident()
    rt.check(rt.api.aclrtSubscribeReport(self, rt.stream))
    rt.check(rt.api.aclrtLaunchCallback(address, 5678, BLOCK, rt.stream))
    rt.check(rt.api.aclrtProcessReport(1000))
    rt.check(rt.api.aclrtUnSubscribeReport(self, rt.stream))
    assert rt.synchronize() == 0
    assert seen == [1234, 5678]


def test_host_function_may_wait_for_who_launched_it(rt: Runtime) -> None:
    """A launch returns at once; the function runs elsewhere, and later work waits for it."""
    go = threading.Event()
    threads: list[int] = []
    target = rt.malloc(64)

    def wait() -> None:
        assert go.wait(60)
        threads.append(threading.get_ident())

    rt.launch_host(wait)
    rt.launch_host(wait)
    rt.check(rt.api.aclrtMemsetAsync(target, 64, 7, 64, rt.stream))
    rt.check(rt.api.aclrtMemset(target, 64, 1, 64))
    assert rt.api.aclrtSynchronizeStreamWithTimeout(rt.stream, 20) == STREAM_SYNC_TIMEOUT
    assert set(rt.download(target, 64)) == {1}
    go.set()
    assert rt.synchronize() == 0
    assert len(threads) == 2
    assert threading.get_ident() not in threads
    assert set(rt.download(target, 64)) == {7}


def test_host_functions_of_many_streams_wait_for_each_other(rt: Runtime) -> None:
    """Functions of several streams run at the same time: each may wait for all others."""
    barrier = threading.Barrier(8, timeout=60)
    streams = [rt.new_stream() for _ in range(8)]
    passed: list[int] = []
    for stream in streams:
        rt.launch_host(lambda: passed.append(barrier.wait()), stream)
    for stream in streams:
        assert rt.api.aclrtSynchronizeStream(stream) == 0
    assert sorted(passed) == list(range(8))
