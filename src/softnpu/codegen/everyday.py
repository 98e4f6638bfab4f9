# SPDX-License-Identifier: Apache-2.0
"""The everyday operators: many descriptions in few lines. `operators/README.md` has the keys."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from . import c_api, described
from .description import PRODUCTS, Argument, DescriptionError, Operator, in_place_form
from .texts import LICENCE

_KINDS = {"ints": "int_array", "bools": "bool_array", "tensors": "tensor_list"}
_ROLES = {"=": "out", "&": "inout"}
_PARAMETER = re.compile(r"(?:(?P<kind>\w+) )?(?P<marks>[=&?#]*)(?P<name>\w+)(?::(?P<absent>\S+))?")
_KEYS = {"parameters", "compute", "real", "whole", "fills", "in_place", "plan", "header", "apart"}
# Headers that programs include although softnpu has no operator of them.
_OTHER_HEADERS = ("ger", "grouped_matmul_v3", "recurrent_gated_delta_rule", "sum")
HEADER = "aclnnop/softnpu_everyday.h"


def operators(path: Path, table: dict[str, Any]) -> list[Operator]:
    """Read one file: an operator a row, and the in-place forms.

    Raises
    ------
    DescriptionError
        A row breaks a rule.
    """
    found: list[Operator] = []
    for name, row in table.items():
        try:
            found += _operators(name, row)
        except (KeyError, TypeError, ValueError) as error:
            raise DescriptionError(f"{path}: {name}: {error}") from error
    return found


def _operators(name: str, row: dict[str, Any]) -> Iterator[Operator]:
    if set(row) - _KEYS:
        raise ValueError(f"unknown key {sorted(set(row) - _KEYS)[0]!r}")
    parameters = row.get("parameters", "self, =out").split(", ")
    arguments = tuple(_argument(parameter) for parameter in parameters)
    operator = Operator(name, arguments, (), {"products": PRODUCTS, "elementwise": True, **row})
    yield operator
    if row.get("in_place", False):
        yield in_place_form(operator)


def _argument(text: str) -> Argument:
    match = _PARAMETER.fullmatch(text)
    if match is None:
        raise ValueError(f"parameter {text!r}; expected [KIND] [=&?#]NAME")
    kind = match["kind"] or "tensor"
    kind = _KINDS.get(kind, kind)
    role = "in" if kind in ("tensor", "tensor_list") else "attr"
    for mark, other in _ROLES.items():
        role = other if mark in match["marks"] else role
    absent = match["absent"] or "0"
    marks = match["marks"]
    return Argument(
        *(match["name"], kind, role),
        optional="?" in marks,
        absent=absent,
        may_be_int4="#" in marks,
    )


def files(found: list[Operator]) -> dict[str, str]:
    """Generate all files, by their names in the folder for what is generated."""
    apart = [o for o in found if _is_apart(o)]
    common = [o for o in found if not _is_apart(o)]
    headers = {header for o in common for header in (o.family, _header_name(o))}
    names = sorted(f"aclnnop/aclnn_{name}.h" for name in headers.union(_OTHER_HEADERS))
    return {
        f"include/{HEADER}": _header(common),
        **{f"include/{o.header}": _own_header(o) for o in apart},
        **{f"include/{name}": _thin_header(name) for name in names},
        "core/everyday/plans.h": _plans(found),
        "core/everyday/table.cpp": _table(found),
        "core/everyday/entries.cpp": _entries(found),
    }


def _is_apart(operator: Operator) -> bool:
    """Whether only its own header declares it."""
    return bool(operator.table.get("apart", False))


def _own_header(operator: Operator) -> str:
    summary = "An everyday operator that programs declare themselves: no other header declares it."
    return c_api.header_of(operator.header, summary, c_api.declarations(operator))


def _header_name(operator: Operator) -> str:
    """Name the toolkit's header; in-place operators are in the one of the other form."""
    return str(operator.table.get("header", operator.family.removeprefix("inplace_")))


def _thin_header(name: str) -> str:
    summary = "Everyday operators, all of which one header declares."
    return c_api.guarded(name, summary, '#include "softnpu_everyday.h"\n')


def _header(found: list[Operator]) -> str:
    summary = (
        "The everyday operators. No vendor document stands behind them: public programs show how "
        "they are called. Every header aclnnop/aclnn_<operator>.h of theirs is this one."
    )
    declared = "\n".join(c_api.declarations(operator) for operator in found)
    return c_api.header_of(HEADER, summary, declared + _WEIGHT_SIZE)


_WEIGHT_SIZE = """
// How many elements a weight has after aclnnTransMatmulWeight. This call has no second phase.
ACLNN_API aclnnStatus aclnnCalculateMatmulWeightSizeV2(const aclIntArray* shape,
                                                       aclDataType dataType, uint64_t* size);
"""


def _plans(found: list[Operator]) -> str:
    names = sorted({described.plan(o) for o in found if not described.is_formula(o)})
    declared = "".join(f"Run {name}(const Given& given);\n" for name in names)
    return f"""// {LICENCE}
// Generated from operators/everyday/.
#pragma once

#include "described/arrays.h"

namespace softnpu::everyday {{

using namespace described;

{declared}
}}  // namespace softnpu::everyday
"""


def _table(found: list[Operator]) -> str:
    parameters = "".join(described.parameters(o) for o in found)
    rows = "".join(
        f"    {described.initializer(o, 'nullptr', '', everyday=True)},\n" for o in found
    )
    return f"""// {LICENCE}
// Generated from operators/everyday/.
#include "described/elementwise.h"
#include "described/formulas.h"
#include "everyday/operators.h"
#include "everyday/plans.h"

namespace softnpu::everyday {{
namespace {{

{parameters}
}}  // namespace

const Operator kOperators[] = {{
{rows}}};

}}  // namespace softnpu::everyday

namespace softnpu::described {{

std::span<const Operator> everyday() {{ return everyday::kOperators; }}

}}  // namespace softnpu::described
"""


def _entries(found: list[Operator]) -> str:
    entries = "\n".join(
        described.entry_points(o, f"softnpu::everyday::kOperators[{i}]")
        for i, o in enumerate(found)
    )
    headers = [HEADER, *(o.header for o in found if _is_apart(o))]
    included = "".join(f'#include "{name}"\n' for name in headers)
    return f"""// {LICENCE}
// Generated from operators/everyday/.
{included}#include "described/operator.h"
#include "everyday/operators.h"

{entries}"""
