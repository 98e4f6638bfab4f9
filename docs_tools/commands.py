# SPDX-License-Identifier: Apache-2.0
"""The reference of the command line, from the commands themselves."""

from __future__ import annotations

import inspect
import re
from typing import Any

import typer

from docs_tools.markdown import code, literal, table
from softnpu.cli.app import make_app

HEAD = """\
# Command line

`softnpu COMMAND --help` prints the same. `python -m softnpu` is another name for `softnpu`.
"""


def page() -> str:
    """Write the page."""
    # Typed as any: which library's classes they are depends on the version of typer.
    group: Any = typer.main.get_command(make_app())
    return "\n".join([HEAD, *(_command(name, each) for name, each in group.commands.items())])


def _command(name: str, command: Any) -> str:
    arguments = [each for each in command.params if each.param_type_name == "argument"]
    options = [each for each in command.params if each.param_type_name == "option"]
    usage = " ".join(["softnpu", name, "[OPTIONS]", *map(_placeholder, arguments)])
    text = f"## softnpu {name}\n\n{code(usage)}\n{inspect.cleandoc(command.help)}\n\n"
    rows = [(literal(_placeholder(each)), _help(each)) for each in arguments]
    rows += [(literal(_spelling(each)), _help(each)) for each in options if each.name != "help"]
    return text + table(["argument or option", "meaning"], rows)


def _placeholder(argument: Any) -> str:
    name = str(argument.metavar or argument.name.upper())
    return name if argument.required else f"[{name}]".replace("[[--] ARGS]", "[-- ARGS]")


def _spelling(option: Any) -> str:
    names = ", ".join([*option.opts, *option.secondary_opts])
    return names if option.is_flag else f"{names} {option.metavar or option.name.upper()}"


def _help(parameter: Any) -> str:
    text = re.sub(r"\s+", " ", parameter.help or "")
    shown = parameter.default
    if shown in (None, "", False, 0, (), []) or callable(shown) or parameter.required:
        return text
    return f"{text} Default: {literal(shown)}."
