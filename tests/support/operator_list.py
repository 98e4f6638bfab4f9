# SPDX-License-Identifier: Apache-2.0
"""A header for C++ tests that run all operators: names, and calls that the contract accepts."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

from tests.support.contract import DEFAULT_SOC, OPERATORS, Contract, contract
from tests.support.paths import EVERYDAY, INCLUDE, everyday_functions

MOST = 12  # calls of each operator


def _value(kind: str, value: Any) -> str:
    """Dimensions or integers, a data type, and a number: those that the kind of argument has."""
    dims, dtype, number = "", "ACL_DT_UNDEFINED", 0.0
    if kind == "tensor":
        dims, dtype = ", ".join(map(str, value["shape"])), "ACL_" + value["dtype"]
    elif kind == "int_array":
        dims = ", ".join(map(str, value["values"] if isinstance(value, dict) else value))
    elif kind != "scalar":
        number = float(value)
    return f"{{{{{dims}}}, {dtype}, {number!r}}}"


def _calls(spec: Contract) -> list[str]:
    """Small calls, as lists of values."""
    calls = [spec.call()] + [case.call for case in spec.cases if case.call.soc == DEFAULT_SOC]
    shown: dict[str, None] = {}
    for call in calls:
        tensors = [call.arguments[a.name] for a in spec.arguments if a.kind == "tensor"]
        numbers = [v for v in call.arguments.values() if isinstance(v, float)]
        small = all(max([1, *tensor["shape"]]) <= 300 for tensor in tensors)
        if small and all(map(math.isfinite, numbers)):
            values = (_value(a.kind, call.arguments[a.name]) for a in spec.arguments)
            shown[f"{{{', '.join(values)}}}"] = None
    return list(shown)[:MOST]


def write_operator_list(folder: Path) -> None:
    """Write `operator_list.h`: OPERATORS calls OPERATOR(name, calls...) with each."""
    headers = sorted((INCLUDE / "aclnnop").glob("aclnn_*.h"))
    includes = [f'#include "aclnnop/{header.name}"' for header in headers]
    rows = [
        f"OPERATOR({spec.operator}, {', '.join(_calls(spec))})" for spec in map(contract, OPERATORS)
    ]
    text = "\n".join([*includes, "#define OPERATORS " + " ".join(rows), ""])
    (folder / "operator_list.h").write_text(text, "utf-8")


def write_everyday_list(folder: Path) -> None:
    """Write `everyday_list.h`: EVERYDAY calls OPERATOR(name) with each everyday operator."""
    includes = [f'#include "{header}"' for header in EVERYDAY]
    suffix = "GetWorkspaceSize"
    names = [name.removesuffix(suffix) for name in everyday_functions() if name.endswith(suffix)]
    rows = " ".join(f"OPERATOR({name})" for name in names)
    (folder / "everyday_list.h").write_text(
        "\n".join([*includes, f"#define EVERYDAY {rows}", ""]), "utf-8"
    )
