# SPDX-License-Identifier: Apache-2.0
"""The operators are plain Python functions, for debuggers, profilers, `inspect` and pickle."""

import copy
import cProfile
import inspect
import pickle
import pstats
import types
from typing import Any

import numpy as np
import pytest

import softnpu
from softnpu import functional

ONES = np.ones(3, np.float32)
NAMES = sorted(set(functional.__all__) - {"Array"})


def test_arguments_in_place_or_by_name() -> None:
    """Every way of calling gives `out`, and a default of None gives a new array."""
    selu = softnpu.selu_backward
    result = np.empty(3, np.float32)
    assert selu(ONES, ONES, out=result) is result
    assert selu(ONES, result=ONES, out=result) is result
    assert selu(out=result, result=ONES, grad_output=ONES) is result
    assert isinstance(selu(ONES, ONES), np.ndarray)
    assert isinstance(selu(*(ONES, ONES), **{"out": None}), np.ndarray)


def test_names_need_not_be_known_objects() -> None:
    """A name may be put together at run time."""
    name = "".join(["o", "u", "t"])
    result = np.empty(3, np.float32)
    assert softnpu.selu_backward(ONES, ONES, **{name: result}) is result


def test_defaults_are_those_of_the_function() -> None:
    """Positional and keyword-only ones, also when they are the only arguments left."""
    upsample = softnpu.upsample_nearest3d_backward
    grad = np.ones((1, 1, 2, 2, 2), np.float32)
    whole = upsample(grad, (2, 2, 2), (1, 1, 1, 1, 1))
    assert whole.item() == 8
    assert upsample(grad, (2, 2, 2), (1, 1, 1, 1, 1), 2.0, 2.0, 2.0, format="NCDHW").item() == 8


@pytest.mark.parametrize(
    ("args", "kwargs", "message"),
    [
        ((), {}, "missing 2 required positional arguments: 'grad_output' and 'result'"),
        ((ONES,), {}, "missing 1 required positional argument: 'result'"),
        ((ONES, ONES, ONES), {}, "takes 2 positional arguments but 3 were given"),
        ((ONES, ONES), {"grad": ONES}, "unexpected keyword argument 'grad'"),
        ((ONES, ONES), {"result": ONES}, "multiple values for argument 'result'"),
    ],
    ids=["none", "one", "three", "unknown", "twice"],
)
def test_wrong_calls(args: tuple[Any, ...], kwargs: dict[str, Any], message: str) -> None:
    """The interpreter's own errors."""
    with pytest.raises(TypeError, match=f"selu_backward.*{message}"):
        softnpu.selu_backward(*args, **kwargs)


@pytest.mark.parametrize("name", NAMES)
def test_they_are_functions(name: str) -> None:
    """Name, module, documentation, source, signature, pickling, copies, references."""
    function = getattr(softnpu, name)
    assert type(function) is types.FunctionType
    assert function.__name__ == function.__qualname__ == name
    assert function.__module__ == "softnpu.functional"
    assert inspect.isroutine(function)
    assert name in repr(function)
    assert function.__doc__.splitlines()[0].endswith(".")
    assert f"_core.{name}(" in inspect.getsource(function)
    in_place = function.__name__.endswith("_")
    assert (list(inspect.signature(function).parameters)[-1] == "out") is not in_place
    assert pickle.loads(pickle.dumps(function)) is function
    assert copy.deepcopy(function) is function


def test_profilers_see_them() -> None:
    """A profile names the function that was called."""
    profile = cProfile.Profile()
    profile.runcall(softnpu.selu_backward, ONES, ONES)
    assert "selu_backward" in pstats.Stats(profile).get_stats_profile().func_profiles


def test_they_become_methods() -> None:
    """As an attribute of a class one is bound to the object, of which it is an argument."""
    Gradient: Any = type("Gradient", (np.ndarray,), {"selu": softnpu.selu_backward})
    grad = np.ones(3, np.float32).view(Gradient)
    assert np.array_equal(grad.selu(ONES), softnpu.selu_backward(ONES, ONES))
    assert Gradient.selu(ONES, ONES).shape == (3,)
