# SPDX-License-Identifier: Apache-2.0
"""Operators of the user's own: mistakes in them, and programs that use them.

docs/own-operators.md, whose blocks another test runs, has the way that works.
"""

from pathlib import Path
from typing import Any

import pytest

SHRINK = """
operator = "HardShrink"
in_place = true
elementwise = true
result = "like self"
summary = "Zero between -lambd and lambd."
compute = "self > lambd || self < -lambd ? self : 0"
checks = [{ rule = "shape-differs", same_shape = ["self", "out"] }]
[arguments.self]
[arguments.lambd]
kind = "scalar"
[arguments.out]
role = "out"
"""
PROGRAM = """
#include <acl/acl.h>
#include <aclnnop/aclnn_hard_shrink.h>
#include <cstdio>

int main() {
  aclInit(nullptr);
  aclrtSetDevice(0);
  float values[3] = {-2, 0.25, 3};
  void* device = nullptr;
  aclrtMalloc(&device, sizeof values, ACL_MEM_MALLOC_HUGE_FIRST);
  aclrtMemcpy(device, sizeof values, values, sizeof values, ACL_MEMCPY_HOST_TO_DEVICE);
  const int64_t size = 3, stride = 1;
  const float lambd = 0.5;
  aclTensor* self =
      aclCreateTensor(&size, 1, ACL_FLOAT, &stride, 0, ACL_FORMAT_ND, &size, 1, device);
  aclScalar* scalar = aclCreateScalar(const_cast<float*>(&lambd), ACL_FLOAT);
  uint64_t bytes = 0;
  aclOpExecutor* executor = nullptr;
  int status = aclnnInplaceHardShrinkGetWorkspaceSize(self, scalar, &bytes, &executor);
  void* workspace = nullptr;
  if (bytes > 0) aclrtMalloc(&workspace, bytes, ACL_MEM_MALLOC_HUGE_FIRST);
  status += aclnnInplaceHardShrink(workspace, bytes, executor, nullptr) + aclrtSynchronizeDevice();
  aclrtMemcpy(values, sizeof values, device, sizeof values, ACL_MEMCPY_DEVICE_TO_HOST);
  std::printf("%d: %g %g %g\\n", status, values[0], values[1], values[2]);
  aclDestroyTensor(self);
  aclDestroyScalar(scalar);
  if (workspace != nullptr) aclrtFree(workspace);
  aclrtFree(device);
  aclrtResetDevice(0);
  aclFinalize();
}
"""


def files(folder: Path) -> list[Path]:
    """List what a command has left in a folder."""
    return [path for path in folder.rglob("*") if path.is_file()] if folder.exists() else []


@pytest.fixture
def operators(softnpu: Any) -> Path:
    """Build an operator by its description alone."""
    softnpu.write("shrink.toml", SHRINK)
    done = softnpu("build", "--operator", "shrink.toml", "--output", "operators")
    assert (done.returncode, done.stderr) == (0, "")
    return Path("operators")


def test_a_program_under_the_checkers(softnpu: Any, operators: Path) -> None:
    """They follow the operator's launches, and find nothing in a correct program."""
    softnpu.write("program.cpp", PROGRAM)
    done = softnpu("check", "--operators", operators, "program.cpp")
    assert done.stdout == "0: -2 0 3\n", done.stderr
    assert done.returncode == 0, done.stderr


def test_statistics_name_it(softnpu: Any, operators: Path) -> None:
    """So do the log and traces, by the same observers."""
    softnpu.write("program.cpp", PROGRAM)
    done = softnpu("run", "--operators", operators, "--stats", "program.cpp")
    assert "aclnnInplaceHardShrink" in done.stderr + done.stdout


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (("operator =", "operater ="), "unknown key 'operater'"),
        (('role = "out"', 'role = "in"'), "expected one with role = 'out'"),
        (('"out"] }', '"result"] }'), "which is no argument"),
        (('kind = "scalar"', 'kind = "vector"'), "of kind 'vector'"),
        (('kind = "scalar"', 'kind = "tensor_list"'), "of kind tensor_list"),
        (("in_place = true", "in_place = "), "shrink.toml"),
        (("compute =", "text ="), "needs a C++ source"),
        (("HardShrink", "Class"), "operator is 'Class', which C++ or Python reserves"),
        (("[arguments.lambd]", "[arguments.lambda]"), "'lambda', which is reserved"),
        (("[arguments.lambd]", "[arguments.int]"), "'int', which is reserved"),
        (("[arguments.lambd]", "[arguments.executor]"), "'executor', which is reserved"),
        (("[arguments.lambd]", '[arguments."a, b"]'), "expected a name such as negativeSlope"),
        (("[arguments.self]", '[arguments.self]\ntypes = ["REAL"]'), "has the type 'REAL'"),
        (("like self", "like other"), "result is 'like other'; expected one of"),
        (('"like self"', "1"), "result is 1; expected one of"),
        (("summary =", "text ="), "'summary' is missing"),
        (("shape-differs", "shape differs"), "expected a name such as shape-differs"),
    ],
)
def test_mistakes_in_the_description(softnpu: Any, change: tuple[str, str], message: str) -> None:
    """The file and the mistake are named, and nothing is made."""
    softnpu.write("shrink.toml", SHRINK.replace(*change))
    done = softnpu("build", "--operator", "shrink.toml", "--output", "operators")
    assert done.returncode == 2
    assert message in done.stderr
    assert "Traceback" not in done.stderr
    assert files(softnpu.folder / "operators") == []


def test_an_output_that_must_be_given(softnpu: Any) -> None:
    """Without it, the Python function raises the error of a null pointer."""
    softnpu.write("shrink.toml", SHRINK.replace('result = "like self"', ""))
    done = softnpu("build", "--operator", "shrink.toml", "--output", "operators")
    assert (done.returncode, done.stderr) == (0, "")
    softnpu.write(
        "shrink.py",
        "import numpy as np\n"
        "from hard_shrink import hard_shrink\n"
        "x = np.float32([-2, 0.25])\n"
        "print(hard_shrink(x, 0.5, out=np.zeros_like(x)))\n"
        "try:\n"
        "    hard_shrink(x, 0.5)\n"
        "except TypeError as error:\n"
        "    print(error)\n",
    )
    done = softnpu("run", "--operators", "operators", "shrink.py")
    assert done.stdout == "[-2.  0.]\naclnnHardShrinkGetWorkspaceSize: out is null\n", done.stderr


def test_mistakes_in_the_source(softnpu: Any, operators: Path) -> None:
    """The status is the compiler's, and what was there stays."""
    before = files(softnpu.folder / operators)
    softnpu.write("shrink.toml", SHRINK.replace("compute =", "text ="))
    softnpu.write("shrink.cpp", "double hard_shrunk(double, double) { return 0; }\n")
    done = softnpu("build", "--operator", "shrink.toml", "shrink.cpp", "--output", operators)
    assert done.returncode == 1
    assert "hard_shrink(double, double)" in done.stderr
    assert files(softnpu.folder / operators) == before


def test_a_folder_without_operators(softnpu: Any) -> None:
    """The message says how to make one."""
    softnpu.write("hello.cpp", "int main() {}\n")
    done = softnpu("run", "--operators", "nowhere", "hello.cpp")
    assert done.returncode == 2
    assert "nowhere has no operators" in done.stderr
    assert "softnpu build --operator" in done.stderr
