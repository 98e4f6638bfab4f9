# SPDX-License-Identifier: Apache-2.0
"""Generates `softnpu.functional`: the operators as typed Python functions with docstrings."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterator, Sequence
from dataclasses import replace

from .bindings import parameters
from .description import Argument, Operator

NUMPY = {"FLOAT": "float32", "DOUBLE": "float64", "BF16": "bfloat16"}
_GLUE = "\0"  # a space where no line ends
FORMAT = (
    '"NDHWC" for arrays whose last axis is the channel; "ND", "NCHW" and the other public formats '
    'are read as "NCDHW".'
)


def module(operators: Sequence[Operator], head: str) -> str:
    """Write the module; `head` is its own docstring and what is not generated."""
    names = sorted([o.python for o in operators])
    listed = "".join(f'    "{name}",\n' for name in ["Array", *names])
    body = "\n\n".join(_function(operator) for operator in operators)
    return f"{head.rstrip()}\n\n__all__ = [\n{listed}]\n\n\n{body}"


def _function(operator: Operator) -> str:
    heads = [*_overloads(operator), _head(operator)]
    lines = docstring(operator)
    values = ", ".join(parameters(operator))
    call = f"return _core.{operator.python}({values})"
    if operator.in_place_of:
        call += "  # type: ignore[return-value]"
    overloads = "".join(f"@overload\n{head} ...\n" for head in heads[:-1])
    return f'{overloads}{heads[-1]}\n    """{lines}\n    """\n    {call}\n'


def _overloads(operator: Operator) -> Iterator[str]:
    """Tell the kind of the result by that of the first array, and by out."""
    if operator.in_place_of:
        return
    scalars = _takes_scalars(operator.tensors[0])
    keeps_type = operator.table.get("result", "by hand") != "by hand" or not scalars
    if keeps_type:
        yield _head(operator, "ndarray[ShapeT, DTypeT]", "ndarray[ShapeT, DTypeT]", "None = None")
        if scalars:
            yield _head(operator, "ScalarT", "NDArray[ScalarT]", "None = None")
    else:
        yield _head(operator, "NDArray[Any] | generic", "NDArray[Any]", "None = None")
    yield _head(operator, "ArrayT", "ArrayT", "None = None")
    yield _head(operator, _array(operator.tensors[0]), "ArrayT", "ArrayT")


def _head(operator: Operator, first: str = "", result: str = "Array", out: str = "") -> str:
    given = []
    for argument in operator.inputs:
        kind = first if first and argument is operator.tensors[0] else _type(argument)
        default = "" if argument.default is None else f" = {_value(argument.default)}"
        given.append(f"{argument.python}: {kind}{default}")
    if operator.in_place_of:
        result = "ArrayT"
    else:
        given.append("*")
        given += ['format: str = "NCDHW"'] if operator.table.get("format") else []
        given.append(f"out: {out or 'Array | None = None'}")
    line = f"def {operator.python}({', '.join(given)}) -> {result}:"
    if len(line) <= 96:
        return line
    inside = "".join(f"    {each},\n" for each in given)
    return f"def {operator.python}(\n{inside}) -> {result}:"


def _value(default: object) -> str:
    return f'"{default}"' if isinstance(default, str) else repr(default)


def _takes_scalars(tensor: Argument) -> bool:
    return not tensor.rank or tensor.rank[0] in "01"


def _array(tensor: Argument) -> str:
    return "Operand" if _takes_scalars(tensor) else "Array"


def _type(argument: Argument) -> str:
    if argument.role == "inout":
        return "ArrayT"
    if argument.kind == "tensor":
        return _array(argument)
    if argument.takes == "scale":
        return "Number | None"
    if argument.takes == "reduction":
        return "Reduction"
    return {"int_array": "Sizes", "bool": "Flag", "int": "SupportsIndex"}.get(
        argument.kind, "Number"
    )


# --- docstrings ---------------------------------------------------------------------------------


def docstring(operator: Operator) -> str:
    """Write the docstring of a Python function, without its quotes."""
    parts = [operator.summary, _text(operator), _parameters(operator), _returns(operator)]
    parts += [_raises(operator), _notes(operator)]
    return "\n\n".join(part for part in parts if part)


def _filled(text: str, indent: int = 4) -> str:
    """Wrap paragraphs, which empty lines separate; quoted code stays on one line."""
    text = re.sub(r"(`+)[^`]*\1", lambda code: code[0].replace(" ", _GLUE), text.strip())
    paragraphs = re.split(r"\n\s*\n", text)
    pad = " " * indent
    return "\n\n".join(
        textwrap.fill(" ".join(p.split()), 100, initial_indent=pad, subsequent_indent=pad)
        for p in paragraphs
    ).replace(_GLUE, " ")


def _text(operator: Operator) -> str:
    if operator.in_place_of:
        return _filled(f"What `{operator.family}` computes of self_ref takes its place.")
    return _filled(str(operator.table.get("text", "")))


def _titled(title: str, body: str) -> str:
    return f"    {title}\n    {'-' * len(title)}\n{body}"


def _parameters(operator: Operator) -> str:
    """Describe the arguments; those without a text share that of the one before."""
    groups: list[list[Argument]] = []
    for argument in operator.arguments:
        shares = argument.kind != "tensor" and groups and groups[-1][0].text
        if shares and not argument.text:
            groups[-1].append(argument)
        else:
            groups.append([argument])
    entries = []
    for group in groups:
        names = ", ".join(a.python for a in group)
        if group[0].role == "out" and operator.table.get("format"):
            entries.append(f"    format : str, optional\n{_filled(FORMAT, 8)}")
        about = _filled(_about(group[0]), 8)
        entries.append(f"    {names} : {_words(group[0], operator)}\n{about}".rstrip())
    return _titled("Parameters", "\n".join(entries))


def _words(argument: Argument, operator: Operator) -> str:
    if argument.role == "out":
        return "array, optional" if {"result", "returns"} & {*operator.table} else "array"
    if argument.optional:
        return f"{_words(replace(argument, optional=False), operator)} or None"
    if argument.takes == "scale":
        return "number, optional"
    if argument.takes == "reduction":
        return '{0, 1, 2, "none", "mean", "sum"}'
    if argument.kind == "int_array":
        count = f"{argument.length} " if argument.length else ""
        return f"sequence of {count}int"
    words = {"tensor": "array", "bool": "bool", "int": "int"}
    return words.get(argument.kind, "number")


def _about(argument: Argument) -> str:
    if argument.role == "inout":
        types = _types_and_rank(argument).removesuffix(".")
        return f"{types}; strided too, but no two elements may lie on the same memory."
    if argument.text or argument.kind != "tensor":
        return argument.text
    return _types_and_rank(argument) if argument.types or argument.rank else ""


def _types_and_rank(argument: Argument) -> str:
    types = [NUMPY.get(name, name.lower()) for name in argument.types]
    listed = " or ".join([", ".join(types[:-1]), types[-1]] if len(types) > 1 else types)
    low, _, high = argument.rank.partition("-")
    rank = f"of rank {low} to {high}" if high else f"of rank {low}" if low else "of any shape"
    return f"{listed or 'any real data type'}, {rank}."


def _returns(operator: Operator) -> str:
    first = operator.tensors[0].python
    kept = (
        f"A new PyTorch tensor has the memory format of {first}; other new arrays are contiguous."
    )
    if operator.in_place_of:
        told = f"        ``{first}``."
    elif "returns" in operator.table:
        told = _filled(str(operator.table["returns"]), 8)
    elif operator.table.get("result", "by hand") == "by hand":
        told = "        ``out``, which must be given."
    else:
        like = operator.argument(operator.table["result"].removeprefix("like ")).python
        told = _filled(f"``out``, or a new array with the shape and data type of {like}. {kept}", 8)
    return _titled("Returns", f"    array\n{told}")


def _raises(operator: Operator) -> str:
    has_others = any(a.is_pointer for a in operator.inputs[1:])
    null = (
        "An argument other than out is None"
        if has_others
        else f"{operator.tensors[0].python} is None"
    )
    index = str(operator.table.get("raises", ""))
    rows = {
        "ParamNullptrError": f"{null} (161001).",
        "ParamInvalidError": "An argument breaks the rules above (161002).",
        "IndexOutOfRangeError": index,
        "AclnnError": "SOFTNPU_SOC names no product (100000), or one that does not have the "
        "operator (561003).",
        "MemoryError": "" if operator.in_place_of else "There is not enough memory.",
    }
    return _titled(
        "Raises",
        "\n".join(f"    {name}\n{_filled(text, 8)}" for name, text in rows.items() if text),
    )


def _notes(operator: Operator) -> str:
    source = f"Source: {operator.aclnn}."
    if operator.pytorch and "(" not in operator.pytorch:
        source += f" PyTorch's counterpart is ``{operator.pytorch}``."
    return _titled("Notes", _filled(source))
