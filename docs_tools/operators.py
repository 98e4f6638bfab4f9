# SPDX-License-Identifier: Apache-2.0
"""The pages of the operators, from the tables of their contracts."""

from __future__ import annotations

from pathlib import Path

from docs_tools import api, examples, markdown
from docs_tools.messages import checks
from softnpu import _core, functional
from softnpu.cli.ops import everyday
from softnpu.contract import Contract, load_contracts
from softnpu.judging import accuracy
from softnpu.judging.dtypes import BY_NAME, NUMPY

ROOT = Path(__file__).resolve().parents[1]
# What scalars take.
REAL_TYPES = {"FLOAT", "FLOAT16", "BF16", "DOUBLE", "BOOL"}
REAL_TYPES |= {f"{sign}INT{bits}" for sign in ("", "U") for bits in (8, 16, 32, 64)}
RULINGS = ROOT / "docs" / "rulings.md"


def index() -> str:
    """Write the page that lists them."""
    contracts = load_contracts().values()
    lines = [
        f"- [{c.operator}]({c.name}.md), in Python `{c.python}`: {_lower(c.table['summary'])}\n"
        for c in contracts
    ]
    products = next(iter(contracts)).table["products"]
    rows = [
        (c.operator, *(_yes_or_no(c.table["products"][name]) for name in products))
        for c in contracts
    ]
    return (
        "# Operators\n\nEach page is made from the table that the tests of the operator run.\n\n"
        + "".join(lines)
        + "\n## Products\n\nA product has the operators that its documents name.\n\n"
        + markdown.table(["operator", *products], rows)
        + "\n## Everyday operators\n\n[No vendor document describes them](../everyday.md).\n\n"
        + "".join(f"- `{_signature(name)}`\n" for name in everyday())
    )


def _signature(operator: str) -> str:
    parameters = ", ".join(name for name, *_ in _core.described_parameters(operator))
    return f"{operator}({parameters})"


def _lower(sentence: str) -> str:
    return sentence[:1].lower() + sentence[1:]


def page(contract: Contract) -> str:
    """Write an operator's page."""
    sections = {
        "Formula": _formula(contract),
        "Arguments": _arguments(contract),
        "Products": _products(contract),
        "Checks": _checks(contract),
        "Accuracy": _accuracy(contract),
        "Example": _example(contract),
        "Where the document leaves room": _rulings(contract),
    }
    written = [f"## {title}\n\n{text}" for title, text in sections.items() if text]
    return f"# {contract.operator}\n\n{_head(contract)}\n" + "\n".join(written)


def _head(contract: Contract) -> str:
    table, name = contract.table, contract.python
    lines = [
        f"- Header: `{table['header']}`\n",
        f"- Python: [`softnpu.{name}`][{api.path(functional, name)}]\n",
        f"- PyTorch: `{table['pytorch']}`\n" if "pytorch" in table else "",
    ]
    return f"{table['summary']}\n\n" + "".join(lines)


def _formula(contract: Contract) -> str:
    typeset = "\n".join(markdown.formula(line) for line in contract.table["latex"])
    lines = typeset or markdown.code(contract.table["formula"].strip())
    picture = f"../pictures/{contract.family}"
    alt = f"What {contract.operator} computes"
    return (
        f"{lines}\n{contract.table['where']}\n\n"
        f"![{alt}]({picture}-light.svg#only-light)\n![{alt}]({picture}-dark.svg#only-dark)\n"
    )


def _arguments(contract: Contract) -> str:
    head = ["argument", "kind", "data types", "rank", "may be empty", "may be strided"]
    rows = [
        (
            " ".join(map(markdown.literal, dict.fromkeys((row["name"], row["python"])))),
            _kind(row["role"], row["kind"]),
            _types(row.get("dtypes", [])),
            row.get("rank", ""),
            _yes_or_no(row.get("empty")),
            _yes_or_no(row.get("strided")),
        )
        for row in contract.table["argument"]
    ]
    notes = [f"- `{r['name']}`: {r['note']}\n" for r in contract.table["argument"] if "note" in r]
    order = (
        "They are in the order of the C function, which the Python function has, too. Where the "
        "name in Python differs, it comes second.\n\n"
    )
    return order + markdown.table(head, rows) + "\n" + "".join(notes)


