# SPDX-License-Identifier: Apache-2.0
"""The exceptions: what they are, what they carry, that they travel."""

from __future__ import annotations

import copy
import pickle
import re
import sys
import traceback
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import softnpu
from softnpu import _core, acl, aclnn, errors, explanations
from tests.python.operators import ELU, SMOOTH_L1, UNPOOL

BASES = {
    softnpu.AclnnError: RuntimeError,
    softnpu.ParamNullptrError: TypeError,
    softnpu.ParamInvalidError: ValueError,
    softnpu.DeviceRuntimeError: softnpu.AclnnError,
    softnpu.IndexOutOfRangeError: IndexError,
}


@pytest.mark.parametrize("error", BASES)
def test_each_class_is_also_the_builtin_one_that_fits(error: type[softnpu.AclnnError]) -> None:
    """Code that knows nothing of softnpu can catch them."""
    assert issubclass(error, BASES[error])
    assert issubclass(error, softnpu.AclnnError)


@pytest.mark.parametrize(
    ("status", "error", "name"),
    [
        (161001, softnpu.ParamNullptrError, "ACLNN_ERR_PARAM_NULLPTR"),
        (161002, softnpu.ParamInvalidError, "ACLNN_ERR_PARAM_INVALID"),
        (361001, softnpu.DeviceRuntimeError, "ACLNN_ERR_RUNTIME_ERROR"),
        (561003, softnpu.AclnnError, "ACLNN_ERR_INNER_FIND_KERNEL_ERROR"),
        (107003, softnpu.AclnnError, ""),
    ],
)
def test_a_status_has_its_class_and_its_documented_name(
    status: int, error: type[softnpu.AclnnError], name: str
) -> None:
    """Statuses without a class of their own are plain AclnnErrors."""
    made = errors.error_from_status(status, "what happened")
    assert type(made) is error
    assert (made.status, made.name, str(made)) == (status, name, "what happened")


def caught() -> list[softnpu.AclnnError]:
    """One of each, as it is raised."""
    with pytest.raises(softnpu.AclnnError) as null:
        ELU(alpha=None)
    with pytest.raises(softnpu.AclnnError) as invalid:
        ELU(alpha=1j)
    with pytest.raises(softnpu.AclnnError) as index:
        UNPOOL(indices=np.full((2, 3, 1, 2, 4), 24))
    return [null.value, invalid.value, index.value]


def notes(error: BaseException) -> list[str]:
    """The notes of an exception; Python 3.10 has none."""
    return getattr(error, "__notes__", [])


@pytest.mark.parametrize("travel", [lambda e: pickle.loads(pickle.dumps(e)), copy.copy])
def test_they_survive_pickling_and_copying(travel: object) -> None:
    """Other processes see the same class, status, name and message."""
    assert callable(travel)
    for error in caught():
        other = travel(error)
        assert type(other) is type(error)
        assert (other.status, other.name, str(other)) == (error.status, error.name, str(error))
        assert (other.rule, notes(other)) == (error.rule, notes(error))


def test_what_is_raised_carries_the_status_and_the_message_of_the_c_api() -> None:
    """Failures of phase one name it; failures while running name the operator."""
    null, invalid, index = caught()
    assert str(null) == "aclnnEluBackwardGetWorkspaceSize: alpha is null"
    assert (null.status, invalid.status, index.status) == (161001, 161002, 361001)
    assert str(invalid).startswith("aclnnEluBackwardGetWorkspaceSize: alpha ")
    assert str(index).startswith("aclnnMaxUnpool3dBackward: indices[0, 0, 0, 0, 0] is 24")
    assert type(index) is softnpu.IndexOutOfRangeError


@pytest.mark.parametrize(
    ("call", "written"),
    [
        (lambda: ELU(alpha=-1e300, is_result=True), "alpha is -1e+300;"),
        (lambda: ELU(alpha=-16777217, is_result=True), "alpha is -16777217;"),
        (lambda: ELU(alpha=-0.1, is_result=True), "alpha is -0.1;"),
        (lambda: SMOOTH_L1(beta=-1e300), "beta is -1e+300;"),
        (lambda: SMOOTH_L1(beta=-0.1), "beta is -0.1;"),
    ],
)
def test_numbers_are_named_as_the_caller_wrote_them(call: Callable[[], Any], written: str) -> None:
    """Not as the float32 that is computed with."""
    with pytest.raises(softnpu.ParamInvalidError, match=re.escape(written)):
        call()


def plain_errors() -> list[Exception]:
    """Exceptions of Python's own, from C++ and from Python."""
    wrong: list[Callable[[], Any]] = [
        lambda: softnpu.set_pool_limit(-1),
        lambda: _core.set_threads(0),
        lambda: _core.aclrtFree("text"),  # type: ignore[arg-type]
        lambda: acl.util.numpy_to_ptr([1.0]),  # type: ignore[arg-type]
        lambda: aclnn.aclCreateScalar(300, acl.constants.ACL_INT8),
    ]
    found: list[Exception] = []
    for call in wrong:
        try:
            call()
        except Exception as error:
            found.append(error)
    assert len(found) == len(wrong)
    return found


def test_every_exception_has_a_rule_that_is_explained() -> None:
    """The device's, and Python's own from calls that do not reach it."""
    rules = [getattr(error, "rule", "") for error in (*caught(), *plain_errors())]
    assert rules == [
        *("alpha-null", "scalar-type", "index-out-of-range"),
        *("pool-limit", "thread-count", "argument-class", "argument-class", "scalar-range"),
    ]
    for rule in rules:
        assert explanations.find(rule)


def test_failures_of_the_c_functions_have_their_rule() -> None:
    """What raises gets the rule of the message; a later failure has its own."""
    for handle, rule in ((None, "argument-null"), (1, "dead-handle")):
        with pytest.raises(softnpu.AclnnError) as failed:
            aclnn.aclDestroyTensor(handle)
        assert failed.value.rule == rule
    with pytest.raises(softnpu.AclnnError) as failed:
        aclnn.aclCreateTensor((-1,), 0, None, 0, 2, (1,), None)
    assert failed.value.rule == "element-negative"


@pytest.mark.skipif(sys.version_info < (3, 11), reason="exceptions have no notes")
def test_a_traceback_shows_the_rule() -> None:
    """Once, below the message, which itself is as C programs have it."""
    for error in (*caught(), *plain_errors()):
        rule = getattr(error, "rule", "")
        shown = "".join(traceback.format_exception(error))
        assert shown.endswith(f": {error}\nrule: {rule} (softnpu explain {rule})\n")
        assert rule not in str(error)


def test_an_error_without_a_rule() -> None:
    """Whoever makes one need not know any."""
    error = softnpu.AclnnError(500000, "what happened")
    assert (error.rule, notes(error)) == ("", [])


def test_a_wrong_call_when_the_interpreter_ends(script: Callable[[str], str]) -> None:
    """Nothing can be imported then; the exception is the usual one."""
    text = """
import numpy as np, softnpu
class Last:
    def __del__(self, call=softnpu.selu_backward, x=np.ones(2), expected=softnpu.ParamInvalidError):
        try:
            call(x, x[:1])
        except expected as error:
            print(error.status)
softnpu.selu_backward(np.ones(2), np.ones(2))
last = Last()
last.itself = last
"""
    assert script(text.replace("np.ones(2)", "np.ones(2, np.float32)")) == "161002"
