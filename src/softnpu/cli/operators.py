# SPDX-License-Identifier: Apache-2.0
"""Operators of the user's own: how ``softnpu build`` makes them, and programs find them."""

from __future__ import annotations

import re
import tempfile
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from softnpu import toml
from softnpu.cli.child import Outcome
from softnpu.cli.environment import prepended, sdk_prefix
from softnpu.cli.output import EXIT_USAGE, fail
from softnpu.cli.toolchain import CXX, Toolchain, toolchain_of

if TYPE_CHECKING:
    from softnpu.codegen.description import Operator

OperatorsOption = Annotated[
    list[Path] | None,
    typer.Option(
        "--operators",
        metavar="DIR",
        help="A folder with operators that `softnpu build --operator` made; repeatable.",
    ),
]
_PATHS = {"LD_LIBRARY_PATH": "lib64", "PYTHONPATH": "python"}


def build(description: Path, source: Path | None, folder: Path, cxxflags: str) -> int:
    """Make library, header and Python module of an operator; the compiler's exit status."""
    from softnpu.codegen.described import is_formula
    from softnpu.codegen.description import DescriptionError
    from softnpu.codegen.own import files, load

    try:
        operators = load(description, toml.read(description), _names_of_softnpu())
    except DescriptionError as error:
        fail(str(error), EXIT_USAGE)
    except ValueError as error:  # no TOML
        fail(f"{description}: {error}", EXIT_USAGE)
    if source is None and not is_formula(operators[0]):
        fail(
            f"{description} has no `compute`, so that it needs a C++ source",
            EXIT_USAGE,
            hint=f"softnpu build --operator {description} FILE.cpp --output {folder}",
        )
    if source is not None and is_formula(operators[0]):
        fail(f"{description} has `compute`, which leaves no use for {source}", EXIT_USAGE)
    generated = files(operators)
    folder.mkdir(parents=True, exist_ok=True)
    # Nothing is changed unless all goes well; a program that runs may have the library loaded.
    with tempfile.TemporaryDirectory(dir=folder) as fresh:
        made = Path(fresh)
        for name, text in generated.items():
            (made / name).parent.mkdir(parents=True, exist_ok=True)
            (made / name).write_text(text, "utf-8")
        family = operators[0].family
        sources = [made / "source" / f"{family}.cpp", *([source] if source else [])]
        library = f"lib64/lib{family}.so"
        (made / library).parent.mkdir()
        header = made / "source" / f"{family}.h"
        outcome = _toolchain(made, header, cxxflags).link(sources, made / library, capture=True)
        status = outcome.status or 0
        if status and (reason := _reason(outcome, operators[0], description, source)):
            fail(reason, status)
        outcome.show()
        for name in [*generated, library] if status == 0 else []:
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            (made / name).replace(folder / name)
    return status


def _names_of_softnpu() -> set[str]:
    from softnpu import _core
    from softnpu.contract import load_contracts

    return {*_core.described_names(), *(one.operator for one in load_contracts().values())}


def _reason(outcome: Outcome, operator: Operator, description: Path, source: Path | None) -> str:
    """Explain a build that failed by a mistake that is often made; else nothing."""
    from softnpu.codegen.described import prototype

    errors = outcome.stderr.decode(errors="replace")
    if source is not None:
        absent = re.search(rf"undefined .*\b{operator.family}\(", errors)
        return f"{source} must define {prototype(operator)}" if absent else ""
    error = re.search(r":\d+:\d+: error: (.*)", errors)
    return f"{description}: `compute` does not compile: {error[1]}" if error else ""


def _toolchain(folder: Path, header: Path, cxxflags: str) -> Toolchain:
    prefix = sdk_prefix()
    chosen = toolchain_of(CXX, prefix, cxxflags)
    flags = ("-std=c++20", "-fPIC", "-ffp-contract=off")
    paths = (f"-I{folder / 'include'}", f"-I{prefix / 'core'}", "-include", str(header))
    link = ("-shared", "-Xlinker", "--no-undefined", "-lsoftnpu")
    return replace(
        chosen,
        compile_flags=(*flags, *paths, *chosen.compile_flags),
        link_flags=(*link, *chosen.link_flags),
    )


def checked_folders(folders: list[Path] | None) -> list[Path]:
    """End the command where a folder has no operators."""
    for folder in folders or []:
        if not any((folder / "lib64").glob("lib*.so")):
            fail(
                f"{folder} has no operators",
                EXIT_USAGE,
                hint=f"Make one: softnpu build --operator OP.toml OP.cpp --output {folder}",
            )
    return [folder.absolute() for folder in folders or []]


def with_operators(toolchain: Toolchain, folders: list[Path]) -> Toolchain:
    """Let a program include their headers and link their libraries."""
    include: list[str] = []
    link: list[str] = []
    for folder in folders:
        include.append(f"-I{folder / 'include'}")
        lib = folder / "lib64"
        link += [f"-L{lib}", "-Xlinker", "-rpath", "-Xlinker", str(lib)]
        link += [f"-l{each.stem.removeprefix('lib')}" for each in sorted(lib.glob("lib*.so"))]
    if not folders:
        return toolchain
    return replace(
        toolchain,
        compile_flags=(*include, *toolchain.compile_flags),
        link_flags=(*link, *toolchain.link_flags),
        users_flags=(*toolchain.users_flags, *link),  # so that what is kept depends on them
    )


def with_folders(current: dict[str, str], folders: list[Path]) -> dict[str, str]:
    """Add the folders to the paths on which programs find libraries and modules."""
    added = dict(current)
    for folder in reversed(folders):
        for name, part in _PATHS.items():
            added[name] = prepended(str(folder / part), added.get(name, ""))
    return added
