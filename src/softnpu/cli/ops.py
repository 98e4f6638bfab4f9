# SPDX-License-Identifier: Apache-2.0
"""``softnpu ops``: lists the operators, or shows the contract of one."""

from collections.abc import Callable
from typing import Annotated, Any

import typer
from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table
from rich.text import Text

from softnpu import _core, explanations
from softnpu.cli.output import EXIT_USAGE, JsonOption, fail, print_json, results
from softnpu.contract import Contract, find, load_contracts, shared_rules

TIER = (
    "An everyday operator: no vendor document describes it. Its parameters are those that public "
    "programs pass, its checks are general, and its results are rounded once from float64."
)
EVERYDAY = "Everyday operators, for C and softnpu.aclnn. No vendor document describes them:"
_KINDS = (
    *("tensor", "scalar", "int_array", "bool_array", "tensor_list", "text"),
    *("int", "float", "bool", "dtype"),
)


def everyday() -> list[str]:
    """List the everyday operators by their documented names."""
    return sorted(_core.described_names())


def _parameters(operator: str) -> list[dict[str, Any]]:
    return [
        {
            "name": name,
            "kind": _KINDS[kind],
            "optional": optional,
            "role": "out" if is_written else "in",
        }
        for name, kind, optional, is_written in _core.described_parameters(operator)
    ]


def _everyday(operator: str) -> dict[str, Any]:
    return {"operator": operator, "tier": "everyday", "arguments": _parameters(operator)}


def _complete(incomplete: str) -> list[str]:
    names = [name for one in load_contracts().values() for name in (one.operator, one.name)]
    names += everyday()
    return [name for name in names if name.startswith(incomplete)]


NameArgument = Annotated[
    str | None,
    typer.Argument(
        metavar="OP|CODE",
        help="An operator, as in aclnnEluBackward or elu_backward, or a status code.",
        autocompletion=_complete,
    ),
]


def command(name: NameArgument = None, as_json: JsonOption = False) -> None:
    """List the operators, show the contract of one, or list the checks with a status code.

    Accepts the names of both phases, of the Python function, and of a code
    (ACLNN_ERR_PARAM_INVALID).
    """
    console = results()
    code = None if name is None else _code_named(name)
    if name is None:
        contracts = load_contracts()
        rows = [_summary(one) for one in contracts.values()]
        _print(as_json, [*rows, *map(_everyday, everyday())], lambda: _overview(contracts))
        if not as_json:
            console.print(Text(f"{EVERYDAY}\n\n{' '.join(everyday())}"))
    elif (operator := name.removesuffix("GetWorkspaceSize")) in everyday():
        if as_json:
            print_json(_everyday(operator))
        else:
            _show_everyday(console, operator)
    elif code is not None:
        rows = checks_giving(code)
        _print(as_json, rows, lambda: _checks(rows))
        if not as_json:
            console.print(Text(f"softnpu explain {code} says what the code means."))
    elif as_json:
        print_json(_record(operator_named(name)))
    else:
        _show(console, operator_named(name))


def _print(as_json: bool, document: object, table: Callable[[], Table]) -> None:
    if as_json:
        print_json(document)
    else:
        results().print(table())


def _code_named(name: str) -> int | None:
    """Return the number of a status code, from its number or its name."""
    try:
        codes = [each for each in explanations.find(name) if each.kind == "code"]
    except LookupError:
        return int(name) if name.isascii() and name.isdigit() else None
    return int(codes[0].names[0]) if codes else None


def checks_giving(code: int) -> list[dict[str, Any]]:
    """List the checks of all operators with a status; end the command if there are none."""
    tables = [(one.operator, one.table["rule"]) for one in load_contracts().values()]
    found = [
        {"operator": operator, "rule": rule["id"], "summary": rule["summary"]}
        for operator, rules in [*tables, ("all", shared_rules())]
        for rule in rules
        if rule["status"] == code
    ]
    if not found:
        hint = f"softnpu explain {code} says what the code means."
        fail(f"no check of an operator gives {code}", EXIT_USAGE, hint=hint)
    return found


def _checks(rows: list[dict[str, Any]]) -> Table:
    table = Table("operator", "rule", "what breaks it", box=SIMPLE_HEAD)
    for row in rows:
        table.add_row(row["operator"], row["rule"], row["summary"])
    return table


def _summary(contract: Contract) -> dict[str, Any]:
    return {
        "operator": contract.operator,
        "tier": "documented",
        "python": contract.python,
        "summary": contract.table["summary"],
        "dtypes": contract.dtypes,
        "products": contract.products,
    }


def _record(contract: Contract) -> dict[str, Any]:
    """Return the contract for programs."""
    table = contract.table
    described = [key for key in ("header", "formula", "pytorch") if key in table]
    return {
        **_summary(contract),
        **{key: table[key] for key in described},
        "bf16": {product: contract.has_bf16(product) for product in contract.products},
        "arguments": table["argument"],
        "rules": table["rule"],
        "shared_rules": shared_rules(),
    }


def operator_named(name: str) -> Contract:
    """Find an operator, or end the command with suggestions."""
    try:
        return find(name)
    except LookupError as error:
        message, guess = error.args
        fail(message, EXIT_USAGE, hint=f"{guess}softnpu ops lists the operators.")


def _overview(contracts: dict[str, Contract]) -> Table:
    table = Table("operator", "Python function", "data types", "products", box=SIMPLE_HEAD)
    for contract in contracts.values():
        products = " ".join(contract.products)
        table.add_row(contract.operator, contract.python, " ".join(contract.dtypes), products)
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
        # Arguments without data types show their note instead.
        if row.get("note") and row.get("dtypes"):
            console.print(Text(f"  {row['name']}: {row['note']}"), soft_wrap=True)
    console.print(Text("Checks, in this order; the first that fails decides the status:"))
    console.print(_rules(table["rule"]))
    console.print(Text("Checks that all operators share:"))
    console.print(_rules(shared_rules()))


def _show_everyday(console: Console, operator: str) -> None:
    rows = _parameters(operator)
    table = Table("argument", "kind", box=SIMPLE_HEAD)
    for row in rows:
        may_be_null = ", may be null" if row["optional"] else ""
        table.add_row(row["name"], f"{row['role']} {row['kind']}{may_be_null}")
    names = ", ".join(row["name"] for row in rows)
    console.print(Text(f"{operator}({names})"), soft_wrap=True)
    console.print(table)
    console.print(Text(TIER), soft_wrap=True)


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
