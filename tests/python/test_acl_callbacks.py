# SPDX-License-Identifier: Apache-2.0
"""Python functions in streams."""

from __future__ import annotations

import gc
import sys
import threading
import weakref
from collections.abc import Callable
from typing import Any

import pytest

from softnpu import acl
from softnpu.acl import rt, util


class Argument:
    """Something that can be watched."""


def test_a_host_function_runs_in_the_streams_order(stream: int) -> None:
    """With its argument, before the synchronisation returns; nothing is kept."""
    seen: list[object] = []
    argument = Argument()
    assert rt.launch_host_func(stream, seen.append, argument) == 0
    assert rt.launch_host_func(stream, seen.append, None) == 0
    assert rt.synchronize_stream(stream) == 0
    assert seen == [argument, None]
    watched = weakref.ref(argument)
    seen.clear()
    del argument
    gc.collect()
    assert watched() is None


def test_a_callback_runs_in_the_thread_that_subscribed(stream: int) -> None:
    """Through process_report, while this thread waits without the GIL."""
    ran: list[tuple[str, int]] = []
    stop = threading.Event()

    def serve(context: int) -> None:
        rt.set_context(context)
        while not stop.is_set():
            rt.process_report(20)

    context, _ = rt.get_context()
    thread, ret = util.start_thread(serve, context)
    assert ret == 0
    assert rt.subscribe_report(thread, stream) == 0
    record: Callable[[str], None] = lambda text: ran.append((text, threading.get_ident()))  # noqa: E731
    assert rt.launch_callback(record, "first", acl.ACL_CALLBACK_BLOCK, stream) == 0
    assert rt.launch_callback(record, "second", acl.ACL_CALLBACK_BLOCK, stream) == 0
    assert rt.synchronize_stream(stream) == 0
    assert ran == [("first", thread), ("second", thread)]
    assert rt.unsubscribe_report(thread, stream) == 0
    stop.set()
    assert util.stop_thread(thread) == 0
    assert util.stop_thread(thread) == acl.ACL_ERROR_INVALID_PARAM


def test_a_callback_without_a_subscriber_is_refused(stream: int) -> None:
    """The function is released at once."""
    argument = Argument()
    watched = weakref.ref(argument)
    assert rt.launch_callback(print, argument, acl.ACL_CALLBACK_BLOCK, stream) != 0
    del argument
    gc.collect()
    assert watched() is None


@pytest.mark.usefixtures("stream")
def test_a_callback_that_never_runs_goes_with_its_stream() -> None:
    """Nothing is kept, and nothing runs later."""
    other, _ = rt.create_stream()
    assert rt.subscribe_report(threading.get_ident(), other) == 0
    ran: list[object] = []
    argument = Argument()
    watched = weakref.ref(argument)
    assert rt.launch_callback(ran.append, argument, acl.ACL_CALLBACK_NO_BLOCK, other) == 0
    assert rt.destroy_stream_force(other) == 0
    del argument
    gc.collect()
    assert watched() is None
    assert rt.process_report(1) != 0
    assert ran == []


def test_a_callback_that_is_dropped_is_released(stream: int) -> None:
    """At once, though its stream lives on: by the end of the subscription, or of the context."""
    before, _ = rt.get_context()
    this_thread = threading.get_ident()

    def watch(target: int | None) -> weakref.ref[Argument]:
        argument = Argument()
        assert rt.subscribe_report(this_thread, target) == 0
        assert rt.launch_callback(print, argument, acl.ACL_CALLBACK_NO_BLOCK, target) == 0
        return weakref.ref(argument)

    watched = watch(stream)
    assert watched() is not None
    assert rt.unsubscribe_report(this_thread, stream) == 0
    assert watched() is None
    context, _ = rt.create_context(0)
    watched = watch(None)
    assert rt.destroy_context(context) == 0
    assert watched() is None
    assert rt.set_context(before) == 0


def test_an_exception_goes_to_the_unraisable_hook(
    stream: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """There is nobody else to raise it to; the stream goes on."""
    caught: list[Any] = []
    monkeypatch.setattr(sys, "unraisablehook", caught.append)

    def fail(_: object) -> None:
        raise LookupError("in a callback")

    seen: list[int] = []
    assert rt.launch_host_func(stream, fail, None) == 0
    assert rt.launch_host_func(stream, seen.append, 1) == 0
    assert rt.synchronize_stream(stream) == 0
    assert [type(c.exc_value) for c in caught] == [LookupError]
    assert seen == [1]


def test_what_cannot_be_called_is_a_type_error(stream: int) -> None:
    """Before anything is launched."""
    with pytest.raises(TypeError):
        rt.launch_host_func(stream, 5, None)  # type: ignore[arg-type]
