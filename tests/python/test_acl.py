# SPDX-License-Identifier: Apache-2.0
"""softnpu.acl: the runtime under pyACL's names."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator

import numpy as np
import pytest

from softnpu import acl
from softnpu.acl import op, rt, util


@pytest.fixture
def block(stream: int) -> Iterator[int]:
    """256 bytes of device memory."""
    assert stream
    address, ret = rt.malloc(256, acl.ACL_MEM_MALLOC_HUGE_FIRST)
    assert ret == 0
    yield address
    rt.free(address)


def test_init_and_finalize_count(script: Callable[[str], str]) -> None:
    """Twice is reported and harmless; finalize needs init; a wrong path has its own code."""
    printed = script(
        "from softnpu import acl\n"
        "print(acl.finalize(), acl.init('/does/not/exist'), acl.init(), acl.init(None),"
        " acl.finalize(), acl.init(), acl.finalize())"
    )
    assert printed == "100037 100003 0 100002 0 0 0"


@pytest.mark.usefixtures("stream")
def test_a_failure_leaves_its_message_for_this_thread() -> None:
    """Read once, and not by others."""
    ptr, ret = rt.malloc(0, 0)
    assert (ptr, ret) == (0, acl.ACL_ERROR_RT_PARAM_INVALID)
    others: list[str | None] = []
    reader = threading.Thread(target=lambda: others.append(acl.get_recent_err_msg()))
    reader.start()
    reader.join()
    message = acl.get_recent_err_msg()
    assert others == [None]
    assert message is not None
    assert message.startswith("aclrtMalloc: size")
    assert acl.get_recent_err_msg() is None
    assert rt.peek_at_last_error(acl.ACL_RT_THREAD_LEVEL) == 107000
    assert rt.get_last_error(acl.ACL_RT_THREAD_LEVEL) == 107000
    assert rt.get_last_error(acl.ACL_RT_THREAD_LEVEL) == 0


@pytest.mark.usefixtures("stream")
def test_devices() -> None:
    """Out-parameters come before the status."""
    count, ret = rt.get_device_count()
    assert ret == 0
    assert count >= 1
    assert rt.get_device() == (0, 0)
    assert rt.set_device(count) == acl.ACL_ERROR_RT_INVALID_DEVICEID
    assert rt.get_run_mode() == (acl.ACL_HOST, 0)
    assert rt.synchronize_device() == rt.synchronize_device_with_timeout(1000) == 0
    assert rt.synchronize_device_with_timeout(0) == acl.ACL_ERROR_RT_PARAM_INVALID
    assert acl.get_soc_name() == rt.get_soc_name() != ""
    *version, ret = acl.get_version()
    assert (len(version), ret) == (3, 0)


def test_contexts(stream: int) -> None:
    """Make, choose, ask, destroy."""
    before, ret = rt.get_context()
    assert ret == 0
    context, ret = rt.create_context(0)
    assert ret == 0
    assert rt.get_context() == (context, 0)
    assert rt.synchronize_stream(stream) == acl.ACL_ERROR_RT_STREAM_CONTEXT
    default, ret = rt.ctx_get_current_default_stream()
    assert ret == 0
    assert rt.synchronize_stream(default) == rt.synchronize_stream(None) == 0
    assert rt.ctx_get_sys_param_opt(0)[1] == acl.ACL_ERROR_RT_SYSPARAMOPT_NOT_SET
    assert rt.ctx_set_sys_param_opt(acl.ACL_OPT_DETERMINISTIC, 1) == 0
    assert rt.ctx_get_sys_param_opt(acl.ACL_OPT_DETERMINISTIC) == (1, 0)
    assert rt.set_context(before) == 0
    assert rt.destroy_context(context) == 0
    assert rt.destroy_context(context) != 0


def test_options_of_the_process() -> None:
    """0 until set."""
    option = acl.ACL_OPT_STRONG_CONSISTENCY
    before, ret = rt.get_sys_param_opt(option)
    assert ret == 0
    assert rt.set_sys_param_opt(option, 5) == 0
    assert rt.get_sys_param_opt(option) == (5, 0)
    assert rt.set_sys_param_opt(option, before) == 0


def test_streams(stream: int) -> None:
    """Settings and state."""
    made, ret = rt.create_stream_with_config(3, acl.ACL_STREAM_FAST_LAUNCH)
    assert ret == 0
    assert rt.stream_get_priority(made) == (3, 0)
    assert rt.stream_get_flags(made) == (acl.ACL_STREAM_FAST_LAUNCH, 0)
    assert rt.stream_query(made) == (acl.ACL_STREAM_STATUS_COMPLETE, 0)
    assert rt.stream_get_id(made)[0] != rt.stream_get_id(stream)[0]
    assert rt.synchronize_stream_with_timeout(made, -1) == 0
    assert rt.synchronize_stream_with_timeout(made, 0) == acl.ACL_ERROR_RT_PARAM_INVALID
    assert rt.destroy_stream(made) == 0
    assert rt.destroy_stream(made) == rt.synchronize_stream(12345) != 0


def test_events(stream: int) -> None:
    """Record, wait, time."""
    start, ret = rt.create_event()
    assert ret == 0
    end, ret = rt.create_event_with_flag(acl.ACL_EVENT_TIME_LINE | acl.ACL_EVENT_SYNC)
    assert ret == 0
    extra, ret = rt.create_event_ex_with_flag(acl.ACL_EVENT_SYNC)
    assert ret == 0
    assert rt.query_event_status(end) == (acl.ACL_EVENT_RECORDED_STATUS_NOT_READY, 0)
    assert rt.record_event(start, stream) == 0
    time.sleep(0.01)
    assert rt.record_event(end, stream) == rt.stream_wait_event(stream, end) == 0
    assert rt.synchronize_event(end) == rt.synchronize_event_with_timeout(end, 1000) == 0
    assert rt.query_event(end) == (acl.ACL_EVENT_STATUS_COMPLETE, 0)
    assert rt.query_event_status(end) == (acl.ACL_EVENT_RECORDED_STATUS_COMPLETE, 0)
    assert rt.query_event_wait_status(end) == (acl.ACL_EVENT_WAIT_STATUS_COMPLETE, 0)
    elapsed, ret = rt.event_elapsed_time(start, end)
    assert ret == 0
    assert elapsed >= 10
    first, last = rt.event_get_timestamp(start)[0], rt.event_get_timestamp(end)[0]
    assert last - first >= 10_000
    assert rt.reset_event(end, stream) == 0
    assert [rt.destroy_event(event) for event in (start, end, extra)] == [0, 0, 0]
    assert rt.destroy_event(start) != 0


def test_memory_copies(block: int) -> None:
    """To the device, within it, and back; bounded; rows with pitches."""
    source = np.arange(16, dtype=np.float32)
    host = util.numpy_to_ptr(source)
    assert rt.memcpy(block, 256, host, 64, acl.ACL_MEMCPY_HOST_TO_DEVICE) == 0
    assert rt.memcpy(block + 64, 192, block, 64, acl.ACL_MEMCPY_DEVICE_TO_DEVICE) == 0
    result = np.zeros(16, np.float32)
    target = util.numpy_to_ptr(result)
    assert rt.memcpy(target, 64, block + 64, 64, acl.ACL_MEMCPY_DEVICE_TO_HOST) == 0
    assert np.array_equal(result, source)
    assert rt.memcpy(target, 63, block, 64, 2) == acl.ACL_ERROR_RT_PARAM_INVALID
    assert rt.memset(block, 256, 0xFF, 8) == 0
    assert util.ptr_to_bytes(block, 9) == b"\xff" * 8 + source.tobytes()[8:9]
    assert rt.memcpy_2d(target, 32, block + 64, 16, 8, 2, 2) == 0
    assert result[[0, 1, 8, 9]].tolist() == [0, 1, 4, 5]


def test_asynchronous_copies(stream: int, block: int) -> None:
    """In the stream's order."""
    source = b"0123456789abcdef"
    host = util.bytes_to_ptr(source)
    assert rt.memset_async(block, 256, 0, 256, stream) == 0
    assert rt.memcpy_async(block, 256, host, 16, 1, stream) == 0
    assert rt.memcpy_2d_async(block + 32, 8, block, 4, 4, 4, 3, stream) == 0
    assert rt.synchronize_stream(stream) == 0
    assert util.ptr_to_bytes(block, 17) == source + b"\0"
    assert util.ptr_to_bytes(block + 32, 12) == b"0123\0\0\0\x004567"


