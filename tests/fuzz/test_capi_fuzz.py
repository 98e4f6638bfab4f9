# SPDX-License-Identifier: Apache-2.0
"""The fuzzer of the C API: it is complete, can fail, and finds nothing that is wrong."""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path

import pytest

from tests.fuzz.harness import CORPUS, HERE, build
from tests.support.capi_symbols import library_folder
from tests.support.contract import FOLDER
from tests.support.native import built_once
from tests.support.paths import INCLUDE, everyday_functions
from tests.support.process import SANITIZED

pytestmark = pytest.mark.skipif(SANITIZED, reason="tests/fuzz/run.py runs it under sanitizers")


@pytest.fixture(scope="module")
def fuzzer() -> Path:
    """The program, built against the installed libraries."""
    libraries = library_folder().resolve()
    sources = [*HERE.glob("*.*"), *INCLUDE.rglob("*.h"), *FOLDER.rglob("*.toml")]
    return built_once("capi_fuzz", libraries, sources, lambda file: build(file, libraries, []))


def run(
    fuzzer: Path, *arguments: str | Path, **environment: str
) -> subprocess.CompletedProcess[str]:
    """Run it to its end, with a changed environment where one is given."""
    return subprocess.run(
        [fuzzer, *arguments],
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )


# The fuzzer does not call these yet: tests/runtime calls each.
NOT_CALLED = re.compile(
    r"aclop(?!SetModelDir)|aclprof|aclmdl(?!RI)|acl\w*(TensorDesc|DataBuffer|Compileopt)|aclAppLog|aclsys"
    r"|aclSetTensor(Const|Format|PlaceMent|Shape)"
    r"|aclmdlRIDebugPrint|aclrtCmo"
)


def exported() -> set[str]:
    """The functions of the C API that the libraries define, without everyday operators."""
    names: set[str] = set()
    for library in ("ascendcl", "nnopbase", "opapi"):
        file = library_folder() / f"lib{library}.so"
        command = ["nm", "-D", "--defined-only", str(file)]
        table = subprocess.run(command, capture_output=True, text=True, check=True).stdout
        names.update(re.findall(r" T ([aA]cl\w+)$", table, flags=re.MULTILINE))
    return {name for name in names.difference(everyday_functions()) if not NOT_CALLED.match(name)}


def test_it_calls_every_exported_function(fuzzer: Path) -> None:
    """No function of the C API is left out, and each is chosen by one number."""
    listed = run(fuzzer, "--list").stdout.split()
    assert len(listed) > 100
    assert sorted(listed) == sorted(exported())


@pytest.mark.parametrize("checks", ["0", "all"])
def test_the_corpus_finds_nothing(fuzzer: Path, checks: str) -> None:
    """Inputs that once reached new code end well, and leave nothing; under the checkers, too."""
    assert len(list(CORPUS.iterdir())) >= 24
    report = {"SOFTNPU_CHECK_REPORT": "/dev/null", "SOFTNPU_CHECK_EXITCODE": "0"}
    done = run(fuzzer, CORPUS, SOFTNPU_CHECK=checks, **report)
    assert done.returncode == 0, done.stderr


def test_every_function_without_memory(fuzzer: Path) -> None:
    """Where one of its allocations fails, or all from one on, a call gives a documented code and
    leaves nothing, and the next calls work.
    """
    done = run(fuzzer, "--sites")
    assert done.returncode == 0, done.stderr
    sites = {name: int(count) for name, count in map(str.split, done.stdout.splitlines()[:-1])}
    assert set(sites) == exported()
    assert sum(sites.values()) > 4000
    assert sum(count > 0 for count in sites.values()) > 70


def counted(lines: list[str]) -> dict[str, tuple[int, int]]:
    """Read how often each function was called, and with success."""
    return {name: (int(calls), int(good)) for name, calls, good in map(str.split, lines)}


def test_random_calls_find_nothing(fuzzer: Path) -> None:
    """Random inputs end well, and reach every function's success and most functions' failures."""
    done = run(fuzzer, "--random", "1000000", "--seed", "1")
    assert done.returncode == 0, done.stderr
    *lines, total = done.stdout.splitlines()
    assert int(total.split()[0]) >= 1000000
    counts = counted(lines)
    for name in everyday_functions():
        counts.pop(name, None)
    assert set(counts) == exported()
    assert [name for name, (_, good) in counts.items() if good == 0] == []
    assert sum(good < calls for calls, good in counts.values()) > 100


def test_everyday_operators_find_nothing(fuzzer: Path) -> None:
    """The same with many calls of everyday operators, most of which succeed in some."""
    done = run(fuzzer, "--everyday", "--random", "100000", "--seed", "1")
    assert done.returncode == 0, done.stderr
    counts = counted(done.stdout.splitlines()[:-1])
    # All but that which plans nothing.
    functions = set(everyday_functions()) - {"aclnnCalculateMatmulWeightSizeV2"}
    assert functions <= set(counts)
    good = [name for name in functions if counts[name][1] > 0]
    assert len(good) > 0.7 * len(functions)


BROKEN = {
    "int aclDestroyTensor(const void*) { return 0; }": "live thing",
    "int aclDestroyScalar(const void*) { return 161002; }": "only live things to be destroyed",
    "int aclrtFree(void*) { return 0; }": "all memory to be free|only live things",
    "int aclrtQueryEvent(void*, int*) { return 500000; }": "a documented status",
    "int aclGetViewOffset(const void*, long*) { return 0; }": "a live thing",
}


@pytest.mark.parametrize("function", BROKEN)
def test_it_notices_mistakes(fuzzer: Path, tmp_path: Path, function: str) -> None:
    """Where a function breaks the rules, the fuzzer ends with what it expected, and the input."""
    source, library = tmp_path / "broken.cpp", tmp_path / "broken.so"
    source.write_text(f'extern "C" {function}\n')
    subprocess.run(["c++", "-shared", "-fPIC", str(source), "-o", str(library)], check=True)
    done = run(fuzzer, "--random", "100000", LD_PRELOAD=str(library))
    assert done.returncode != 0
    assert re.search(BROKEN[function], done.stderr)
    assert "again with: --random 1 --seed" in done.stderr
