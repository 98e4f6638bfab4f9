# SPDX-License-Identifier: Apache-2.0
"""Every operator has its files by hand, and stands in the lists that no description makes."""

from __future__ import annotations

import pytest

from softnpu import reference
from softnpu.cli.bench import STATEMENTS
from softnpu.contract import load_contracts
from tests.python import operators
from tests.support.cases import cases
from tests.support.contract import OPERATORS, Contract, contract
from tests.support.paths import ROOT


@pytest.fixture(params=OPERATORS)
def spec(request: pytest.FixtureRequest) -> Contract:
    """Each operator's contract."""
    return contract(request.param)


def test_files(spec: Contract) -> None:
    """A file of the operator's name in each room."""
    folders = ("core/kernels/{}.cpp", "operators/{}.toml", "tests/contract/{}.toml")
    folders += tuple(f"src/softnpu/{room}/{{}}.py" for room in ("reference", "torch", "triton"))
    paths = [folder.format(spec.family) for folder in folders]
    assert [path for path in paths if not (ROOT / path).is_file()] == []
    assert spec.family in reference.__all__


def test_lists_of_tests(spec: Contract) -> None:
    """What goes through layouts, threads, instruction sets, array kinds and machines has it."""
    for size in ("small", "large"):
        found = {case.name.split()[0] for case in cases(size)}
        assert spec.family in found, "tests/support/cases.py"
    assert spec.family in operators.BY_NAME, "tests/python/operators.py"


def test_benchmark(spec: Contract) -> None:
    """It is timed."""
    assert spec.family in STATEMENTS, "src/softnpu/cli/bench.py"


def test_products(spec: Contract) -> None:
    """The table of products has the line that follows from the description."""
    products = load_contracts()[spec.op].table["products"].values()
    marks = " | ".join("√" if has else "×" for has in products)  # noqa: RUF001
    line = f"| `{spec.operator}` | `{spec.python}` | {marks} |\n"
    assert line in (ROOT / "docs/products.md").read_text("utf-8")
