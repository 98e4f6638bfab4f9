# SPDX-License-Identifier: Apache-2.0
"""Correct programs whose order is hard to see, and their twins without that order."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tests.checkers.programs import Report

Checked = Callable[..., Report]

SCHEDULES = ["eager", "deferred", "random:1"]

HEAD = """
#include "program.h"
#include <unistd.h>
#include <condition_variable>
#include <cstring>
#include <mutex>
#include <thread>
std::mutex mutex;
std::condition_variable changed;
int phase = 0;
void step(int to) { { std::lock_guard lock(mutex); phase = to; } changed.notify_all(); }
void wait_for(int least) {
  std::unique_lock lock(mutex);
  changed.wait(lock, [=] { return phase >= least; });
}
void* memory;
float* buffer;
aclrtStream stream, other;
aclrtEvent event, before;
void use() {
  float value[kCount];
  must(aclrtMemcpy(value, kBytes, memory, kBytes, ACL_MEMCPY_DEVICE_TO_HOST));
  must(aclrtMemcpy(memory, kBytes, value, kBytes, ACL_MEMCPY_HOST_TO_DEVICE));
}
void fill(aclrtStream in, int value) { must(aclrtMemsetAsync(memory, kBytes, value, kBytes, in)); }
int main() {
  begin();
  memory = floats();
  must(aclrtMallocHost(reinterpret_cast<void**>(&buffer), 4096));
  for (auto* each : {&stream, &other}) must(aclrtCreateStream(each));
  for (auto* each : {&event, &before}) must(aclrtCreateEvent(each));
  BODY
  must(aclrtSynchronizeDevice());
  for (auto each : {event, before}) must(aclrtDestroyEvent(each));
  for (auto each : {stream, other}) must(aclrtDestroyStream(each));
  must(aclrtFreeHost(buffer));
  must(aclrtFree(memory));
  end();
}
"""


def program(body: str) -> str:
    """A program with some lines."""
    return HEAD.replace("BODY", body)


# A function holds its stream until another thread has worked.
HELD = {
    "a-thread-works": """
      std::thread worker([] { must(aclrtSetDevice(0)); wait_for(1); use(); step(2);
                              must(aclrtResetDevice(0)); });
      fill(stream, 1);
      must(aclrtLaunchHostFunc(
          stream, [](void*) { step(1); usleep(30'000); wait_for(2); }, nullptr));
      fill(stream, 2);
      must(aclrtSynchronizeStream(stream));
      worker.join();""",
    "between-two-functions": """
      fill(stream, 1);
      must(aclrtLaunchHostFunc(stream, [](void*) { step(1); }, nullptr));
      must(aclrtLaunchHostFunc(stream, [](void*) { wait_for(2); }, nullptr));
      fill(stream, 2);
      wait_for(1);
      use();
      step(2);""",
    "before-the-function-begins": """
      must(aclrtLaunchHostFunc(stream, [](void*) { wait_for(2); }, nullptr));
      fill(stream, 2);
      use();
      step(2);""",
    "it-fills-a-buffer": """
      must(aclrtLaunchHostFunc(stream, [](void*) { buffer[0] = 1; wait_for(2); }, nullptr));
      must(aclrtMemcpyAsync(memory, kBytes, buffer, kBytes, ACL_MEMCPY_HOST_TO_DEVICE, stream));
      buffer[1] = 1;
      step(2);""",
}


@pytest.mark.parametrize("schedule", SCHEDULES)
@pytest.mark.parametrize("body", HELD.values(), ids=HELD)
def test_a_function_holds_the_stream(body: str, schedule: str, checked: Checked) -> None:
    """Other threads may use what the work behind it uses."""
    report = checked(program(body), f"--schedule={schedule}")
    assert (report.kinds, report.status) == ([], 0), report


# How a program learns that the work up to an event is done, beside waiting for it.
LEARNT = {
    "wait-status": """
      aclrtEventWaitStatus status;
      must(aclrtStreamWaitEvent(other, event));
      do must(aclrtQueryEventWaitStatus(event, &status));
      while (status != ACL_EVENT_WAIT_STATUS_COMPLETE);""",
    "elapsed-time": """float time;
      while (aclrtEventElapsedTime(&time, before, event) != 0) usleep(100);""",
    "timestamp": "uint64_t time; while (aclrtEventGetTimestamp(event, &time) != 0) usleep(100);",
}


@pytest.mark.parametrize("schedule", SCHEDULES)
@pytest.mark.parametrize("learn", LEARNT.values(), ids=LEARNT)
def test_completion_that_is_learnt(learn: str, schedule: str, checked: Checked) -> None:
    """The host may use the memory then, and not before."""
    launch = "must(aclrtRecordEvent(before, stream)); fill(stream, 1);\n"
    launch += "must(aclrtRecordEvent(event, stream));\n"
    tools = "--tool=memcheck,racecheck"  # loops of calls that fail
    report = checked(program(f"{launch}{learn}\nuse();"), f"--schedule={schedule}", tools)
    assert (report.kinds, report.status) == ([], 0), report
    report = checked(program(f"{launch}\nuse();\n{learn}"), f"--schedule={schedule}", tools)
    assert report.kinds == ["memcheck/overwritten-in-use"], report


@pytest.mark.parametrize("schedule", SCHEDULES)
def test_the_stream_that_waited(schedule: str, checked: Checked) -> None:
    """The status of the wait says that the stream has come there, with what it did before."""
    report = checked(
        program(f"""
      must(aclrtRecordEvent(event, stream));
      fill(other, 1);
      {LEARNT["wait-status"]}
      use();"""),
        f"--schedule={schedule}",
    )
    assert (report.kinds, report.status) == ([], 0), report


@pytest.mark.parametrize("schedule", SCHEDULES)
@pytest.mark.parametrize(
    "end", ["aclrtResetDevice(0)", "aclrtResetDeviceForce(0)", "aclFinalize()"]
)
def test_ends_that_wait(end: str, schedule: str, checked: Checked) -> None:
    """A reset and aclFinalize wait for the streams that they release."""
    again = "must(aclInit(nullptr));" if end == "aclFinalize()" else ""
    report = checked(
        program(f"""
      must(aclrtMemcpyAsync(buffer, kBytes, memory, kBytes, ACL_MEMCPY_DEVICE_TO_HOST, stream));
      must({end});
      {again}
      must(aclrtSetDevice(0));
      buffer[0] = 1;
      use();"""),
        f"--schedule={schedule}",
    )
    assert (report.kinds, report.status) == ([], 0), report


@pytest.mark.parametrize("schedule", ["eager", "deferred"])
def test_a_function_beside_another_stream(schedule: str, checked: Checked) -> None:
    """The race is found in each run, although the function is usually quicker than a launch."""
    text = program("""
      must(aclrtLaunchHostFunc(stream, [](void*) { use(); }, nullptr));
      float* const own = new float[kCount * 1000]();
      for (int i = 0; i < kCount * 1000; ++i) own[i] = static_cast<float>(i);
      fill(other, static_cast<int>(own[77]));
      delete[] own;""")
    for _ in range(3):
        report = checked(text, f"--schedule={schedule}")
        assert set(report.kinds) == {"memcheck/overwritten-in-use", "synccheck/unsynchronized-read"}
