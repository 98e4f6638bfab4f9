# SPDX-License-Identifier: Apache-2.0
"""`softnpu run --fail`: calls of the program fail on purpose."""

from typing import Any

import pytest

from tests.support.paths import ROOT

EXAMPLE = ROOT / "examples" / "c" / "elu_backward.cpp"


def test_a_call_fails(softnpu: Any) -> None:
    """The program gets the code, and its own exit status comes through."""
    done = softnpu("run", "--fail", "malloc:2", EXAMPLE)
    assert done.returncode == 1
    assert (
        "status 207001: aclrtMalloc: failed on purpose: SOFTNPU_FAIL asks for malloc:2"
        in done.stderr
    )


def test_several_calls(softnpu: Any) -> None:
    """The option may be repeated; what the program does not call does not fail."""
    done = softnpu("run", "--fail", "event:1", "--fail=sync:1:507015,memset:4", EXAMPLE)
    assert done.returncode == 1
    assert "failed with status 507015" in done.stderr
    assert softnpu("run", "--fail", "event:1", "--fail", "memset:4", EXAMPLE).returncode == 0


@pytest.mark.parametrize(
    ("wrong", "listed"),
    [("fill:1", "malloc_host, memcpy, memset"), ("malloc:1:5", "207001"), ("malloc:0", "above 0")],
)
def test_refusals(softnpu: Any, wrong: str, listed: str) -> None:
    """What is an invalid value is a usage error that lists what can."""
    done = softnpu("run", "--fail", wrong, EXAMPLE)
    assert (done.returncode, done.stdout) == (2, "")
    assert f'"{wrong}" is an invalid value' in done.stderr
    assert listed in done.stderr
