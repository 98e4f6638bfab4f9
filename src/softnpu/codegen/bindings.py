# SPDX-License-Identifier: Apache-2.0
"""Generates the operators of the extension `_core`, and their signatures."""

from __future__ import annotations

from collections.abc import Sequence

from .description import Argument, Operator
from .texts import LICENCE


def parameters(operator: Operator) -> list[str]:
    """List the parameters of the function of the extension."""
    names = [a.python for a in operator.inputs]
    names += ["format"] if operator.table.get("format") else []
    return names if operator.in_place_of else [*names, "out"]


def signature(operator: Operator) -> str:
    """Write the function's signature, as Python's stubs have it."""
    given = [
        f"{name}: Array | None" if name == "out" else f"{name}: Any"
        for name in parameters(operator)
    ]
    return f"def {operator.python}({', '.join(given)}, /) -> Array"


def functions(operators: Sequence[Operator]) -> str:
    """Define the functions on arrays; `bindings/operators.cpp` includes them."""
    return (
        f"// {LICENCE}\n// Generated from the descriptions of the operators.\n"
        + "\n".join(_function(operator) for operator in operators)
        + "\nvoid define_operators(nb::module_& m) {\n"
        + "".join(
            f'  define_operator(m, "{o.python}", &{_name(o)}, "{signature(o)}");\n'
            for o in operators
        )
        + "}\n"
    )


def phases(operators: Sequence[Operator]) -> str:
    """Bind both phases of each; `bindings/aclnn_executors.cpp` includes it."""
    lines = (
        f"  BIND_PHASES({o.aclnn}, {', '.join(_arg(a) for a in o.arguments)});\n" for o in operators
    )
    return (
        f"// {LICENCE}\n// Generated from the descriptions of the operators.\n"
        "void bind_phases(nb::module_& m) {\n" + "".join(lines) + "}\n"
    )


def includes(operators: Sequence[Operator]) -> str:
    """Include the headers of all operators."""
    headers = sorted({o.header for o in operators})
    return f"// {LICENCE}\n" + "".join(f'#include "{header}"\n' for header in headers)


def stubs(operators: Sequence[Operator]) -> str:
    """Write the signatures of the functions and of both phases."""
    names = [*(o.python for o in operators), *phase_names(operators)]
    listed = "".join(f'    "{name}",\n' for name in sorted(names))
    written = "".join(
        f"{signature(o)}: ...\n"
        f"def {o.aclnn}GetWorkspaceSize(\n    {_phase_one(o)}\n) -> tuple[int, int]: ...\n"
        f"def {o.aclnn}(\n    workspace: int | None, workspaceSize: int, executor: int | None,"
        " stream: int | None\n) -> None: ...\n"
        for o in operators
    )
    return (
        f"# {LICENCE}\n# Generated from the descriptions of the operators.\n"
        "from typing import Any\n\nimport numpy\n\n"
        f"from softnpu.arguments import Array\n\n__all__ = [\n{listed}]\n\n{written}"
    )


def phase_names(operators: Sequence[Operator]) -> list[str]:
    """List the functions of the C API."""
    return sorted(f"{o.aclnn}{phase}" for o in operators for phase in ("GetWorkspaceSize", ""))


def phase_module(operators: Sequence[Operator]) -> str:
    """Write `softnpu._phases`, which `softnpu.aclnn` has all names of."""
    listed = "".join(f"    {name} as {name},\n" for name in phase_names(operators))
    return (
        f'# {LICENCE}\n"""Both phases of each operator. Generated from their descriptions."""\n\n'
        f"from softnpu._core import (\n{listed})\n"
    )


def _phase_one(operator: Operator) -> str:
    kinds = {"int": "int", "float": "float", "double": "float", "bool": "bool | numpy.bool_"}
    return ", ".join(f"{a.name}: {kinds.get(a.kind, 'int | None')}" for a in operator.arguments)


def _name(operator: Operator) -> str:
    return operator.op  # not the function's own, which may be a word of C++


def _arg(argument: Argument) -> str:
    return f'arg("{argument.name}")'


def _function(operator: Operator) -> str:
    names = parameters(operator)
    given = ", ".join(f"nb::handle {name}" for name in names)
    fields = ",\n      ".join(f".{a.field} = {_read(a)}" for a in operator.arguments)
    lines = ['  in.format("format", format);\n'] if "format" in names else []
    lines += ["  in.make_contiguous();\n"] if operator.table.get("layout") == "contiguous" else []
    return f"""
nb::object {_name(operator)}({given}) {{
  Arguments in;
  const ops::{operator.name}::Args args{{
      {fields}}};
{"".join(lines)}  return call<ops::{operator.name}>(in, args, {_describe(operator)});
}}
"""


def _read(argument: Argument) -> str:
    if argument.kind == "tensor":
        reader = {"in": "input", "out": "output", "inout": "in_out"}[argument.role]
    elif argument.takes:
        reader = argument.takes
    else:
        reader = {"int": "integer", "float": "number", "double": "number", "bool": "flag"}.get(
            argument.kind, argument.kind
        )
    return f'in.{reader}("{argument.name}", {argument.python})'


def _describe(operator: Operator) -> str:
    """Describe a new output: like a tensor, or by the operator's own function."""
    if operator.in_place_of:
        return "[](Tensor&) {}"
    result = operator.table.get("result", "by hand")
    if result == "by hand":
        return f"[&](Tensor& made) {{ ops::{operator.name}::describe(args, made); }}"
    like = operator.argument(result.removeprefix("like ")).field
    return f"[&](Tensor& made) {{ describe_like(*args.{like}, made); }}"
