# SPDX-License-Identifier: Apache-2.0
"""The fuzzer of the C API: it is complete, can fail, and finds nothing that is wrong."""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path

import pytest

from tests.fuzz.harness import CORPUS, build
from tests.support.capi_symbols import library_folder
from tests.support.process import SANITIZED

pytestmark = pytest.mark.skipif(SANITIZED, reason="tests/fuzz/run.py runs it under sanitizers")


@pytest.fixture(scope="module")
def fuzzer(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The program, built against the installed libraries."""
    program = tmp_path_factory.mktemp("fuzz") / "capi_fuzz"
    build(program, library_folder(), [])
    return program


def run(
    fuzzer: Path, *arguments: str | Path, preload: Path | None = None
) -> subprocess.CompletedProcess[str]:
    """Run it to its end, with a library in front of the others where one is given."""
    environment = {**os.environ, "LD_PRELOAD": str(preload)} if preload else None
    command = [fuzzer, *arguments]
    return subprocess.run(
        command, env=environment, capture_output=True, text=True, timeout=300, check=False
    )


def exported() -> set[str]:
    """The functions of the C API that the libraries define."""
    names: set[str] = set()
    for library in ("ascendcl", "nnopbase", "opapi"):
        file = library_folder() / f"lib{library}.so"
        command = ["nm", "-D", "--defined-only", str(file)]
        table = subprocess.run(command, capture_output=True, text=True, check=True).stdout
        names.update(re.findall(r" T ([aA]cl\w+)$", table, flags=re.MULTILINE))
    return names


def test_it_calls_every_exported_function(fuzzer: Path) -> None:
    """No function of the C API is left out, and each is chosen by one number."""
    listed = run(fuzzer, "--list").stdout.split()
    assert len(listed) > 100
    assert sorted(listed) == sorted(exported())


def test_the_corpus_finds_nothing(fuzzer: Path) -> None:
    """Inputs that once reached new code end well, and leave nothing."""
    assert len(list(CORPUS.iterdir())) >= 24
    done = run(fuzzer, CORPUS)
    assert done.returncode == 0, done.stderr


def test_random_calls_find_nothing(fuzzer: Path) -> None:
    """Random inputs end well, and reach every function's success and most functions' failures."""
    done = run(fuzzer, "--random", "1000000", "--seed", "1")
    assert done.returncode == 0, done.stderr
    *lines, total = done.stdout.splitlines()
    assert int(total.split()[0]) >= 1000000
    counts = {name: (int(calls), int(good)) for name, calls, good in map(str.split, lines)}
    assert set(counts) == exported()
    assert [name for name, (_, good) in counts.items() if good == 0] == []
    assert sum(good < calls for calls, good in counts.values()) > 100


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
    done = run(fuzzer, "--random", "100000", preload=library)
    assert done.returncode != 0
    assert re.search(BROKEN[function], done.stderr)
    assert "again with: --random 1 --seed" in done.stderr
