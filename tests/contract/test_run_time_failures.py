# SPDX-License-Identifier: Apache-2.0
"""Failures that only show while an operator runs: an index out of range, memory freed by then."""

from __future__ import annotations

import ctypes as ct
from collections.abc import Callable

import numpy as np
import pytest

from tests.support.acl_runtime import Runtime
from tests.support.capi import RUNTIME, Session
from tests.support.prepared import Prepared, prepare

AT = (1, 0, 0, 1, 0)
OPERATOR = "aclnnMaxUnpool3dBackward"
BAD_VALUES = (-1, 9, 123456, 2**63 - 1, -(2**63))


@pytest.fixture
def unpool(session: Session) -> Prepared:
    """A valid call; its gradOutput has 9 elements for each index to choose from."""
    return prepare(session, "max_unpool3d_backward")


def spoil(call: Prepared, value: int) -> None:
    """Put a bad index at a known position."""
    indices = call.arrays["indices"].like.copy()
    indices[AT] = value
    call.overwrite("indices", indices)


def repair(call: Prepared) -> None:
    """Put the good indices back."""
    call.overwrite("indices", call.arrays["indices"].like)


def launch(call: Prepared) -> int:
    """Both phases."""
    return call.launch(call.plan())


@pytest.mark.parametrize("value", BAD_VALUES)
def test_the_next_synchronisation_reports_it_and_says_where(unpool: Prepared, value: int) -> None:
    """The launch returns 0, the synchronisation 361001; the message names the operator, the
    argument, the position and the value.
    """
    spoil(unpool, value)
    assert launch(unpool) == 0
    assert unpool.session.synchronize() == RUNTIME
    message = unpool.session.message()
    for part in (OPERATOR, "indices", str(list(AT)), str(value)):
        assert part in message, message


