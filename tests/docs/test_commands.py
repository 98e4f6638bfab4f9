# SPDX-License-Identifier: Apache-2.0
"""The commands that documents and messages name exist, with the options that they show.

Blocks of code run (test_blocks.py); this is for commands within a line, and for fragments.
"""

from __future__ import annotations

import re
from functools import cache
from typing import Any

import pytest
import typer

from softnpu.cli.app import make_app
from softnpu.explanations import load
from tests.docs.blocks import PAGES
from tests.support.paths import ROOT

BLOCK = re.compile(r"^ *```(?!text).*?^ *```", re.M | re.S)
IN_BLOCKS = re.compile(r"^ *(?:\$ )?softnpu ([a-z]+(?: .*)?)$", re.M)
IN_TEXT = re.compile(r"`softnpu ([a-z]+(?:\s[^`]*)?)`")


@cache
def groups() -> dict[str, set[str]]:
    """Give the options of each command."""
    group: Any = typer.main.get_command(make_app())
    return {
        name: {
            "--help",
            *(
                each
                for p in command.params
                for each in [*p.opts, *p.secondary_opts]
                if each[0] == "-"
            ),
        }
        for name, command in group.commands.items()
    }


def wrong(text: str) -> list[str]:
    """List the commands that do not exist, and those with an option that does not."""
    commands = [each for block in BLOCK.findall(text) for each in IN_BLOCKS.findall(block)]
    commands += IN_TEXT.findall(BLOCK.sub("", text))
    return [each for each in commands if not is_right(each)]


def is_right(command: str) -> bool:
    """Say whether the command exists and has the options that stand before a ``--``."""
    name, *words = command.split(" -- ")[0].split()
    options = {word.partition("=")[0] for word in words if word.startswith("--")}
    return name in groups() and options <= groups()[name]


@pytest.mark.parametrize("page", [*PAGES, "README.md", "operators/README.md"])
def test_commands_of_pages(page: str) -> None:
    """In the text, in tables and in blocks."""
    assert wrong((ROOT / page).read_text("utf-8")) == []


def test_commands_of_explanations() -> None:
    """Those that tell what to do."""
    for each in load():
        assert wrong(f"{each.why} {each.repair}\n```sh\n{each.example}\n```") == []


def test_wrong_ones_are_found() -> None:
    """An unknown command, and an unknown option."""
    assert wrong("`softnpu walk FILE`, `softnpu run --quick FILE`") == [
        "walk FILE",
        "run --quick FILE",
    ]
    assert wrong("```sh\nsoftnpu walk\n```\nsoftnpu walks\n") == ["walk"]
    assert wrong("`softnpu run --stats FILE -- --quick`, `softnpu run` runs it") == []
