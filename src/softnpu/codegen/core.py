# SPDX-License-Identifier: Apache-2.0
"""Generates the operators of the core: a struct each with its arguments, checks and plan."""

from __future__ import annotations

from collections.abc import Sequence

from . import c_api
from .checks import TYPES, Check
from .description import Argument, Operator
from .texts import LICENCE

_FIELDS = {
    "tensor": "TensorArg",
    "scalar": "const Scalar*",
    "int_array": "const IntArray*",
    "int": "int64_t",
    "float": "double",  # from Python as the caller wrote it; a float32 is what is used
    "double": "double",
    "bool": "bool",
}


def header(operators: Sequence[Operator]) -> str:
    """Declare the operators: `core/executor/two_phase.h` says what a struct has."""
    plans = [o.plan for o in operators if o.plan and not o.plan.startswith("loops::")]
    own = [f'#include "ops/{o.family}_plan.h"' for o in operators if o.plan in plans]
    structs = "\n".join(_struct(operator) for operator in operators)
    return f"""// {LICENCE}
// Generated from the descriptions of the operators.
#pragma once

#include <array>

#include "executor/two_phase.h"
#include "loops/elementwise.h"
{"".join(line + chr(10) for line in own)}
namespace softnpu::ops {{

{structs}
}}  // namespace softnpu::ops
"""


def source(operators: Sequence[Operator], includes: Sequence[str]) -> str:
    """Define the operators and their entry points."""
    included = "".join(f'#include "{name}"\n' for name in includes)
    defined = "\n".join(_definitions(operator) for operator in operators)
    entries = "\n".join(c_api.entry_points(operator) for operator in operators)
    return f"""// {LICENCE}
// Generated from the descriptions of the operators.
#include "executor/checks.h"
{included}
namespace softnpu::ops {{

{defined}
}}  // namespace softnpu::ops

{entries}"""


def kernel_list(operators: Sequence[Operator]) -> str:
    """List the elementwise kernels, for the table of each instruction set."""
    names = [name for o in operators if not o.in_place_of for name in o.kernels]
    each = " \\\n".join(f"  each({name})" for name in names)
    return f"""// {LICENCE}
// Generated from the descriptions of the operators.
#pragma once

#define SOFTNPU_ELEMENTWISE_KERNELS(each) \\
{each}
"""


def _struct(operator: Operator) -> str:
    fields = "".join(f"    {_FIELDS[a.kind]} {a.field};\n" for a in operator.arguments)
    tensors = ", ".join(f'{{"{a.name}", a.{a.field}, Use::{_use(a)}}}' for a in operator.tensors)
    plan = operator.plan or ("loops::InPlacePlan" if operator.in_place_of else _PLAN)
    by_hand = "".join(
        f"  static Status {check.function}(const Args& a);\n"
        for check in operator.checks
        if check.predicate == "by_hand"
    )
    if _has_own_result(operator):
        by_hand += "  SOFTNPU_EXPORT static void describe(const Args& a, Tensor& out);\n"
    return f"""struct {operator.name} {{
  struct Args {{
{fields}  }};
  using Plan = {plan};

  SOFTNPU_EXPORT static const OperatorTraits kTraits;
  SOFTNPU_EXPORT static Status check_pointers(const Args& a);
  SOFTNPU_EXPORT static Status check(const Args& a);
{by_hand}  static std::array<Operand, {len(operator.tensors)}> operands(const Args& a) {{
    return {{{{{tensors}}}}};
  }}
  SOFTNPU_EXPORT static Plan plan(const Args& a);
}};
"""


_PLAN = "loops::ElementwisePlan"


def _has_own_result(operator: Operator) -> bool:
    """Whether the core has a function that describes a new output."""
    return not operator.in_place_of and operator.table.get("result", "by hand") == "by hand"


def _use(argument: Argument) -> str:
    if argument.role == "inout":
        return "update"
    if argument.role == "out":
        return "write"
    return "read" if argument.reads else "shape_only"


