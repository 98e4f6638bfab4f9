# SPDX-License-Identifier: Apache-2.0
"""torch.npu's streams and events: those of softnpu's runtime."""

from __future__ import annotations

from typing import Any

import torch

from softnpu.torch.npu.devices import Device, index_of


class Stream(torch.Stream):
    """A queue of work on a device.

    Parameters
    ----------
    device : int, str or torch.device, optional
        Default: the current one.
    priority : int
        -1 for one that goes first.
    """

    def __new__(cls, device: Device = None, priority: int = 0, **kwargs: Any) -> Stream:
        """Make a stream, or name an existing one by `stream_id`."""
        if "stream_id" in kwargs:
            numbers = {name: int(kwargs[name]) for name in ("stream_id", "device_index")}
            kind = kwargs.get("device_type", torch._C._autograd.DeviceType.PrivateUse1)
            return super().__new__(cls, **numbers, device_type=int(kind))
        return super().__new__(cls, torch.device("npu", index_of(device)), priority=priority)

    @property
    def npu_stream(self) -> int:
        """The aclrtStream."""
        return int(self.native_handle)  # type: ignore[attr-defined]

    @property
    def _as_parameter_(self) -> Any:
        import ctypes

        return ctypes.c_void_p(self.npu_stream)

    def record_event(self, event: torch.Event | None = None) -> torch.Event:
        """Record an event, a new one by default."""
        event = Event() if event is None else event
        event.record(self)
        return event

    def __repr__(self) -> str:
        return f"<torch_npu.npu.Stream device={self.device} npu_stream={self.npu_stream:#x}>"


class Event(torch.Event):
    """A point in a stream's work."""

    def __new__(
        cls, enable_timing: bool = False, blocking: bool = False, interprocess: bool = False
    ) -> Event:
        """Make an event; that of another process cannot be had."""
        if interprocess:
            raise NotImplementedError("softnpu has no events that other processes can wait for")
        return super().__new__(cls, "npu", enable_timing=enable_timing, blocking=blocking)

    def record(self, stream: torch.Stream | None = None) -> None:
        """Record it in a stream, the current one by default."""
        super().record(current_stream() if stream is None else stream)

    def wait(self, stream: torch.Stream | None = None) -> None:
        """Let a stream, the current one by default, wait for it."""
        super().wait(current_stream() if stream is None else stream)

    def elapsed_time(self, end_event: torch.Event) -> float:
        """Give the milliseconds between two recorded events."""
        return torch.ops.softnpu_device.elapsed_time(self.event_id, end_event.event_id)

    def __repr__(self) -> str:
        return f"<torch_npu.npu.Event {self.event_id:#x}>"


def ExternalStream(stream_ptr: int, device: Device = None, **_: Any) -> Stream:  # noqa: N802
    """Refuse: PyTorch cannot use a stream that something else made."""
    raise NotImplementedError(
        "softnpu has no ExternalStream; pass torch.npu.Stream().npu_stream to the other library"
    )


def current_stream(device: Device = None) -> Stream:
    """Give this thread's current stream of a device."""
    return _ours(torch.accelerator.current_stream(index_of(device)))


def default_stream(device: Device = None) -> Stream:
    """Give the stream that a device's work goes to unless another one is set."""
    return Stream(stream_id=0, device_index=index_of(device))


def set_stream(stream: torch.Stream | None) -> None:
    """Make a stream this thread's current one; None changes nothing."""
    if stream is not None:
        torch._C._accelerator_setStream(stream)


class StreamContext:
    """A context in which a stream is the current one, and its device; None changes nothing."""

    def __init__(self, stream: torch.Stream | None) -> None:
        self.stream = stream

    def __enter__(self) -> torch.Stream | None:
        if self.stream is not None:
            self._device = torch.accelerator.current_device_index()
            self._before = torch.accelerator.current_stream(self.stream.device.index)
            torch._C._accelerator_setStream(self.stream)
        return self.stream

    def __exit__(self, *_error: object) -> None:
        if self.stream is not None:
            torch._C._accelerator_setStream(self._before)
            torch.accelerator.set_device_index(self._device)


def stream(stream: torch.Stream | None) -> StreamContext:
    """Make a stream the current one in a block."""
    return StreamContext(stream)


def _ours(stream: torch.Stream) -> Stream:
    return Stream(stream_id=stream.stream_id, device_index=stream.device_index)
