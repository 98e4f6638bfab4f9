# SPDX-License-Identifier: Apache-2.0
"""Repeatable executors, and new addresses for their tensors."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from tests.support.capi import INNER_NULLPTR, INVALID, NULLPTR, PhaseOne, Session
from tests.support.prepared import GARBAGE, Prepared, prepare

SPELLINGS = ("aclSet", "AclSet")


@pytest.fixture
def elu(session: Session) -> Prepared:
    """A valid call."""
    return prepare(session, "elu_backward")


@pytest.fixture(params=SPELLINGS)
def spelling(request: pytest.FixtureRequest) -> str:
    """Both spellings of the functions."""
    return str(request.param)


def repeatable(call: Prepared, spelling: str = "aclSet") -> PhaseOne:
    """A repeatable executor of a call."""
    planned = call.plan()
    function = getattr(call.session.api, spelling + "AclOpExecutorRepeatable")
    call.session.check(function(planned.executor))
    return planned


def launch(call: Prepared, planned: PhaseOne) -> None:
    """Phase two and the synchronisation, which must succeed."""
    call.session.check(call.launch(planned))
    call.session.check(call.session.synchronize())


def test_a_repeatable_executor_is_launched_until_it_is_destroyed(
    elu: Prepared, spelling: str
) -> None:
    """Each launch computes from the data of its time; destroying the executor ends it."""
    planned = repeatable(elu, spelling)
    for factor in (1, 2, 3):
        elu.overwrite("gradOutput", np.float32(factor) * elu.arrays["gradOutput"].like)
        launch(elu, planned)
        np.testing.assert_array_equal(elu.out.read(), np.float32(factor) * elu.expect)
    assert elu.session.api.aclDestroyAclOpExecutor(planned.executor) == 0
    assert elu.launch(planned) == INVALID
    assert elu.session.api.aclDestroyAclOpExecutor(planned.executor) == INVALID


def test_a_repeatable_executor_with_a_workspace(session: Session) -> None:
    """A launch leaves nothing behind in the workspace that the next one depends on."""
    call = prepare(session, "upsample_nearest3d_backward")
    planned = repeatable(call)
    for byte in (0x00, 0xFF):
        workspace = session.upload(np.full(planned.workspace_size, byte, np.uint8))
        session.check(session.launch(call.operator, planned, workspace))
        session.check(session.synchronize())
        call.assert_computed()


Setter = Callable[..., int]


def setter(call: Prepared, spelling: str, counted: str) -> Setter:
    """One of the three functions that replace an address, counting inputs, outputs or all."""
    return getattr(call.session.api, f"{spelling}{counted}TensorAddr")  # type: ignore[no-any-return]


@pytest.mark.parametrize(
    ("counted", "index", "name"),
    [
        ("Input", 0, "gradOutput"),
        ("Input", 1, "selfOrResult"),
        ("", 0, "gradOutput"),
        ("", 1, "selfOrResult"),
    ],
)
def test_an_input_gets_a_new_address(
    elu: Prepared, spelling: str, counted: str, index: int, name: str
) -> None:
    """The next launch reads from the new address; the index counts inputs, or all tensors."""
    planned = repeatable(elu, spelling)
    launch(elu, planned)
    values = np.array([[8, 6], [4, 2]], np.float32)
    elsewhere = elu.session.upload(values)
    set_address = setter(elu, spelling, counted)
    elu.session.check(set_address(planned.executor, index, elu.arguments[name], elsewhere))
    launch(elu, planned)
    data = {n: elu.arrays[n].like for n in ("gradOutput", "selfOrResult")} | {name: values}
    x = data["selfOrResult"]
    np.testing.assert_array_equal(elu.out.read(), data["gradOutput"] * np.where(x > 0, 1, x + 1))


@pytest.mark.parametrize(("counted", "index"), [("Output", 0), ("", 2)])
def test_an_output_gets_a_new_address(
    elu: Prepared, spelling: str, counted: str, index: int
) -> None:
    """The next launch writes to the new address and leaves the old one alone."""
    planned = repeatable(elu, spelling)
    elsewhere = elu.session.upload(np.zeros((2, 2), np.float32))
    set_address = setter(elu, spelling, counted)
    out = elu.arguments["gradInput"]
    elu.session.check(set_address(planned.executor, index, out, elsewhere))
    launch(elu, planned)
    written = elu.session.download(elsewhere, 16).view(np.float32).reshape(2, 2)
    np.testing.assert_array_equal(written, elu.expect)
    assert (elu.out.read() == GARBAGE).all()


def test_a_new_address_works_for_an_executor_that_is_launched_once(elu: Prepared) -> None:
    """Replacing an address does not ask for a repeatable executor."""
    planned = elu.plan()
    elsewhere = elu.session.upload(2 * elu.arrays["gradOutput"].like)
    set_address = elu.session.api.aclSetInputTensorAddr
    elu.session.check(set_address(planned.executor, 0, elu.arguments["gradOutput"], elsewhere))
    launch(elu, planned)
    np.testing.assert_array_equal(elu.out.read(), 2 * elu.expect)


def refusals(call: Prepared, planned: PhaseOne) -> list[tuple[str, tuple[Any, ...], int]]:
    """Wrong ways to replace an address: the counted tensors, the arguments, the status."""
    session, there = call.session, call.arguments
    executor, address = planned.executor, session.malloc(64)
    strange = session.array(np.zeros((2, 2), np.float32)).handle
    host = np.zeros(16, np.float32)
    session.keep_alive.append(host)
    return [
        ("Input", (None, 0, there["gradOutput"], address), INNER_NULLPTR),
        ("Output", (None, 0, there["gradInput"], address), INNER_NULLPTR),
        ("", (None, 0, there["gradOutput"], address), INNER_NULLPTR),
        ("Input", (executor, 0, None, address), INNER_NULLPTR),
        ("Output", (executor, 0, None, address), INNER_NULLPTR),
        ("", (executor, 2, None, address), INNER_NULLPTR),
        ("Input", (executor, 2, there["gradOutput"], address), INVALID),
        ("Output", (executor, 1, there["gradInput"], address), INVALID),
        ("", (executor, 3, there["gradInput"], address), INVALID),
        ("", (executor, 2**63, there["gradInput"], address), INVALID),
        ("Input", (executor, 0, strange, address), INVALID),
        ("Output", (executor, 0, strange, address), INVALID),
        ("Input", (executor, 0, there["gradInput"], address), INVALID),
        ("Input", (strange, 0, there["gradOutput"], address), INVALID),
        ("Input", (executor, 0, there["gradOutput"], host.ctypes.data), INVALID),
        ("Input", (executor, 0, there["gradOutput"], None), NULLPTR),
        ("Input", (executor, 0, there["gradOutput"], address + 52), INVALID),
    ]


def test_wrong_replacements_are_refused_and_change_nothing(elu: Prepared, spelling: str) -> None:
    """561103 for a null executor or tensor; 161002 for an index out of range, a tensor that was not
    there in phase one, or memory that the view does not fit; 161001 for a null address.
    """
    planned = repeatable(elu)
    for counted, arguments, status in refusals(elu, planned):
        assert setter(elu, spelling, counted)(*arguments) == status, (counted, arguments)
        assert elu.session.message() != ""
    launch(elu, planned)
    elu.assert_computed()


def test_an_overlap_is_found_again_when_addresses_are_replaced(session: Session) -> None:
    """An output that would come to lie partly on an input is 161002, and the old address stays; the
    same view of an elementwise operator is accepted.
    """
    call = prepare(session, "elu_backward")
    planned = repeatable(call)
    block = session.malloc(64)
    out, grad = call.arguments["gradInput"], call.arguments["gradOutput"]
    session.upload(call.arrays["gradOutput"].like, block)
    session.check(session.api.aclSetInputTensorAddr(planned.executor, 0, grad, block))
    set_output = session.api.aclSetOutputTensorAddr
    assert set_output(planned.executor, 0, out, block + 4) == INVALID
    message = session.message()
    assert "gradInput" in message
    assert "gradOutput" in message
    launch(call, planned)
    call.assert_computed()
    session.check(set_output(planned.executor, 0, out, block))
    launch(call, planned)
    result = session.download(block, 16).view(np.float32).reshape(2, 2)
    np.testing.assert_array_equal(result, call.expect)


def test_freed_memory_is_refused_until_it_is_replaced(elu: Prepared) -> None:
    """A launch after a tensor's memory was freed is 161002, also when its address is allocated
    again, until the tensor gets an address, be it the same one.
    """
    session = elu.session
    planned = repeatable(elu)
    launch(elu, planned)
    address = elu.out.address
    session.check(session.api.aclrtFree(address))
    assert elu.launch(planned) == INVALID
    assert any(session.malloc(16) == address for _ in range(100_000))
    assert elu.launch(planned) == INVALID
    message = session.message()
    for part in ("aclnnEluBackward: gradInput ", "freed"):
        assert part in message, message
    set_output = session.api.aclSetOutputTensorAddr
    session.check(set_output(planned.executor, 0, elu.arguments["gradInput"], address))
    launch(elu, planned)
    elu.assert_computed()


def test_addresses_are_replaced_one_after_the_other_when_all_were_freed(elu: Prepared) -> None:
    """What still waits for its new address is in nobody's way, and no launch takes it; what has one
    must not be overlapped.
    """
    session, there = elu.session, elu.arguments
    planned = repeatable(elu)
    new = {name: session.malloc(64) for name in ("gradOutput", "selfOrResult", "gradInput")}
    for name in new:
        session.check(session.api.aclrtFree(elu.arrays[name].address))
    for index, name in enumerate(("gradOutput", "selfOrResult")):
        session.upload(elu.arrays[name].like, new[name])
        assert elu.launch(planned) == INVALID
        set_input = session.api.aclSetInputTensorAddr
        session.check(set_input(planned.executor, index, there[name], new[name]))
    set_output = session.api.aclSetOutputTensorAddr
    assert set_output(planned.executor, 0, there["gradInput"], new["gradOutput"] + 4) == INVALID
    assert "gradInput overlaps gradOutput" in session.message()
    session.check(set_output(planned.executor, 0, there["gradInput"], new["gradInput"]))
    launch(elu, planned)
    result = session.download(new["gradInput"], 16).view(np.float32).reshape(2, 2)
    np.testing.assert_array_equal(result, elu.expect)
