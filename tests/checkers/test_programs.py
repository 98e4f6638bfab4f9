# SPDX-License-Identifier: Apache-2.0
"""Every kind of finding: a program with that bug, and its repaired twin."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

from softnpu.cli.findings import parse_findings, show
from tests.checkers.page import PAGE, section, without_places, written
from tests.checkers.programs import FOLDER, PROGRAMS, Report, expected
from tests.support.paths import ROOT

Checked = Callable[..., Report]


@pytest.mark.parametrize("name", PROGRAMS)
def test_the_bug_is_reported_and_nothing_else(name: str, checked: Checked, tmp_path: Path) -> None:
    """With the line of the program that has it, exit status 86, and as the documents show it."""
    report = checked(written(name, tmp_path))
    assert report.kinds == [expected(name)], report
    assert report.status == 86
    first = report.findings[0]["parts"][0]
    files = [Path(frame["file"]).name for frame in first["frames"] if frame["line"] > 0]
    assert f"{name}.cpp" in files, first
    assert report.findings[0]["suggestion"].endswith(".")
    assert section(name, rendered(report.findings)) in PAGE.read_text("utf-8")


@pytest.mark.parametrize("name", PROGRAMS)
def test_the_repaired_program_is_clean(name: str, checked: Checked) -> None:
    """No finding, and the program's own status."""
    report = checked(FOLDER / f"{name}.cpp", "--cxxflags=-DREPAIRED")
    assert report.kinds == [], report.findings
    assert report.status == 0, report


def rendered(findings: list[dict[str, Any]]) -> str:
    """What the command prints of findings that it wrote as JSON."""
    text = StringIO()
    show(parse_findings([json.dumps(one) for one in findings]), Console(file=text, width=240))
    return without_places(text.getvalue())


def test_every_kind_has_a_program() -> None:
    """The kinds in the checkers' sources are those of the programs."""
    kinds = set()
    for source in (ROOT / "core" / "checkers").glob("*.cpp"):
        text = source.read_text("utf-8")
        kinds |= set(re.findall(r'Tool::(\w+),\s+"([a-z-]+)",\s', text))
        kinds |= {(tool, kind) for tool, kind in re.findall(r'Tool::(\w+), "([a-z-]+)", ', text)}
    found = {f"{tool}/{kind}" for tool, kind in kinds}
    assert found <= {expected(name) for name in PROGRAMS}
    assert len(found) > 12


EXAMPLES = sorted(file.stem for file in (ROOT / "examples" / "c").glob("*.cpp"))
# It ends with an index that is out of range, to show the error.
DOES_WRONG = {"max_unpool3d_backward": ["memcheck/index-out-of-range"]}


@pytest.mark.parametrize("name", EXAMPLES)
def test_the_examples_are_clean(name: str, checked: Checked) -> None:
    """They free what they allocate, and synchronise before they read."""
    report = checked(ROOT / "examples" / "c" / f"{name}.cpp")
    assert report.kinds == DOES_WRONG.get(name, []), report


def test_a_python_program(checked: Checked) -> None:
    """Its stacks are Python's."""
    program = (
        "import acl\n"
        "def twice(memory):\n"
        "    acl.rt.free(memory)\n"
        "    acl.rt.free(memory)\n"
        "acl.init()\n"
        "acl.rt.set_device(0)\n"
        "memory, _ = acl.rt.malloc(64, 0)\n"
        "twice(memory)\n"
        "acl.rt.reset_device(0)\n"
        "acl.finalize()\n"
    )
    report = checked(program, suffix=".py")
    assert report.kinds == ["memcheck/double-free"], report
    frames = report.findings[0]["parts"][0]["frames"]
    places = [(frame["function"], frame["line"]) for frame in frames]
    assert places == [("twice", 4), ("<module>", 8)]


def test_interleaved_slices_are_no_race(checked: Checked) -> None:
    """Two streams may write every other element each of one allocation."""
    program = """
    #include "program.h"
    int main() {
      begin();
      aclrtStream streams[2];
      for (auto& each : streams) must(aclrtCreateStream(&each));
      void *self = floats(), *out = floats(false);
      const int64_t half = kCount / 2, step = 2;
      uint64_t size;
      aclOpExecutor* executor;
      float value = 1;
      aclScalar* one = aclCreateScalar(&value, ACL_FLOAT);
      std::vector<void*> workspaces;
      for (int64_t i = 0; i < 2; ++i) {
        const auto view = [&](void* memory) {
          return aclCreateTensor(&half, 1, ACL_FLOAT, &step, i, ACL_FORMAT_ND, &kCount, 1, memory);
        };
        aclTensor *from = view(self), *to = view(out);
        must(aclnnEluGetWorkspaceSize(from, one, one, one, to, &size, &executor));
        void* workspace;
        must(aclrtMalloc(&workspace, size, ACL_MEM_MALLOC_HUGE_FIRST));
        must(aclnnElu(workspace, size, executor, streams[i]));
        must(aclDestroyTensor(from));
        must(aclDestroyTensor(to));
        workspaces.push_back(workspace);
      }
      must(aclrtSynchronizeDevice());
      float result[kCount];
      must(aclrtMemcpy(result, kBytes, out, kBytes, ACL_MEMCPY_DEVICE_TO_HOST));
      must(aclDestroyScalar(one));
      for (void* each : workspaces) must(aclrtFree(each));
      must(aclrtFree(self));
      must(aclrtFree(out));
      for (auto each : streams) must(aclrtDestroyStream(each));
      end();
    }
    """
    report = checked(program)
    assert (report.kinds, report.status) == ([], 0), report
