# SPDX-License-Identifier: Apache-2.0
"""Functions of the program's that streams call."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tests.checkers.programs import Report

Checked = Callable[..., Report]

HEAD = """
#include "program.h"
#include <unistd.h>
#include <atomic>
#include <thread>
"""


@pytest.mark.parametrize("launch", ["aclrtLaunchHostFunc(nullptr, look, memory)", "1"])
def test_host_access_in_functions_of_the_programs(launch: str, checked: Checked) -> None:
    """On the library's threads, and on the program's."""
    program = f"""
    float seen;
    void look(void* memory) {{ seen = *static_cast<volatile float*>(memory); }}
    int main() {{
      begin();
      void* memory = floats();
      if ({launch} == 1) std::thread(look, memory).join();
      must(aclrtSynchronizeStream(nullptr));
      return 0;
    }}
    """
    report = checked(HEAD + program)
    assert report.kinds == ["memcheck/host-access"], report
    functions = [frame["function"] for frame in report.findings[0]["parts"][0]["frames"]]
    assert any("look" in function for function in functions), functions


LOOKS = """
std::atomic<bool> launched = false, looked = false;
void look(void* memory) {
  while (!launched) usleep(100);
  float value;
  must(aclrtMemcpy(&value, sizeof value, memory, sizeof value, ACL_MEMCPY_DEVICE_TO_HOST));
  looked = true;
}
int main() {
  begin();
  aclrtStream stream = nullptr, other = nullptr;
  aclrtEvent event = nullptr;
  must(aclrtCreateStream(&stream));
  must(aclrtCreateStream(&other));
  must(aclrtCreateEvent(&event));
  std::atomic<bool> over = false;
  std::thread reports([&] {
    must(aclrtSetDevice(0));
    while (!over) aclrtProcessReport(20);
    must(aclrtResetDevice(0));
  });
  must(aclrtSubscribeReport(reports.native_handle(), stream));
  void* memory = floats();
  must(aclrtMemsetAsync(memory, kBytes, 1, kBytes, stream));
  LAUNCH
  LATER
  launched = true;
  while (!looked) usleep(100);
  must(aclrtSynchronizeDevice());
  must(aclrtUnSubscribeReport(reports.native_handle(), stream));
  over = true;
  reports.join();
  must(aclrtFree(memory));
  must(aclrtDestroyEvent(event));
  must(aclrtDestroyStream(stream));
  must(aclrtDestroyStream(other));
  end();
}
"""
NEXT = "must(aclrtMemsetAsync(memory, kBytes, 2, kBytes, stream));"
BEHIND = f"""must(aclrtRecordEvent(event, stream)); must(aclrtStreamWaitEvent(other, event));
{NEXT.replace("stream)", "other)")}"""
BESIDE = NEXT.replace("stream)", "other)")


@pytest.mark.parametrize(
    ("launch", "later", "kinds"),
    [
        ("must(aclrtLaunchHostFunc(stream, look, memory));", NEXT, []),
        ("must(aclrtLaunchHostFunc(stream, look, memory));", BEHIND, []),
        ("must(aclrtLaunchCallback(look, memory, ACL_CALLBACK_BLOCK, stream));", NEXT, []),
        ("must(aclrtLaunchCallback(look, memory, ACL_CALLBACK_BLOCK, stream));", BEHIND, []),
        (
            "must(aclrtLaunchCallback(look, memory, ACL_CALLBACK_NO_BLOCK, stream));",
            NEXT,
            ["synccheck/unsynchronized-read"],
        ),
        (
            f"{BESIDE} must(aclrtLaunchHostFunc(stream, look, memory));",
            "",
            ["racecheck/stream-race", "synccheck/unsynchronized-read"],
        ),
    ],
    ids=["function", "function-behind", "blocks", "blocks-behind", "does-not-block", "beside"],
)
def test_work_behind_functions_of_the_programs(
    launch: str, later: str, kinds: list[str], checked: Checked
) -> None:
    """What waits for a function is not in its way, whichever stream it is in."""
    text = LOOKS.replace("LAUNCH", launch).replace("LATER", later)
    report = checked(HEAD + text)
    assert report.kinds == kinds, report
