# SPDX-License-Identifier: Apache-2.0
"""Two phases: what an executor keeps, when it may be launched, and with which workspace."""

from __future__ import annotations

import ctypes as ct
import threading

import numpy as np
import pytest

from tests.support.capi import INVALID, NULLPTR, Session
from tests.support.contract import OPERATORS, contract
from tests.support.prepared import Prepared, prepare


@pytest.fixture
def elu(session: Session) -> Prepared:
    """A valid call of an operator without workspace."""
    return prepare(session, "elu_backward")


@pytest.fixture
def upsample(session: Session) -> Prepared:
    """A valid call of the operator that plans a workspace."""
    return prepare(session, "upsample_nearest3d_backward")


@pytest.mark.parametrize("op", OPERATORS)
def test_descriptors_may_be_destroyed_before_phase_two(session: Session, op: str) -> None:
    """An executor keeps its own copy of every descriptor."""
    call = prepare(session, op)
    planned = call.plan()
    call.destroy_arguments()
    session.check(call.launch(planned))
    session.check(session.synchronize())
    call.assert_computed()


@pytest.mark.parametrize("op", OPERATORS)
def test_descriptors_may_be_destroyed_between_launch_and_synchronisation(
    session: Session, op: str
) -> None:
    """A launched operator does not need its descriptors any more."""
    call = prepare(session, op)
    session.check(call.launch(call.plan()))
    call.destroy_arguments()
    session.check(session.synchronize())
    call.assert_computed()


@pytest.mark.parametrize("op", OPERATORS)
def test_the_two_phases_may_run_on_different_threads(session: Session, op: str) -> None:
    """An executor belongs to the process, not to the thread that planned it."""
    call = prepare(session, op)
    planned = call.plan()
    statuses: list[int] = []

    def other_thread() -> None:
        statuses.append(session.api.aclrtSetDevice(0))
        statuses.append(call.launch(planned))
        statuses.append(session.synchronize())

    thread = threading.Thread(target=other_thread)
    thread.start()
    thread.join()
    assert statuses == [0, 0, 0]
    call.assert_computed()


def test_the_data_is_read_at_launch_and_not_at_phase_one(elu: Prepared) -> None:
    """An executor keeps addresses, not data."""
    planned = elu.plan()
    elu.overwrite("gradOutput", 2 * elu.arrays["gradOutput"].like)
    elu.session.check(elu.launch(planned))
    elu.session.check(elu.session.synchronize())
    np.testing.assert_array_equal(elu.out.read(), 2 * elu.expect)


# --- freed memory ----------------------------------------

NOT_READ = {("max_unpool3d_backward", "self")}  # only the shape matters
USED = [
    (op, argument.name)
    for op in OPERATORS
    for argument in contract(op).arguments
    if argument.kind == "tensor" and (op, argument.name) not in NOT_READ
]


def use_again(session: Session, address: int) -> None:
    """Have the address of freed memory allocated again, filled with a pattern."""
    assert any(session.malloc(16) == address for _ in range(100_000))
    session.upload(np.full(16, 0xA5, np.uint8), address)


@pytest.mark.parametrize(("op", "name"), USED)
@pytest.mark.parametrize("again", [False, True], ids=["gone", "allocated-again"])
def test_memory_freed_since_phase_one_is_refused(
    session: Session, op: str, name: str, again: bool
) -> None:
    """Phase two is 161002 and names the argument; what has the address now stays as it is."""
    call = prepare(session, op)
    address = call.arrays[name].address
    planned = call.plan()
    session.check(session.api.aclrtFree(address))
    if again:
        use_again(session, address)
    assert call.launch(planned) == INVALID
    message = session.message()
    for part in (f"{call.operator}: {name} ", "freed since phase one"):
        assert part in message, message
    session.check(session.synchronize())
    if again:
        assert (session.download(address, 16) == 0xA5).all()


@pytest.mark.parametrize(("op", "name"), sorted(NOT_READ))
def test_memory_that_is_not_read_may_be_freed(session: Session, op: str, name: str) -> None:
    """A tensor of which only the shape matters needs no memory in phase two either."""
    call = prepare(session, op)
    planned = call.plan()
    session.check(session.api.aclrtFree(call.arrays[name].address))
    session.check(call.launch(planned))
    session.check(session.synchronize())
    call.assert_computed()


