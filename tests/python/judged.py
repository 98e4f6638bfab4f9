# SPDX-License-Identifier: Apache-2.0
"""Cases for `softnpu.verify`: calls of every operator with their results, and a small one."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

import softnpu
from softnpu import contract as contracts
from tests.python.operators import BY_NAME
from tests.support import specials as sp

Array = npt.NDArray[Any]
Case = dict[str, Any]
CONTRACTS = list(contracts.load_contracts().values())


def inputs_of(spec: contracts.Contract, dtype: np.dtype[Any]) -> Case:
    """A valid call of an operator with one data type; elementwise ones on unusual values, too."""
    base = BY_NAME[spec.family]
    values = [*base.arrays.values()]
    if spec.table["elementwise"]:
        rng = np.random.default_rng(5)
        draw = [sp.random_values(rng, 500, dtype) for _ in values]
        if dtype.kind not in "iu":
            draw = [np.concatenate([x, rng.permutation(sp.specials(dtype))]) for x in draw]
        values = draw
    arrays = dict(zip(base.arrays, values, strict=True))
    arrays = {n: a if n == "indices" else a.astype(dtype) for n, a in arrays.items()}
    named = {base.documented[n]: value for n, value in {**arrays, **base.rest}.items()}
    if spec.python.endswith("_"):
        named["selfRef"] = named.pop("self")
    scales = {"scalesD": 0.0, "scalesH": 0.0, "scalesW": 0.0}
    names = [a.name for a in spec.arguments if a.role != "out"]
    return {name: {**scales, **named}[name] for name in names}


def computed(spec: contracts.Contract, inputs: Case, **keywords: Any) -> Array:
    """What softnpu makes of the inputs."""
    function = getattr(softnpu, spec.python)
    values = list(inputs.values())
    if spec.python.endswith("_"):
        values[0] = values[0].copy()
    result: Array = function(*values, **keywords)
    return result


def result_name(spec: contracts.Contract) -> str:
    """The name of a case's result."""
    return "out" if spec.python.endswith("_") else spec.arguments[-1].name


def right_case(name: str, dtype: npt.DTypeLike = np.float32, **changes: Any) -> Case:
    """A case with softnpu's own result."""
    spec = contracts.find(name)
    inputs = {**inputs_of(spec, np.dtype(dtype)), **changes}
    return {**inputs, result_name(spec): computed(spec, inputs)}


ELU = "aclnnEluBackward"


def small(**changes: Any) -> Case:
    """Gradients of elu whose exact values are simple: 1 and 0.25."""
    ones = np.ones((2, 2), np.float32)
    x = np.array([[1, 2], [3, -0.75]], np.float32)
    got = np.array([[1, 1], [1, 0.25]], np.float32)
    case = {"gradOutput": ones, "alpha": 1.0, "scale": 1.0, "inputScale": 1, "isResult": True}
    return {**case, "selfOrResult": x, "gradInput": got, **changes}


def changed(value: float, where: tuple[int, int] = (0, 1)) -> Case:
    """That case with another value in one place."""
    case = small()
    case["gradInput"][where] = value
    return case
