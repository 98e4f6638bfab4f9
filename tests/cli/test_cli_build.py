# SPDX-License-Identifier: Apache-2.0
"""`softnpu build`: programs that run by themselves."""

import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

from softnpu.cli.toolchain import toolchain_for

DEVICES = """#include "acl/acl.h"
int main() {
  uint32_t count = 0;
  int status = aclInit(nullptr);
  if (status == ACL_SUCCESS) status = aclrtGetDeviceCount(&count);
  std::printf("%d %u\\n", status, count);
  return aclFinalize();
}
"""


def run_alone(program: Path) -> "subprocess.CompletedProcess[str]":
    """Runs a program with an empty environment."""
    return subprocess.run([program], capture_output=True, text=True, check=False, env={})


def test_built_program_runs_by_itself(softnpu: Any) -> None:
    """A built program needs no environment to find the device's libraries."""
    softnpu.write("devices.cpp", "#include <cstdio>\n" + DEVICES)
    done = softnpu("build", "devices.cpp", "-o", "devices")
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    ran = run_alone(softnpu.folder / "devices")
    assert (ran.returncode, ran.stdout) == (0, "0 1\n")


def test_sdk_in_a_folder_with_an_awkward_name(
    softnpu: Any, prefix: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Spaces, commas and quotes in the SDK's path survive compiler and linker."""
    for variable in ("CXX", "CXXFLAGS", "CPPFLAGS", "LDFLAGS"):
        monkeypatch.delenv(variable, raising=False)
    moved = tmp_path / "s d,k 'x'"
    shutil.copytree(prefix, moved, symlinks=True)
    source = softnpu.write("devices.cpp", "#include <cstdio>\n" + DEVICES)
    program = tmp_path / "devices"
    assert toolchain_for(source, moved, "").build(source, program) == 0
    ran = run_alone(program)
    assert (ran.returncode, ran.stdout) == (0, "0 1\n")


def test_failed_build(softnpu: Any) -> None:
    """A failed build has the compiler's status and leaves no program."""
    softnpu.write("wrong.cpp", "int main() { return undeclared; }\n")
    done = softnpu("build", "wrong.cpp", "-o", "wrong")
    assert done.returncode == 1
    assert "undeclared" in done.stderr
    assert not (softnpu.folder / "wrong").exists()


def test_only_sources_are_built(softnpu: Any) -> None:
    """Other files are refused, and missing ones reported."""
    softnpu.write("script.py", "")
    for name, message in (("script.py", "is not a C or C++ source"), ("none.c", "does not exist")):
        done = softnpu("build", name, "-o", "out")
        assert done.returncode == 2
        assert message in done.stderr


@pytest.mark.parametrize("output", ["./-out", "./-", "./@out"])
def test_names_that_look_like_options(softnpu: Any, output: str) -> None:
    """The compiler gets them as the files that they are."""
    softnpu.write("-x.cpp", "int main() { return 3; }\n")
    done = softnpu("build", "./-x.cpp", "-o", output)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    assert run_alone(softnpu.folder / output).returncode == 3
