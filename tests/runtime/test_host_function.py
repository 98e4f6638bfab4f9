# SPDX-License-Identifier: Apache-2.0
"""Host functions run in their stream's order, on threads of the library."""

import ctypes as ct
import threading

from tests.support.acl_runtime import (
    BLOCK,
    STREAM_SYNC_TIMEOUT,
    Runtime,
)


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
