# SPDX-License-Identifier: Apache-2.0
"""Rules that all operators share, over every format, type and handle that they speak of."""

from __future__ import annotations

import ctypes as ct
import itertools
import threading

import numpy as np
import pytest

from softnpu.judging.dtypes import NUMPY
from tests.support.batch import outcome
from tests.support.capi import INNER_NULLPTR, INVALID, NULLPTR, Session
from tests.support.capi_symbols import PRIVATE_FORMATS, PUBLIC_FORMATS
from tests.support.contract import OPERATORS, Contract, contract
from tests.support.dtypes import COMPLEX, FLOATING
from tests.support.prepared import prepare
from tests.support.process import SANITIZED, resident_bytes


@pytest.fixture(params=OPERATORS)
def spec(request: pytest.FixtureRequest) -> Contract:
    """Each operator's contract."""
    return contract(request.param)


def tensors(spec: Contract) -> list[str]:
    """The names of an operator's tensors."""
    return [a.name for a in spec.arguments if a.kind == "tensor"]


# --- formats ----------------------------------------


def test_every_private_format_of_every_tensor_is_refused(spec: Contract) -> None:
    """A storage layout that a view cannot describe is 161002, and the message names the tensor."""
    for name, private in itertools.product(tensors(spec), PRIVATE_FORMATS):
        end = outcome(spec.call({name: {"format": private}}))
        assert end.status == INVALID, (name, private, end)
        assert name in end.message, (name, private, end)


def test_every_public_format_of_every_tensor_is_accepted(spec: Contract) -> None:
    """Formats mean nothing, except that nearest upsampling tells NDHWC from the rest."""
    meaningful = {a.name for a in spec.arguments if a.formats}
    for name, public in itertools.product(tensors(spec), PUBLIC_FORMATS):
        expected = INVALID if name in meaningful and public == "NDHWC" else 0
        end = outcome(spec.call({name: {"format": public}}))
        assert end.status == expected, (name, public, end)


# --- types ----------------------------------------


@pytest.mark.parametrize("source", ["FLOAT", "FLOAT16", "BF16"])
@pytest.mark.parametrize("target", sorted(NUMPY))
def test_a_floating_result_casts_to_floating_and_complex_types_only(
    source: str, target: str
) -> None:
    """The cast rule, over every type, where the elu gradient applies it."""
    spec = contract("elu_backward")
    given = {"gradOutput": {"dtype": source}, "selfOrResult": {"dtype": source}}
    end = outcome(spec.call(given, {"gradInput": {"dtype": target}}))
    assert end.status == (0 if target in FLOATING + COMPLEX else INVALID), end


@pytest.mark.parametrize("name", ["alpha", "scale", "inputScale"])
@pytest.mark.parametrize("dtype", sorted(NUMPY))
def test_integer_floating_and_bool_scalars_are_convertible_to_float(name: str, dtype: str) -> None:
    """A scalar of any type but the complex ones is taken."""
    value = [1, 0] if dtype in COMPLEX else 1
    end = outcome(contract("elu_backward").call({name: {"dtype": dtype, "value": value}}))
    assert end.status == (INVALID if dtype in COMPLEX else 0), end


def test_promoted_types_mix_freely() -> None:
    """FLOAT, FLOAT16 and BF16 in any combination, inputs and output, give the same exact values."""
    spec = contract("smooth_l1_loss_backward")
    names = tensors(spec)
    for types in itertools.product(("FLOAT", "FLOAT16", "BF16"), repeat=len(names)):
        changes = {n: {"dtype": t} for n, t in zip(names, types, strict=True)}
        end = outcome(spec.call(changes, run=True))
        assert end.status == 0, (types, end)
        assert end.values == [-1, 0, 1, 1, 1, 1, 1, 1], types


# --- handles ----------------------------------------

DESTROYERS = {
    "tensor": "aclDestroyTensor",
    "scalar": "aclDestroyScalar",
    "int_array": "aclDestroyIntArray",
    "float_array": "aclDestroyFloatArray",
    "bool_array": "aclDestroyBoolArray",
    "tensor_list": "aclDestroyTensorList",
    "scalar_list": "aclDestroyScalarList",
    "executor": "aclDestroyAclOpExecutor",
}


def one_of_each(session: Session) -> dict[str, int]:
    """A live handle of every kind."""
    api = session.api
    numbers = (ct.c_float * 2)(1, 2)
    flags = (ct.c_bool * 2)(True, False)
    made = {
        "tensor": session.tensor("FLOAT", [2], None),
        "scalar": session.scalar("FLOAT", 1.0),
        "int_array": session.int_array([1, 2]),
        "float_array": api.aclCreateFloatArray(numbers, 2),
        "bool_array": api.aclCreateBoolArray(flags, 2),
        "tensor_list": api.aclCreateTensorList((ct.c_void_p * 1)(None), 1),
        "scalar_list": api.aclCreateScalarList((ct.c_void_p * 1)(None), 1),
        "executor": prepare(session, "elu_backward").plan().executor,
    }
    assert None not in made.values()
    return {kind: int(handle or 0) for kind, handle in made.items()}


