# SPDX-License-Identifier: Apache-2.0
"""Every operator stands in every room, and in every list that tests or programs go through.

A list without it would leave it out of tests in silence. CONTRIBUTING.md has the same list in the
order of work.
"""

from __future__ import annotations

import re

import pytest

import softnpu
from softnpu import aclnn, functional, reference
from softnpu.bench import cases as timed
from tests.python import operators
from tests.support.cases import cases
from tests.support.contract import OPERATORS, Contract, contract
from tests.support.paths import ROOT


@pytest.fixture(params=OPERATORS)
def spec(request: pytest.FixtureRequest) -> Contract:
    """Each operator's contract."""
    return contract(request.param)


def text_of(path: str) -> str:
    """A file of the repository."""
    return (ROOT / path).read_text(encoding="utf-8")


def test_files(spec: Contract) -> None:
    """A file of the operator's name in each room."""
    wanted = [
        f"operators/{spec.family}.toml",
        f"src/softnpu/reference/{spec.family}.py",
        f"src/softnpu/torch/{spec.family}.py",
        f"src/softnpu/triton/{spec.family}.py",
        f"core/kernels/{spec.family}.cpp",
    ]
    assert [path for path in wanted if not (ROOT / path).is_file()] == []


def test_names(spec: Contract) -> None:
    """Both Python interfaces and the references have it."""
    for module in (softnpu, functional):
        assert spec.python in module.__all__, module.__name__
    assert spec.family in reference.__all__
    for phase in ("GetWorkspaceSize", ""):
        assert spec.operator + phase in aclnn.__all__


def test_lists_of_tests(spec: Contract) -> None:
    """What goes through layouts, threads, instruction sets, array kinds and machines has it."""
    for size in ("small", "large"):
        found = {case.name.split()[0] for case in cases(size)}
        assert spec.family in found, "tests/support/cases.py"
    assert spec.family in operators.BY_NAME, "tests/python/operators.py"
    program = text_of("tests/arm/serve.cpp")
    assert f"OPERATOR({spec.operator});" in program, "tests/arm/serve.cpp"


def test_gpus(spec: Contract) -> None:
    """It has a kernel for NVIDIA GPUs, which is timed there."""
    assert (ROOT / "src/softnpu/triton" / f"{spec.family}.py").is_file()
    assert f'"{spec.python}",' in text_of("src/softnpu/triton/__init__.py")
    assert f"kernels.{spec.family}" in text_of("benchmarks/gpu_cases.py")


def test_benchmark(spec: Contract) -> None:
    """It is timed."""
    assert spec.family in {case.operator for case in timed.table()}, "src/softnpu/bench/cases/"


def test_words(spec: Contract) -> None:
    """The README's table, the changelog and the examples' project have it."""
    assert f"\n| `{spec.operator}` | `{spec.python}` |" in text_of("README.md")
    assert f"`{spec.operator}`" in text_of("CHANGELOG.md")
    assert re.search(rf"\b{spec.op}\b", text_of("examples/c/CMakeLists.txt"))
