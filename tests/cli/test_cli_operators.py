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
        (('"like self"', "1"), "result is 1; expected one of ['like self']\n"),
        (("summary =", "text ="), "shrink.toml: 'summary' is missing"),
        (("[arguments.self]", '[arguments.self]\nrank = "zero"'), "self has the rank 'zero'"),
        (("[arguments.self]", '[arguments.self]\nrank = "5-2"'), "self has the rank '5-2'"),
        (('kind = "scalar"', 'kind = "scalar"\nrank = "1"'), "lambd is no tensor, but has types"),
        (("same_shape = [", "rank = ["), "names self, which has no 'rank'"),
        (('["self", "out"]', '["self", "lambd"]'), "names lambd, which is no tensor"),
        (
            ('same_shape = ["self", "out"]', 'by_hand = "check", summary = "wrong"'),
            "by_hand, which is not supported",
        ),
        (('"HardShrink"', '"Elu"'), "softnpu has an operator aclnnElu; choose another name"),
        (('"HardShrink"', '"Softmax"'), "softnpu has an operator aclnnSoftmax"),
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


@pytest.mark.parametrize(
    ("source", "message"),
    [
        (
            "double hard_shrunk(double, double) { return 0; }\n",
            "softnpu: shrink.cpp must define double hard_shrink(double self, double lambd)\n",
        ),
        ("float hard_shrink(double, double) { return 0; }\n", "shrink.cpp:1:7: error: "),
        ("double hard_shrink(double x, double) { return y; }\n", "shrink.cpp:1:47: error: "),
    ],
)
def test_mistakes_in_the_source(softnpu: Any, operators: Path, source: str, message: str) -> None:
    """The status is the compiler's, and what was there stays."""
    before = files(softnpu.folder / operators)
    softnpu.write("shrink.toml", SHRINK.replace("compute =", "text ="))
    softnpu.write("shrink.cpp", source)
    done = softnpu("build", "--operator", "shrink.toml", "shrink.cpp", "--output", operators)
    assert done.returncode == 1
    assert message in done.stderr
    assert files(softnpu.folder / operators) == before


@pytest.mark.parametrize(
    ("formula", "message"), [("3 * lambda_", "lambda_"), ("self +", "expected")]
)
def test_mistakes_in_the_formula(softnpu: Any, formula: str, message: str) -> None:
    """One line names the file, the key and the mistake."""
    text = SHRINK.replace("self > lambd || self < -lambd ? self : 0", formula)
    softnpu.write("shrink.toml", text)
    done = softnpu(
        "build", "--operator", "shrink.toml", "--output", "operators", env={"CXX": "g++"}
    )
    assert done.returncode == 1
    (line,) = done.stderr.splitlines()
    assert line.startswith("softnpu: shrink.toml: `compute` does not compile: ")
    assert message in line


def test_a_formula_of_integers(softnpu: Any) -> None:
    """It is computed in float64, too: a division by zero does not end the program."""
    text = SHRINK.replace("self > lambd || self < -lambd ? self : 0", "self / lambd")
    softnpu.write("shrink.toml", text)
    assert softnpu("build", "--operator", "shrink.toml", "--output", "operators").returncode == 0
    softnpu.write(
        "program.py",
        "import numpy as np\n"
        "from hard_shrink import hard_shrink\n"
        "numbers = np.int32([7, -7])\n"
        "for each in (2, 0):\n"
        "    print(hard_shrink(numbers, each).tolist())\n"
        "print(hard_shrink(numbers, 2, out=np.zeros(2, np.float32)).tolist())\n",
    )
    done = softnpu("run", "--operators", "operators", "program.py")
    assert done.stdout.split("\n") == ["[3, -3]", "[2147483647, -2147483648]", "[3.5, -3.5]", ""]


def test_a_source_beside_a_formula(softnpu: Any) -> None:
    """One of them would be ignored."""
    softnpu.write("shrink.toml", SHRINK)
    softnpu.write("shrink.cpp", "double hard_shrink(double, double) { return 0; }\n")
    done = softnpu("build", "--operator", "shrink.toml", "shrink.cpp", "--output", "operators")
    assert done.returncode == 2
    assert "shrink.toml has `compute`, which leaves no use for shrink.cpp" in done.stderr


