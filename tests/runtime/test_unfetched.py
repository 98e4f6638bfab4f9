# SPDX-License-Identifier: Apache-2.0
"""At the end of the process, failures that no call has reported are printed."""

from __future__ import annotations

import re

import pytest

from tests.support.native import compiled, run

WAYS = {
    "at exit": {99: "exit: .* of stream 1"},
    "two streams": {99: "exit: .* of stream 1", 98: "exit: .* of stream 0"},
    "two failures": {99: "exit: .* of stream 1"},
    "fetched": {},
    "fetched by a handler": {},
    "finalized by a handler": {99: "aclFinalize: no call has reported this failure"},
    "fork": {77: "exit: .* of stream 1", 88: "exit: .* of stream 2"},
    "running": {55: "exit: .* of stream 0"},
}


@pytest.mark.parametrize("how", WAYS)
@pytest.mark.parametrize("log", ["off", "error"])
def test_failures_that_no_call_reported(how: str, log: str) -> None:
    """Each stream's first one is printed once, by the process in which it happened, whatever is
    logged; not what a call fetched, be it in an exit handler. Nothing is waited for.
    """
    done = run(compiled("unfetched"), how, SOFTNPU_LOG=log)
    assert done.returncode == 0, done.stderr
    lines = [line for line in done.stderr.splitlines() if "no call has reported" in line]
    wanted = WAYS[how]
    assert len(lines) == len(wanted), done.stderr
    for index, start in wanted.items():
        found = [line for line in lines if str(index) in line.partition("aclnnMax")[2]]
        assert len(found) == 1, done.stderr
        assert re.match(rf"softnpu: {start}.*: aclnnMaxUnpool3dBackward: ", found[0])