@pytest.mark.usefixtures("stream")
def test_other_memory() -> None:
    """Host memory, the variants of malloc, how much is left."""
    host, ret = rt.malloc_host(64)
    assert ret == 0
    assert host % 64 == 0
    assert rt.free_host(host) == 0
    for allocate in (rt.malloc_align32, rt.malloc_cached):
        ptr, ret = allocate(100, acl.ACL_MEM_MALLOC_NORMAL_ONLY)
        assert (ptr % 32, ret) == (0, 0)
        assert rt.free_with_dev_sync(ptr) == 0
        assert rt.free(ptr) == acl.ACL_ERROR_RT_PARAM_INVALID
    free, total, ret = rt.get_mem_info(acl.ACL_HBM_MEM)
    assert ret == 0
    assert 0 < free <= total
    assert rt.free(None) == rt.free(12345) == acl.ACL_ERROR_RT_PARAM_INVALID


def test_addresses_as_arrays_and_back(block: int) -> None:
    """An array on device memory is no copy."""
    view = util.ptr_to_numpy(block, (4, 8), 11)
    view[...] = np.arange(32).reshape(4, 8)
    assert util.numpy_to_ptr(view) == block
    assert util.ptr_to_bytes(block + 4, 4) == np.float32(1).tobytes()
    again = util.ptr_to_numpy(block, (32,), np.float32)
    assert np.array_equal(again, np.arange(32))
    assert util.ptr_to_numpy(block, (2, 0), 5).shape == (2, 0)
    for number, dtype in ((1, np.int8), (7, np.int64), (12, np.float64), (23, np.float16)):
        assert util.ptr_to_numpy(block, (1,), number).dtype == dtype
    with pytest.raises(ValueError, match="no type number"):
        util.ptr_to_numpy(block, (1,), 99)
    assert util.ptr_to_numpy(block, (1,), np.int64(11)).dtype == np.float32
    with pytest.raises(TypeError, match="ptr_to_numpy: data_type is None"):
        util.ptr_to_numpy(block, (1,), None)
    with pytest.raises(TypeError, match="ptr_to_numpy: data_type is True"):
        util.ptr_to_numpy(block, (1,), True)
    for no_array in ([1.0], np.float32(3)):
        with pytest.raises(TypeError, match="numpy_to_ptr: array is of class"):
            util.numpy_to_ptr(no_array)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="null"):
        util.ptr_to_numpy(0, (1,), 11)
    for shape in ((2**40, 2**40), np.array([2**32, 2**32]), (2**62,), (2**70,)):
        with pytest.raises(ValueError, match="ptr_to_numpy: shape is"):
            util.ptr_to_numpy(block, shape, 11)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="negative"):
        util.ptr_to_numpy(block, (-1,), 11)
    with pytest.raises(ValueError, match="negative"):
        util.ptr_to_bytes(block, -1)


