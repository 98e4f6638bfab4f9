# SPDX-License-Identifier: Apache-2.0
"""Mistakes at the limits of what the checkers see: each is reported, at the line of the mistake."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.checkers.programs import Report
from tests.checkers.test_surroundings import built

Checked = Callable[..., Report]

HEAD = """
#include "program.h"
#include <fcntl.h>
#include <unistd.h>
#include <csignal>
#include "aclnnop/aclnn_cat.h"
"""
MANY = 20_000  # more than what the checkers remember


def lines(report: Report, kind: str) -> list[int]:
    """The lines of the program where a kind was found, innermost frame."""
    return [
        one["parts"][0]["frames"][0]["line"]
        for one in report.findings
        if f"{one['tool']}/{one['kind']}" == kind
    ]


def line_of_mistake(program: str) -> int:
    """The line that is marked as wrong."""
    return next(n for n, line in enumerate(program.split("\n"), 1) if "// wrong" in line)


def in_main(body: str, before: str = "") -> str:
    """A program that has a device and runs some lines."""
    return f"{HEAD}{before}\nint main() {{\n  begin();\n{body}\n  end();\n}}\n"


@pytest.mark.parametrize("others", [0, MANY])
def test_a_tensor_of_a_plan_is_remembered(others: int, checked: Checked) -> None:
    """However many others are destroyed between its destruction and the launch."""
    program = in_main(f"""
      void *self = floats(), *out = floats();
      Elu elu(self, out);
      elu.plan();
      must(aclDestroyTensor(elu.self));
      for (int i = 0; i < {others}; ++i) must(aclDestroyTensor(tensor(out)));
      must(aclnnElu(elu.workspace, elu.size, elu.executor, nullptr));  // wrong
      must(aclrtSynchronizeStream(nullptr));
      must(aclDestroyTensor(elu.out));
      must(aclDestroyScalar(elu.one));
      for (void* each : {{elu.workspace, self, out}}) must(aclrtFree(each));
    """)
    report = checked(program)
    assert report.kinds == ["memcheck/tensor-destroyed-early"], report
    assert [part["call"].partition("(")[0] for part in report.findings[0]["parts"]] == [
        "aclnnElu",
        "aclDestroyTensor",
    ]


@pytest.mark.parametrize("others", [0, MANY])
def test_freed_memory_is_the_devices(others: int, checked: Checked) -> None:
    """Also if nobody remembers the allocation."""
    program = in_main(f"""
      std::vector<void*> all({others} + 1);
      for (void*& each : all) must(aclrtMalloc(&each, 64, ACL_MEM_MALLOC_HUGE_FIRST));
      for (void* each : all) must(aclrtFree(each));
      static_cast<volatile char*>(all[0])[3] = 1;  // wrong
    """)
    report = checked(program)
    assert (report.kinds, report.status) == (["memcheck/host-access"], 86), report
    assert lines(report, "memcheck/host-access") == [line_of_mistake(program)]
    assert "freed" in report.findings[0]["headline"]


@pytest.mark.parametrize(
    ("access", "words"),
    [
        ("memory[kBytes + 1] = 1;", "1 bytes past the end of an allocation of 64 bytes"),
        ("value = memory[0];", "0 bytes into an allocation of 64 bytes"),
        ("std::free(const_cast<char*>(memory));", "before an allocation of 64 bytes"),
        ("value = std::realloc((void*)memory, 128) != nullptr;", "before an allocation"),
    ],
    ids=["past-the-end", "inside", "free", "realloc"],
)
def test_accesses_of_the_program(access: str, words: str, checked: Checked) -> None:
    """In an allocation and beside it, and by the C library's allocator."""
    program = in_main(
        f"""
      volatile char* const memory = static_cast<char*>(floats());
      {access}  // wrong
    """,
        "volatile char value;",
    )
    report = checked(program)
    assert report.kinds == ["memcheck/host-access"], report
    assert lines(report, "memcheck/host-access") == [line_of_mistake(program)]
    assert words in report.findings[0]["headline"]


@pytest.mark.parametrize(
    "call",
    [
        "failed = read(file, memory, size) < 0 && errno == EFAULT;",
        "failed = pread(file, memory, size, 0) < 0 && errno == EFAULT;",
        "failed = write(file, memory, size) < 0 && errno == EFAULT;",
        "failed = std::fread(memory, 1, size, stream) != size;",
        "failed = std::fwrite(memory, 1, size, stream) != size;",
    ],
)
def test_accesses_by_the_system(call: str, checked: Checked) -> None:
    """The call fails as it does without the checkers, and the program goes on."""
    program = in_main(
        f"""
      const size_t size = 1 << 20;
      void* memory;
      must(aclrtMalloc(&memory, size, ACL_MEM_MALLOC_HUGE_FIRST));
      const int file = open("file", O_RDWR | O_CREAT, 0600);
      if (ftruncate(file, size) != 0) return 1;
      std::FILE* const stream = fdopen(dup(file), "r+");
      bool failed = false;
      {call}  // wrong
      if (!failed) return 1;
      must(aclrtFree(memory));
    """,
        "#include <cerrno>",
    )
    report = checked(program)
    assert (report.kinds, report.status) == (["memcheck/host-access"], 86), report
    assert lines(report, "memcheck/host-access") == [line_of_mistake(program)]


