# SPDX-License-Identifier: Apache-2.0
"""``softnpu ops``: the operators, and the contract of one."""

from typing import Annotated, Any

import typer
from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table
from rich.text import Text

from softnpu.cli.output import EXIT_USAGE, fail, results
from softnpu.contract import Contract, find, load_contracts, shared_rules


def command(
    name: Annotated[
        str | None, typer.Argument(help="An operator, as in aclnnEluBackward or elu_backward.")
    ] = None,
) -> None:
    """List the operators, or show the contract of one."""
    console = results()
    if name is None:
        console.print(_overview(load_contracts()))
        return
    _show(console, operator_named(name))


def operator_named(name: str) -> Contract:
    """Find an operator, or end the command with what may be meant."""
    try:
        return find(name)
    except LookupError as error:
        message, guess = error.args
        fail(message, EXIT_USAGE, hint=f"{guess}softnpu ops lists the operators.")


def _overview(contracts: dict[str, Contract]) -> Table:
    table = Table("operator", "Python function", "data types", "products", box=SIMPLE_HEAD)
    for contract in contracts.values():
        table.add_row(
            contract.operator, contract.name, " ".join(contract.dtypes), " ".join(contract.products)
        )
    return table


def _show(console: Console, contract: Contract) -> None:
    table = contract.table
    console.print(Text(contract.operator, style="bold"))
    for label in ("summary", "header", "source", "pytorch"):
        if label in table:
            console.print(Text.assemble((f"{label:<10}", "dim"), str(table[label])), soft_wrap=True)
    console.print(Text.assemble(("products  ", "dim"), ", ".join(_products(contract))))
    console.print(Text("\n" + table["formula"].strip()), soft_wrap=True)
    console.print(_arguments(table["argument"]))
    for row in table["argument"]:
        # Arguments without data types have their note in place of these.
        if row.get("note") and row.get("dtypes"):
            console.print(Text(f"  {row['name']}: {row['note']}"), soft_wrap=True)
    console.print(Text("Checks, in this order; the first that fails decides the status:"))
    console.print(_rules(table["rule"]))
    console.print(Text("Checks that all operators share:"))
    console.print(_rules(shared_rules()))


def _products(contract: Contract) -> list[str]:
    takes_bf16 = "BF16" in contract.dtypes
    return [
        f"{product} (no BF16)" if takes_bf16 and not contract.has_bf16(product) else product
        for product in contract.products
    ]


def _arguments(rows: list[dict[str, Any]]) -> Table:
    table = Table("argument", "kind", "data types", "rank", "empty", "strided", box=SIMPLE_HEAD)
    for row in rows:
        types = " ".join(row.get("dtypes", [])) or row.get("note", "")
        table.add_row(
            row["name"],
            f"{row['role']} {row.get('kind', '')}".strip(),
            types,
            str(row.get("rank", "")),
            _yes_or_no(row.get("empty")),
            _yes_or_no(row.get("strided")),
        )
    return table


def _rules(rows: list[dict[str, Any]]) -> Table:
    table = Table("status", "rule", "what breaks it", box=SIMPLE_HEAD)
    for row in rows:
        table.add_row(str(row["status"]), row["id"], row["summary"])
    return table


def _yes_or_no(value: object) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    return "" if value is None else str(value)
