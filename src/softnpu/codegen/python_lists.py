# SPDX-License-Identifier: Apache-2.0
"""Generates the modules that import what each operator has by hand in a folder of the package."""

from __future__ import annotations

from collections.abc import Sequence

from .description import Operator
from .texts import LICENCE


def references(operators: Sequence[Operator]) -> str:
    """Write `softnpu.reference.operators`: the float64 definitions."""
    names = [o.family for o in operators if not o.in_place_of]
    return _module("The definitions", "softnpu.reference", names, names)


def triton_kernels(operators: Sequence[Operator]) -> str:
    """Write `softnpu.triton.operators`: the kernels for GPUs, and their in-place forms."""
    names = [o.family for o in operators if not o.in_place_of]
    in_place = [o for o in operators if o.in_place_of]
    functions = "".join(_in_place(operator) for operator in in_place)
    listed = [o.python for o in operators]
    return _module("The kernels", "softnpu.triton", names, listed) + functions


def _module(what: str, package: str, names: Sequence[str], listed: Sequence[str]) -> str:
    imports = "".join(f"from {package}.{name} import {name}\n" for name in names)
    needs = "\nfrom torch import Tensor\n\n" if listed != names else "\n"
    return (
        f'# {LICENCE}\n"""{what} of all operators. Generated from their descriptions."""\n'
        f"{needs}{imports}\n__all__ = [\n"
        + "".join(f'    "{name}",\n' for name in sorted(listed))
        + "]\n"
    )


def _in_place(operator: Operator) -> str:
    numbers = [a.python for a in operator.inputs[1:]]
    given = ", ".join(["self: Tensor", *(f"{name}: float" for name in numbers)])
    values = ", ".join(["self", *numbers, "self"])
    return (
        f"\n\ndef {operator.python}({given}) -> Tensor:\n"
        f'    """Write {operator.family} of `self` over it; as `softnpu.{operator.python}`."""\n'
        f"    return {operator.family}({values})\n"
    )
