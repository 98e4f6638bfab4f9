# SPDX-License-Identifier: Apache-2.0
"""Programs that only C++ can write: many threads at once, calls at exit, forks, ends of threads.

Each says in its first lines what it tries; it ends with 0 if all went well.
"""

import re
import subprocess
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from softnpu import _core
from tests.support.capi_symbols import library_folder
from tests.support.native import INTERNAL, PUBLIC, WITHOUT_OPERATORS, compiled, run
from tests.support.process import SANITIZED


class Program(NamedTuple):
    """How a program is compiled and started, and why it cannot run under sanitizers, if so."""

    name: str
    arguments: tuple[str, ...] = ()
    options: list[str] = PUBLIC
    environment: tuple[tuple[str, str], ...] = ()
    not_sanitized: str = ""


OPERATORS = library_folder().resolve() / "libopapi_nn.so"
FORKS = "a fork leaves the locks of a sanitizer's allocator held"
RACE = "a thread sanitizer reports the race that this provokes"
PROGRAMS = [
    Program("concurrency"),
    Program("many_operations", ("20000",)),
    Program("buffer_pool", options=INTERNAL),
    Program("at_exit"),
    Program("closed_library", options=[*WITHOUT_OPERATORS, "-ldl", f'-DLIBRARY="{OPERATORS}"']),
    Program("throwing_callback"),
    Program("forked_child", ("others call",), not_sanitized=FORKS),
    Program("forked_child", ("a stream runs",)),
    Program("forked_child", ("a callback waits",)),
    Program("ended_threads", not_sanitized="libstdc++ passes a null reference to such handlers"),
    Program("last_failures"),
    Program("forced_ends"),
    Program("waiting_copies", not_sanitized="the program looks at a byte that a stream writes"),
    Program("mapping_threads"),
    Program("busy_streams"),
    Program("deep_chains"),
    Program("small_stacks", not_sanitized="sanitizers take more stack"),
    *(
        Program("changing_indices", environment=(("SOFTNPU_ISA", level),), not_sanitized=RACE)
        for level in _core.info()["isa_available"]
    ),
]
# The only failure that no call has reported, which is on stderr.
REPORTED = {"last_failures": "aclnnMaxUnpool3dBackward.*99", "forced_ends": "aclrtMemsetAsync: dev"}
# What is printed by those that count.
COUNTED = {"concurrency": r"\d{5,} passed, 0 failed\n", "many_operations": r"\d{6,} passed, 0 fai"}


def ended(program: Program, **environment: str) -> subprocess.CompletedProcess[str]:
    """Compile a program without a warning, and run it to its end, which must be a good one."""
    if SANITIZED and program.not_sanitized:
        pytest.skip(program.not_sanitized)
    file = compiled(program.name, program.options)
    done = run(file, *program.arguments, **dict(program.environment), **environment)
    assert done.returncode == 0, done.stderr
    return done


def named(value: Any) -> str:
    """What a test of a program is called."""
    return "-".join([value.name, *value.arguments, *dict(value.environment).values()])


@pytest.mark.parametrize("program", PROGRAMS, ids=named)
def test_a_program(program: Program) -> None:
    """It finds nothing wrong, has made as many calls as it should, and leaves nothing unsaid."""
    done = ended(program)
    assert re.search(COUNTED.get(program.name, ""), done.stdout)
    lines = [line for line in done.stderr.splitlines() if "no call has reported" in line]
    assert len(lines) == (program.name in REPORTED), done.stderr
    for line in lines:
        assert re.search(REPORTED[program.name], line)


def test_no_library_registers_destructors_of_threads() -> None:
    """The C library ends the process where there is no memory for the registration."""
    libraries = [Path(_core.__file__), *library_folder().resolve().glob("*.so")]
    assert len(libraries) > 2
    for library in libraries:
        assert b"__cxa_thread_atexit" not in library.read_bytes(), library
