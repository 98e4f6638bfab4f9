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

Array = npt.NDArray[Any]


@dataclass(frozen=True)
class Operator:
    """One operator with the arguments of a valid call."""

    name: str
    aclnn: str  # the documented name
    arrays: dict[str, Array]  # in the order of the signature
    rest: dict[str, Any]
    out: Array  # of the right shape and type, its contents of no interest
    documented: dict[str, str]  # the documented name of each argument

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


OPERATORS = [
    Operator(
        "elu_backward",
        "aclnnEluBackward",
        {"grad_output": _random(3, 4), "self_or_result": _random(3, 4)[::-1].copy()},
        {"alpha": 1.5, "scale": 1.25, "input_scale": 0.75, "is_result": False},
        np.empty((3, 4), np.float32),
        {
            "grad_output": "gradOutput",
            "alpha": "alpha",
            "scale": "scale",
            "input_scale": "inputScale",
            "is_result": "isResult",
            "self_or_result": "selfOrResult",
            "out": "gradInput",
        },
    ),
    Operator(
        "selu_backward",
        "aclnnSeluBackward",
        {"grad_output": _random(3, 4), "result": _random(3, 4)[::-1].copy()},
        {},
        np.empty((3, 4), np.float32),
        {"grad_output": "gradOutput", "result": "result", "out": "gradInput"},
    ),
    Operator(
        "smooth_l1_loss_backward",
        "aclnnSmoothL1LossBackward",
        {"grad_out": _random(3, 1), "self": _random(3, 4), "target": _random(4)},
        {"reduction": "mean", "beta": 0.5},
        np.empty((3, 4), np.float32),
        {
            "grad_out": "gradOut",
            "self": "self",
            "target": "target",
            "reduction": "reduction",
            "beta": "beta",
            "out": "gradInput",
        },
    ),
    Operator(
        "upsample_nearest3d_backward",
        "aclnnUpsampleNearest3dBackward",
        {"grad_out": _random(1, 2, 2, 4, 6)},
        {"output_size": [2, 4, 6], "input_size": [1, 2, 1, 2, 3]},
        np.empty((1, 2, 1, 2, 3), np.float32),
        {
            "grad_out": "gradOut",
            "output_size": "outputSize",
            "input_size": "inputSize",
            "scales_d": "scalesD",
            "scales_h": "scalesH",
            "scales_w": "scalesW",
            "format": "format",
            "out": "gradInput",
        },
    ),
    Operator(
        "max_unpool3d_backward",
        "aclnnMaxUnpool3dBackward",
        {
            "grad_output": _random(2, 3, 2, 3, 4),
            "self": _random(2, 3, 1, 2, 4),
            "indices": _indices(),
        },
        {"output_size": (2, 3, 4), "stride": (1, 1, 1), "padding": (0, 0, 0)},
        np.empty((2, 3, 1, 2, 4), np.float32),
        {
            "grad_output": "gradOutput",
            "self": "self",
            "indices": "indices",
            "output_size": "outputSize",
            "stride": "stride",
            "padding": "padding",
            "out": "out",
        },
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