def test_the_memory_of_empty_tensors_may_be_freed(elu: Prepared) -> None:
    """Tensors without elements need no memory in phase two either."""
    session = elu.session
    block = session.malloc(64)
    names = ("gradOutput", "selfOrResult", "gradInput")
    planned = elu.try_plan(**{name: session.tensor("FLOAT", [0], block) for name in names})
    assert planned.status == 0, planned.message
    session.check(session.api.aclrtFree(block))
    session.check(elu.launch(planned))
    session.check(session.synchronize())


def test_a_null_stream_is_the_default_stream(elu: Prepared) -> None:
    """Launching on and synchronising stream null uses the current context's default stream."""
    session = elu.session
    session.check(session.api.aclnnEluBackward(None, 0, elu.plan().executor, None))
    session.check(session.api.aclrtSynchronizeStream(None))
    elu.assert_computed()


# --- executors ----------------------------------------


def test_a_consumed_executor_cannot_be_launched(elu: Prepared) -> None:
    """Phase two frees the executor: launching it again is 161002."""
    planned = elu.plan()
    elu.session.check(elu.launch(planned))
    assert elu.launch(planned) == INVALID
    message = elu.session.message()
    assert message.startswith("aclnnEluBackward: ")
    assert "executor" in message
    elu.session.check(elu.session.synchronize())


def test_a_consumed_executor_cannot_be_destroyed(elu: Prepared) -> None:
    """Clients destroy executors at exit that were already consumed: a code, not a crash."""
    planned = elu.plan()
    elu.session.check(elu.launch(planned))
    assert elu.session.api.aclDestroyAclOpExecutor(planned.executor) == INVALID
    assert elu.session.api.aclSetAclOpExecutorRepeatable(planned.executor) == INVALID


def test_an_executor_that_was_never_launched_can_be_destroyed(elu: Prepared) -> None:
    """Destroying an executor instead of launching it succeeds once."""
    planned = elu.plan()
    assert elu.session.api.aclDestroyAclOpExecutor(planned.executor) == 0
    assert elu.session.api.aclDestroyAclOpExecutor(planned.executor) == INVALID
    assert elu.launch(planned) == INVALID


def test_an_executor_of_another_operator_is_refused_and_stays_usable(elu: Prepared) -> None:
    """Launching with the wrong operator is 161002; the right one still accepts the executor."""
    planned = elu.plan()
    assert elu.session.launch("aclnnSeluBackward", planned) == INVALID
    assert elu.session.message().startswith("aclnnSeluBackward: ")
    elu.session.check(elu.launch(planned))
    elu.session.check(elu.session.synchronize())
    elu.assert_computed()


def test_a_null_executor_is_a_null_pointer(elu: Prepared) -> None:
    """Phase two with a null executor is 161001."""
    assert elu.session.api.aclnnEluBackward(None, 0, None, elu.session.stream) == NULLPTR
    assert "executor" in elu.session.message()


def test_what_is_no_executor_is_refused(elu: Prepared) -> None:
    """A tensor's handle or a foreign address in the executor's place is 161002."""
    foreign = ct.create_string_buffer(256)
    for handle in (elu.arguments["gradOutput"], ct.addressof(foreign)):
        assert elu.session.api.aclnnEluBackward(None, 0, handle, elu.session.stream) == INVALID
        assert "executor" in elu.session.message()


def test_a_destroyed_stream_is_refused(elu: Prepared) -> None:
    """Launching on a stream that is destroyed is 161002."""
    api = elu.session.api
    stream = ct.c_void_p()
    elu.session.check(api.aclrtCreateStream(ct.byref(stream)))
    elu.session.check(api.aclrtDestroyStream(stream))
    assert api.aclnnEluBackward(None, 0, elu.plan().executor, stream) == INVALID
    assert "stream" in elu.session.message()


# --- workspace ----------------------------------------


def launch_with(call: Prepared, executor: int | None, workspace: int | None, size: int) -> int:
    """Phase two with exactly this workspace."""
    function = getattr(call.session.api, call.operator)
    return int(function(workspace, size, executor, call.session.stream))


