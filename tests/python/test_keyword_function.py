# SPDX-License-Identifier: Apache-2.0
"""The operators are called past their Python functions; nobody should be able to tell."""

import copy
import gc
import inspect
import pickle
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import softnpu
from softnpu import _core, functional

ONES = np.ones(3, np.float32)


def in_python(grad_output: Any, result: Any, *, out: Any = None) -> tuple[Any, ...]:
    """Tell that the call was not cut short."""
    return grad_output, result, out


@pytest.fixture(name="cut")
def make_cut() -> Callable[..., Any]:
    """Make a short cut past a function that does something else."""
    return _core.keyword_function(_core.selu_backward, in_python)


def test_good_calls_skip_the_python_function(cut: Callable[..., Any]) -> None:
    """Arguments in place or by name: the native function gets them in order."""
    result = np.empty(3, np.float32)
    assert cut(ONES, ONES, out=result) is result
    assert cut(ONES, result=ONES, out=result) is result
    assert cut(out=result, result=ONES, grad_output=ONES) is result
    assert isinstance(cut(ONES, ONES), np.ndarray)
    assert isinstance(cut(*(ONES, ONES), **{"out": None}), np.ndarray)


def test_names_need_not_be_known_objects(cut: Callable[..., Any]) -> None:
    """A name that was put together at run time reaches the Python function, which finds it."""
    name = "".join(["o", "u", "t"])
    assert cut(ONES, ONES, **{name: 5}) == (ONES, ONES, 5)


def test_defaults_are_those_of_the_function() -> None:
    """Positional and keyword-only ones, also when they are the only arguments left."""
    cut = softnpu.upsample_nearest3d_backward
    grad = np.ones((1, 1, 2, 2, 2), np.float32)
    whole = cut(grad, (2, 2, 2), (1, 1, 1, 1, 1))
    assert whole.item() == 8
    assert cut(grad, (2, 2, 2), (1, 1, 1, 1, 1), 2.0, 2.0, 2.0, format="NCDHW").item() == 8


@pytest.mark.parametrize(
    ("args", "kwargs"),
    [
        ((), {}),
        ((ONES,), {}),
        ((ONES, ONES, ONES), {}),
        ((ONES, ONES), {"grad": ONES}),
        ((ONES, ONES), {"result": ONES}),
    ],
)
def test_wrong_calls_fail_as_python_functions_do(
    args: tuple[Any, ...], kwargs: dict[str, Any]
) -> None:
    """The message is the interpreter's own."""
    plain = inspect.unwrap(softnpu.selu_backward)
    with pytest.raises(TypeError) as expected:
        plain(*args, **kwargs)
    with pytest.raises(TypeError) as got:
        softnpu.selu_backward(*args, **kwargs)
    assert str(got.value) == str(expected.value)


@pytest.mark.parametrize("name", sorted(set(functional.__all__) - {"Array"}))
def test_they_look_like_functions(name: str) -> None:
    """Name, module, documentation, help, pickling, copies, references."""
    function = getattr(softnpu, name)
    assert function.__name__ == function.__qualname__ == name
    assert function.__module__ == "softnpu.functional"
    assert function.__doc__ == inspect.unwrap(function).__doc__
    assert inspect.isroutine(function)
    assert callable(function)
    assert pickle.loads(pickle.dumps(function)) is function
    assert copy.deepcopy(function) is function
    assert name in repr(function)


def test_they_become_methods_as_functions_do() -> None:
    """As an attribute of a class one is bound to the object, of which it is an argument."""
    Gradient: Any = type("Gradient", (np.ndarray,), {"selu": softnpu.selu_backward})
    grad = np.ones(3, np.float32).view(Gradient)
    assert np.array_equal(grad.selu(ONES), softnpu.selu_backward(ONES, ONES))
    assert Gradient.selu(ONES, ONES).shape == (3,)


def test_they_are_collected() -> None:
    """What they refer to goes with them."""

    class Default:
        alive = 0

        def __init__(self) -> None:
            Default.alive += 1

        def __del__(self) -> None:
            Default.alive -= 1

    def make() -> None:
        default = Default()

        def body(grad_output: Any, result: Any = default) -> Any:
            return grad_output, result

        cut: Any = _core.keyword_function(_core.selu_backward, body)
        cut.itself = cut

    for _ in range(3):
        make()
    gc.collect()
    assert Default.alive == 0


def test_only_native_functions_are_short_cuts() -> None:
    """Anything else would be called with arguments it does not know."""
    with pytest.raises(TypeError, match="positional arguments alone"):
        _core.keyword_function(len, lambda a: a)

    def many(a: int, b: int, c: int, d: int, e: int, f: int, g: int, h: int, i: int) -> int:
        return a + b + c + d + e + f + g + h + i

    with pytest.raises(TypeError, match="too many parameters"):
        _core.keyword_function(_core.selu_backward, many)
