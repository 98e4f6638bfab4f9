# SPDX-License-Identifier: Apache-2.0
"""Complete programs, unchanged: our examples, and the documents' samples where they are at hand."""

import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

import pytest

from tests.capi.capi_names import OPERATORS
from tests.support.paths import ROOT

EXAMPLES = ROOT / "examples" / "c"

# Variadic macros with nothing to vary are the sample programs' own; nothing else is excused.
STRICT = {
    "g++": "-Wall -Wextra -Wpedantic -Wno-variadic-macros",
    "clang++": "-Wall -Wextra -Wpedantic -Wno-gnu-zero-variadic-macro-arguments",
}


def numbered(label: str, values: list[float]) -> str:
    """The way in which the documents' samples print their results."""
    return "".join(f"{label}[{i}] is: {value:f}\n" for i, value in enumerate(values))


DOCUMENTED = {
    "aclnnEluBackward": numbered("result", [2.0, -0.0, 0.0, 1.0]),
    "aclnnSmoothL1LossBackward": numbered("result", [-1.0, 0.0, *[1.0] * 6]),
    "aclnnUpsampleNearest3dBackward": numbered("result", [36.0, 100.0, 164.0, 228.0]),
    "aclnnMaxUnpool3dBackward": numbered("out", [1.0] * 16),
    "aclnnSeluBackward": numbered("result", [1.050701] * 8),
}


class Program(NamedTuple):
    """A source text, what it prints, and the folder of the headers that it has of its own."""

    name: str
    text: str
    stdout: str
    include: Path


def example_programs() -> list[Program]:
    """The programs in examples/c."""
    sources = sorted(EXAMPLES.glob("*.cpp"))
    assert 10 < len(sources) <= len(OPERATORS)
    return [
        Program(
            source.stem,
            source.read_text(encoding="utf-8"),
            (EXAMPLES / "expected" / f"{source.stem}.txt").read_text(encoding="utf-8"),
            EXAMPLES,
        )
        for source in sources
    ]


def documents() -> list[Path]:
    """The text files in the folder SOFTNPU_DOCUMENTS, or those that lie beside the repository."""
    if folder := os.environ.get("SOFTNPU_DOCUMENTS"):
        return sorted(Path(folder).resolve().glob("*.txt"))
    return sorted(ROOT.parent.glob("*/*/[0-9][0-9][0-9]_*.txt"))


def document_programs() -> list[Program]:
    """The programs in the documents: the last fenced block that has a main function.

    Text files that are no document of an operator, or have no program, are passed over.
    """
    programs = []
    for document in documents():
        text = document.read_text(encoding="utf-8", errors="replace")
        title = re.match(r"# (aclnn\w+)", text)
        blocks = re.findall(r"^```Cpp\n(.*?)^```", text, flags=re.DOTALL | re.MULTILINE)
        sources = [block for block in blocks if "int main" in block]
        if title and sources:
            # A document that is new here fails its tests, not the collection of all.
            stdout = DOCUMENTED.get(title[1], "")
            programs.append(Program(title[1], sources[-1], stdout, document.parent))
    return programs


PROGRAMS = example_programs() + document_programs()
IDS = [program.name for program in PROGRAMS]


def run(
    *command: object, cwd: Path, env: dict[str, str] | None = None
) -> "subprocess.CompletedProcess[str]":
    """Runs a command in the folder `cwd` and keeps what it printed."""
    words = [str(word) for word in command]
    return subprocess.run(words, capture_output=True, text=True, check=False, cwd=cwd, env=env)