def _types(names: list[str]) -> str:
    if set(names) == REAL_TYPES:
        return "every real type and BOOL"
    return " ".join(names)


def _kind(role: str, kind: str) -> str:
    words = {"in": "input", "out": "output", "inout": "input and output", "attr": ""}
    return f"{words[role]} {kind.replace('_', ' ')}".strip()


def _products(contract: Contract) -> str:
    names = contract.table["products"]
    has_bf16 = "BF16" in contract.dtypes
    head = ["product", "supported", "BF16"] if has_bf16 else ["product", "supported"]
    rows = [
        (name, _yes_or_no(has), _yes_or_no(has and contract.has_bf16(name)))[: len(head)]
        for name, has in names.items()
    ]
    return markdown.table(head, rows) + "\n`SOFTNPU_SOC` selects the product.\n"


def _checks(contract: Contract) -> str:
    rows = [
        (
            number,
            f"[{check.status}](../reference/status.md#{check.status})",
            f"{check.summary}<br>{markdown.literal(check.message)}",
        )
        for number, check in enumerate(checks(contract), 1)
    ]
    return (
        "They are made in this order. The first that fails decides the status and the message, "
        "of which an example is shown. An example of a broken common rule names one argument; the "
        "rule holds for all of its kind.\n\n"
        + markdown.table(["", "status", "what is wrong, and an example of the message"], rows)
    )


def _accuracy(contract: Contract) -> str:
    reductions = {row.reduction for row in accuracy.rows_of(contract.family)} - {""}
    rows: list[tuple[str, ...]] = []
    for reduction in sorted(reductions) or [""]:
        for dtype in _result_types(contract):
            promise = accuracy.promise(contract.family, NUMPY[dtype], reduction)
            rows.append((dtype, reduction, str(promise)))
    head = ["result", "reduction", "distance from the float64 definition, rounded once"]
    if not reductions:
        head, rows = [head[0], head[2]], [(dtype, told) for dtype, _, told in rows]
    link = "[How accuracy is judged](../accuracy.md).\n"
    return markdown.table(head, rows) + "\n" + _ranges(contract) + "\n" + link


def _result_types(contract: Contract) -> list[str]:
    output = next(row for row in contract.table["argument"] if row["role"] in ("out", "inout"))
    known = []
    for dtype in output["dtypes"]:
        try:
            for reduction in ("", "none"):
                accuracy.promise(contract.family, NUMPY[dtype], reduction)
        except LookupError:
            continue
        known.append(dtype)
    return known


def _ranges(contract: Contract) -> str:
    rows = [
        (row.dtype_name, row.range, f"{row.max_ulp:g}", _share(row.correctly_rounded))
        for row in accuracy.rows_of(contract.family)
        if row.dtype_name in BY_NAME
    ]
    if not rows:
        return ""
    head = ["data type", "inputs", "largest error in ULP", "correctly rounded"]
    return markdown.folded("What the tests assert, by inputs", markdown.table(head, rows))


def _share(share: float) -> str:
    return f"at least {share:.1%}" if share else ""


def _example(contract: Contract) -> str:
    shown = {
        "C++": examples.c_example(contract.name),
        "Python": examples.python_example(contract.name, contract.table["example"]),
    }
    return markdown.tabs({title: text for title, text in shown.items() if text})


def _rulings(contract: Contract) -> str:
    rows = [
        [cell.strip() for cell in line.strip("|\n ").split(" | ")]
        for line in RULINGS.read_text("utf-8").splitlines()
        if line.startswith("| aclnn")
    ]
    own = [row[1:] for row in rows if contract.operator in row[0].split(", ")]
    if not own:
        return ""
    every = "\n[Rulings](../rulings.md) has those that concern all operators.\n"
    return markdown.table(["question", "ruling", "reason"], own) + every


def _yes_or_no(value: object) -> str:
    return "" if value is None else "yes" if value else "no"
