# SPDX-License-Identifier: Apache-2.0
"""`softnpu run`: the program's behaviour comes through; schedules, and failures on purpose."""

import json
import signal
import subprocess
from pathlib import Path
from typing import Any

import pytest

from tests.support.paths import ROOT

ECHO = """#include <iostream>
#include <string>
int main(int argc, char **argv) {
  for (int i = 1; i < argc; i++) std::cout << "[" << argv[i] << "]";
  std::string word;
  while (std::cin >> word) std::cout << "<" << word << ">";
  return argc;
}
"""


def test_stdin_arguments_and_status_pass_through(softnpu: Any) -> None:
    """A compiled program gets its arguments and stdin, and its exit status is the command's."""
    softnpu.write("echo.cpp", ECHO)
    done = softnpu("run", "echo.cpp", "--", "-x", "--cxxflags", "a b", stdin="in put")
    assert (done.returncode, done.stdout) == (4, "[-x][--cxxflags][a b]<in><put>")
    assert done.stderr == ""


@pytest.mark.parametrize(
    ("args", "seen"),
    [
        (["echo.sh", "-x", "y"], "[-x][y]"),
        (["echo.sh", "--", "-x"], "[-x]"),
        (["echo.sh", "--", "--", "-x"], "[--][-x]"),
        (["echo.sh", "x", "--", "y"], "[x][--][y]"),
        (["--", "echo.sh", "x"], "[x]"),
        (["echo.sh"], ""),
    ],
)
def test_only_the_first_separator_is_ours(softnpu: Any, args: list[str], seen: str) -> None:
    """Everything after FILE belongs to the program, except one leading --."""
    script = '#!/bin/sh\nfor a in "$@"; do printf "[%s]" "$a"; done\n'
    softnpu.write("echo.sh", script, executable=True)
    assert softnpu("run", *args).stdout == seen


@pytest.mark.parametrize("number", [signal.SIGSEGV, signal.SIGTERM, signal.SIGPIPE])
def test_death_by_signal(softnpu: Any, number: signal.Signals) -> None:
    """A program that a signal kills ends the command in the same way: a shell sees 128 + n."""
    text = f"#include <csignal>\nint main() {{ std::raise({int(number)}); }}\n"
    softnpu.write("die.cpp", text)
    assert softnpu("run", "die.cpp").returncode == -number
    command = [*softnpu.command, "run", "die.cpp"]
    shell = ["sh", "-c", '"$@"; exit $?', "sh", *command]
    done = subprocess.run(shell, cwd=softnpu.folder, env=softnpu.environment, check=False)
    assert done.returncode == 128 + number


def test_interrupt_reaches_the_program(softnpu: Any) -> None:
    """Ctrl-C is the program's to handle, as if it had been started by itself."""
    text = """#include <csignal>
#include <unistd.h>
extern "C" void handle(int) { write(1, "caught", 6); _exit(5); }
int main() { std::signal(SIGINT, handle); write(1, "ready\\n", 6); for (;;) pause(); }
"""
    softnpu.write("wait.cpp", text)
    with softnpu.start("run", "--cxxflags=-w", "wait.cpp") as process:
        assert process.stdout.readline() == "ready\n"
        process.send_signal(signal.SIGINT)
        assert process.stdout.read() == "caught"
    assert process.returncode == 5


def test_c_source(softnpu: Any) -> None:
    """A .c file is compiled as C, and acl/acl.h is there for it."""
    text = """#include <acl/acl.h>
#include <math.h>
#ifdef __cplusplus
#error not C
#endif
int main(int argc, char **argv) {
  (void)argv;
  printf("%zu %g\\n", aclDataTypeSize(ACL_BF16), sqrt(argc * 9.0));
  return 0;
}
"""
    softnpu.write("size.c", text)
    done = softnpu("run", "--cxxflags=-Wall -Wextra -Werror", "size.c")
    assert (done.returncode, done.stdout) == (0, "2 3\n")


def test_python_script_imports_acl(softnpu: Any) -> None:
    """A .py file is run by this Python, its `acl` is softnpu.acl, and arguments pass through."""
    text = """import sys, acl, softnpu.acl
print(acl is softnpu.acl, sys.argv[1:])
sys.exit(9)
"""
    softnpu.write("script.py", text)
    done = softnpu("run", "script.py", "--", "-v", "x")
    assert (done.returncode, done.stdout) == (9, "True ['-v', 'x']\n"), done.stderr


