# SPDX-License-Identifier: Apache-2.0
"""Finding the compiler, showing what it says, and what makes another program."""

import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

HELLO = '#include <cstdio>\nint main() { std::puts("hello"); }\n'

# Notes each time that it makes a program, then is the real compiler.
COUNTING = """#!/bin/sh
case " $* " in *" -E "*) ;; *) echo built >> "$COUNT" ;; esac
exec c++ "$@"
"""


class Counter:
    """A compiler that counts how often it made a program."""

    def __init__(self, softnpu: Any) -> None:
        self.log = softnpu.folder / "count"
        compiler = softnpu.write("counting-c++", COUNTING, executable=True)
        self.environment = {"CXX": str(compiler), "COUNT": str(self.log)}

    @property
    def builds(self) -> int:
        """How many programs it made."""
        return len(self.log.read_text().splitlines()) if self.log.exists() else 0


def test_program_is_built_once(softnpu: Any) -> None:
    """A second run of the same content compiles nothing, whatever the file's date is."""
    counter = Counter(softnpu)
    source = softnpu.write("hello.cpp", HELLO)
    for _ in range(2):
        assert softnpu("run", "hello.cpp", env=counter.environment).stdout == "hello\n"
        source.touch()
    assert counter.builds == 1
    assert len(softnpu.programs()) == 1


def test_included_file_counts(softnpu: Any) -> None:
    """A change in a file that the source includes makes another program."""
    counter = Counter(softnpu)
    softnpu.write(
        "say.cpp", '#include <cstdio>\n#include "say.h"\nint main() { std::puts(SAY); }\n'
    )
    for word in ("one", "two", "one"):
        softnpu.write("say.h", f'#define SAY "{word}"\n')
        assert softnpu("run", "say.cpp", env=counter.environment).stdout == f"{word}\n"
    assert counter.builds == 2


@pytest.mark.parametrize("variable", ["CXXFLAGS", "CPPFLAGS"])
def test_flags_count(softnpu: Any, variable: str) -> None:
    """The user's flags are used, from the environment or the command line, the latter last."""
    text = '#include <cstdio>\nint main() { std::printf("%d", N); }\n'
    softnpu.write("flag.cpp", text)
    one, two = {variable: "-DN=1"}, {variable: "-DN=2"}
    assert softnpu("run", "flag.cpp", env=one).stdout == "1"
    assert softnpu("run", "flag.cpp", env=two).stdout == "2"
    assert softnpu("run", "--cxxflags=-UN -DN=3", "flag.cpp", env=one).stdout == "3"


WHERE = """#include <cstdio>
const char *file(const char *name = __builtin_FILE()) { return name; }
int line(int number = __builtin_LINE()) { return number; }
int main() { std::printf("%s:%d\\n", file(), line()); }
"""


def test_places_in_the_source_count(softnpu: Any) -> None:
    """A program that tells its own line or file tells them as they are now."""
    softnpu.write("where.cpp", WHERE)
    assert softnpu("run", "where.cpp").stdout == "where.cpp:4\n"
    softnpu.write("where.cpp", f"// one line more\n{WHERE}")
    assert softnpu("run", "where.cpp").stdout == "where.cpp:5\n"
    (softnpu.folder / "sub").mkdir()
    softnpu.write("sub/where.cpp", WHERE)
    assert softnpu("run", "sub/where.cpp").stdout == "sub/where.cpp:4\n"


CALLS = '#include <cstdio>\nint given();\nint main() { std::printf("%d", given()); }\n'


@pytest.mark.parametrize(
    ("option", "variables"),
    [
        ("", {"LDFLAGS": "-L. -lgiven"}),
        ("", {"LDFLAGS": "./given.o"}),
        ("", {"CXX": "c++ ./given.o"}),
        ("--cxxflags=given.o", {}),
        ("--cxxflags=-Wl,given.o", {}),
        ("--cxxflags=@words", {}),
    ],
)
def test_libraries_and_objects_count(softnpu: Any, option: str, variables: dict[str, str]) -> None:
    """A program that other files than sources go into is made anew, whoever names them."""
    softnpu.write("calls.cpp", CALLS)
    softnpu.write("words", "./given.o")
    for number in ("1", "2"):
        softnpu.write("given.cpp", f"int given() {{ return {number}; }}\n")
        for command in (["c++", "-c", "given.cpp"], ["ar", "rcs", "libgiven.a", "given.o"]):
            subprocess.run(command, cwd=softnpu.folder, check=True)
        options = [option] if option else []
        done = softnpu("run", *options, "calls.cpp", env=variables)
        assert (done.returncode, done.stdout) == (0, number), done.stderr
    assert len(softnpu.programs()) == 1


def test_assembled_files_count(softnpu: Any) -> None:
    """What .incbin reads is not in the preprocessed text."""
    text = r"""#include <cstdio>
asm(".section .rodata\n.globl word\nword: .incbin \"word.txt\"\n.byte 0\n.text");
extern "C" const char word[];
int main() { std::puts(word); }
"""
    softnpu.write("word.cpp", text)
    for word in ("one", "two"):
        softnpu.write("word.txt", word)
        assert softnpu("run", "--cxxflags=-no-pie", "word.cpp").stdout == f"{word}\n"


