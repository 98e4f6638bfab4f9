# SPDX-License-Identifier: Apache-2.0
"""The checkers' time grows with the work, not with its square; and stacks that look alike."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.checkers.programs import Report
from tests.checkers.test_surroundings import built

FEW = 4_000
TIMES = 4

LOOPS = {
    "views": "fill(memory + 4 * i, a);",
    "two streams": """fill(memory, a); order(a, b); fill(memory, b); order(b, a);""",
    "one pinned buffer": "copy(pinned, a);",
    "host buffers": "copy(host + 64 * i, a);",
    "one capture": "fill(memory + 4 * (i % 2), a);",
}


def program(name: str) -> str:
    """Print the processor time of few pieces of work, and of more, that nothing waits for."""
    is_captured = name == "one capture"
    begin = "aclmdlRI graph; must(aclmdlRICaptureBegin(a, ACL_MODEL_RI_CAPTURE_MODE_RELAXED));"
    end = "must(aclmdlRICaptureEnd(a, &graph)); must(aclmdlRIDestroy(graph));"
    return f"""
#include "program.h"
#include <cstdio>
#include <ctime>
char *memory, *pinned, *host;
aclrtEvent event;
void fill(char* at, aclrtStream in) {{ must(aclrtMemsetAsync(at, 4, 1, 4, in)); }}
void copy(char* from, aclrtStream in) {{
  must(aclrtMemcpyAsync(memory, 64, from, 64, ACL_MEMCPY_HOST_TO_DEVICE, in));
}}
void order(aclrtStream first, aclrtStream second) {{
  must(aclrtRecordEvent(event, first));
  must(aclrtStreamWaitEvent(second, event));
}}
int main() {{
  begin();
  constexpr size_t kRoom = 64 * {FEW * TIMES};
  aclrtStream a, b;
  void* out;
  must(aclrtCreateStream(&a));
  must(aclrtCreateStream(&b));
  must(aclrtCreateEvent(&event));
  must(aclrtMalloc(&out, kRoom, ACL_MEM_MALLOC_HUGE_FIRST));
  memory = static_cast<char*>(out);
  must(aclrtMallocHost(&out, 4096));
  pinned = static_cast<char*>(out);
  host = new char[kRoom];
  for (const int count : {{{FEW}, {FEW * TIMES}}}) {{
    const std::clock_t start = std::clock();
    {begin if is_captured else ""}
    for (int i = 0; i < count; ++i) {{ {LOOPS[name]} }}
    {end if is_captured else ""}
    must(aclrtSynchronizeDevice());
    std::printf("%ld\\n", static_cast<long>(std::clock() - start));
  }}
}}
"""


@pytest.mark.parametrize("name", LOOPS)
def test_time_is_linear(name: str, tmp_path: Path) -> None:
    """Four times the work takes four times as long, about; 16 times if it were a square."""
    binary = built(program(name), tmp_path)
    settings = {"SOFTNPU_CHECK": "all", "SOFTNPU_CHECK_REPORT": os.devnull}
    ratios = []
    for _ in range(3):
        done = subprocess.run(
            [binary],
            env={**os.environ, **settings, "SOFTNPU_CHECK_EXITCODE": "0"},
            capture_output=True,
            text=True,
            check=True,
        )
        few, more = map(int, done.stdout.split())
        ratios.append(more / few)
    assert min(ratios) < 2 * TIMES, ratios


def test_stacks_that_differ_far_out(checked: Callable[..., Report]) -> None:
    """Calls from one line, at one depth of the stack, that were reached from different lines."""
    report = checked("""
#include "program.h"
[[gnu::noinline]] void leak() { floats(); }
[[gnu::noinline]] void middle() { leak(); }
int main() {
  begin();
  for (int i = 0; i < 3; ++i) {
    middle();
    middle();
    leak();
  }
  end();
}
""")
    stacks = [[frame["line"] for frame in one["parts"][0]["frames"]] for one in report.findings]
    assert sorted(lines[-1] for lines in stacks) == [8, 9, 10]
    assert sorted(len(lines) for lines in stacks) == [3, 4, 4]
