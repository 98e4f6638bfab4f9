# SPDX-License-Identifier: Apache-2.0
"""Bugs in programs with graphs: what an execution reads and writes is seen as launches are."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tests.checkers.programs import Report

# out = elu(self), captured in a stream; the program's own part comes instead of BODY.
PROGRAM = """
#include "program.h"
int main() {
  begin();
  aclrtStream stream = nullptr, other = nullptr;
  must(aclrtCreateStream(&stream));
  must(aclrtCreateStream(&other));
  void *self = floats(SELF_IS_WRITTEN), *out = floats();
  Elu elu(self, out);
  elu.plan();
  BEFORE_THE_CAPTURE
  aclmdlRI graph = nullptr;
  must(aclmdlRICaptureBegin(stream, ACL_MODEL_RI_CAPTURE_MODE_GLOBAL));
  elu.launch(stream);
  must(aclmdlRICaptureEnd(stream, &graph));
  BODY
  must(aclrtSynchronizeDevice());
  if (self != nullptr) must(aclrtFree(self));
  must(aclrtFree(out));
  LAST
  must(aclrtDestroyStream(stream));
  must(aclrtDestroyStream(other));
  end();
}
"""
DESTROY = "must(aclDestroyTensor(elu.self)); must(aclDestroyTensor(elu.out));"
EXECUTE = "must(aclmdlRIExecuteAsync(graph, stream));"
DESTROY_GRAPH = "must(aclmdlRIDestroy(graph));"
READ = """float values[kCount];
  must(aclrtMemcpy(values, kBytes, out, kBytes, ACL_MEMCPY_DEVICE_TO_HOST));"""


def program(
    body: str,
    before: str = "",
    last: str = DESTROY_GRAPH,
    *,
    written: bool = True,
    early: bool = False,
) -> str:
    """The program; what is destroyed after the capture comes before it where it is `early`."""
    rest = "must(aclDestroyScalar(elu.one)); if (elu.workspace) must(aclrtFree(elu.workspace));"
    return (
        PROGRAM.replace("SELF_IS_WRITTEN", "true" if written else "false")
        .replace("BEFORE_THE_CAPTURE", before + (DESTROY if early else ""))
        .replace("BODY", ("" if early else DESTROY) + body)
        .replace("LAST", rest + last)
    )


REPEATABLE = "must(aclSetAclOpExecutorRepeatable(elu.executor));"
CASES = {
    "right": (program(EXECUTE + EXECUTE), []),
    "right, ordered by an event": (
        program(
            "aclrtEvent event; must(aclrtCreateEvent(&event));"
            f"{EXECUTE} must(aclrtRecordEvent(event, stream));"
            "must(aclrtStreamWaitEvent(other, event)); must(aclmdlRIExecuteAsync(graph, other));"
            "must(aclrtDestroyEvent(event));"
        ),
        [],
    ),
    "repeatable, destroyed after the capture": (
        program("must(aclDestroyAclOpExecutor(elu.executor));" + EXECUTE, REPEATABLE),
        [],
    ),
    "repeatable, never destroyed": (program("", REPEATABLE), ["leakcheck/leaked-handle"]),
    "a graph that is never destroyed": (program(EXECUTE, last=""), ["leakcheck/leaked-handle"]),
    "two streams at once": (
        program(EXECUTE + "must(aclmdlRIExecuteAsync(graph, other));"),
        ["racecheck/stream-race"],
    ),
    "read too early": (program(EXECUTE + READ), ["synccheck/unsynchronized-read"]),
    "freed too early": (
        program(EXECUTE + "must(aclrtFree(self)); self = nullptr;"),
        ["memcheck/freed-in-use"],
    ),
    "freed before": (
        program("must(aclrtFree(self)); self = nullptr;(void)aclmdlRIExecuteAsync(graph, stream);"),
        ["memcheck/use-after-free"],
    ),
    "never written": (program(EXECUTE, written=False), ["initcheck/uninitialized-read"]),
    "tensors destroyed before the capture": (
        program(EXECUTE, early=True),
        ["memcheck/tensor-destroyed-early"],
    ),
    "destroyed twice": (
        program(EXECUTE, last=DESTROY_GRAPH + "(void)aclmdlRIDestroy(graph);"),
        ["memcheck/dead-handle"],
    ),
}


# Two streams of one capture write FIRST and SECOND.
BRANCHES = """
#include "program.h"
int main() {
  begin();
  aclrtStream stream = nullptr, other = nullptr;
  aclrtEvent forked = nullptr, joined = nullptr;
  must(aclrtCreateStream(&stream));
  must(aclrtCreateStream(&other));
  must(aclrtCreateEvent(&forked));
  must(aclrtCreateEvent(&joined));
  char* const memory = static_cast<char*>(floats());
  const auto fill = [](char* from, aclrtStream in) {
    must(aclrtMemsetAsync(from, kBytes / 2, 1, kBytes / 2, in));
  };
  aclmdlRI graph = nullptr;
  must(aclmdlRICaptureBegin(stream, ACL_MODEL_RI_CAPTURE_MODE_GLOBAL));
  BEFORE
  must(aclrtRecordEvent(forked, stream));
  must(aclrtStreamWaitEvent(other, forked));
  fill(memory + SECOND, other);
  FORKED
  must(aclrtRecordEvent(joined, other));
  must(aclrtStreamWaitEvent(stream, joined));
  JOINED
  must(aclmdlRICaptureEnd(stream, &graph));
  for (int i = 0; i < 2; ++i) must(aclmdlRIExecuteAsync(graph, stream));
  must(aclrtSynchronizeStream(stream));
  must(aclmdlRIDestroy(graph));
  must(aclrtDestroyEvent(forked));
  must(aclrtDestroyEvent(joined));
  must(aclrtDestroyStream(stream));
  must(aclrtDestroyStream(other));
  must(aclrtFree(memory));
  end();
}
"""


@pytest.mark.parametrize("place", ["BEFORE", "FORKED", "JOINED"])
@pytest.mark.parametrize("second", ["0", "kBytes / 4", "kBytes / 2"])
def test_captured_streams_that_nothing_orders(
    place: str, second: str, checked: Callable[..., Report]
) -> None:
    """Both write the same bytes between the fork and the join; it is found at the capture."""
    text = BRANCHES.replace("SECOND", second).replace(place, "fill(memory, stream);")
    for unused in {"BEFORE", "FORKED", "JOINED"} - {place}:
        text = text.replace(unused, "")
    report = checked(text)
    is_race = place == "FORKED" and second != "kBytes / 2"
    assert report.kinds == ["racecheck/stream-race"] * is_race, report.stderr
    assert "unexpected" not in report.stdout, report.stdout


@pytest.mark.parametrize("case", CASES)
def test_findings(case: str, checked: Callable[..., Report]) -> None:
    """Each bug is found, once, and nothing where there is none."""
    text, kinds = CASES[case]
    report = checked(text)
    assert sorted(set(report.kinds)) == kinds, report.stderr
    assert "unexpected" not in report.stdout, report.stdout


def test_a_leaked_graph_is_named(checked: Callable[..., Report]) -> None:
    """With the function that makes it and the one that destroys it."""
    report = checked(program(EXECUTE, last=""), "--format", "text")
    assert "1 graph was never destroyed" in report.stderr
    assert "aclmdlRIDestroy destroys it: aclmdlRICaptureBegin(" in report.stderr
