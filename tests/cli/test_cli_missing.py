# SPDX-License-Identifier: Apache-2.0
"""`softnpu run --explain-missing`: what a program needs and softnpu does not have."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from softnpu import __version__
from softnpu.cli.elf import read_elf

COUNT = "softnpu: missing: {} that the program needs and does not find\n"
ONE, TWO = COUNT.format("1 function"), COUNT.format("2 functions")
NOTHING = "softnpu: missing: nothing; "

# A later toolkit's library, which has operators that softnpu lacks.
LATER = """int aclnnLater(void *p) { return p != 0; }
int aclnnElu(void *p) { return p != 0; }
"""
CALLS = """#include <stdio.h>
int aclnnLater(void *p);
int aclnnElu(void *a, unsigned long b, void *c, void *d);
int main(int argc, char **argv) {
  printf("%s %d\\n", argv[0] ? "started" : "", aclnnElu(0, 0, 0, 0) != 0);
  fflush(stdout);
  return argc > 1 ? aclnnLater(0) : 0;
}
"""
LOOKS_UP = """#include <dlfcn.h>
#include <stdio.h>
int main(void) {
  void *library = dlopen("libopapi.so", RTLD_LAZY);
  int found = dlsym(library, "aclnnElu") != 0;
  for (int i = 0; i < 3; ++i) found += dlsym(library, "aclnnLaterGetWorkspaceSize") != 0;
  found += dlsym(RTLD_DEFAULT, "aclrtLater") != 0;
  found += dlsym(library, "not_of_the_family") != 0;
  printf("%d %s\\n", found, dlerror());
  return 0;
}
"""


def build(folder: Path, name: str, text: str, *options: str) -> None:
    """Compiles C without softnpu's headers and libraries."""
    compiler = shutil.which("cc") or shutil.which("gcc") or shutil.which("clang")
    if compiler is None:
        pytest.skip("no C compiler")
    command = [compiler, "-x", "c", "-", "-x", "none", "-o", name, *options]
    subprocess.run(command, input=text, text=True, check=True, cwd=folder)


@pytest.fixture
def later(softnpu: Any) -> list[str]:
    """Options that link a program with a later toolkit's library."""
    (softnpu.folder / "later").mkdir()
    build(softnpu.folder, "later/libopapi.so", LATER, "-shared", "-fPIC")
    return ["-Llater", "-Wl,--no-as-needed", "-lopapi", "-ldl"]


def test_a_function_that_is_called_late(softnpu: Any, later: list[str]) -> None:
    """It is named before the program starts, which then runs to its end or to the call."""
    build(softnpu.folder, "program", CALLS, *later, "-Wl,-z,lazy")
    line = f"{ONE}  aclnnLater  needed by program\n"
    done = softnpu("run", "--explain-missing", "program", env={"SOFTNPU_LOG": "off"})
    assert (done.returncode, done.stdout, done.stderr) == (0, "started 1\n", line)
    done = softnpu("run", "--explain-missing", "program", "call", env={"SOFTNPU_LOG": "off"})
    assert (done.returncode, done.stdout) == (127, "started 1\n")
    assert done.stderr.startswith(line)


def test_a_program_that_cannot_start(softnpu: Any, later: list[str]) -> None:
    """The system ends it before it runs a line, and the explanation is there all the same."""
    build(softnpu.folder, "program", CALLS, *later, "-Wl,-z,now")
    done = softnpu("run", "--explain-missing", "program")
    assert (done.returncode, done.stdout) == (127, "")
    assert done.stderr.startswith(f"{ONE}  aclnnLater  needed by program\n")


def test_names_that_are_looked_up(softnpu: Any) -> None:
    """What dlsym did not find is told once, after the program; softnpu's own is not."""
    build(softnpu.folder, "program", LOOKS_UP, "-ldl")
    done = softnpu("run", "--explain-missing", "program")
    assert done.returncode == 0
    assert done.stdout.startswith("1 ")
    assert "not_of_the_family" in done.stdout  # the program sees its own error
    assert done.stderr == (
        f"{TWO}  aclnnLaterGetWorkspaceSize  looked up by program\n"
        "  aclrtLater                  looked up by program\n"
    )


