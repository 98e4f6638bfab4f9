# SPDX-License-Identifier: Apache-2.0
"""The runtime's own programs under the checkers: they see the same as without them."""

from __future__ import annotations

import pytest

from tests.runtime.test_native import PROGRAMS, Program, ended, named

# memcheck asks for a workspace where these know that they need none.
NO_WORKSPACE = "initcheck,racecheck,synccheck,leakcheck"
TOOLS = {
    "at_exit": "all",
    "busy_streams": "all",
    "concurrency": NO_WORKSPACE,
    "deep_chains": "all",
    "ended_threads": "all",
    "forced_ends": "all",
    "forked_child": "all",
    "last_failures": NO_WORKSPACE,
    "small_stacks": NO_WORKSPACE,
    "throwing_callback": "all",
}
# Each stream of a chain knows all those before it, and each host function begins later.
FEWER = {"deep_chains": ("3000",), "concurrency": ("20",)}


@pytest.mark.parametrize("program", [p for p in PROGRAMS if p.name in TOOLS], ids=named)
def test_a_program(program: Program) -> None:
    """Many threads, ends of all kinds, forks: no crash, and the same codes."""
    # The program decides how it ends.
    settings = {"SOFTNPU_CHECK_REPORT": "/dev/null", "SOFTNPU_CHECK_EXITCODE": "0"}
    program = program._replace(arguments=FEWER.get(program.name, program.arguments))
    ended(program, SOFTNPU_CHECK=TOOLS[program.name], **settings)