def test_acl_is_not_importable_otherwise(softnpu: Any) -> None:
    """Installing softnpu puts no module of the name `acl` into other programs' way."""
    command = [softnpu.command[0], "-c", "import softnpu, acl"]
    done = subprocess.run(
        command, cwd=softnpu.folder, env=softnpu.environment, capture_output=True, check=False
    )
    assert b"No module named 'acl'" in done.stderr


@pytest.mark.parametrize("name", ["show.py", "show"])
def test_the_devices_libraries_come_first(softnpu: Any, prefix: Path, name: str) -> None:
    """Whatever is run finds the SDK's libraries before any others, and the SDK by its names."""
    text = f"""#!{softnpu.command[0]}
import json, os
print(json.dumps(dict(os.environ)))
"""
    softnpu.write(name, text, executable=True)
    done = softnpu("run", name, env={"LD_LIBRARY_PATH": f"/other:{prefix}/lib64"})
    environment = json.loads(done.stdout)
    assert environment["LD_LIBRARY_PATH"] == f"{prefix}/lib64:/other"
    assert environment["ASCEND_HOME_PATH"] == str(prefix)


@pytest.mark.parametrize(
    ("name", "status", "message"),
    [
        ("missing.cpp", 2, "missing.cpp does not exist"),
        ("folder.cpp", 2, "folder.cpp is not a file"),
        ("text.txt", 126, "text.txt is no source file"),
        ("broken", 126, "cannot run broken: Exec format error"),
    ],
)
def test_what_cannot_be_run(softnpu: Any, name: str, status: int, message: str) -> None:
    """A FILE that cannot be run gives one clear line and the documented status."""
    (softnpu.folder / "folder.cpp").mkdir()
    softnpu.write("text.txt", "text")
    softnpu.write("broken", "no program", executable=True)
    done = softnpu("run", name)
    assert (done.returncode, done.stdout) == (status, "")
    assert done.stderr.startswith(f"softnpu: {message}")
    assert len(done.stderr.splitlines()) == 1


@pytest.mark.parametrize("name", ["-c.py", "-c.cpp", "-c.c", "-c.sh", "@c.cpp"])
def test_names_that_look_like_options(softnpu: Any, name: str) -> None:
    """Compilers, Python and shells get them as the files that they are."""
    texts = {
        "py": 'print("ran")\n',
        "cpp": '#include <cstdio>\nint main() { std::puts("ran"); }\n',
        "c": '#include <stdio.h>\nint main(void) { puts("ran"); }\n',
        "sh": "#!/bin/sh\necho ran\n",
    }
    softnpu.write(name, texts[name.rpartition(".")[2]], executable=True)
    for args in ([f"./{name}"], ["--", name]):
        done = softnpu("run", *args)
        assert (done.returncode, done.stdout) == (0, "ran\n"), done.stderr


FAILS = """#include "acl/acl.h"
int main() { return aclrtFree(reinterpret_cast<void *>(0x1234)) == 107000 ? 0 : 1; }
"""
FAILS_IN_PYTHON = "import acl\nassert acl.rt.free(0x1234) == 107000\n"
LINE = "softnpu: error 107000: aclrtFree: devPtr "


@pytest.mark.parametrize(("name", "text"), [("f.cpp", FAILS), ("f.py", FAILS_IN_PYTHON)])
def test_failures_are_told(softnpu: Any, name: str, text: str) -> None:
    """A call that fails writes its message to stderr, although the program does not."""
    softnpu.write(name, text)
    done = softnpu("run", name)
    assert (done.returncode, done.stdout) == (0, "")
    assert done.stderr.startswith(LINE)
    assert done.stderr.count("\n") == 1


@pytest.mark.parametrize("chosen", [{"SOFTNPU_LOG": "off"}, {"ASCEND_GLOBAL_LOG_LEVEL": "4"}])
def test_the_users_log_level_stays(softnpu: Any, chosen: dict[str, str]) -> None:
    """Whoever set a level of the log gets that one."""
    softnpu.write("f.cpp", FAILS)
    done = softnpu("run", "f.cpp", env=chosen)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


SCHEDULES = Path(__file__).parents[1] / "runtime" / "schedules.cpp"


