# SPDX-License-Identifier: Apache-2.0
"""What functions of `softnpu.acl` and `softnpu.aclnn` say of arguments that they cannot take."""

from __future__ import annotations

import ast
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import softnpu
from softnpu import _core, acl, aclnn
from tests.support.stub import stub_functions


def numbers() -> dict[str, tuple[str, int, str]]:
    """Every argument that is a number or has numbers: the function, its place, its type."""
    found = {}
    for name, function in stub_functions().items():
        for i, argument in enumerate(function.args.args):
            annotation = argument.annotation
            assert annotation is not None
            kind = ast.unparse(annotation)
            if any(part in kind for part in ("int", "float", "bool")):
                found[f"{name}-{argument.arg}"] = name, i, kind
    return found


NUMBERS = numbers()


def call_with(name: str, place: int, wrong: object) -> None:
    """Call a function with one wrong argument, and others that do no harm."""
    arguments: list[Any] = []
    for argument in stub_functions()[name].args.args:
        assert argument.annotation is not None
        kind = ast.unparse(argument.annotation)
        plain = print if "Callable" in kind else b"" if "bytes" in kind else 0
        plain = "" if kind == "str" else plain
        arguments.append([] if "Sequence" in kind else plain)
    arguments[place] = wrong
    getattr(_core, name)(*arguments)


@pytest.mark.parametrize("case", NUMBERS)
def test_the_message_names_the_function_and_the_argument(case: str) -> None:
    """And what came; nothing is called."""
    name, place, kind = NUMBERS[case]
    argument = case.removeprefix(f"{name}-")
    with pytest.raises(TypeError) as caught:
        call_with(name, place, object())
    said = str(caught.value)
    assert said.startswith(f"{name}: {argument} is of class object; expected a")
    assert ("expected a sequence" in said) == ("Sequence" in kind)
    assert said.endswith((", or None", "an os.PathLike or None")) == ("None" in kind)


def test_every_function_with_numbers_is_among_them() -> None:
    """The stub has this many and more."""
    assert len(NUMBERS) > 120


WRONG: list[tuple[Callable[..., Any], tuple[Any, ...], str]] = [
    (aclnn.aclDestroyTensor, ("tensor",), "tensor is of class str; expected an integer from 0"),
    (aclnn.aclCreateIntArray, ([2**64],), f"element 0 of value is {2**64}; expected an integer"),
    (aclnn.aclDestroyTensor, (-1,), "tensor is -1; expected an integer from 0 to {u64}, or None"),
    (aclnn.aclCreateIntArray, ([1, 2**63],), f"element 1 of value is {2**63}; expected an integer"),
    (
        aclnn.aclCreateIntArray,
        ([2.5],),
        "element 0 of value is of class float; expected an integer",
    ),
    (aclnn.aclCreateBoolArray, (["no"],), "element 0 of value is of class str; expected a bool"),
    (aclnn.aclCreateFloatArray, ("12",), "value is of class str; expected a sequence, of which"),
    (aclnn.aclCreateTensorList, ([None, -1],), "element 1 of value is -1; expected an integer"),
    (aclnn.aclnnInit, (5,), "configPath is 5; expected a str, bytes, an os.PathLike or None"),
    (acl.rt.malloc, (2**64, 0), f"size is {2**64}; expected an integer from 0 to {{u64}}"),
    (acl.rt.set_device, (2**31,), f"device_id is {2**31}; expected an integer from {{i32}}"),
]


@pytest.mark.parametrize(("function", "arguments", "message"), WRONG)
def test_what_came_and_what_was_expected(
    function: Callable[..., Any], arguments: tuple[Any, ...], message: str
) -> None:
    """Numbers that are too large, and members of sequences, are named."""
    limits = {"u64": 2**64 - 1, "i32": f"{-(2**31)} to {2**31 - 1}"}
    with pytest.raises(TypeError) as caught:
        function(*arguments)
    assert message.format(**limits) in str(caught.value)


def test_bools_of_numpys_are_bools() -> None:
    """And so are integers, as in C."""
    array = aclnn.aclCreateBoolArray([np.True_, True, 0])
    assert aclnn.aclGetBoolArraySize(array) == 3
    aclnn.aclDestroyBoolArray(array)
    with pytest.raises(softnpu.ParamNullptrError, match="gradOutput is null"):
        aclnn.aclnnEluBackwardGetWorkspaceSize(0, 0, 0, 0, np.bool_(True), 0, 0)


def test_the_name_of_a_file(tmp_path: Path, script: Callable[[str], str]) -> None:
    """Any that the system can have; it is read, and what is wrong with it is said."""
    name = tmp_path / "caf\udce9.json"  # not UTF-8
    name.write_text("{}")
    printed = script(
        "from pathlib import Path; from softnpu import acl\n"
        f"name = Path({str(name)!r})\n"
        "print(acl.init(name), acl.finalize(), acl.init(bytes(name)), acl.finalize())"
    )
    assert printed == "0 0 0 0"
    with pytest.raises(ValueError, match="aclInit: config_path has a character"):
        acl.init("a\0b")
