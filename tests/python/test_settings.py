# SPDX-License-Identifier: Apache-2.0
"""Environment variables that nothing fails for."""

from __future__ import annotations

import pytest

from tests.support.acl_runtime import run_python


@pytest.mark.parametrize(
    ("variable", "wrong", "expected"),
    [
        ("SOFTNPU_POOL_MB", "many", "a number from 0 to "),
        ("SOFTNPU_MEMORY_MB", "0", "a number from 1 to "),
        ("SOFTNPU_THREADS", "0", "a number from 1 to 1024"),
        ("SOFTNPU_ISA", "AVX2", "baseline on this machine"),
    ],
)
def test_what_cannot_be_followed_is_said_once(variable: str, wrong: str, expected: str) -> None:
    """On stderr; nothing fails for it."""
    program = "import softnpu; from softnpu import _core; print(_core.info() == _core.info())"
    for value, said in ((wrong, True), ("", False)):
        done = run_python(program, **{variable: value})
        assert done.returncode == 0
        assert done.stdout == "True\n"
        lines = done.stderr.splitlines()
        assert len(lines) == said, done.stderr
        for line in lines:
            start = f'softnpu: {variable} is "{value}", an invalid value; expected '
            assert line.startswith(start)
            assert expected in line