def test_a_program_that_may_write_no_files(softnpu: Any) -> None:
    """It is not ended for what is noted about it, which is lost."""
    limited = LOOKS_UP.replace("{\n", "{\n  setrlimit(RLIMIT_FSIZE, &(struct rlimit){0, 0});\n", 1)
    build(softnpu.folder, "program", f"#include <sys/resource.h>\n{limited}", "-ldl")
    softnpu.command.insert(1, "-B")  # a process of its own, whose output is no file
    done = softnpu("run", "--explain-missing", "program")
    assert done.returncode == 0
    assert done.stdout.startswith("1 ")


def test_the_opener_keeps_its_search_path(softnpu: Any, later: list[str]) -> None:
    """A library is found by its opener's run path, and is explained, also if it is refused."""
    (softnpu.folder / "plugins").mkdir()
    text = "int aclnnLater(void *p); int aclnnOwn(void) { return aclnnLater(0); }"
    build(softnpu.folder, "plugins/libplugin.so", text, *later, "-shared", "-fPIC")
    text = """#include <dlfcn.h>
#include <stdio.h>
int main(void) {
  printf("%s\\n", dlopen("libplugin.so", RTLD_NOW) ? "" : dlerror());
  void *lazy = dlopen("libplugin.so", RTLD_LAZY), *own = lazy ? dlsym(lazy, "aclnnOwn") : 0;
  printf("%d %d\\n", lazy != 0, own != 0);
}
"""
    build(softnpu.folder, "program", text, "-Wl,-rpath,$ORIGIN/plugins", "-ldl")
    done = softnpu("run", "--explain-missing", "program")
    assert done.stdout.endswith("\n1 1\n")
    assert "undefined symbol: aclnnLater" in done.stdout
    assert done.stderr == f"{ONE}  aclnnLater  needed by libplugin.so\n"


def test_a_python_client(softnpu: Any) -> None:
    """Ctypes looks names up, and the interpreter opens libraries, as any program does."""
    text = """import ctypes
library = ctypes.CDLL("libopapi.so")
print([hasattr(library, name) for name in ("aclnnElu", "aclnnNone", "aclrtNone", "none")])
"""
    softnpu.write("client.py", text)
    done = softnpu("run", "--explain-missing", "client.py")
    assert (done.returncode, done.stdout) == (0, "[True, False, False, False]\n")
    assert done.stderr.startswith(f"{TWO}  aclnnNone  looked up by ")
    assert done.stderr.count("\n") == 3


def test_what_a_script_starts(softnpu: Any, later: list[str]) -> None:
    """The programs that the program starts are explained, too."""
    build(softnpu.folder, "program", CALLS, *later, "-Wl,-z,lazy")
    softnpu.write("script.sh", "#!/bin/sh\n./program\n", executable=True)
    done = softnpu("run", "--explain-missing", "script.sh", env={"SOFTNPU_LOG": "off"})
    assert (done.stdout, done.stderr) == (
        "started 1\n",
        f"{ONE}  aclnnLater  needed by program\n",
    )


def test_a_library_that_is_not_linked(softnpu: Any) -> None:
    """What softnpu has, but in a library that the program does not load, is named with it."""
    (softnpu.folder / "other").mkdir()
    text = "int aclrtResetDevice(int d) { return d; }"
    build(softnpu.folder, "other/libdriver.so", text, "-shared", "-fPIC")
    text = "int aclrtResetDevice(int d); int main(void) { return aclrtResetDevice(0); }"
    build(softnpu.folder, "program", text, "-Lother", "-ldriver", "-Wl,-rpath,$ORIGIN/other")
    build(softnpu.folder, "other/libdriver.so", "int none;", "-shared", "-fPIC")
    done = softnpu("run", "--explain-missing", "program")
    where = "needed by program; it is in libascendcl.so, which is not loaded"
    assert done.stderr.startswith(f"{ONE}  aclrtResetDevice  {where}\n")