def _definitions(operator: Operator) -> str:
    products = ", ".join(f"runtime::Soc::{name.lower()}" for name in operator.products)
    nulls = "".join(
        f'  REQUIRE(a.{a.field}, kParamNullptr, "{null_rule(a)}"_rule, "{a.name} is null");\n'
        for a in operator.arguments
        if a.is_pointer
    )
    plan = "" if operator.plan else _elementwise_plan(operator)
    lines = [line for check in operator.checks for line in check_lines(check, operator)]
    checks = "".join(f"  {line}\n" for line in lines)
    tensors = "  const auto tensors = operands(a);\n" if "tensors" in checks else ""
    return f"""const OperatorTraits {operator.name}::kTraits = {{
    .name = "{operator.aclnn}",
    .products = {{{products}}},
    .in_place = {str(operator.is_elementwise).lower()},
}};

Status {operator.name}::check_pointers(const Args& a) {{
{nulls}  return {{}};
}}

Status {operator.name}::check([[maybe_unused]] const Args& a) {{
{tensors}{checks}  return {{}};
}}
{plan}"""


def null_rule(argument: Argument) -> str:
    """Get the id of the rule that an argument is not null; of outRef it is out-null."""
    name = argument.field.removesuffix("_ref") if argument.role == "out" else argument.field
    return f"{name.replace('_', '-')}-null"


def check_lines(
    check: Check, operator: Operator, scalar: str = "*a.{field}", tensor: str = "tensors[{i}]"
) -> list[str]:
    """Write the statements of one check; `scalar` and `tensor` are how they name arguments."""
    if check.predicate == "by_hand":
        return [f"RETURN_IF_FAILED({check.function}(a));"]
    ((rule, _),) = check.rules.items()
    places = [_place(name, operator, tensor) for name in check.names]
    arguments = [operator.argument(name) for name in check.names]
    calls: list[str] = []
    if check.predicate == "types":
        for place, argument in zip(places, arguments, strict=True):
            types = ", ".join(f"DType::{TYPES[name]}" for name in argument.types)
            calls.append(f'check_type("{rule}"_rule, {place}, {{{types}}})')
        calls.append("check_formats(tensors)")
    elif check.predicate == "real":
        named = [(a.name, scalar.format(field=a.field, name=a.name)) for a in arguments]
        calls = [f'check_real("{rule}"_rule, "{name}", {value})' for name, value in named]
    elif check.predicate == "rank":
        for place, argument in zip(places, arguments, strict=True):
            low, _, high = argument.rank.partition("-")
            calls.append(f'check_rank("{rule}"_rule, {place}, {low}, {high or low})')
    elif check.predicate == "cast":
        calls = [f'check_cast("{rule}"_rule, {places[0]}, {places[1]})']
    elif check.predicate == "contiguous":
        calls = [f'check_contiguous("{rule}"_rule, {place})' for place in places]
    else:
        calls = [f'check_{check.predicate}("{rule}"_rule, {p}, {places[0]})' for p in places[1:]]
    return [f"RETURN_IF_FAILED({each});" for each in calls]


def _place(name: str, operator: Operator, tensor: str) -> str:
    names = [a.name for a in operator.tensors]
    return tensor.format(i=names.index(name), name=name) if name in names else ""


def _elementwise_plan(operator: Operator) -> str:
    """Plan an elementwise kernel, which gets the scalars as float32 in the documented order."""
    scalars = [f"to_float(*a.{a.field})" for a in operator.arguments if a.kind == "scalar"]
    default = f"std::array<float, {len(scalars)}>"
    numbers = f"kernels::{operator.table['numbers']}" if "numbers" in operator.table else default
    made = f"{numbers}{{{', '.join(scalars)}}}"
    (kernel,) = operator.kernels
    if operator.in_place_of:
        operands = f"*a.{operator.output.field}"
        before = ""
    else:
        listed = ", ".join(f"a.{a.field}.tensor" for a in operator.tensors)
        before = f"  const Tensor* const tensors[] = {{{listed}}};\n"
        operands = "tensors"
    return f"""
{operator.name}::Plan {operator.name}::plan(const Args& a) {{
{before}  return Plan({operands}, kernels::active_table().{kernel}, {made});
}}
"""


def includes(operators: Sequence[Operator]) -> list[str]:
    """List what the source of softnpu's own operators includes."""
    numbers = {f"kernels/{o.family}.h" for o in operators if "numbers" in o.table}
    headers = {o.header for o in operators}
    return [*sorted(headers), *sorted(numbers), "kernels/table.h", "ops/operators.h"]


def rules(operator: Operator) -> list[tuple[str, int, str]]:
    """List an operator's own rules in the order of the checks: id, status, what breaks it."""
    nulls = [
        (null_rule(a), 161001, f"{a.name} is null") for a in operator.arguments if a.is_pointer
    ]
    return nulls + [(i, 161002, why) for check in operator.checks for i, why in check.rules.items()]