PICK = """
operator = "Pick"
result = "like self"
summary = "Uses its arguments in one of several ways."
[arguments.self]
types = ["FLOAT", "FLOAT16"]
rank = "1-2"
[arguments.bias]
optional = true
types = ["FLOAT"]
[arguments.offset]
kind = "scalar"
[arguments.way]
kind = "int"
[arguments.out]
role = "out"
"""
PICKS = """
#include "softnpu/operator.h"

softnpu::Run pick(const softnpu::Given& given) {
  const int64_t way = given.integer("way");
  const auto& sizes = given.tensor("self").sizes;
  given.require_shape("out", {sizes[0]});
  if (way == 4) given.integer("offset");
  if (way == 5) given.number("way");
  if (way == 6) given.tensor("slef");
  if (way == 7) given.tensor("bias");
  return [=](const softnpu::Arrays& arrays) {
    const std::vector<double> self = arrays.read("self");
    if (way == 0) arrays.write("out", self);
    if (way == 1) arrays.write("out", std::vector<double>{1});
    if (way == 3) arrays.write("self", self);
    if (way == 8) arrays.read("offset");
  };
}
"""
WAYS = """
import sys

import numpy as np
import softnpu
from pick import pick

for way in range(9):
    try:
        print(pick(np.float32([1, 2]), None, 3.0, way))
    except softnpu.AclnnError as error:
        print(f"{error.status} {error}")
for arguments in [
    (np.int32([1, 2]), None, 1, 0),
    (np.zeros([1, 1, 1], "f"), None, 1, 0),
    (np.float32([1, 2]), np.float16([1]), 1, 0),
]:
    try:
        print(pick(*arguments))
    except softnpu.AclnnError as error:
        print(error)
"""
ANSWERS = """\
[1. 2.]
561103 aclnnPick: out has 2 elements, but write() got 1
561103 aclnnPick: the kernel of aclnnPick wrote no values to out
561103 aclnnPick: self is an input, to which write() must not write
561103 aclnnPickGetWorkspaceSize: offset is of kind scalar, which real() or scalar() reads, not \
integer()
561103 aclnnPickGetWorkspaceSize: way is of kind int, which integer() reads, not number()
561103 aclnnPickGetWorkspaceSize: aclnnPick has no parameter slef; it has self, bias, offset, way, \
out
561103 aclnnPickGetWorkspaceSize: bias is null; ask has() before tensor()
561103 aclnnPick: offset is of kind scalar, which real() or scalar() reads, not read()
aclnnPickGetWorkspaceSize: self has data type INT32
aclnnPickGetWorkspaceSize: self has rank 3
aclnnPickGetWorkspaceSize: bias has data type FLOAT16
"""


@pytest.fixture
def pick(softnpu: Any) -> Path:
    """Build an operator with a source."""
    softnpu.write("pick.toml", PICK)
    softnpu.write("pick.cpp", PICKS)
    done = softnpu("build", "--operator", "pick.toml", "pick.cpp", "--output", "operators")
    assert (done.returncode, done.stderr) == (0, "")
    return Path("operators")


def test_mistakes_of_a_kernel(softnpu: Any, pick: Path) -> None:
    """The call fails and names the argument. Types and ranks need no line of checks."""
    softnpu.write("ways.py", WAYS)
    done = softnpu("run", "--operators", pick, "ways.py")
    got, expected = done.stdout.splitlines(), ANSWERS.splitlines()
    assert len(got) == len(expected), done.stderr
    for line, start in zip(got, expected, strict=True):
        assert line.startswith(start)


def test_help(softnpu: Any, pick: Path) -> None:
    """It says what each argument is."""
    softnpu.write("show.py", "from pick import pick\nprint(pick.__doc__)\n")
    text = softnpu("run", "--operators", pick, "show.py").stdout
    assert (
        """
    self : array
        float32 or float16, of rank 1 to 2.
    bias : array or None
        float32, of any shape.
    offset : number
    way : int
    out : array, optional

"""
        in text
    )


@pytest.mark.usefixtures("operators")
def test_a_header_without_its_folder(softnpu: Any) -> None:
    """The message names the option that was forgotten."""
    softnpu.write("program.cpp", PROGRAM)
    done = softnpu("run", "program.cpp")
    assert done.returncode != 0
    assert "--operators" in done.stderr


def test_a_folder_without_operators(softnpu: Any) -> None:
    """The message says how to make one."""
    softnpu.write("hello.cpp", "int main() {}\n")
    done = softnpu("run", "--operators", "nowhere", "hello.cpp")
    assert done.returncode == 2
    assert "nowhere has no operators" in done.stderr
    assert "softnpu build --operator" in done.stderr