def test_the_system_refuses_other_memory(checked: Checked) -> None:
    """That is no business of the checkers, and errno is as always."""
    program = in_main(
        """
      errno = 7;
      char byte;
      const bool works = read(open("/dev/zero", O_RDONLY), &byte, 1) == 1 && errno == 7;
      const bool fails = read(open("/dev/zero", O_RDONLY), (void*)8, 1) == -1 && errno == EFAULT;
      if (!works || !fails) return 1;
    """,
        "#include <cerrno>",
    )
    report = checked(program)
    assert (report.kinds, report.status) == ([], 0), report


INSTALL = {
    "signal": """if (std::signal(SIGSEGV, own) != SIG_DFL) return 1;
      if (std::signal(SIGSEGV, own) != own) return 1;""",
    "sigaction": """struct sigaction handler = {}, old;
      handler.sa_handler = own;
      sigaction(SIGSEGV, &handler, nullptr);
      if (sigaction(SIGSEGV, nullptr, &old) != 0 || old.sa_handler != own) return 1;""",
}


@pytest.mark.parametrize("install", INSTALL.values(), ids=INSTALL)
@pytest.mark.parametrize("is_device", [True, False], ids=["device-memory", "other-memory"])
def test_the_programs_handler_comes_second(install: str, is_device: bool, checked: Checked) -> None:
    """It sees all faults but those of device memory, whenever it was installed."""
    program = in_main(
        f"""
      volatile char* memory = static_cast<char*>(floats());
      {install}
      if (!{int(is_device)}) memory = (char*)8;
      *memory = 1;  // wrong
    """,
        "void own(int) { _exit(12); }",
    )
    report = checked(program)
    kinds = ["memcheck/host-access"] if is_device else []
    assert (report.kinds, report.status) == (kinds, 86 if is_device else 12), report
    assert lines(report, "memcheck/host-access") == [line_of_mistake(program)] * is_device


def test_a_handler_without_the_command(tmp_path: Path) -> None:
    """Of a program that is started with a variable: the next call puts the checkers first."""
    source = """
    void own(int) { _exit(12); }
    int main() {
      begin();
      std::signal(SIGSEGV, own);
      *static_cast<volatile float*>(floats()) = 1;
    }
    """
    settings = {"SOFTNPU_CHECK": "all"}
    done = subprocess.run(
        [built(source, tmp_path)], env={**os.environ, **settings}, capture_output=True, text=True
    )
    assert done.returncode == 87, done
    assert "softnpu: memcheck (host-access): the program itself writes" in done.stderr


def test_handlers_that_call_each_other(tmp_path: Path) -> None:
    """A handler of the program's that calls the one before it: the fault ends the process."""
    source = """
    struct sigaction before;
    void own(int signal, siginfo_t* about, void* context) {
      before.sa_sigaction(signal, about, context);
    }
    int main() {
      begin();
      void* memory = floats();
      struct sigaction handler = {};
      handler.sa_sigaction = own;
      handler.sa_flags = SA_SIGINFO;
      sigaction(SIGSEGV, &handler, &before);
      must(aclrtFree(memory));
      *(volatile int*)8 = 1;
    }
    """
    done = subprocess.run(
        [built(source, tmp_path)], env={**os.environ, "SOFTNPU_CHECK": "all"}, timeout=60
    )
    assert done.returncode == -11