def test_nothing_is_missing(softnpu: Any) -> None:
    """The option says so; SOFTNPU_VERBOSE=1 speaks only of what is missing."""
    softnpu.write("fine.py", "import numpy, softnpu, sys; print(sys.stdin.read()); sys.exit(4)\n")
    done = softnpu("run", "--explain-missing", "fine.py", stdin="in")
    assert (done.returncode, done.stdout) == (4, "in\n")
    assert done.stderr.startswith(NOTHING)
    done = softnpu("run", "fine.py", stdin="in", env={"SOFTNPU_VERBOSE": "1"})
    assert (done.returncode, done.stdout, done.stderr) == (4, "in\n", "")


def test_verbose_explains_too(softnpu: Any, later: list[str]) -> None:
    """SOFTNPU_VERBOSE=1 lists what is missing without the option, and statistics still work."""
    build(softnpu.folder, "program", CALLS, *later, "-Wl,-z,lazy")
    wanted = f"{ONE}  aclnnLater  needed by program\n"
    environment = {"SOFTNPU_VERBOSE": "1", "SOFTNPU_LOG": "off"}
    assert softnpu("run", "program", env=environment).stderr == wanted
    done = softnpu("run", "--stats", "--explain-missing", "program", env={"SOFTNPU_LOG": "off"})
    assert done.stderr.startswith(wanted)
    assert "no statistics" in done.stderr


def test_the_users_preloads_stay(softnpu: Any, tmp_path: Path, later: list[str]) -> None:
    """They come before softnpu's own, and what they define is not missing."""
    build(tmp_path, "libmine.so", "int mine;", "-shared", "-fPIC")
    softnpu.write("show.py", "import os; print(os.environ['LD_PRELOAD'])\n")
    mine = str(tmp_path / "libmine.so")
    done = softnpu("run", "--explain-missing", "show.py", env={"LD_PRELOAD": mine})
    first, second = done.stdout.rstrip("\n").split(":")
    assert (first, Path(second).name) == (mine, "libmissing.so")
    build(softnpu.folder, "program", CALLS, *later, "-Wl,-z,now")
    (softnpu.folder / "later" / "libopapi.so").rename(tmp_path / "libmine.so")
    done = softnpu("run", "--explain-missing", "program", env={"LD_PRELOAD": mine})
    assert done.returncode == 0, done.stderr
    assert done.stderr.startswith(NOTHING)


def test_definitions_that_only_the_caller_sees(softnpu: Any) -> None:
    """What a library finds in its own scope is not missing, nor what it finds next."""
    text = """#include <dlfcn.h>
#include <stdio.h>
int aclnnPrivate(void) { return 0; }
int aclDataTypeSize(int type) {
  int (*next)(int) = (int (*)(int))dlsym(RTLD_NEXT, "aclDataTypeSize");
  return next ? 100 + next(type) : -1;
}
void look(void) {
  int own = dlsym(RTLD_DEFAULT, "aclnnPrivate") != 0, none = dlsym(RTLD_NEXT, "aclnnPrivate") != 0;
  printf("%d %d\\n", own, none);
}
"""
    build(softnpu.folder, "libplugin.so", text, "-shared", "-fPIC", "-ldl")
    softnpu.write(
        "client.py",
        """import ctypes, sys
ctypes.CDLL("libascendcl.so", ctypes.RTLD_GLOBAL)
plugin = ctypes.CDLL("./libplugin.so", ctypes.RTLD_LOCAL)
print(plugin.aclDataTypeSize(0), flush=True)
plugin.look()
""",
    )
    alone = softnpu("run", "client.py")
    done = softnpu("run", "--explain-missing", "client.py")
    assert (done.returncode, done.stdout) == (0, alone.stdout)
    assert done.stderr.startswith(NOTHING)


