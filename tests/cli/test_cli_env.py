# SPDX-License-Identifier: Apache-2.0
"""`softnpu sdk`, `softnpu env` and set_env.sh."""

import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

from softnpu.cli.environment import export_lines, prepended, sdk_environment

SHELLS = [shell for shell in ("bash", "dash", "zsh", "ksh", "sh") if shutil.which(shell)]
VARIABLES = ("ASCEND_HOME_PATH", "ASCEND_TOOLKIT_HOME", "ASCEND_CUSTOM_PATH")
PATHS = ("LD_LIBRARY_PATH", "PYTHONPATH")
SHOW = "\n".join(f'printf "%s\\n" "${name}"' for name in (*VARIABLES, *PATHS))


def shell_lines(shell: str, script: str, env: dict[str, str] | None = None) -> list[str]:
    """What a script prints, in an environment of `env` and PATH only, errors not forgiven."""
    command = [shutil.which(shell) or shell, "-eu", "-c", script]
    environment = {"PATH": "/usr/bin:/bin", **(env or {})}
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=environment)
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout.splitlines()


@pytest.fixture
def moved_sdk(prefix: Path, tmp_path: Path) -> Path:
    """The SDK's skeleton in a folder whose name shells like to split and expand."""
    moved = tmp_path / "a b $HOME 'c' *"
    (moved / "include" / "acl").mkdir(parents=True)
    (moved / "lib64").mkdir()
    shutil.copy(prefix / "include" / "acl" / "acl.h", moved / "include" / "acl")
    shutil.copy(prefix / "set_env.sh", moved)
    return moved


def test_sdk_is_the_prefix(prefix: Path) -> None:
    """`softnpu sdk` prints the folder that holds headers, libraries and set_env.sh."""
    assert (prefix / "include" / "acl" / "acl.h").is_file()
    assert (prefix / "lib64" / "libopapi.so").is_file()
    assert (prefix / "set_env.sh").is_file()


@pytest.mark.parametrize("shell", SHELLS)
def test_env_is_for_eval(softnpu: Any, prefix: Path, shell: str) -> None:
    """What `softnpu env` prints sets the variables, and keeps what the library path had."""
    given = {"LD_LIBRARY_PATH": "/it's here:/there", "PYTHONPATH": "/ours"}
    text = softnpu("env", env=given).stdout
    assert all(line.startswith("export ") for line in text.splitlines())
    expected = [str(prefix)] * 3 + [f"{prefix}/lib64:/it's here:/there"]
    expected += [f"{prefix}/python/site-packages:/ours"]
    assert shell_lines(shell, f"{text}{SHOW}") == expected


@pytest.mark.parametrize("shell", SHELLS)
@pytest.mark.parametrize("value", ["a b", "it's", '"', "$HOME", "`id`", "a\\b", "*", "!x", "~"])
def test_exports_are_quoted(shell: str, value: str) -> None:
    """No value is split, expanded or run by the shell that reads the exports."""
    script = export_lines({"VALUE": value}) + 'printf "%s\\n" "$VALUE"'
    assert shell_lines(shell, script) == [value]


def test_the_folder_comes_first_and_once() -> None:
    """The library path gets the folder in front, without empty entries and without repeats."""
    assert prepended("/l", "") == "/l"
    assert prepended("/l", "/a:/l::/b:/l") == "/l:/a:/b"
    once = sdk_environment(Path("/p"), {"LD_LIBRARY_PATH": "/x", "PYTHONPATH": "/y:/z"})
    assert sdk_environment(Path("/p"), once) == once


@pytest.mark.parametrize("shell", SHELLS)
def test_set_env_finds_itself(moved_sdk: Path, shell: str) -> None:
    """Sourcing set_env.sh, by an absolute or a relative path, sets the variables to its folder."""
    expected = [str(moved_sdk)] * 3 + [f"{moved_sdk}/lib64", f"{moved_sdk}/python/site-packages"]
    environment = {"SDK": str(moved_sdk)}
    assert shell_lines(shell, f'. "$SDK/set_env.sh"\n{SHOW}', environment) == expected
    relative = f'cd "$SDK/lib64"\n. ../set_env.sh\n{SHOW}'
    assert shell_lines(shell, relative, environment) == expected
    subshell = f'(. "$SDK/set_env.sh"\n{SHOW})'
    assert shell_lines(shell, subshell, environment) == expected


@pytest.mark.parametrize("shell", SHELLS)
def test_set_env_twice(moved_sdk: Path, shell: str) -> None:
    """Sourcing it again changes nothing; entries of the library path are kept, its own is first."""
    path = f"/x y::/z:{moved_sdk}/lib64:/q"
    environment = {"SDK": str(moved_sdk), "LD_LIBRARY_PATH": path, "PYTHONPATH": "/u:/v w:"}
    script = f'. "$SDK/set_env.sh"\n. "$SDK/set_env.sh"\n{SHOW}'
    paths = [f"{moved_sdk}/lib64:/x y:/z:/q", f"{moved_sdk}/python/site-packages:/u:/v w"]
    assert shell_lines(shell, script, environment)[3:] == paths


@pytest.mark.parametrize("shell", SHELLS)
def test_set_env_leaves_nothing_else(moved_sdk: Path, shell: str) -> None:
    """Sourcing it leaves no helper variables or functions behind."""
    script = 'before=1\n. "$SDK/set_env.sh"\nset | grep -c "^_softnpu" || true'
    assert shell_lines(shell, script, {"SDK": str(moved_sdk)}) == ["0"]


def test_python_imports_acl_after_it(softnpu: Any, prefix: Path) -> None:
    """The module is softnpu.acl; a Python without softnpu is told what is wrong."""
    text = 'import acl, softnpu.acl; print(acl is softnpu.acl, acl.op.set_model_dir("."))'
    script = f'. "{prefix}/set_env.sh"\n"$PYTHON" $OPTIONS -c \'{text}\' 2>&1 || true'
    environment = {"PYTHON": softnpu.command[0], "OPTIONS": "-B"}
    assert shell_lines("sh", script, environment) == ["True 0"]
    last = shell_lines("sh", script, {**environment, "OPTIONS": "-B -S"})[-1]
    assert last.startswith("ImportError: acl: softnpu is not installed for ")
    assert last.endswith(str(prefix.parent))


def test_set_env_agrees_with_env(softnpu: Any, prefix: Path) -> None:
    """Both ways to set up a shell give the same variables."""
    sourced = shell_lines("sh", f'. "{prefix}/set_env.sh"\n{SHOW}')
    assert shell_lines("sh", softnpu("env").stdout + SHOW) == sourced
