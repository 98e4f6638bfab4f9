# SPDX-License-Identifier: Apache-2.0
"""A valid small call of each operator, as arrays and as keywords."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

import softnpu
from tests.support.contract import contract
from tests.support.unary import unary_operators

Array = npt.NDArray[Any]


@dataclass(frozen=True)
class Operator:
    """One operator with the arguments of a valid call."""

    name: str
    arrays: dict[str, Array]  # in the order of the signature
    rest: dict[str, Any]
    out: Array  # of the right shape and type, its contents of no interest

    @property
    def aclnn(self) -> str:
        """The documented name."""
        return contract(self.name).operator

    @property
    def documented(self) -> dict[str, str]:
        """The documented name of each argument."""
        return {a.python: a.name for a in contract(self.name).arguments} | {"format": "format"}

    @property
    def function(self) -> Callable[..., Any]:
        """The function."""
        return getattr(softnpu, self.name)  # type: ignore[no-any-return]

    def __call__(self, convert: Callable[[Array], Any] = lambda a: a, /, **changes: Any) -> Any:
        """Call it with converted arrays, some arguments replaced."""
        keywords: dict[str, Any] = {n: convert(a.copy()) for n, a in self.arrays.items()}
        return self.function(**{**keywords, **self.rest, **changes})


def _random(*shape: int) -> Array:
    return np.random.default_rng(7).standard_normal(shape).astype(np.float32)


def _indices() -> Array:
    return np.random.default_rng(8).integers(0, 24, (2, 3, 1, 2, 4))


def _numbers(name: str) -> dict[str, Any]:
    spec = contract(name)
    return {a.python: spec.base[a.name]["value"] for a in spec.arguments if a.kind == "scalar"}


OPERATORS = [
    Operator(
        "elu_backward",
        {"grad_output": _random(3, 4), "self_or_result": _random(3, 4)[::-1].copy()},
        {"alpha": 1.5, "scale": 1.25, "input_scale": 0.75, "is_result": False},
        np.empty((3, 4), np.float32),
    ),
    Operator(
        "selu_backward",
        {"grad_output": _random(3, 4), "result": _random(3, 4)[::-1].copy()},
        {},
        np.empty((3, 4), np.float32),
    ),
    Operator(
        "smooth_l1_loss_backward",
        {"grad_out": _random(3, 1), "self": _random(3, 4), "target": _random(4)},
        {"reduction": "mean", "beta": 0.5},
        np.empty((3, 4), np.float32),
    ),
    Operator(
        "upsample_nearest3d_backward",
        {"grad_out": _random(1, 2, 2, 4, 6)},
        {"output_size": [2, 4, 6], "input_size": [1, 2, 1, 2, 3]},
        np.empty((1, 2, 1, 2, 3), np.float32),
    ),
    Operator(
        "max_unpool3d_backward",
        {
            "grad_output": _random(2, 3, 2, 3, 4),
            "self": _random(2, 3, 1, 2, 4),
            "indices": _indices(),
        },
        {"output_size": (2, 3, 4), "stride": (1, 1, 1), "padding": (0, 0, 0)},
        np.empty((2, 3, 1, 2, 4), np.float32),
    ),
    Operator(
        "elu",
        {"self": _random(3, 4)},
        {"alpha": 1.5, "scale": 1.25, "input_scale": 0.75},
        np.empty((3, 4), np.float32),
    ),
    Operator("selu", {"self": _random(3, 4)}, {}, np.empty((3, 4), np.float32)),
    Operator(
        "upsample_nearest3d",
        {"self": _random(1, 2, 1, 2, 3)},
        {"output_size": [2, 4, 6]},
        np.empty((1, 2, 2, 4, 6), np.float32),
    ),
    Operator(
        "max_unpool3d",
        {"self": _random(2, 3, 1, 2, 4), "indices": _indices()},
        {"output_size": (2, 3, 4), "stride": (1, 1, 1), "padding": (0, 0, 0)},
        np.empty((2, 3, 2, 3, 4), np.float32),
    ),
    Operator(
        "smooth_l1_loss",
        {"self": _random(3, 4), "target": _random(4)},
        {"reduction": "none", "beta": 0.5},
        np.empty((3, 4), np.float32),
    ),
    *(
        Operator(
            one.name, {"self": _random(3, 4)}, _numbers(one.name), np.empty((3, 4), np.float32)
        )
        for one in unary_operators()
    ),
]
BY_NAME = {operator.name: operator for operator in OPERATORS}
ELU, SELU, SMOOTH_L1, UPSAMPLE, UNPOOL = OPERATORS[:5]
# Each operator with each of its tensor arguments.
TENSORS = [(o, name) for o in OPERATORS for name in o.arrays]


def refused(operator: Operator, name: str, value: Any, *parts: str, **more: Any) -> None:
    """The call raises 161002, and the message names operator, argument and what is wrong."""
    with pytest.raises(softnpu.ParamInvalidError) as caught:
        operator(**{name: value}, **more)
    message = str(caught.value)
    assert caught.value.status == 161002
    assert message.startswith(operator.aclnn + "GetWorkspaceSize: "), message
    for part in (operator.documented[name], *parts):
        assert re.search(rf"\b{re.escape(part)}", message), (part, message)