def test_a_test_that_touches_device_memory(tmp_path: Path) -> None:
    """It ends pytest, whose own handler is installed; the report names the line of the test."""
    (tmp_path / "test_one.py").write_text(
        "import ctypes\n"
        "from softnpu import acl\n"
        "def test_one():\n"
        "    acl.init()\n"
        "    acl.rt.set_device(0)\n"
        "    memory, _ = acl.rt.malloc(64, 0)\n"
        "    ctypes.string_at(memory, 4)\n"
    )
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "--softnpu-check"]
    done = subprocess.run([*command, "test_one.py"], cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 87, done
    assert "memcheck (host-access): the program itself reads device memory" in done.stderr
    assert "test_one.py:7)" in done.stderr
    assert "/_pytest/" not in done.stderr


TWICE = {
    "context": "aclrtContext it; must(aclrtCreateContext(&it, 0)); must(aclrtDestroyContext(it));"
    "\naclrtDestroyContext(it);  // wrong\nmust(aclrtSetDevice(0)); must(aclrtResetDevice(0));",
    "executor": "Elu it(memory, memory); it.plan(); must(aclDestroyAclOpExecutor(it.executor));"
    "\naclDestroyAclOpExecutor(it.executor);  // wrong\nit.destroy();",
    "launched": "Elu it(memory, memory); it.plan();"
    "\nmust(aclnnElu(it.workspace, it.size, it.executor, nullptr));"
    "\nmust(aclrtSynchronizeStream(nullptr));"
    "\naclDestroyAclOpExecutor(it.executor);  // wrong\nit.destroy();",
    "reservation": "void* it; must(aclrtReserveMemAddress(&it, 2 << 20, 0, nullptr, 0));"
    "\nmust(aclrtReleaseMemAddress(it));\naclrtReleaseMemAddress(it);  // wrong",
    "list-of-dead": "aclTensor* it = tensor(memory); must(aclDestroyTensor(it));"
    "\nif (aclCreateTensorList(&it, 1)) return 1;  // wrong",
    "member-of-list": "aclTensor* it = tensor(memory); auto* list = aclCreateTensorList(&it, 1);"
    "\nmust(aclDestroyTensor(it));\naclDestroyTensorList(list);  // wrong",
    "scalar-of-list": "float one = 1; aclScalar* it = aclCreateScalar(&one, ACL_FLOAT);"
    "\nauto* list = aclCreateScalarList(&it, 1); must(aclDestroyScalar(it));"
    "\naclDestroyScalarList(list);  // wrong",
    "operand": "aclTensor *it = tensor(memory), *out = tensor(memory);"
    "\nauto* list = aclCreateTensorList(&it, 1); must(aclDestroyTensor(it));"
    "\nuint64_t size; aclOpExecutor* executor;"
    "\naclnnCatGetWorkspaceSize(list, 0, out, &size, &executor);  // wrong"
    "\naclDestroyTensorList(list); must(aclDestroyTensor(out));",
}


@pytest.mark.parametrize("body", TWICE.values(), ids=TWICE)
def test_objects_that_are_gone(body: str, checked: Checked) -> None:
    """Destroyed twice, or listed."""
    program = in_main(f"void* memory = floats();\n{body}\nmust(aclrtFree(memory));")
    report = checked(program)
    assert set(report.kinds) <= {"memcheck/dead-handle", "memcheck/dead-executor"}, report
    assert report.status == 86
    found = [one["parts"][0]["frames"][0]["line"] for one in report.findings]
    assert line_of_mistake(program) in found


def test_a_call_at_the_end_of_a_function(checked: Checked) -> None:
    """The function is named, although compilers like to jump there."""
    program = in_main(
        "must(aclrtMalloc(&memory, 64, ACL_MEM_MALLOC_HUGE_FIRST));\nrelease_all();",
        """void* memory;
        __attribute__((noinline)) void release_all() {
          aclrtFree(memory);
          aclrtFree(memory);  // wrong
        }""",
    )
    report = checked(program, "--cxxflags=-O2")
    assert report.kinds == ["memcheck/double-free"], report
    assert lines(report, "memcheck/double-free") == [line_of_mistake(program)]


@pytest.mark.parametrize("schedule", ["eager", "deferred", "random:1", "random:2", "random:3"])
@pytest.mark.parametrize("waits", ["stream", "host"])
def test_a_reset_before_the_wait(schedule: str, waits: str, checked: Checked) -> None:
    """Waits for nothing, or for the recording, as the device pleases."""
    wait = "aclrtStreamWaitEvent(streams[1], event)"
    program = in_main(f"""
      aclrtStream streams[2];
      for (auto& each : streams) must(aclrtCreateStream(&each));
      aclrtEvent event;
      must(aclrtCreateEvent(&event));
      void* memory = floats();
      must(aclrtMemsetAsync(memory, kBytes, 1, kBytes, streams[0]));
      must(aclrtRecordEvent(event, streams[0]));
      must(aclrtResetEvent(event, streams[0]));
      must({wait if waits == "stream" else "aclrtSynchronizeEvent(event)"});  // wrong
      must(aclrtMemsetAsync(memory, kBytes, 2, kBytes, streams[1]));
      must(aclrtSynchronizeDevice());
      must(aclrtFree(memory));
      must(aclrtDestroyEvent(event));
      for (auto each : streams) must(aclrtDestroyStream(each));
    """)
    report = checked(program, f"--schedule={schedule}")
    assert report.kinds == ["synccheck/unrecorded-event", "racecheck/stream-race"], report
    assert lines(report, "synccheck/unrecorded-event") == [line_of_mistake(program)]
