# SPDX-License-Identifier: Apache-2.0
"""What a finding says of the past: where its objects come from, and what failed before."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tests.checkers.programs import Report

Checked = Callable[..., Report]

PLANNED = """
#include "program.h"
int main() {{
  begin();
  void *self = floats(), *out = floats();
  Elu elu(self, out);
  elu.plan();
  {body}
  end();
}}
"""


def parts(report: Report) -> list[tuple[str, str]]:
    """The calls of the first finding: their roles and functions."""
    all_parts = report.findings[0]["parts"]
    return [(part["role"], part["call"].partition("(")[0]) for part in all_parts]


def test_memory_that_is_freed_between_the_phases(checked: Checked) -> None:
    """Its places are named although the launch does not get its address."""
    body = """must(aclrtFree(self));
      aclnnElu(elu.workspace, elu.size, elu.executor, nullptr);
      std::exit(0);"""
    report = checked(PLANNED.format(body=body))
    assert report.kinds[0] == "memcheck/use-after-free", report
    assert parts(report) == [
        ("by this call", "aclnnElu"),
        ("the memory of self, 64 bytes, was allocated here", "aclrtMalloc"),
        ("and freed here", "aclrtFree"),
    ]


def test_a_wrong_shape(checked: Checked) -> None:
    """The place of the descriptor, not of its memory; and the rule."""
    body = """const int64_t half = kCount / 2;
      aclTensor* small =
          aclCreateTensor(&half, 1, ACL_FLOAT, nullptr, 0, ACL_FORMAT_ND, &half, 1, out);
      aclnnEluGetWorkspaceSize(elu.self, elu.one, elu.one, elu.one, small, &elu.size,
                               &elu.executor);
      std::exit(0);"""
    report = checked(PLANNED.format(body=body))
    assert report.kinds[0] == "apicheck/failed-call", report
    assert report.findings[0]["rule"] == "shape-differs"
    assert parts(report) == [
        ("by this call", "aclnnEluGetWorkspaceSize"),
        ("self was created here", "aclCreateTensor"),
        ("out was created here", "aclCreateTensor"),
    ]


@pytest.mark.parametrize(
    ("call", "kind"),
    [
        ("", "memcheck/executor-never-launched"),
        ("aclnnElu(nullptr, 0, elu.executor, nullptr);", "leakcheck/leaked-handle"),
        ("aclrtMalloc(&out, 0, ACL_MEM_MALLOC_HUGE_FIRST);", "leakcheck/leaked-handle"),
    ],
    ids=["none fails", "its launch fails", "another call fails"],
)
def test_an_executor_that_is_left(call: str, kind: str, checked: Checked) -> None:
    """Nobody forgot the launch if the program gave up after a failure."""
    report = checked(PLANNED.format(body=f"{call}\n  std::exit(0);"))
    about = [one for one in report.findings if "aclOpExecutor" in one["headline"]]
    assert [f"{one['tool']}/{one['kind']}" for one in about] == [kind], report