def test_numbers() -> None:
    """Sizes of data types, and the saturating float16."""
    assert acl.data_type_size(acl.ACL_DOUBLE) == 8
    assert acl.float_to_float16(1.0) == 0x3C00
    assert acl.float16_to_float(0x3C00) == 1.0
    assert acl.float_to_float16(float("inf")) == 0x7BFF


@pytest.mark.usefixtures("no_forced_switches")
def test_other_threads_run_while_one_waits(stream: int) -> None:
    """Waiting releases the GIL: the thread that ends the wait can be a Python thread."""
    context, ret = rt.get_context()
    assert ret == 0
    assert rt.subscribe_report(threading.get_ident(), stream) == 0
    about_to_wait = threading.Event()
    launched: list[int] = []
    ran: list[str] = []

    def launch() -> None:
        about_to_wait.wait()
        rt.set_context(context)
        kind = acl.ACL_CALLBACK_NO_BLOCK
        launched.append(rt.launch_callback(ran.append, "callback", kind, stream))

    other = threading.Thread(target=launch)
    other.start()
    about_to_wait.set()  # keeps the GIL, so that nothing is launched before the wait
    before = launched.copy()
    status = rt.process_report(5000)
    other.join()
    assert (before, launched) == ([], [0])
    assert (status, ran) == (0, ["callback"])
    assert rt.unsubscribe_report(threading.get_ident(), stream) == 0


@pytest.mark.usefixtures("block")
def test_views_end_with_their_allocation() -> None:
    """What would reach past a known allocation is refused, from any address inside it."""
    small, status = rt.malloc(16, 0)
    assert status == 0
    assert util.ptr_to_bytes(small + 8, 8) is not None
    for call in (
        lambda: util.ptr_to_numpy(small, (40,), 11),
        lambda: util.ptr_to_bytes(small, 17),
        lambda: util.ptr_to_bytes(small + 8, 9),
        lambda: util.ptr_to_numpy(small + 12, (2,), 11),
    ):
        with pytest.raises(ValueError, match="past its end"):
            call()
    assert rt.free(small) == 0
    with pytest.raises(ValueError, match="was freed"):
        util.ptr_to_bytes(small, 1)


def test_compiled_operators() -> None:
    """Their folder is accepted and ignored."""
    assert op.set_model_dir("./op_models") == 0
    assert op.set_model_dir(None) == acl.ACL_ERROR_INVALID_PARAM
    assert acl.get_recent_err_msg() == "aclopSetModelDir: modelDir is null"


@pytest.mark.parametrize("name", ["mdl", "media", "create_data_buffer"])
def test_parts_that_are_missing(name: str) -> None:
    """The message says what softnpu.acl has, and what it does not."""
    assert not hasattr(acl, name)
    with pytest.raises(AttributeError, match=rf"softnpu\.acl has no {name}: .*neither models"):
        getattr(acl, name)
