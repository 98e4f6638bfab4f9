# SPDX-License-Identifier: Apache-2.0
"""Programs with their own handler of SIGSEGV do under the checkers what they do alone."""

from __future__ import annotations

import signal
from collections.abc import Callable

import pytest

from tests.checkers.programs import Report
from tests.checkers.test_missed import INSTALL, in_main, line_of_mistake, lines

Checked = Callable[..., Report]
KILLED = 128 + signal.SIGSEGV

HEAD = """
#include "program.h"
#include <csetjmp>
#include <csignal>
#include <cstring>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>
int* volatile nothing = nullptr;
thread_local sigjmp_buf back;
int calls = 0;
void recover(int) { siglongjmp(back, 1); }
void count(int) { ++calls; }
void dump(int number) { std::signal(number, SIG_DFL); std::raise(number); }
void look(int, siginfo_t* about, void*) {
  calls = about->si_code == SI_QUEUE ? about->si_value.sival_int : -1;
}
void install(void (*handler)(int), int flags) {
  struct sigaction wanted = {};
  wanted.sa_handler = handler;
  wanted.sa_flags = flags;
  sigaction(SIGSEGV, &wanted, nullptr);
}
void fault() { if (sigsetjmp(back, 1) == 0) *nothing = 1; }
int overflow(volatile int* last) {
  volatile int here[1000];
  here[0] = *last;
  return overflow(here) + here[0];
}
int main() {
  begin();
  void* memory = floats();
BODY
  must(aclrtFree(memory));
  end();
}
"""

RIGHT = {
    "recovers": "install(recover, 0); for (int i = 0; i < 3; ++i) fault();",
    "threads-recover": """
      install(recover, 0);
      std::vector<std::thread> threads;
      for (int i = 0; i < 4; ++i)
        threads.emplace_back([] { for (int j = 0; j < 100; ++j) fault(); });
      for (std::thread& each : threads) each.join();""",
    "a-stack-of-its-own": """
      stack_t own = {};
      own.ss_size = 1 << 16;
      own.ss_sp = std::malloc(own.ss_size);
      sigaltstack(&own, nullptr);
      install(recover, SA_ONSTACK);
      volatile int last = 0;
      if (sigsetjmp(back, 1) == 0) overflow(&last);""",
    "what-was-sent": """
      struct sigaction wanted = {};
      wanted.sa_sigaction = look;
      wanted.sa_flags = SA_SIGINFO;
      sigaction(SIGSEGV, &wanted, nullptr);
      sigqueue(getpid(), SIGSEGV, {42});
      if (calls != 42) return 1;""",
    "sent-to-who-ignores-it": "std::signal(SIGSEGV, SIG_IGN); std::raise(SIGSEGV);",
    "a-call-that-goes-on": """
      install(count, SA_RESTART);
      int ends[2];
      if (pipe(ends) != 0) return 1;
      const pid_t parent = getpid();
      const pid_t child = fork();
      if (child == 0) {
        usleep(50'000);
        kill(parent, SIGSEGV);
        usleep(50'000);
        _exit(write(ends[1], "", 1) != 1);
      }
      char byte;
      if (read(ends[0], &byte, 1) != 1 || calls != 1) return 2;
      waitpid(child, nullptr, 0);""",
}


@pytest.mark.parametrize("body", RIGHT.values(), ids=RIGHT)
def test_it_does_what_it_does_alone(body: str, checked: Checked) -> None:
    """Nothing is found, and it ends well."""
    report = checked(HEAD.replace("BODY", body))
    assert (report.kinds, report.status) == ([], 0), report


ENDS = {
    "dumps": "install(dump, 0); *nothing = 1;",
    "handles-one": "install(count, SA_RESETHAND); std::raise(SIGSEGV); std::raise(SIGSEGV);",
}


@pytest.mark.parametrize("body", ENDS.values(), ids=ENDS)
def test_its_handler_ends_it(body: str, checked: Checked) -> None:
    """By the signal, once."""
    report = checked(HEAD.replace("BODY", body), "--tool", "memcheck")
    assert (report.kinds, report.status) == ([], KILLED), report


FAULTS = {
    "restores-the-default": "install(recover, 0); fault(); std::signal(SIGSEGV, SIG_DFL);",
    "ignores-it": "std::signal(SIGSEGV, SIG_IGN);",
}


@pytest.mark.parametrize("body", FAULTS.values(), ids=FAULTS)
def test_a_crash_that_nothing_handles(body: str, checked: Checked) -> None:
    """It is located."""
    report = checked(HEAD.replace("BODY", f"{body}\n*nothing = 1;"), "--tool", "memcheck")
    assert (report.kinds, report.status) == (["memcheck/crash"], 86), report


@pytest.mark.parametrize("install", ["", *INSTALL.values()], ids=["none", *INSTALL])
def test_signals_that_were_sent(install: str, checked: Checked) -> None:
    """They are no faults: they end the program, or run its handler, which may return."""
    program = in_main(
        f"""
      void* memory = floats();
      {install}
      raise(SIGSEGV);
      raise(SIGSEGV);
      if (calls == 2) *static_cast<volatile char*>(memory) = 1;  // wrong
    """,
        "int calls = 0; void own(int) { ++calls; }",
    )
    report = checked(program, "--tool", "memcheck")
    status, kinds = (86, ["memcheck/host-access"]) if install else (KILLED, [])
    assert (report.status, report.kinds) == (status, kinds), report


CRASHES = {
    "calls": "void (*volatile function)() = nullptr;\nfunction();  // wrong",
    "reads": "volatile char* far = (char*)0x8765432112345678;\nreturn *far;  // wrong",
    "writes": "volatile char* text = (char*)begin;\n*text = 1;  // wrong",
}


@pytest.mark.parametrize("what", CRASHES)
def test_crashes_of_the_program_itself(what: str, checked: Checked) -> None:
    """They are located, too."""
    program = in_main(CRASHES[what])
    report = checked(program, "--tool", "memcheck")
    assert (report.kinds, report.status) == (["memcheck/crash"], 86), report
    assert f"the program itself {what} " in report.findings[0]["headline"]
    assert lines(report, "memcheck/crash") == [line_of_mistake(program)]


def test_device_memory_comes_first(checked: Checked) -> None:
    """Also after the program has handled a fault."""
    body = "install(recover, 0);\nfault();\n*static_cast<volatile char*>(memory) = 1;"
    report = checked(HEAD.replace("BODY", body), "--tool", "memcheck")
    assert (report.kinds, report.status) == (["memcheck/host-access"], 86), report


def test_a_crash_in_a_call(checked: Checked) -> None:
    """The call is named, with what it got."""
    report = checked(HEAD.replace("BODY", "aclrtMalloc(reinterpret_cast<void**>(16), 64, {});"))
    (crash,) = (each for each in report.findings if each["kind"] == "crash")
    assert crash["headline"].startswith("aclrtMalloc writes memory at 0x10, which the program may")
    assert crash["parts"][0]["call"].startswith("aclrtMalloc(devPtr=0x10, size=64")


def test_a_crash_while_the_heap_is_destroyed(checked: Checked) -> None:
    """The report needs the heap; the process ends, with the report or without."""
    body = """
      std::thread([] { pause(); }).detach();
      void* first = std::malloc(5000);
      void* volatile second = std::malloc(5000);
      std::free(first);
      std::memset(static_cast<char*>(first) - 16, 0x41, 80);
      std::printf("%p %p", second, std::malloc(9000));"""
    report = checked(HEAD.replace("BODY", body), "--tool", "memcheck")
    assert report.status in (86, KILLED, 128 + signal.SIGABRT), report
