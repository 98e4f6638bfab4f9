# SPDX-License-Identifier: Apache-2.0
"""What a build of softnpu gets from the descriptions of its operators."""

from __future__ import annotations

import importlib
import sys
from itertools import groupby
from pathlib import Path
from typing import Any

from . import bindings, c_api, core, everyday, functional, python_lists, torch_functions
from .description import Operator, load

# tomli is the same module as tomllib under its earlier name.
_toml: Any = importlib.import_module("tomllib" if sys.version_info >= (3, 11) else "tomli")


def read(folder: Path) -> list[Operator]:
    """Load the operators of all descriptions, in the order of their files' names."""
    operators = []
    for path in sorted(folder.glob("*.toml")):
        operators += load(path, _toml.loads(path.read_text("utf-8")))
    return operators


def read_everyday(folder: Path, documented: list[Operator]) -> list[Operator]:
    """Load the everyday operators, but those that are documented."""
    found: list[Operator] = []
    for path in sorted((folder / "everyday").glob("*.toml")):
        found += everyday.operators(path, _toml.loads(path.read_text("utf-8")))
    known = {operator.name for operator in documented}
    return [operator for operator in found if operator.name not in known]


def _is_header(path: str) -> bool:
    return path.startswith("include/aclnnop/aclnn_")


def _in_level2(path: str) -> tuple[str, str]:
    """Generate the header by which older programs include another one."""
    folder, name = path.rsplit("/", 1)
    text = c_api.guarded(f"level2/{name}", f"Another name of {name}.", f'#include "../{name}"\n')
    return f"{folder}/level2/{name}", text


def files(descriptions: Path, package: Path) -> dict[str, str]:
    """Generate all files: their names in the folder for what is generated, and their texts."""
    operators = read(descriptions)
    headers = groupby(sorted(operators, key=lambda o: o.header), key=lambda o: o.header)
    head = (package / "functional.py.in").read_text("utf-8")
    names = "".join(
        f'    "{name}",\n' for name in sorted(["Array", *(o.python for o in operators)])
    )
    init = (package / "__init__.py.in").read_text("utf-8").replace("    # operators\n", names)
    own = everyday.files(read_everyday(descriptions, operators))
    made = {f"include/{name}": c_api.header(list(each)) for name, each in headers}
    return {
        **own,
        **made,
        **dict(map(_in_level2, filter(_is_header, [*made, *own]))),
        "core/ops/operators.h": core.header(operators),
        "core/ops/operators.cpp": core.source(operators, core.includes(operators)),
        "core/kernels/elementwise_list.h": core.kernel_list(operators),
        "bindings/operators.inc": bindings.functions(operators),
        "bindings/phases.inc": bindings.phases(operators),
        "bindings/aclnnop.h": bindings.includes(operators),
        "package/__init__.py": init,
        "package/_phases.py": bindings.phase_module(operators),
        "package/_operators.pyi": bindings.stubs(operators),
        "package/functional.py": functional.module(operators, head),
        "package/reference/operators.py": python_lists.references(operators),
        "package/triton/operators.py": python_lists.triton_kernels(operators),
        "package/torch/schemas.py": torch_functions.schemas(operators),
        "package/torch/functions.py": torch_functions.functions(operators),
    }