def test_the_position_is_that_in_the_view_and_not_in_memory(unpool: Prepared) -> None:
    """For strided indices the position is the element's index in the tensor."""
    session = unpool.session
    spoiled = unpool.arrays["indices"].like.copy()
    spoiled[AT] = 77
    reversed_axes = np.ascontiguousarray(spoiled.transpose())
    address = session.upload(reversed_axes)
    strides = [s // 8 for s in reversed_axes.transpose().strides]
    handle = session.tensor("INT64", spoiled.shape, address, strides=strides)
    session.check(session.launch(OPERATOR, unpool.try_plan(indices=handle)))
    assert session.synchronize() == RUNTIME
    message = session.message()
    assert str(list(AT)) in message, message
    assert "77" in message, message


def test_the_stream_is_usable_afterwards(unpool: Prepared) -> None:
    """A failure is reported once; the stream then runs other work."""
    spoil(unpool, 9)
    assert launch(unpool) == 0
    assert unpool.session.synchronize() == RUNTIME
    assert unpool.session.synchronize() == 0
    repair(unpool)
    assert launch(unpool) == 0
    assert unpool.session.synchronize() == 0
    unpool.assert_computed()


def test_nothing_outside_the_output_is_written(unpool: Prepared) -> None:
    """The output of the failed operator is unspecified, the memory around it untouched."""
    session = unpool.session
    spoil(unpool, 123456)
    inputs = {n: a.read() for n, a in unpool.arrays.items() if a is not unpool.out}
    around = session.upload(np.full(64 + 64 + 64, 0xA5, np.uint8))
    out = session.tensor("FLOAT", unpool.out.like.shape, around, offset=16, storage=[48])
    session.check(session.launch(OPERATOR, unpool.try_plan(out=out)))
    assert session.synchronize() == RUNTIME
    after = session.download(around, 192)
    assert (after[:64] == 0xA5).all()
    assert (after[128:] == 0xA5).all()
    for name, before in inputs.items():
        np.testing.assert_array_equal(unpool.arrays[name].read(), before)


def test_unpooling_checks_all_indices_before_it_writes(session: Session) -> None:
    """The forward operator reports a bad index in the same way, and leaves its output as it was."""
    call = prepare(session, "max_unpool3d")
    before = call.out.read()
    spoil(call, 9)
    assert launch(call) == 0
    assert session.synchronize() == RUNTIME
    message = session.message()
    assert f"aclnnMaxUnpool3d: indices{list(AT)} is 9; expected 0 or more" in message
    np.testing.assert_array_equal(call.out.read(), before)
    repair(call)
    assert launch(call) == 0
    assert session.synchronize() == 0
    call.assert_computed()


def test_another_stream_does_not_report_it(unpool: Prepared) -> None:
    """A failure belongs to the stream that it was launched on."""
    api = unpool.session.api
    other = ct.c_void_p()
    unpool.session.check(api.aclrtCreateStream(ct.byref(other)))
    spoil(unpool, 9)
    assert launch(unpool) == 0
    assert api.aclrtSynchronizeStream(other) == 0
    assert unpool.session.synchronize() == RUNTIME
    unpool.session.check(api.aclrtDestroyStream(other))


def by_stream_with_timeout(session: Session) -> int:
    """Wait for the stream for at most ten seconds."""
    return int(session.api.aclrtSynchronizeStreamWithTimeout(session.stream, 10000))


def by_device(session: Session) -> int:
    """Wait for the device."""
    return int(session.api.aclrtSynchronizeDevice())


def by_device_with_timeout(session: Session) -> int:
    """Wait for the device for at most ten seconds."""
    return int(session.api.aclrtSynchronizeDeviceWithTimeout(10000))


def _by_event(session: Session, wait: Callable[[ct.c_void_p], int]) -> int:
    event = ct.c_void_p()
    session.check(session.api.aclrtCreateEvent(ct.byref(event)))
    session.check(session.api.aclrtRecordEvent(event, session.stream))
    status = wait(event)
    failure = session.message()
    session.check(session.api.aclrtDestroyEvent(event))
    assert status == 0 or OPERATOR in failure, failure
    return status


def by_event(session: Session) -> int:
    """Wait for an event behind the operator."""
    return _by_event(session, lambda event: int(session.api.aclrtSynchronizeEvent(event)))


def by_event_with_timeout(session: Session) -> int:
    """Wait for an event behind the operator for at most ten seconds."""
    wait = session.api.aclrtSynchronizeEventWithTimeout
    return _by_event(session, lambda event: int(wait(event, 10000)))


@pytest.mark.parametrize(
    "wait",
    [by_stream_with_timeout, by_device, by_device_with_timeout, by_event, by_event_with_timeout],
)
def test_every_way_to_wait_reports_it(unpool: Prepared, wait: Callable[[Session], int]) -> None:
    """Streams, devices and events report the failure, and afterwards the same wait succeeds."""
    spoil(unpool, 9)
    assert launch(unpool) == 0
    assert wait(unpool.session) == RUNTIME
    unpool.session.synchronize()  # where the event reported it, the stream may report it once more
    repair(unpool)
    assert launch(unpool) == 0
    assert wait(unpool.session) == 0
    unpool.assert_computed()


def test_a_good_operator_behind_a_failed_one_still_runs(unpool: Prepared) -> None:
    """Work that is launched before the failure is reported is not lost."""
    session = unpool.session
    elu = prepare(session, "elu_backward")
    spoil(unpool, 9)
    assert launch(unpool) == 0
    assert launch(elu) == 0
    assert session.synchronize() == RUNTIME
    assert session.synchronize() == 0
    elu.assert_computed()


def assert_reported_as_freed(call: Prepared, name: str) -> None:
    """The next synchronisation says so, once."""
    assert call.session.synchronize() == RUNTIME
    message = call.session.message()
    for part in (f"{call.operator}: {name} ", "freed since the launch"):
        assert part in message, message
    call.session.check(call.session.synchronize())


@pytest.mark.parametrize("name", ["gradOutput", "selfOrResult", "gradInput"])
def test_memory_that_is_freed_while_the_launch_is_held_back(name: str) -> None:
    """Nothing is computed, and what has the address by then stays as it is."""
    with Runtime() as rt:
        call = prepare(rt, "elu_backward")
        address = call.arrays[name].address
        before = call.out.read()
        with rt.held() as release:
            rt.check(call.launch(call.plan()))
            rt.check(rt.api.aclrtFree(address))
            assert any(rt.malloc(16) == address for _ in range(100_000))
            rt.upload(before, address)
            release()
        assert_reported_as_freed(call, name)
        np.testing.assert_array_equal(call.out.read(), before)


def test_a_workspace_that_is_freed_while_the_launch_is_held_back() -> None:
    """The workspace has to stay until the operator has run, too."""
    with Runtime() as rt:
        call = prepare(rt, "upsample_nearest3d_backward")
        before = call.out.read()
        planned = call.plan()
        workspace = rt.malloc(planned.workspace_size)
        with rt.held() as release:
            rt.check(rt.launch(call.operator, planned, workspace))
            rt.check(rt.api.aclrtFree(workspace))
            release()
        assert_reported_as_freed(call, "workspace")
        np.testing.assert_array_equal(call.out.read(), before)


@pytest.mark.parametrize("value", BAD_VALUES)
def test_python_raises_an_index_error(value: int) -> None:
    """In Python the failure is a DeviceRuntimeError, which is also an IndexError."""
    import softnpu

    grad = np.zeros((2, 2, 1, 3, 3), np.float32)
    self = np.zeros((2, 2, 1, 2, 2), np.float32)
    indices = np.zeros((2, 2, 1, 2, 2), np.int64)
    indices[AT] = value
    with pytest.raises(softnpu.DeviceRuntimeError) as caught:
        softnpu.max_unpool3d_backward(grad, self, indices, (1, 3, 3), (1, 1, 1), (0, 0, 0))
    assert isinstance(caught.value, IndexError)
    assert caught.value.status == RUNTIME
    for part in (OPERATOR, "indices", str(list(AT)), str(value)):
        assert part in str(caught.value)
