# SPDX-License-Identifier: Apache-2.0
"""Generates the C API of operators: headers, and the entry points of both phases."""

from __future__ import annotations

from collections.abc import Sequence

from .description import Argument, Operator
from .texts import LICENCE, WIDTH, call

_C_TYPES = {
    "tensor": "aclTensor*",
    "scalar": "const aclScalar*",
    "int_array": "const aclIntArray*",
    "bool_array": "const aclBoolArray*",
    "tensor_list": "aclTensorList*",
    "text": "const char*",
    "int": "int64_t",
    "int8": "int8_t",
    "float": "float",
    "double": "double",
    "bool": "bool",
    "dtype": "aclDataType",
}
PHASE_TWO = ["void* workspace", "uint64_t workspaceSize", "aclOpExecutor* executor"]
PHASE_TWO.append("aclrtStream stream")


def parameter(argument: Argument) -> str:
    """Declare an argument of phase one."""
    may_write = argument.kind in ("tensor", "tensor_list")
    const = "const " if may_write and not argument.is_output else ""
    return f"{const}{_C_TYPES[argument.kind]} {argument.name}"


def phase_one(operator: Operator) -> list[str]:
    """List the parameters of phase one."""
    given = [parameter(a) for a in operator.arguments]
    return [*given, "uint64_t* workspaceSize", "aclOpExecutor** executor"]


def header(operators: Sequence[Operator], include: str = "") -> str:
    """Write the header of an operator and its in-place form.

    Parameters
    ----------
    operators : sequence of Operator
    include : str
        What the header includes; empty for one that lies in the SDK's ``aclnnop/``.
    """
    declared = "\n".join(declarations(operator) for operator in operators)
    summary = operators[0].text("summary")
    return header_of(operators[0].header, summary, declared, include or INCLUDES)


INCLUDES = '#include "../aclnn/aclnn_base.h"\n#include "aclnn_util.h"'


def header_of(name: str, summary: str, declared: str, includes: str = INCLUDES) -> str:
    """Write a header that declares functions of C."""
    return guarded(
        name,
        summary,
        f"""{includes}

#ifdef __cplusplus
extern "C" {{
#endif

{declared}
#ifdef __cplusplus
}}
#endif
""",
    )


def guarded(name: str, summary: str, text: str) -> str:
    """Guard the text of a header."""
    guard = f"SOFTNPU_INCLUDE_{name.upper().replace('/', '_').replace('.', '_')}_"
    return f"""// {LICENCE}
//
{_comment(summary)}
#ifndef {guard}
#define {guard}

{text}
#endif  // {guard}
"""


def _comment(text: str) -> str:
    lines, line = [], "//"
    for word in text.split():
        if len(line) + 1 + len(word) > WIDTH:
            lines.append(line)
            line = "//"
        line += f" {word}"
    return "\n".join([*lines, line])


def declarations(operator: Operator) -> str:
    """Declare both phases."""
    name = operator.aclnn
    one = call(f"ACLNN_API aclnnStatus {name}GetWorkspaceSize(", phase_one(operator), ");")
    two = call(f"ACLNN_API aclnnStatus {name}(", PHASE_TWO, ");")
    return f"""// Phase one: checks the arguments, plans, returns how many bytes phase two needs.
{one}

// Phase two: launches the plan on `stream`; releases the executor unless it is repeatable.
{two}
"""


def entry_points(operator: Operator) -> str:
    """Define both phases."""
    names = [a.name for a in operator.arguments]
    fields = [f".{a.field} = {_read(a)}" for a in operator.arguments]
    one = call(
        f'extern "C" aclnnStatus {operator.aclnn}GetWorkspaceSize(', phase_one(operator), ") {"
    )
    two = call(f'extern "C" aclnnStatus {operator.aclnn}(', PHASE_TWO, ") {")
    kind = f"softnpu::ops::{operator.name}"
    handles = " h" if any(a.is_pointer for a in operator.arguments) else ""
    return f"""{one}
  return softnpu::phase_one<{kind}>(
      CALL({", ".join(names)}, workspaceSize, executor), workspaceSize, executor,
      [&](softnpu::Handles&{handles}) -> {kind}::Args {{
        return {{{", ".join(fields)}}};
      }});
}}

{two}
  return softnpu::launch_executor(CALL(workspace, workspaceSize, executor, stream),
                                  {kind}::kTraits, workspace, workspaceSize, executor, stream);
}}
"""


def _read(argument: Argument) -> str:
    if argument.is_pointer:
        return f'h.{argument.kind}("{argument.name}", {argument.name})'
    return argument.name