def test_a_program_with_a_sanitizer(softnpu: Any, later: list[str]) -> None:
    """AddressSanitizer, which must be loaded before all others, is."""
    try:
        options = ["-fsanitize=address", "-Wl,-z,lazy"]
        build(softnpu.folder, "program", CALLS, *options, *later)
    except subprocess.CalledProcessError:
        pytest.skip("no AddressSanitizer")
    done = softnpu("run", "--explain-missing", "program", env={"SOFTNPU_LOG": "off"})
    assert (done.returncode, done.stdout) == (0, "started 1\n")
    assert done.stderr == f"{ONE}  aclnnLater  needed by program\n"


def test_it_is_not_for_schedules(softnpu: Any) -> None:
    """A comparison of many runs explains nothing."""
    softnpu.write("x.py", "")
    done = softnpu("run", "--explain-missing", "--schedules", "2", "x.py")
    assert done.returncode == 2
    assert "--explain-missing" in done.stderr


def test_files_that_are_no_programs(tmp_path: Path) -> None:
    """Text, folders and broken headers are nothing to explain, and no error."""
    text, broken = tmp_path / "text", tmp_path / "broken"
    text.write_text("text")
    broken.write_bytes(Path(sys.executable).resolve().read_bytes()[:4096])
    assert [read_elf(file) for file in (text, broken, tmp_path)] == [None, None, None]


REPORT = """softnpu: exit: softnpu {} does not have these functions; each call returned 561003:
{}
To add an operator, see `softnpu build --help` and docs/own-operators.md.
"""


def exit_report(*lines: str) -> str:
    """What the end of a run says about calls of absent operators."""
    return REPORT.format(__version__, "\n".join(f"  {line}" for line in lines))


def test_a_linked_operator_that_is_absent(softnpu: Any, later: list[str]) -> None:
    """The program starts, and the call returns 561003; its end tells how often."""
    build(softnpu.folder, "program", CALLS, *later)
    done = softnpu("run", "program", "call", env={"SOFTNPU_LOG": "off"})
    assert done.stdout == "started 1\n"
    assert done.returncode == 561003 % 256
    assert done.stderr.endswith(exit_report("aclnnLater: 1 call"))
    checked = softnpu("check", "program", "call")
    assert checked.returncode == 86
    log = checked.stderr
    assert "apicheck (failed-call)" in log
    assert "aclnnLater: softnpu" in log
    assert "does not have this operator" in log
    assert exit_report("aclnnLater: 1 call") in log


PROBES = """#include <dlfcn.h>
#include <stdio.h>
#include <string.h>
typedef int (*Function)(int, double, void *);
static void *library;
static int find(const char *name) { return dlsym(library, name) != 0 && !dlerror(); }
int main(void) {
  library = dlopen("libopapi.so", RTLD_LAZY);
  Function one = (Function)dlsym(library, "aclnnLaterGetWorkspaceSize");
  Function two = (Function)dlsym(library, "aclnnLater");
  int same = one == (Function)dlsym(library, "aclnnLaterGetWorkspaceSize") && one != two;
  const char *(*message)(void) = (const char *(*)(void))dlsym(library, "aclGetRecentErrMsg");
  int codes = one(1, 2.0, &codes) == 561003 && one(1, 2.0, 0) == 561003 && two(0, 0, 0) == 561003;
  printf("%d %d %s\\n", same, codes, message());
  printf("%d%d%d%d\\n", find("aclnnEluV2GetWorkspaceSize"), find("aclnnLaterV2"), find("aclnn"),
         dlsym(RTLD_DEFAULT, "aclnnElsewhere") != 0);
  return 0;
}
"""


def test_absent_operators_that_are_looked_up(softnpu: Any) -> None:
    """They are found, unless the name is that of a later version of what is there."""
    build(softnpu.folder, "program", PROBES, "-ldl")
    done = softnpu("run", "program", env={"SOFTNPU_LOG": "off"})
    message = f"aclnnLater: softnpu {__version__} does not have this operator"
    assert done.stdout == f"1 1 {message}\n0100\n"
    lines = "aclnnLater: 1 call", "aclnnLaterGetWorkspaceSize: 2 calls"
    assert done.stderr.endswith(exit_report(*lines))