@pytest.mark.parametrize(
    "flags",
    [
        "-std=c++20 -O3 -g -march=native -Wall -Wextra -Wno-unused -fopenmp -fno-plt -w",
        "-D A=1 -DB -U C -I . -I./x -isystem . -fsanitize=undefined -pthread -L/nowhere",
        "-Wl,-O1,--as-needed -Wl,-z,relro -Wl,-z,now -Wl,-rpath,/nowhere",
    ],
)
def test_common_flags_keep_programs(softnpu: Any, flags: str) -> None:
    """Flags that name no file to link leave a program in the cache, and so does a launcher."""
    counter = Counter(softnpu)
    launched = {**counter.environment, "CXX": f"env {counter.environment['CXX']}"}
    softnpu.write("hello.cpp", HELLO)
    for _ in range(2):
        done = softnpu("run", f"--cxxflags={flags}", "hello.cpp", env=launched)
        assert done.stdout == "hello\n", done.stderr
    assert counter.builds == 1


def test_launched_compiler_counts(softnpu: Any) -> None:
    """A launcher is not all that tells compilers apart."""
    softnpu.write("hello.cpp", HELLO)
    counter = Counter(softnpu)
    launched = {**counter.environment, "CXX": f"env {counter.environment['CXX']}"}
    for text in (COUNTING, f"{COUNTING}# another\n"):
        softnpu.write("counting-c++", text, executable=True)
        softnpu("run", "hello.cpp", env=launched)
    assert counter.builds == 2


def test_compiler_counts(softnpu: Any) -> None:
    """Another compiler makes another program, even from the same text."""
    counter = Counter(softnpu)
    softnpu.write("hello.cpp", HELLO)
    softnpu("run", "hello.cpp")
    softnpu("run", "hello.cpp", env=counter.environment)
    assert counter.builds == 1


def test_compile_error_is_shown_as_printed(softnpu: Any) -> None:
    """A compile error is the compiler's own text and exit status; nothing is kept of it."""
    softnpu.write("wrong.cpp", "int main() { return undeclared; }\n")
    done = softnpu("run", "wrong.cpp")
    compiler = shutil.which("c++")
    assert compiler is not None
    own = subprocess.run(
        [compiler, "wrong.cpp", "-fsyntax-only"],
        capture_output=True,
        text=True,
        cwd=softnpu.folder,
        check=False,
    )
    assert (done.returncode, done.stderr) == (own.returncode, own.stderr)
    assert done.returncode != 0
    assert "undeclared" in done.stderr
    assert softnpu.programs() == []


@pytest.mark.parametrize("stage", ["-E", "-o"])
def test_compilers_exit_status(softnpu: Any, stage: str) -> None:
    """Whatever status the compiler fails with, preprocessing or compiling, is the command's."""
    text = f'#!/bin/sh\ncase " $* " in *" {stage} "*) echo said this >&2; exit 42 ;; esac\n'
    compiler = softnpu.write("failing", text, executable=True)
    softnpu.write("hello.cpp", HELLO)
    done = softnpu("run", "hello.cpp", env={"CXX": str(compiler)})
    assert (done.returncode, done.stdout, done.stderr) == (42, "", "said this\n")


@pytest.mark.parametrize("stage", ["-E", "-o"])
@pytest.mark.parametrize("args", [["run", "hello.cpp"], ["build", "hello.cpp", "-o", "hello"]])
def test_killed_compiler(softnpu: Any, stage: str, args: list[str]) -> None:
    """A signal that ends the compiler gives 128 + n at every step of every command."""
    text = f'#!/bin/sh\ncase " $* " in *" {stage} "*) kill -9 $$ ;; esac\nexec c++ "$@"\n'
    compiler = softnpu.write("killed", text, executable=True)
    softnpu.write("hello.cpp", HELLO)
    expected = 0 if args[0] == "build" and stage == "-E" else 137
    assert softnpu(*args, env={"CXX": str(compiler)}).returncode == expected


def test_missing_header(softnpu: Any) -> None:
    """An include that is not found is a compile error like any other."""
    softnpu.write("include.cpp", '#include "nowhere.h"\nint main() {}\n')
    done = softnpu("run", "include.cpp")
    assert done.returncode == 1
    assert "nowhere.h" in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize(("name", "language"), [("a.c", "C"), ("a.cpp", "C++")])
def test_no_compiler(softnpu: Any, tmp_path: Path, name: str, language: str) -> None:
    """Without a compiler the command says what it looked for, and exits with 127."""
    softnpu.write(name, "int main() {}\n")
    done = softnpu("run", name, env={"PATH": str(tmp_path)})
    assert done.returncode == 127
    assert done.stderr.startswith(f"softnpu: no {language} compiler found")


@pytest.mark.parametrize(
    ("variables", "status"), [({"CXX": "nonesuch"}, 127), ({"CXXFLAGS": "'unclosed"}, 2)]
)
def test_bad_variables(softnpu: Any, variables: dict[str, str], status: int) -> None:
    """A variable that names no compiler, or cannot be split, is named in the message."""
    softnpu.write("hello.cpp", HELLO)
    done = softnpu("run", "hello.cpp", env=variables)
    assert done.returncode == status
    assert next(iter(variables)) in done.stderr


def test_compiler_variable_with_words(softnpu: Any) -> None:
    """CXX may hold a launcher or options beside the compiler."""
    softnpu.write("word.cpp", "#include <cstdio>\nint main() { std::puts(WORD); }\n")
    done = softnpu("run", "word.cpp", env={"CXX": "env c++ '-DWORD=\"a word\"'"})
    assert done.stdout == "a word\n"


@pytest.mark.parametrize("header", ["aclnnop/aclnn_fold_napkin.h", "aclnnop/level2/aclnn_fold.h"])
def test_an_operator_that_softnpu_lacks(softnpu: Any, header: str) -> None:
    """The compiler's message is followed by where to look."""
    softnpu.write("fold.cpp", f"#include <{header}>\nint main() {{}}\n")
    done = softnpu("run", "fold.cpp")
    assert done.returncode == 1
    assert f"softnpu has no {header}" in done.stderr
    assert "softnpu ops" in done.stderr
