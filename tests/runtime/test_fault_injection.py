# SPDX-License-Identifier: Apache-2.0
"""SOFTNPU_FAIL: the calls that it names fail with the documented code, and do nothing else."""

from pathlib import Path
from typing import NamedTuple

import pytest

from tests.support.native import compiled, run
from tests.support.process import SANITIZED


class Kind(NamedTuple):
    """What a kind of calls is: its code, its functions, its calls before the first reported one."""

    code: int
    functions: tuple[str, ...]
    before: int = 0


KINDS = {
    "malloc": Kind(207001, ("aclrtMalloc",), 1),
    "malloc_host": Kind(207001, ("aclrtMallocHost",)),
    "memcpy": Kind(507000, ("aclrtMemcpy", "aclrtMemcpyAsync")),
    "memset": Kind(507000, ("aclrtMemset", "aclrtMemsetAsync")),
    "plan": Kind(561103, ("aclnnInplaceSeluGetWorkspaceSize",)),
    "launch": Kind(361001, ("aclnnInplaceSelu",)),
    "sync": Kind(
        507000, ("aclrtSynchronizeStream", "aclrtSynchronizeDevice", "aclrtSynchronizeEvent")
    ),
    "stream": Kind(207005, ("aclrtCreateStream",)),
    "event": Kind(207005, ("aclrtCreateEvent",), 1),
    "context": Kind(207005, ("aclrtCreateContext",)),
    "create": Kind(-1, ("aclCreateTensor",), 1),
}


class Call(NamedTuple):
    """What the program says of a call."""

    function: str
    status: int
    message: str


@pytest.fixture(scope="module")
def program() -> Path:
    """The program, compiled."""
    return compiled("faults")


def calls(program: Path, faults: str) -> list[Call]:
    """What the program says of its calls, some of which fail."""
    done = run(program, SOFTNPU_FAIL=faults)
    assert done.returncode == 0, done.stderr
    lines = [line.split("|", 2) for line in done.stdout.splitlines()]
    return [Call(function, int(status), message) for function, status, message in lines]


def of_kind(said: list[Call], kind: str) -> list[Call]:
    """The calls of a kind."""
    return [call for call in said if call.function in KINDS[kind].functions]


def test_nothing_fails(program: Path) -> None:
    """Without faults no call fails, and the program makes calls of each kind."""
    said = calls(program, "")
    assert {call.status for call in said} == {0}
    for kind in KINDS:
        assert len(of_kind(said, kind)) >= 3


@pytest.mark.parametrize("number", [2, 3])
@pytest.mark.parametrize("kind", KINDS)
def test_one_call(program: Path, kind: str, number: int) -> None:
    """The call of the number fails, and no other one; the message says that it is on purpose."""
    said = calls(program, f"{kind}:{number}")
    failed = [call for call in said if call.status != 0]
    call = of_kind(said, kind)[number - 1 - KINDS[kind].before]
    assert failed == [call]
    reason = f"failed on purpose: SOFTNPU_FAIL asks for {kind}:{number}"
    assert call == (call.function, KINDS[kind].code, f"{call.function}: {reason}")


def test_other_codes(program: Path) -> None:
    """A code may be given, and several calls may be named."""
    said = calls(program, "launch:2:361001,sync:1:507015,memcpy:6:107000")
    assert [(call.function, call.status) for call in said if call.status != 0] == [
        ("aclrtSynchronizeStream", 507015),
        ("aclnnInplaceSelu", 361001),
        ("aclrtMemcpyAsync", 107000),
    ]


def test_rate(program: Path) -> None:
    """A rate fails some calls of all kinds; the seed decides which."""
    # Without the calls that the program cannot go on without.
    seeds = [
        seed for seed in range(60) if run(program, SOFTNPU_FAIL=f"rate:0.1:{seed}").returncode == 0
    ]
    assert len(seeds) > 10
    runs = {seed: calls(program, f"rate:0.1:{seed}") for seed in seeds}
    failed = [call for said in runs.values() for call in said if call.status != 0]
    total = sum(map(len, runs.values()))
    assert 0.05 < len(failed) / total < 0.15
    assert {call.function for call in failed} == {
        function for kind in KINDS.values() for function in kind.functions
    }
    assert all("SOFTNPU_FAIL asks for rate:0.1:" in call.message for call in failed)
    assert all(calls(program, f"rate:0.1:{seed}") == runs[seed] for seed in seeds[:5])
    assert len({tuple(call.status for call in said) for said in runs.values()}) > 10


@pytest.mark.skipif(SANITIZED, reason="a sanitizer keeps freed memory for a while")
def test_failed_calls_keep_nothing(program: Path) -> None:
    """Calls that fail on purpose keep no memory, however many there are."""
    done = run(program, "many", SOFTNPU_FAIL="rate:1:0")
    assert done.returncode == 0, done.stderr
    assert int(done.stdout) < 1 << 20


@pytest.mark.parametrize(
    ("wrong", "reason"),
    [
        (
            "fill:1",
            "no such kind of calls; it must be one of malloc, malloc_host, memcpy, ",
        ),
        ("malloc:1,,", "no such kind"),
        ("malloc", "expected malloc:N or malloc:N:CODE"),
        ("malloc:1:207001:2", "expected malloc:N or malloc:N:CODE"),
        ("malloc:0", "which call must be a number above 0"),
        ("malloc:-1", "which call must be a number above 0"),
        ("malloc:x", "which call must be a number above 0"),
        ("malloc:1:99", "the code must be one of 161001, 161002, 361001, "),
        ("create:1:561103", "return null, and no code"),
        ("rate:0.5", "expected rate:PROBABILITY:SEED"),
        ("rate:0:1", "the probability must be above 0, and at most 1"),
        ("rate:1.5:1", "the probability must be above 0, and at most 1"),
        ("rate:nan:1", "the probability must be above 0, and at most 1"),
        ("rate:0.5:x", "the seed must be a number"),
    ],
)
def test_refusals(program: Path, wrong: str, reason: str) -> None:
    """`aclInit` refuses what is an invalid value, and says what can be."""
    done = run(program, SOFTNPU_FAIL=wrong)
    assert done.returncode == 2
    function, status, message = done.stdout.strip().split("|", 2)
    assert (function, status) == ("aclInit", "100000")
    assert message.startswith("aclInit: SOFTNPU_FAIL: ")
    assert reason in message


def test_an_example() -> None:
    """Whichever of its calls fails, an example ends with its own exit status, and says why."""
    example = compiled("../../examples/c/elu_backward")
    failures = 0
    for kind in KINDS:
        for number in range(1, 20):
            done = run(example, SOFTNPU_FAIL=f"{kind}:{number}")
            if done.returncode == 0:
                break
            assert done.returncode == 1, (kind, number, done)
            said = f"failed on purpose: SOFTNPU_FAIL asks for {kind}:{number}\n" in done.stderr
            # The example looks at some of what it creates only when it uses it.
            assert said or (kind == "create" and "is null\n" in done.stderr)
            failures += 1
        assert done.returncode == 0, kind
    assert failures > 12
