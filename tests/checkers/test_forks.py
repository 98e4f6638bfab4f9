# SPDX-License-Identifier: Apache-2.0
"""The checkers in programs that fork."""

from __future__ import annotations

import re
from collections.abc import Callable

from tests.checkers.programs import Report
from tests.checkers.test_surroundings import HEAD

Checked = Callable[..., Report]


def test_a_forked_child_has_memory_of_its_own(checked: Checked) -> None:
    """What the child writes, the parent does not see, and what the parent has is not its leak."""
    program = """
    int main() {
      begin();
      void* memory = floats();
      const pid_t child = fork();
      void* fresh = floats(false);
      set(memory, child == 0 ? 5.0f : 6.0f);
      set(fresh, child == 0 ? 7.0f : 8.0f);
      usleep(300'000);
      if (at(memory) != (child == 0 ? 5.0f : 6.0f)) return 1;
      if (at(fresh) != (child == 0 ? 7.0f : 8.0f)) return 2;
      must(aclrtFree(fresh));
      if (child == 0) std::exit(0);
      int status = 1;
      waitpid(child, &status, 0);
      must(aclrtFree(memory));
      end();
      return status;
    }
    """
    report = checked(HEAD + program)
    assert (report.kinds, report.status) == ([], 0), report


def test_a_forked_child_reports_its_own_leaks(checked: Checked) -> None:
    """And not those of the parent, which reports them itself."""
    program = """
    int main() {
      begin();
      floats();
      const pid_t child = fork();
      if (child == 0) floats(false);
      if (child == 0) std::exit(0);
      waitpid(child, nullptr, 0);
      end();
    }
    """
    report = checked(HEAD + program)
    assert report.kinds == ["leakcheck/leaked-memory"] * 2, report
    assert len({one["pid"] for one in report.findings}) == 2


def test_findings_name_the_process(checked: Checked) -> None:
    """And its rank, where a launcher has given it one."""
    program = """
    int main() {
      for (const char* rank : {"0", "1"}) {
        const pid_t child = fork();
        if (child == 0) {
          setenv("RANK", rank, 1);
          begin();
          must(aclrtFree(floats()));
          aclrtFree(nullptr);
          end();
          std::exit(0);
        }
        waitpid(child, nullptr, 0);
      }
    }
    """
    found = [(one["kind"], one["rank"]) for one in checked(HEAD + program).findings]
    assert found == [("failed-call", "0"), ("failed-call", "1")]
    text = checked(HEAD + program, "--format", "text").stderr
    for rank in "01":
        assert re.search(rf"aclrtFree: .*\n   in rank {rank}, process \d+\n   by this call", text)


def test_a_child_forked_while_others_call(checked: Checked) -> None:
    """It finds the checkers' locks free."""
    program = """
    int main() {
      begin();
      std::atomic<bool> stop{false};
      const auto use = [&stop] {
        must(aclrtSetDevice(0));
        while (!stop) must(aclrtFree(floats()));
      };
      std::thread one(use), two(use);
      int status = 0;
      for (int i = 0; i < 50 && status == 0; ++i) {
        const pid_t child = fork();
        if (child == 0) {
          alarm(30);
          for (int n = 0; n < 10; ++n) must(aclrtFree(floats()));
          _exit(0);
        }
        waitpid(child, &status, 0);
      }
      stop = true;
      one.join();
      two.join();
      must(aclFinalize());
      return status == 0 ? 0 : 1;
    }
    """
    report = checked(HEAD + program)
    assert (report.kinds, report.status) == ([], 0), report
