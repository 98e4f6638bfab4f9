# SPDX-License-Identifier: Apache-2.0
"""``softnpu explain``: the meaning of a rule, a status code or a finding, and the repair."""

from __future__ import annotations

import textwrap
from dataclasses import asdict
from typing import Annotated, Any

import typer
from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table
from rich.text import Text

from softnpu import _core, explanations
from softnpu.cli.output import EXIT_USAGE, JsonOption, fail, print_json, results
from softnpu.contract import load_contracts, shared_rules
from softnpu.explanations import Explanation

WIDTH = 88  # of paragraphs; wider ones are hard to read


def _complete(incomplete: str) -> list[str]:
    return [n for each in explanations.load() for n in each.names if n.startswith(incomplete)]


NameArgument = Annotated[
    str | None,
    typer.Argument(
        metavar="RULE|CODE",
        help="A rule's id, a status code by number or name, or a finding of softnpu check.",
        autocompletion=_complete,
    ),
]


def command(name: NameArgument = None, as_json: JsonOption = False) -> None:
    """Explain a rule, a status code or a finding: meaning, reason, repair, example.

    Messages have a rule: .rule of exceptions, in brackets in the log. Lists all names if none is
    given.
    """
    if name is None:
        _list(explanations.load(), as_json)
        return
    found = _find(name)
    if as_json:
        print_json([_record(each) for each in found])
        return
    console = results()
    for each in found:
        _show(console, each)


def _find(name: str) -> list[Explanation]:
    try:
        return explanations.find(name)
    except LookupError as error:
        message, close = error.args
        if name.startswith("aclnn"):
            fail(message, EXIT_USAGE, hint=f"softnpu ops {name} says what an operator expects.")
        guess = f"Did you mean {' or '.join(close)}? " if close else ""
        fail(message, EXIT_USAGE, hint=f"{guess}softnpu explain lists all names.")


def _list(everything: tuple[Explanation, ...], as_json: bool) -> None:
    if as_json:
        print_json([_record(each) for each in everything])
        return
    table = Table("name", "kind", "what it means", box=SIMPLE_HEAD)
    for each in everything:
        for name in each.names:
            table.add_row(name, each.kind, each.means)
    results().print(table)


def _record(each: Explanation) -> dict[str, Any]:
    return {**asdict(each), "operators": _in_contracts(each)}


def _show(console: Console, each: Explanation) -> None:
    title = f"{each.kind} {', '.join(each.names)}"
    console.print(Text(_filled(title, console), style="bold"), soft_wrap=True)
    reason = "usual causes: " if each.kind == "code" else "why: "
    for label, text in (("", each.means), (reason, each.why), ("repair: ", each.repair)):
        paragraph = Text("\n" + _filled(label + text, console))
        paragraph.stylize("bold", 0, len(label) + 1)
        console.print(paragraph, soft_wrap=True)
    if each.example:
        console.print(Text("\nexample:", style="bold"))
        console.print(Text(textwrap.indent(each.example, "  ")), soft_wrap=True)
    rows = _in_contracts(each)
    if rows:
        table = Table("operator", "status", "rule", "what breaks it", box=SIMPLE_HEAD)
        for row in rows:
            table.add_row(row["operator"], str(row["status"]), row["rule"], row["summary"])
        console.print(table)
    reported = _reported_as(each)
    if reported:
        console.print(Text(f"\nsoftnpu check reports it as {' or '.join(reported)}."))
    if each.kind == "finding":
        console.print(Text("\ndocs/findings.md has a program, its report, and the repair."))
    console.print()


def _filled(text: str, console: Console) -> str:
    width = min(WIDTH, console.width)
    return textwrap.fill(text, width, break_long_words=False, break_on_hyphens=False)


def _reported_as(each: Explanation) -> list[str]:
    """List the findings of calls that break the rules."""
    if each.kind != "rule" or each.area in ("python", "judging"):
        return []
    return sorted({_core.finding_of(name) for name in each.names} - {""})


def _in_contracts(each: Explanation) -> list[dict[str, Any]]:
    """Describe which operators have the rules, and what breaks them there."""
    if each.kind != "rule":
        return []
    tables = [(one.operator, one.table["rule"]) for one in load_contracts().values()]
    return [
        {
            "operator": operator,
            "status": rule["status"],
            "rule": rule["id"],
            "summary": rule["summary"],
        }
        for operator, rules in [*tables, ("all", shared_rules())]
        for rule in rules
        if rule["id"] in each.names
    ]