def test_schedule(softnpu: Any) -> None:
    """The program runs under the schedule; a missing synchronisation shows."""
    done = softnpu("run", "--schedule", "deferred", SCHEDULES, "read at once")
    assert (done.returncode, done.stdout, done.stderr) == (0, "1\n", "")
    assert softnpu("run", "--schedule", "eager", SCHEDULES, "read at once").stdout == "2\n"


@pytest.mark.parametrize("wrong", ["lazy", "random:", "random:x", "random:99999999999999999999"])
def test_unknown_schedule(softnpu: Any, wrong: str) -> None:
    """An unknown schedule is a usage error that lists the known ones."""
    done = softnpu("run", "--schedule", wrong, SCHEDULES, "read at once")
    assert (done.returncode, done.stdout) == (2, "")
    assert "eager, deferred, random and random:SEED" in done.stderr


def test_schedules_that_agree(softnpu: Any) -> None:
    """A program without a mistake runs as often as asked; its output is printed once."""
    done = softnpu("run", "--schedules", 20, SCHEDULES, "wait and copy")
    assert (done.returncode, done.stdout) == (0, "2\n")
    assert done.stderr == "softnpu: the same with 20 random schedules\n"


def test_schedules_that_differ(softnpu: Any) -> None:
    """The first seed that changes the output is told; it changes the output again."""
    done = softnpu("run", "--schedules", 20, SCHEDULES, "copy at once")
    assert (done.returncode, done.stdout) == (1, "2\n")
    assert ": line 1 of stdout is '1' instead of '2'" in done.stderr
    replay = done.stderr.splitlines()[-1].removeprefix("Replay it with: softnpu run --schedule ")
    seed = replay.split()[0]
    assert softnpu("run", "--schedule", seed, SCHEDULES, "copy at once").stdout == "1\n"


def test_a_program_that_fails(softnpu: Any) -> None:
    """Its own exit status comes through, whether it always fails or under a schedule only."""
    softnpu.write("always.sh", "#!/bin/sh\nexit 7\n", executable=True)
    assert softnpu("run", "--schedules", 2, "always.sh").returncode == 7
    text = "#!/bin/sh\ncase $SOFTNPU_SCHEDULE in random:2) kill -SEGV $$;; esac\n"
    softnpu.write("seldom.sh", text, executable=True)
    done = softnpu("run", "--schedules", 3, "seldom.sh", "-x", "a b")
    assert done.returncode == 139
    assert "random:2: the exit status is 139 instead of 0" in done.stderr
    assert "softnpu run --schedule random:2 seldom.sh -x 'a b'\n" in done.stderr


def test_one_or_many(softnpu: Any) -> None:
    """One schedule and a number of them are not asked for together."""
    done = softnpu("run", "--schedules", 2, "--schedule", "eager", SCHEDULES)
    assert done.returncode == 2


EXAMPLE = ROOT / "examples" / "c" / "elu_backward.cpp"


def test_a_call_fails(softnpu: Any) -> None:
    """The program gets the code, and its own exit status comes through."""
    done = softnpu("run", "--fail", "malloc:2", EXAMPLE)
    assert done.returncode == 1
    assert (
        "status 207001: aclrtMalloc: failed on purpose: SOFTNPU_FAIL asks for malloc:2"
        in done.stderr
    )


def test_several_calls(softnpu: Any) -> None:
    """The option may be repeated; what the program does not call does not fail."""
    done = softnpu("run", "--fail", "event:1", "--fail=sync:1:507015,memset:4", EXAMPLE)
    assert done.returncode == 1
    assert "failed with status 507015" in done.stderr
    assert softnpu("run", "--fail", "event:1", "--fail", "memset:4", EXAMPLE).returncode == 0


@pytest.mark.parametrize(
    ("wrong", "listed"),
    [("fill:1", "malloc_host, memcpy, memset"), ("malloc:1:5", "207001"), ("malloc:0", "above 0")],
)
def test_refusals(softnpu: Any, wrong: str, listed: str) -> None:
    """What is an invalid value is a usage error that lists what can."""
    done = softnpu("run", "--fail", wrong, EXAMPLE)
    assert (done.returncode, done.stdout) == (2, "")
    assert f'"{wrong}" is an invalid value' in done.stderr
    assert listed in done.stderr
