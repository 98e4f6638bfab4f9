# SPDX-License-Identifier: Apache-2.0
"""The checkers in programs that limit themselves, handle signals or end in unusual ways."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.checkers.programs import FOLDER, Report

Checked = Callable[..., Report]

HEAD = """
#include "program.h"
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>
#include <atomic>
#include <csignal>
#include <cstring>
#include <thread>
float at(void* memory) {
  float value;
  must(aclrtMemcpy(&value, sizeof value, memory, sizeof value, ACL_MEMCPY_DEVICE_TO_HOST));
  return value;
}
void set(void* memory, float value) {
  must(aclrtMemcpy(memory, sizeof value, &value, sizeof value, ACL_MEMCPY_HOST_TO_DEVICE));
}
"""


def built(source: str, folder: Path, *options: str) -> Path:
    """Compile a program that the command does not run."""
    file, program = folder / "program.cpp", folder / "program"
    file.write_text(HEAD + source, "utf-8")
    command = [sys.executable, "-m", "softnpu", "build", str(file), "-o", str(program)]
    flags = " ".join(["-O0", "-g", *options])
    settings = {"CPPFLAGS": f"-I{FOLDER}", "CXXFLAGS": flags}
    subprocess.run(command, check=True, env={**os.environ, **settings})
    return program


@pytest.mark.parametrize("limit", ["RLIMIT_FSIZE", "RLIMIT_NOFILE"])
def test_limits_of_files(limit: str, tmp_path: Path) -> None:
    """The program works under them, and a report that cannot be written goes to stderr."""
    source = f"""
    int main() {{
      const rlimit none{{0, 0}};
      setrlimit({limit}, &none);
      begin();
      void* memory = floats();
      const bool works = at(memory) == 1.0f;
      must(aclrtFree(memory));
      aclrtFree(memory);
      end();
      return works ? 0 : 1;
    }}
    """
    program = built(source, tmp_path)
    settings = {"SOFTNPU_CHECK": "all", "SOFTNPU_CHECK_REPORT": str(tmp_path / "report")}
    done = subprocess.run([program], env={**os.environ, **settings}, capture_output=True, text=True)
    assert done.returncode == 86, done.stderr
    assert "softnpu: memcheck (double-free): aclrtFree" in done.stderr


def test_a_limit_of_address_space(tmp_path: Path) -> None:
    """The program keeps some for itself, and large allocations fail as they do otherwise."""
    source = """
    int main() {
      const rlimit some{rlim_t{3} << 30, rlim_t{3} << 30};
      setrlimit(RLIMIT_AS, &some);
      begin();
      void* memory = floats();
      const bool works = at(memory) == 1.0f;
      void* own = std::malloc(size_t{256} << 20);
      void* large = nullptr;
      const bool refused = aclrtMalloc(&large, size_t{8} << 30, ACL_MEM_MALLOC_HUGE_FIRST) != 0;
      std::free(own);
      must(aclrtFree(memory));
      end();
      return works && own != nullptr && refused ? 0 : 1;
    }
    """
    settings = {"SOFTNPU_CHECK": "all"}
    done = subprocess.run(
        [built(source, tmp_path)], env={**os.environ, **settings}, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("flags", ["", "-no-pie"])
def test_lines_of_programs_that_moved(flags: str, tmp_path: Path) -> None:
    """Positions are known of a program without them, and of one that left its folder."""
    source = """
    int main() {
      if (chdir("/") != 0) return 1;
      begin();
      void* memory = floats();
      must(aclrtFree(memory));
      aclrtFree(memory);
      end();
    }
    """
    built(source, tmp_path, flags)
    report = tmp_path / "report"
    settings = {"SOFTNPU_CHECK": "all", "SOFTNPU_CHECK_REPORT": str(report)}
    subprocess.run(["./program"], env={**os.environ, **settings}, cwd=tmp_path)
    from softnpu.cli.findings import read_findings

    (finding,) = read_findings(report)
    (frame,) = finding.parts[0].frames
    assert (frame.function, Path(frame.file).name) == ("main", "program.cpp")
    assert frame.line > 5


def test_half_a_line_of_a_report(tmp_path: Path) -> None:
    """A program that was killed while it wrote leaves one; the others are read."""
    from softnpu.cli.findings import read_findings

    report = tmp_path / "report"
    whole = (
        '{"tool": "memcheck", "kind": "x", "headline": "\u2028", "parts": [], '
        '"suggestion": "", "rule": "", "pid": 1, "rank": ""}\n'
    )
    report.write_text(whole + whole[:40], "utf-8")
    assert [finding.kind for finding in read_findings(report)] == ["x"]


def test_the_programs_own_handler(checked: Checked) -> None:
    """A fault that is none of device memory reaches a handler that the program has installed."""
    program = """
    void on_fault(int) { _exit(12); }
    int main() {
      begin();
      std::signal(SIGSEGV, on_fault);
      void* memory = floats();
      must(aclrtFree(memory));
      end();
      *static_cast<volatile int*>(nullptr) = 1;
    }
    """
    report = checked(HEAD + program)
    assert (report.kinds, report.status) == ([], 12), report


def test_other_faults_end_the_program_as_always(checked: Checked) -> None:
    """By the signal."""
    program = """
    int deeper(volatile int* depth) { volatile int room[4096]; room[0] = *depth; ++*depth;
                                      return deeper(depth) + room[0]; }
    int main(int count, char**) {
      begin();
      end();
      volatile int depth = count;
      return deeper(&depth);
    }
    """
    report = checked(HEAD + program)
    assert (report.kinds, report.status) == ([], 128 + 11), report


def test_page_locked_memory_is_the_programs(checked: Checked) -> None:
    """It may read and write it, whatever lies beside it."""
    program = """
    int main() {
      begin();
      for (size_t size : {size_t{1}, size_t{4096}, size_t{64} << 20}) {
        void *ours = nullptr, *theirs = nullptr;
        must(aclrtMalloc(&theirs, size, ACL_MEM_MALLOC_HUGE_FIRST));
        must(aclrtMallocHost(&ours, size));
        std::memset(ours, 1, size);
        must(aclrtMemcpy(theirs, size, ours, size, ACL_MEMCPY_HOST_TO_DEVICE));
        std::memset(ours, 0, size);
        must(aclrtMemcpy(ours, size, theirs, size, ACL_MEMCPY_DEVICE_TO_HOST));
        if (static_cast<char*>(ours)[size - 1] != 1) return 1;
        if (size > 1) must(aclrtMemcpy(static_cast<char*>(theirs) + 1, size - 1, theirs, size - 1,
                                       ACL_MEMCPY_DEVICE_TO_DEVICE));
        must(aclrtFree(theirs));
        must(aclrtFreeHost(ours));
      }
      end();
    }
    """
    report = checked(HEAD + program)
    assert (report.kinds, report.status) == ([], 0), report


def test_releases_at_exit(checked: Checked) -> None:
    """Static objects and exit handlers of the program run before the last look."""
    program = """
    void* memory;
    struct Last { ~Last() { must(aclFinalize()); } } last;
    struct Owner { ~Owner() { must(aclrtFree(memory)); } } owner;
    void* other;
    int main() {
      begin();
      std::atexit([] { must(aclrtFree(other)); });
      memory = floats();
      other = floats();
    }
    """
    report = checked(HEAD + program)
    assert (report.kinds, report.status) == ([], 0), report


def test_many_streams(checked: Checked) -> None:
    """Ended streams cost nothing."""
    program = """
    int main() {
      begin();
      void *self = floats(), *out = floats(false);
      alarm(120);
      aclrtEvent event;
      must(aclrtCreateEvent(&event));
      for (int i = 0; i < 10'000; ++i) {
        aclrtStream stream;
        must(aclrtCreateStream(&stream));
        must(aclrtMemsetAsync(out, kBytes, 1, kBytes, stream));
        must(aclrtRecordEvent(event, stream));
        must(aclrtStreamWaitEvent(nullptr, event));
        must(aclrtMemcpyAsync(out, kBytes, self, kBytes, ACL_MEMCPY_DEVICE_TO_DEVICE, nullptr));
        must(aclrtDestroyStream(stream));
        must(aclrtSynchronizeStream(nullptr));
      }
      must(aclrtDestroyEvent(event));
      must(aclrtFree(self));
      must(aclrtFree(out));
      end();
    }
    """
    report = checked(HEAD + program)
    assert (report.kinds, report.status) == ([], 0), report