@pytest.mark.parametrize("kind", DESTROYERS)
def test_only_a_live_handle_of_the_right_kind_can_be_destroyed(session: Session, kind: str) -> None:
    """Null is 161001 (561103 for an executor, as in all functions that change one); a handle of
    another kind, a foreign address and a second time are 161002.
    """
    handles = one_of_each(session)
    destroy = getattr(session.api, DESTROYERS[kind])
    stranger = ct.create_string_buffer(256)
    assert destroy(None) == (INNER_NULLPTR if kind == "executor" else NULLPTR)
    assert destroy(ct.addressof(stranger)) == INVALID
    for other in handles.keys() - {kind}:
        assert destroy(handles[other]) == INVALID, other
    assert destroy(handles[kind]) == 0
    assert destroy(handles[kind]) == INVALID
    assert session.message() != ""
    for other in handles.keys() - {kind}:  # none of the refusals destroyed anything
        assert getattr(session.api, DESTROYERS[other])(handles[other]) == 0, other


# --- messages and side effects ----------------------------------------


def test_the_message_is_cleared_by_reading_it(session: Session) -> None:
    """AclGetRecentErrMsg returns and clears the latest message, and null when there is none."""
    call = prepare(session, "elu_backward")
    session.api.aclnnEluBackwardGetWorkspaceSize(None, *[None] * 3, True, None, None, None, None)
    assert b"gradOutput" in session.api.aclGetRecentErrMsg()
    assert session.api.aclGetRecentErrMsg() is None
    call.plan()
    assert session.api.aclGetRecentErrMsg() is None


def test_messages_belong_to_their_thread(session: Session) -> None:
    """A failure in one thread does not show in another, nor replace what happened there."""
    mine = session.phase_one("aclnnSeluBackward", None, None, None).message
    seen: list[str] = []

    def other_thread() -> None:
        seen.append(session.message())
        seen.append(session.phase_one("aclnnEluBackward", *[None] * 4, True, None, None).message)

    session.api.aclnnSeluBackwardGetWorkspaceSize(*[None] * 5)
    thread = threading.Thread(target=other_thread)
    thread.start()
    thread.join()
    assert seen[0] == ""
    assert seen[1].startswith("aclnnEluBackwardGetWorkspaceSize: ")
    assert session.message() == mine


@pytest.mark.parametrize("name", ["gradOutput", "selfOrResult", "gradInput"])
def test_a_tensor_over_freed_memory(session: Session, name: str) -> None:
    """Phase one says that the memory was freed, and not only that it is none of the device's."""
    call = prepare(session, "elu_backward")
    session.check(session.api.aclrtFree(call.arrays[name].address))
    refused = call.try_plan()
    assert refused.status == INVALID
    start = f"aclnnEluBackwardGetWorkspaceSize: {name} has its data in device memory that was freed"
    assert refused.message.startswith(start)


@pytest.mark.skipif(SANITIZED, reason="a sanitizer keeps freed memory back")
def test_a_failed_phase_one_leaves_nothing_allocated(session: Session) -> None:
    """Many thousand refused calls do not let the process grow, be the check early or late."""
    call = prepare(session, "upsample_nearest3d_backward")
    late = {"scalesD": 2.0, "scalesH": 2.0, "scalesW": 3.0}
    early = {"gradInput": None}
    for changed in (early, late):
        for _ in range(2000):
            assert call.try_plan(**changed).status in (NULLPTR, INVALID)
    before = resident_bytes()
    for _ in range(10000):
        call.try_plan(**late)
        call.try_plan(**early)
    # 100 bytes for each of the calls with a late failure
    assert resident_bytes() - before < 1 << 20


@pytest.mark.parametrize("deterministic", [0, 1])
def test_the_deterministic_option_is_accepted_and_changes_no_result(
    session: Session, deterministic: int
) -> None:
    """With the option on or off, the nearest upsample gradient gives the same bits."""
    rng = np.random.default_rng(7)
    grad = session.array(rng.standard_normal((1, 2, 5, 7, 9)).astype(np.float32), "NCDHW")
    results = []
    for option in (deterministic, 1):
        session.check(session.api.aclrtCtxSetSysParamOpt(0, option))
        out = session.array(np.zeros((1, 2, 2, 3, 4), np.float32), "NCDHW")
        sizes = session.int_array([5, 7, 9]), session.int_array([1, 2, 2, 3, 4])
        session.run("aclnnUpsampleNearest3dBackward", grad.handle, *sizes, 0, 0, 0, out.handle)
        results.append(out.read())
    session.check(session.api.aclrtCtxSetSysParamOpt(0, 0))
    assert np.abs(results[0]).sum() > 0
    assert results[0].tobytes() == results[1].tobytes()
