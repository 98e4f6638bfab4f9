# SPDX-License-Identifier: Apache-2.0
"""Generates what PyTorch is told of the operators: schemas, kernels, and typed functions."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from .bindings import parameters
from .description import Argument, Operator
from .texts import LICENCE

_SCHEMA_TYPES = {
    "tensor": "Tensor",
    "scalar": "Scalar",
    "int_array": "SymInt[]",
    "int": "int",
    "float": "float",
    "double": "float",
    "bool": "bool",
}
_REDUCTIONS = {"none": 0, "mean": 1, "sum": 2}


def schemas(operators: Sequence[Operator]) -> str:
    """Write `softnpu.torch.schemas`: the arguments of each, and its kernel on CPU tensors."""
    table = "".join(f'    "{o.python}": (\n        "{_schema(o)}"\n    ),\n' for o in operators)
    kernels = "\n\n".join(_kernel(o) for o in operators)
    alike = (o for o in operators if o.is_elementwise and "result" in o.table and not o.in_place_of)
    same = "".join(f'    "{o.python}",\n' for o in alike)
    return f'''# {LICENCE}
"""The operators as PyTorch's schemas have them. Generated from their descriptions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from torch import Tensor

from softnpu import _core

Sizes = Sequence[int]

# The arguments in the language of PyTorch's schemas; of one in place, those after the first.
SCHEMAS = {{
{table}}}
# Those whose tensors and result have one shape.
ELEMENTWISE = [
{same}]


{kernels}'''


def _default(argument: Argument) -> str:
    if argument.takes == "scale":
        return "None"
    if argument.default is None:
        return ""
    value = _REDUCTIONS.get(argument.default, argument.default)
    return repr(value)


def _schema(operator: Operator) -> str:
    given = operator.inputs[1:] if operator.in_place_of else operator.inputs
    return ", ".join(_schema_argument(a) for a in given)


def _schema_argument(argument: Argument) -> str:
    kind = _SCHEMA_TYPES[argument.kind] + ("?" if argument.takes == "scale" else "")
    if argument.length:
        kind = kind.replace("[]", f"[{argument.length}]")
    default = _default(argument)
    return f"{kind} {argument.python}" + (f"={default}" if default else "")


def _kernel(operator: Operator) -> str:
    given = [f"{a.python}: {_python_type(a)}{_with_default(a)}" for a in operator.inputs]
    if operator.in_place_of:
        given[0] = "self: Tensor"
    else:
        given.append("out: Tensor | None = None")
    names = [
        "self" if operator.in_place_of and n == "self_ref" else n for n in parameters(operator)
    ]
    values = ", ".join('"NCDHW"' if name == "format" else name for name in names)
    inside = "".join(f"    {each},\n" for each in [*given, "*", "kernels: Any = _core.kernels"])
    return f'''def {operator.python}(
{inside}) -> Tensor:
    """Compute on CPU tensors, or by another module's function of that name."""
    return kernels.{operator.python}({values})
'''


def _python_type(argument: Argument) -> str:
    if argument.takes == "scale":
        return "float | None"
    kinds = {"tensor": "Tensor", "int_array": "Sizes", "int": "int", "bool": "bool"}
    return kinds.get(argument.kind, "float")


def _with_default(argument: Argument) -> str:
    default = _default(argument)
    return f" = {default}" if default else ""


def functions(operators: Sequence[Operator]) -> str:
    """Write `softnpu.torch.functions`: the operators as functions that TorchScript compiles."""
    imports = "".join(
        f"from softnpu.torch.{o.family} import {o.python} as _{o.python}\n" for o in operators
    )
    names = "".join(f'    "{o.python}",\n' for o in operators)
    body = "\n\n".join("".join(_typed(o)) for o in operators)
    return f'''# {LICENCE}
"""The operators of ``torch.ops.softnpu`` as functions with signatures.

Generated from the descriptions of the operators. TorchScript compiles them, which knows no
arguments that are given by name only: not even ``out``.
"""

from typing import TYPE_CHECKING

from torch import Tensor

{imports}
if TYPE_CHECKING:
    from collections.abc import Sequence

    Sizes = Sequence[int]
else:
    Sizes = list[int]  # which TorchScript knows

__all__ = [
{names}]


{body}'''


def _typed(operator: Operator) -> Iterator[str]:
    name = operator.python
    given = [f"{a.python}: {_python_type(a)}{_with_default(a)}" for a in operator.inputs]
    values = ", ".join(a.python for a in operator.inputs)
    if operator.in_place_of:
        given[0] = "self: Tensor"
        values = ", ".join(["self", *(a.python for a in operator.inputs[1:])])
    else:
        given.append("out: Tensor | None = None")
    inside = "".join(f"    {each},\n" for each in given)
    yield f'def {name}(\n{inside}) -> Tensor:\n    """As `softnpu.{name}`."""\n'
    if not operator.in_place_of:
        yield f"    if out is not None:\n        return _{name}({values}, out=out)\n"
    yield f"    return _{name}({values})\n"