@pytest.fixture(scope="module")
def cache_environment(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """The environment with a cache folder of this module's own, and the banner."""
    cache = str(tmp_path_factory.mktemp("cache"))
    return {**os.environ, "XDG_CACHE_HOME": cache, "SOFTNPU_BANNER": "1"}


def test_documents_are_those_that_are_expected() -> None:
    """When the documents are at hand, each has one program, and each operator is there."""
    names = sorted(program.name for program in document_programs())
    if not names and not os.environ.get("SOFTNPU_DOCUMENTS"):
        pytest.skip("SOFTNPU_DOCUMENTS names no folder with the documents")
    assert names == sorted(DOCUMENTED)


@pytest.mark.parametrize("program", PROGRAMS, ids=IDS)
def test_softnpu_run(program: Program, tmp_path: Path, cache_environment: dict[str, str]) -> None:
    """`softnpu run` compiles an unchanged program, and it prints the documented numbers."""
    source = tmp_path / "program.cpp"
    source.write_text(program.text, encoding="utf-8")
    include = "--cxxflags=" + shlex.quote(f"-I{program.include}")
    command = [sys.executable, "-m", "softnpu", "run", include, source]
    done = run(*command, cwd=tmp_path, env=cache_environment)
    assert done.returncode == 0, done.stderr
    assert done.stdout == program.stdout
    assert done.stderr.startswith("softnpu ")


def test_example_runs_where_it_lies(cache_environment: dict[str, str]) -> None:
    """The command in the README works as it stands."""
    command = [sys.executable, "-m", "softnpu", "run", "examples/c/elu_backward.cpp"]
    done = run(*command, cwd=ROOT, env=cache_environment)
    expected = (ROOT / "examples" / "c" / "expected" / "elu_backward.txt").read_text(
        encoding="utf-8"
    )
    assert (done.returncode, done.stdout) == (0, expected)


@pytest.mark.parametrize("program", PROGRAMS, ids=IDS)
def test_links_by_full_path(program: Program, sdk: Path, tmp_path: Path) -> None:
    """Plain compiler commands, the libraries by full path, old names or new ones, are enough."""
    (tmp_path / "program.cpp").write_text(program.text, encoding="utf-8")
    include = [f"-I{folder}" for folder in (sdk / "include", program.include)]
    compiled = run("g++", *include, "-c", "program.cpp", cwd=tmp_path)
    assert compiled.returncode == 0, compiled.stderr
    environment = {**os.environ, "LD_LIBRARY_PATH": str(sdk / "lib64")}
    for libraries in (["opapi"], ["opapi_nn", "opapi_cv"]):
        names = [*libraries, "nnopbase", "ascendcl"]
        paths = [sdk / "lib64" / f"lib{name}.so" for name in names]
        built = run("g++", "program.o", "-o", "program", *paths, cwd=tmp_path)
        assert built.returncode == 0, built.stderr
        done = run(tmp_path / "program", cwd=tmp_path, env=environment)
        assert (done.returncode, done.stdout) == (0, program.stdout), libraries


CMAKE_PROJECT = """cmake_minimum_required(VERSION 3.16)
project(unchanged CXX)
set(CMAKE_CXX_EXTENSIONS OFF)
set(home "$ENV{ASCEND_HOME_PATH}")
file(GLOB sources "${CMAKE_SOURCE_DIR}/*.cpp")
foreach(source ${sources})
  get_filename_component(name "${source}" NAME_WE)
  add_executable(${name} "${source}")
  target_include_directories(${name} PRIVATE "${home}/include" "${home}/include/aclnn")
  foreach(library ${LIBRARIES})
    target_link_libraries(${name} PRIVATE "${home}/lib64/lib${library}.so")
  endforeach()
endforeach()
"""

ENVIRONMENTS = {
    "eval": 'eval "$("$PYTHON" -m softnpu env)"',
    "source": '. "$("$PYTHON" -m softnpu sdk)/set_env.sh"',
}


def find_cmake() -> str | None:
    """A cmake that works: beside this Python, or on PATH."""
    beside = Path(sys.executable).parent / "cmake"
    return str(beside) if beside.exists() else shutil.which("cmake")


def build_and_run(how: str, options: str, programs: list[Program], folder: Path) -> None:
    """Builds with cmake and runs, all in one shell that was set up in one of the two ways."""
    ours = {"ASCEND_HOME_PATH", "ASCEND_TOOLKIT_HOME", "ASCEND_CUSTOM_PATH", "LD_LIBRARY_PATH"}
    environment = {name: value for name, value in os.environ.items() if name not in ours}
    environment.update(PYTHON=sys.executable, CMAKE=find_cmake() or "cmake")
    steps = [
        "set -e",
        ENVIRONMENTS[how],
        f'"$CMAKE" -B build {options}',
        '"$CMAKE" --build build -j2',
    ]
    steps += [f"build/{program.name} > {program.name}.out" for program in programs]
    done = run("bash", "-c", "\n".join(steps), cwd=folder, env=environment)
    assert done.returncode == 0, done.stdout + done.stderr
    for program in programs:
        assert (folder / f"{program.name}.out").read_text() == program.stdout, program.name


@pytest.mark.skipif(find_cmake() is None, reason="needs cmake")
@pytest.mark.parametrize(
    ("standard", "libraries", "count"),
    [(11, "opapi", 2), (17, "opapi_nn;opapi_cv", len(PROGRAMS)), (20, "opapi", 2)],
)
def test_cmake_project(cxx: str, standard: int, libraries: str, count: int, tmp_path: Path) -> None:
    """A CMake project that knows only ASCEND_HOME_PATH builds programs without a warning."""
    programs = PROGRAMS[-count:]
    how = "source" if cxx == "g++" else "eval"
    (tmp_path / "CMakeLists.txt").write_text(CMAKE_PROJECT)
    shutil.copy(EXAMPLES / "example.h", tmp_path)
    for program in programs:
        (tmp_path / f"{program.name}.cpp").write_text(program.text, encoding="utf-8")
    options = f"-DCMAKE_CXX_STANDARD={standard} -DCMAKE_CXX_STANDARD_REQUIRED=ON"
    options += f' -DCMAKE_CXX_COMPILER={cxx} -DCMAKE_CXX_FLAGS="{STRICT[cxx]} -Werror"'
    options += f' -DLIBRARIES="{libraries};nnopbase;ascendcl"'
    build_and_run(how, f"-S . {options}", programs, tmp_path)


@pytest.mark.skipif(find_cmake() is None, reason="needs cmake")
def test_examples_are_a_cmake_project(tmp_path: Path) -> None:
    """examples/c is itself such a project, and can link the split libraries."""
    options = f"-S {shlex.quote(str(EXAMPLES))} -DSPLIT_OPERATOR_LIBRARIES=ON"
    build_and_run("eval", options, example_programs(), tmp_path)
