# SPDX-License-Identifier: Apache-2.0
"""An operator's valid base call with its device memory at hand, for tests of what surrounds it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from softnpu.judging.dtypes import NUMPY
from tests.support.capi import DeviceArray, PhaseOne, Session
from tests.support.contract import contract

GARBAGE = 77  # what outputs hold before a launch


@dataclass
class Prepared:
    """The base call of an operator, its arguments created."""

    session: Session
    operator: str
    arguments: dict[str, Any]
    arrays: dict[str, DeviceArray]
    out: DeviceArray
    expect: npt.NDArray[Any]
    kinds: dict[str, str]

    def plan(self) -> PhaseOne:
        """Phase one, which must succeed."""
        return self.session.plan(self.operator, *self.arguments.values())

    def try_plan(self, **changed: Any) -> PhaseOne:
        """Phase one with other arguments."""
        return self.session.phase_one(self.operator, *{**self.arguments, **changed}.values())

    def launch(self, planned: PhaseOne) -> int:
        """Phase two."""
        return self.session.launch(self.operator, planned)

    def destroy_arguments(self) -> None:
        """Destroy every descriptor of the call."""
        destroy = {"tensor": "Tensor", "scalar": "Scalar", "int_array": "IntArray"}
        for name, kind in self.kinds.items():
            if kind in destroy:
                function = getattr(self.session.api, "aclDestroy" + destroy[kind])
                self.session.check(function(self.arguments[name]))

    def overwrite(self, name: str, values: npt.NDArray[Any]) -> None:
        """Replace a tensor's data on the device."""
        array = self.arrays[name]
        assert values.dtype == array.like.dtype
        assert values.shape == array.like.shape
        self.session.upload(values, array.address)

    def assert_computed(self) -> None:
        """The output holds the base call's result."""
        np.testing.assert_allclose(self.out.read(), self.expect, rtol=1e-6)


def prepare(session: Session, op: str) -> Prepared:
    """The base call of an operator."""
    spec = contract(op)
    arguments: dict[str, Any] = {}
    arrays: dict[str, DeviceArray] = {}
    for a in spec.arguments:
        value = spec.base[a.name]
        if a.kind == "tensor":
            fill = value.get("data", [GARBAGE])
            data = np.resize(np.array(fill).astype(NUMPY[value["dtype"]]), value["shape"])
            arrays[a.name] = session.array(data, value.get("format", "ND"))
            arguments[a.name] = arrays[a.name].handle
        elif a.kind == "scalar":
            arguments[a.name] = session.scalar(value["dtype"], value["value"])
        elif a.kind == "int_array":
            arguments[a.name] = session.int_array(value)
        else:
            arguments[a.name] = value
    out = arrays[spec.output]
    unchanged = next(c for c in spec.cases if c.call.arguments == spec.base)
    assert unchanged.expect is not None
    expect = np.resize(np.array(unchanged.expect).astype(out.like.dtype), out.like.shape)
    kinds = {a.name: a.kind for a in spec.arguments}
    return Prepared(session, spec.operator, arguments, arrays, out, expect, kinds)
