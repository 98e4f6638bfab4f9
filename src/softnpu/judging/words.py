# SPDX-License-Identifier: Apache-2.0
"""Reads a case from command-line arguments."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from softnpu.contract import Contract
from softnpu.judging.case import FORMAT, CaseError, result_name, takes_format
from softnpu.judging.files import dtype_named, read_array, read_as, read_case, read_raw, shaped

# Names of arguments; any other text before a = is part of a file's name.
_NAMED = re.compile(r"([A-Za-z]\w*)=(.*)", re.DOTALL)


@dataclass(frozen=True)
class Described:
    """One kind of property on the command line: by argument, and for all raw files."""

    by_name: dict[str, str]
    of_all: str = ""

    def of(self, name: str) -> str:
        """Return the property of a raw file."""
        return self.by_name.get(name, self.of_all)


def read_parts(
    contract: Contract, parts: Sequence[str], dtypes: Sequence[str], shapes: Sequence[str]
) -> dict[str, Any]:
    """Read the arguments on the command line; tensors are read from files."""
    dtype, shape = _described("--dtype", dtypes), _described("--shape", shapes)
    values: dict[str, Any] = {}
    for part in parts:
        named = _NAMED.fullmatch(part)
        if named is None:
            new = dict(read_case(part))
        else:
            new = {named[1]: _value(contract, named[1], named[2], dtype, shape)}
        twice = sorted(values.keys() & new.keys())
        if twice:
            raise CaseError(
                f"{contract.operator}: given twice: {', '.join(twice)}", rule="case-given-twice"
            )
        values |= new
    _require_known(contract, values, "--dtype", dtype)
    _require_known(contract, values, "--shape", shape)
    return {name: _reread(contract, name, value, dtype, shape) for name, value in values.items()}


def _described(option: str, words: Sequence[str]) -> Described:
    by_name: dict[str, str] = {}
    of_all = []
    for word in words:
        named = _NAMED.fullmatch(word)
        if named is None:
            of_all.append(word)
        elif by_name.setdefault(named[1], named[2]) != named[2]:
            raise CaseError(f"{option} is given twice for {named[1]}", rule="case-given-twice")
    if len(of_all) > 1:
        raise CaseError(
            f"{option} is given twice without a name: {', '.join(of_all)}", rule="case-given-twice"
        )
    return Described(by_name, "".join(of_all))


def _require_known(
    contract: Contract, values: dict[str, Any], option: str, said: Described
) -> None:
    unknown = [name for name in said.by_name if name not in values]
    if unknown:
        raise CaseError(
            f"{contract.operator}: {option} names {', '.join(unknown)}; the case has "
            f"{', '.join(values)}",
            rule="case-name-unknown",
        )


def _value(contract: Contract, name: str, text: str, dtype: Described, shape: Described) -> Any:
    """Read a tensor from a file, or an attribute from the text itself."""
    tensors = {a.name for a in contract.arguments if a.kind == "tensor"} | {result_name(contract)}
    if name not in tensors:
        return _attribute(contract, name, text)
    if text.endswith(".npy"):
        return read_array(text)
    lacking = [o for o, s in (("--dtype", dtype), ("--shape", shape)) if not s.of(name)]
    if lacking:
        raise CaseError(
            f"{contract.operator}: {name}={text} is a raw file; say what it holds: "
            + " ".join(f"{option} {name}=..." for option in lacking),
            rule="case-raw-file",
        )
    return read_raw(text, dtype_named(dtype.of(name)), _sizes(contract, name, shape.of(name)))


def _reread(contract: Contract, name: str, value: Any, dtype: Described, shape: Described) -> Any:
    """Apply the type and the shape from the command line to an array."""
    if name in dtype.by_name:
        value = read_as(np.asarray(value), dtype_named(dtype.by_name[name]), name)
    if name in shape.by_name:
        sizes = _sizes(contract, name, shape.by_name[name])
        if np.asarray(value).size != int(np.prod(sizes, dtype=object)):
            raise CaseError(
                f"{contract.operator}: {name} has shape {list(np.shape(value))}; --shape says "
                f"{list(sizes)}, which is another number of elements",
                rule="case-shape",
            )
        value = shaped(np.asarray(value), sizes, name)
    return value


def _sizes(contract: Contract, name: str, text: str) -> tuple[int, ...]:
    if not re.fullmatch(r"\d{1,19}(,\d{1,19})*|scalar", text):
        raise CaseError(
            f"{contract.operator}: the shape of {name} is {text!r}; expected sizes as in 2,3, or "
            "scalar",
            rule="case-shape",
        )
    return () if text == "scalar" else tuple(map(int, text.split(",")))


def _attribute(contract: Contract, name: str, text: str) -> Any:
    """Parse true and false, numbers, lists of them, or else a string."""
    kind = next((a.kind for a in contract.arguments if a.name == name), "")
    words = {"true": True, "false": False}
    try:
        if kind == "int_array":
            return np.array([int(size) for size in text.split(",")])
        if kind and text.lower() in words:
            return words[text.lower()]
        return int(text) if re.fullmatch(r"[+-]?\d+", text) else float(text)
    except ValueError:
        if kind == "int" or (name == FORMAT and takes_format(contract)) or not kind:
            return text
        raise CaseError(
            f"{contract.operator}: {name} is {text!r}; expected {_EXPECTED[kind]}",
            rule="case-value",
        ) from None


_EXPECTED = {
    "int_array": "integers as in 2,4,6",
    "bool": "true or false",
    "scalar": "a number",
    "float": "a number",
    "double": "a number",
}
