# SPDX-License-Identifier: Apache-2.0
"""Host memory that is not page-locked, and that the program takes from a copy in flight."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.checkers.programs import Report
from tests.checkers.test_missed import line_of_mistake
from tests.checkers.test_surroundings import built

Checked = Callable[..., Report]

SCHEDULES = ["eager", "deferred", "random:1"]

HEAD = """
#include "program.h"
#include <cstdlib>
#include <cstring>
#include <memory>
#include <vector>
#include <sys/mman.h>
constexpr size_t kMuch = 1 << 20;
"""
PAGES = "mmap(nullptr, kMuch, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)"


def lines(report: Report) -> list[int]:
    """The lines of the program where a buffer was taken away; the calls are in libraries."""
    return [
        next(each["line"] for each in one["parts"][0]["frames"] if "program.cpp" in each["file"])
        for one in report.findings
        if f"{one['tool']}/{one['kind']}" == "memcheck/host-buffer-in-use"
    ]


def program(body: str) -> str:
    """A program with a stream and device memory."""
    return f"""{HEAD}
    int main() {{
      begin();
      void* memory;
      aclrtStream stream;
      must(aclrtMalloc(&memory, kMuch, ACL_MEM_MALLOC_HUGE_FIRST));
      must(aclrtMemset(memory, kMuch, 0, kMuch));
      must(aclrtCreateStream(&stream));
      const auto to_device = [&](const void* from, size_t size) {{
        must(aclrtMemcpyAsync(memory, size, from, size, ACL_MEMCPY_HOST_TO_DEVICE, stream));
      }};
      const auto to_host = [&](void* to, size_t size) {{
        must(aclrtMemcpyAsync(to, size, memory, size, ACL_MEMCPY_DEVICE_TO_HOST, stream));
      }};
      {body}
      aclrtSynchronizeStream(stream);
      must(aclrtFree(memory));
      must(aclrtDestroyStream(stream));
      end();
    }}
    """


@pytest.mark.parametrize("schedule", SCHEDULES)
@pytest.mark.parametrize(
    "body",
    [
        """void* buffer = std::calloc(1, 64);
        to_device(buffer, 64);
        std::free(buffer);  // wrong
        """,
        """void* buffer = std::calloc(1, 256);
        to_host(static_cast<char*>(buffer) + 64, 64);
        std::free(buffer);  // wrong
        """,
        """{
          const std::vector<float> values(kCount);
          to_device(values.data(), kBytes);
        }  // wrong
        """,
        """void* buffer = std::calloc(1, 64);
        void* const behind = std::malloc(64);
        to_device(buffer, 64);
        buffer = std::realloc(buffer, kMuch);  // wrong
        must(aclrtSynchronizeStream(stream));
        std::free(buffer);
        std::free(behind);
        """,
    ],
    ids=["free", "a part", "vector", "realloc"],
)
def test_memory_that_is_freed(body: str, schedule: str, checked: Checked) -> None:
    """By whatever ends in free() or realloc()."""
    text = program(body)
    report = checked(text, "--schedule", schedule)
    assert lines(report) == [line_of_mistake(text)], report.findings
    assert len(report.findings) == 1


@pytest.mark.parametrize("schedule", SCHEDULES)
def test_memory_that_is_unmapped(schedule: str, checked: Checked) -> None:
    """The copy fails if it comes later, and no signal ends the program."""
    text = program(f"""void* const buffer = {PAGES};
        to_device(buffer, kMuch);
        munmap(buffer, kMuch);  // wrong
    """)
    report = checked(text, "--schedule", schedule)
    assert lines(report) == [line_of_mistake(text)], report.findings


def test_a_late_copy_without_the_checkers(tmp_path: Path) -> None:
    """`softnpu run --schedule deferred` says that the memory is gone."""
    body = f"void* const buffer = {PAGES}; to_device(buffer, kMuch); munmap(buffer, kMuch);"
    binary = built(program(body), tmp_path)
    command = [sys.executable, "-m", "softnpu", "run", "--schedule", "deferred", str(binary)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "aclrtMemcpyAsync: the 1048576 bytes from src on cannot be read" in done.stderr


@pytest.mark.parametrize("schedule", SCHEDULES)
def test_memory_that_is_freed_in_time(schedule: str, checked: Checked) -> None:
    """After a wait for the copy; other memory at any time, also at the same address."""
    report = checked(
        program("""for (int i = 0; i < 3; ++i) {
          void* const buffer = std::calloc(1, 64);
          to_device(buffer, 64);
          std::free(std::malloc(64));
          must(aclrtSynchronizeStream(stream));
          std::free(buffer);
        }
        aclrtEvent event;
        must(aclrtCreateEvent(&event));
        auto last = std::make_unique<char[]>(64);
        to_host(last.get(), 64);
        must(aclrtRecordEvent(event, stream));
        must(aclrtSynchronizeEvent(event));
        last = std::make_unique<char[]>(kMuch);
        must(aclrtDestroyEvent(event));
        """),
        "--schedule",
        schedule,
    )
    assert report.findings == []
