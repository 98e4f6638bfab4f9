# SPDX-License-Identifier: Apache-2.0
"""Make a call that the contract describes, through the C API or through Python."""

from __future__ import annotations

import ctypes as ct
from dataclasses import asdict, dataclass, field
from typing import Any

import numpy as np

from softnpu.judging.dtypes import NUMPY
from tests.support.capi import PhaseOne, Session
from tests.support.contract import Call, Contract, contract
from tests.support.dtypes import COMPLEX
from tests.support.placing import Arena, Described, Place, lay_out

Attributes = dict[str, Any]


@dataclass
class Outcome:
    """How a call ended."""

    status: int
    message: str = ""
    values: list[Any] | None = None  # the output's elements in row-major order, if it ran
    faults: list[str] = field(default_factory=list)  # side effects that no call may have
    errors: list[str] = field(default_factory=list)  # Python: the exception's classes
    rule: str = ""  # Python: the exception's

    def as_json(self) -> dict[str, Any]:
        """A form that survives JSON; `Outcome(**form)` is the way back."""
        return asdict(self)


def make(call: Call) -> Outcome:
    """Make a call."""
    return through_python(call) if call.via == "python" else through_c(call)


def _elements(array: np.ndarray[Any, Any], dtype: str) -> list[Any]:
    if dtype in COMPLEX:
        assert not array.imag.any(), "an imaginary part is not 0"
        array = array.real
    if dtype == "BF16":
        array = array.astype(np.float32)
    return list(array.reshape(-1).tolist())


def _tensors(spec: Contract, call: Call) -> dict[str, Attributes]:
    names = [a.name for a in spec.arguments if a.kind == "tensor"]
    return {name: call.arguments[name] for name in names if call.arguments[name] != "null"}


def _stray_writes(spec: Contract, before: Arena, after: Arena) -> list[str]:
    """The buffers that changed where no output lies."""
    shared = {after.places[a.name].buffer for a in spec.arguments if a.is_output}
    faults = []
    for name, place in after.places.items():
        if place.buffer not in shared:
            same = np.array_equal(before.buffers[place.buffer], after.buffers[place.buffer])
            faults += [] if same else [f"input {name} or its surroundings were written to"]
    for a in spec.arguments:
        if a.is_output:
            same = np.array_equal(before.surroundings(a.name), after.surroundings(a.name))
            faults += [] if same else [f"memory around {a.name} was written to"]
    return faults


# --- the C API ----------------------------------------


def _handle(session: Session, kind: str, how: str, live: int | None) -> int | None:
    """The live handle itself, or what a misuse passes in its place."""
    if how == "dead":
        destroy = {"tensor": "Tensor", "scalar": "Scalar", "int_array": "IntArray"}[kind]
        session.check(getattr(session.api, "aclDestroy" + destroy)(live))
    if how == "foreign":
        stranger = ct.create_string_buffer(256)  # readable memory that never was a handle
        session.keep_alive.append(stranger)
        return ct.addressof(stranger)
    if how == "wrong-kind":
        return session.int_array([1, 2, 3]) if kind != "int_array" else session.scalar("INT64", 3)
    return live


def _tensor(session: Session, place: Place, addresses: list[int], arena: Arena) -> int | None:
    t: Described = place.tensor
    at = addresses[place.buffer] + place.start
    host = arena.buffers[place.buffer].ctypes.data
    address = {"device": at, "null": None, "host": host, "misaligned": at + 1}[t.data]
    live = session.tensor(
        t.dtype,
        t.shape,
        address,
        strides=t.strides,
        offset=t.offset,
        format=t.format,
        storage=t.storage,
    )
    assert live is not None, session.message()
    return _handle(session, "tensor", t.handle, live)


def _attribute(session: Session, kind: str, value: Any) -> Any:
    if kind == "scalar":
        number = complex(*value["value"]) if isinstance(value["value"], list) else value["value"]
        live = session.scalar(value["dtype"], number)
    elif kind == "int_array":
        values = value["values"] if isinstance(value, dict) else value
        live = session.int_array(values)
    else:
        return value
    assert live is not None, session.message()
    return _handle(
        session, kind, value.get("handle", "live") if isinstance(value, dict) else "live", live
    )


def _phase_one(
    session: Session, spec: Contract, call: Call, arena: Arena, at: list[int]
) -> PhaseOne:
    arguments: list[Any] = []
    for a in spec.arguments:
        value = call.arguments[a.name]
        if value == "null":
            arguments.append(None)
        elif a.kind == "tensor":
            arguments.append(_tensor(session, arena.places[a.name], at, arena))
        else:
            arguments.append(_attribute(session, a.kind, value))
    return session.phase_one(
        spec.operator,
        *arguments,
        size=call.arguments.get("workspaceSize") != "null",
        executor=call.arguments.get("executor") != "null",
    )


def through_c(call: Call) -> Outcome:
    """Phase one; phase two and the synchronisation too if the call is to run."""
    spec = contract(call.op)
    arena = lay_out(_tensors(spec, call))
    with Session() as session:
        sized = zip(arena.buffers, arena.room, strict=True)
        addresses = [session.upload(buffer[:room]) for buffer, room in sized]
        planned = _phase_one(session, spec, call, arena, addresses)
        if planned.status:
            faults = [] if planned.untouched else ["a failed phase one wrote its results"]
            return Outcome(planned.status, planned.message, faults=faults)
        if not call.run:
            return Outcome(0)
        status = session.launch(spec.operator, planned) or session.synchronize()
        if status:
            return Outcome(status, session.message())
        after = Arena([b.copy() for b in arena.buffers], arena.room, arena.places)
        for buffer, room, address in zip(after.buffers, arena.room, addresses, strict=True):
            buffer[:room] = session.download(address, room)
        out = arena.places[spec.output]
        values = _elements(out.view(after), out.tensor.dtype)
        return Outcome(0, values=values, faults=_stray_writes(spec, arena, after))


# --- Python ----------------------------------------


def _python_value(kind: str, value: Any) -> Any:
    if kind == "scalar":
        number = value["value"]
        return complex(*number) if isinstance(number, list) else number
    return value


def through_python(call: Call) -> Outcome:
    """The functional API, with the output passed as `out`."""
    import softnpu

    spec = contract(call.op)
    arena = lay_out(_tensors(spec, call))
    before = Arena([b.copy() for b in arena.buffers], arena.room, arena.places)
    keywords: Attributes = {}
    for a in spec.arguments:
        value = call.arguments[a.name]
        if value == "null":
            keywords[a.python] = None
        elif a.kind == "tensor":
            keywords[a.python] = arena.places[a.name].view(arena)
            if a.formats and arena.places[a.name].tensor.format == "NDHWC":
                keywords["format"] = "NDHWC"
        else:
            keywords[a.python] = _python_value(a.kind, value)
    try:
        result = getattr(softnpu, spec.python)(**keywords)
    except softnpu.AclnnError as error:
        classes = [c.__name__ for c in type(error).__mro__]
        return Outcome(error.status, str(error), errors=classes, rule=error.rule)
    except Exception as error:  # whatever it is, the test is to show it
        return Outcome(-1, repr(error), errors=[c.__name__ for c in type(error).__mro__])
    faults = _stray_writes(spec, before, arena)
    out = next(a.python for a in spec.arguments if a.is_output)
    faults += [] if result is keywords[out] else [f"the result is not the array passed as {out}"]
    return Outcome(0, values=_elements(result, _name(result)), faults=faults)


def _name(array: np.ndarray[Any, Any]) -> str:
    return next(name for name, dtype in NUMPY.items() if dtype == array.dtype)