def test_a_workspace_must_be_there_large_enough_and_on_the_device(upsample: Prepared) -> None:
    """Null is 161001; too small, not device memory, past its allocation, or not aligned to 64 bytes
    is 161002; after each of these the executor can still be launched.
    """
    session = upsample.session
    planned = upsample.plan()
    size, executor = planned.workspace_size, planned.executor
    assert size > 0
    workspace = session.malloc(size)
    host = ct.create_string_buffer(size)
    apart = session.malloc(size + 64)
    attempts = [
        (None, size, NULLPTR),
        (workspace, size - 1, INVALID),
        (workspace, 0, INVALID),
        (ct.addressof(host), size, INVALID),
        (workspace + size // 2, size, INVALID),
        *((apart + offset, size, INVALID) for offset in (1, 8, 32)),
    ]
    for address, given, status in attempts:
        assert launch_with(upsample, executor, address, given) == status
        message = session.message()
        assert message.startswith("aclnnUpsampleNearest3dBackward: ")
        assert "workspace" in message
    session.check(launch_with(upsample, executor, workspace, size))
    session.check(session.synchronize())
    upsample.assert_computed()


def test_a_larger_workspace_is_accepted(upsample: Prepared) -> None:
    """More than the planned size is fine."""
    planned = upsample.plan()
    larger = planned.workspace_size + 4096
    workspace = upsample.session.malloc(larger)
    upsample.session.check(launch_with(upsample, planned.executor, workspace, larger))
    upsample.session.check(upsample.session.synchronize())
    upsample.assert_computed()


def test_without_a_planned_workspace_any_is_accepted(elu: Prepared) -> None:
    """Where phase one planned none, null, a size of 0 and a needless workspace all do."""
    needless = elu.session.malloc(64)
    for address, size in ((None, 0), (needless, 64), (None, 64)):
        planned = elu.plan()
        assert planned.workspace_size == 0
        elu.session.check(launch_with(elu, planned.executor, address, size))
    elu.session.check(elu.session.synchronize())
    elu.assert_computed()


def test_the_workspace_is_not_overrun(upsample: Prepared) -> None:
    """Nothing is written behind the planned size."""
    planned = upsample.plan()
    size = planned.workspace_size
    whole = np.full(size + 4096, 0xA5, np.uint8)
    address = upsample.session.upload(whole)
    upsample.session.check(launch_with(upsample, planned.executor, address, size))
    upsample.session.check(upsample.session.synchronize())
    assert (upsample.session.download(address + size, 4096) == 0xA5).all()


@pytest.mark.parametrize("name", ["gradOut", "gradInput"])
def test_a_workspace_must_not_overlap_the_tensors(upsample: Prepared, name: str) -> None:
    """A workspace that shares memory with a tensor is 161002; right beside it there is room."""
    session, like = upsample.session, upsample.arrays[name].like
    needed = upsample.plan().workspace_size
    before = -(-needed // 64) * 64
    behind = -(-like.nbytes // 64) * 64
    block = session.malloc(before + behind + needed)
    address = session.upload(like, block + before)
    tensor = session.tensor("FLOAT", like.shape, address, format="NCDHW")
    planned = upsample.try_plan(**{name: tensor})
    assert (planned.status, planned.workspace_size) == (0, needed), planned.message
    for workspace in (address, address - needed + 64, address + behind - 64):
        assert launch_with(upsample, planned.executor, workspace, needed) == INVALID
        message = session.message()
        for part in ("aclnnUpsampleNearest3dBackward: workspace overlaps", name):
            assert part in message, message
    session.check(session.synchronize())
    after = session.download(address, like.nbytes).view(like.dtype).reshape(like.shape)
    np.testing.assert_array_equal(after, like)

    for workspace in (address - needed, address + behind):
        planned = upsample.try_plan(**{name: tensor})
        session.check(launch_with(upsample, planned.executor, workspace, needed))
        session.check(session.synchronize())
        result = session.download(
            address if name == "gradInput" else upsample.out.address, upsample.expect.nbytes
        )
        np.testing.assert_array_equal(
            result.view(upsample.expect.dtype).reshape(upsample.expect.shape), upsample.expect
        )


def test_strides_of_size_1_do_not_count(upsample: Prepared) -> None:
    """A dimension with one element may have any stride, beside another tensor's memory, too."""
    session = upsample.session
    grad, result = upsample.arrays["gradOut"].like, upsample.arrays["gradInput"].like
    assert result.shape[2:] == (1, 1, 1)
    block = session.malloc(4096)
    inputs = session.tensor("FLOAT", grad.shape, session.upload(grad, block), format="NCDHW")
    address = block + 1024
    own = [stride // result.itemsize for stride in result.strides[:2]]
    for stride in (2**63 - 1, 2**62, 0):
        output = session.tensor(
            "FLOAT", result.shape, address, strides=[*own, *[stride] * 3], format="NCDHW"
        )
        planned = upsample.try_plan(gradOut=inputs, gradInput=output)
        assert planned.status == 0, planned.message
        session.check(upsample.launch(planned))
        session.check(session.synchronize())
        got = session.download(address, upsample.expect.nbytes).view(upsample.expect.dtype)
        np.testing.assert_array_equal(got.reshape(upsample.expect.shape), upsample.expect)
