# SPDX-License-Identifier: Apache-2.0
"""`softnpu sdk --install`: a toolkit's tree, in which programs find everything."""

from __future__ import annotations

import os
import platform
import subprocess
from pathlib import Path
from typing import Any

PROGRAM = """
#include <cstdio>
#include "acl/acl.h"
#include "aclnnop/level2/aclnn_add.h"
#include "aclnn_mul.h"

int main() {
  char package[] = "runtime", version[ACL_PKG_VERSION_MAX_SIZE];
  if (aclsysGetVersionStr(package, version) != ACL_SUCCESS) return 1;
  std::printf("%s %d\\n", version, aclnnAdd != nullptr && aclnnMul != nullptr);
}
"""


def installed(softnpu: Any, folder: Path) -> Path:
    """The home of the tree, as the command prints it."""
    done = softnpu("sdk", "--install", folder)
    assert (done.returncode, done.stderr) == (0, "")
    return Path(done.stdout.rstrip("\n"))


def shell(script: str, cwd: Path) -> str:
    """What a shell without a toolkit's variables prints."""
    kept = {name: text for name, text in os.environ.items() if not name.startswith("ASCEND_")}
    kept["LD_LIBRARY_PATH"] = ""
    done = subprocess.run(
        ["bash", "-ec", script], cwd=cwd, env=kept, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_programs_find_the_tree(softnpu: Any, tmp_path: Path) -> None:
    """Version files, folders and links are where programs look for them."""
    home = installed(softnpu, tmp_path)
    arch = f"{platform.machine()}-linux"
    assert home == tmp_path / "ascend-toolkit" / "latest"
    assert (home / "version.cfg").read_text("utf-8").splitlines()[0] == "Version=8.5.0"
    assert "path=" in (home / arch / "ascend_toolkit_install.info").read_text("utf-8")
    for name in (".", "runtime", "compiler", arch, "aarch64-linux"):
        assert (home / name / "lib64" / "libascendcl.so").is_file(), name
        assert (home / name / "include" / "acl" / "acl.h").is_file(), name
    for name in ("opp/vendors", "python/site-packages"):
        assert (home / name).is_dir(), name
    for link in ("cann", "latest"):
        assert (tmp_path / link).resolve() == home.resolve()


def test_a_program_is_built_against_it(softnpu: Any, tmp_path: Path) -> None:
    """After set_env.sh of the tree, a compiler needs nothing else; old names of headers exist."""
    home = installed(softnpu, tmp_path / "Ascend with space")
    (tmp_path / "program.cpp").write_text(PROGRAM, encoding="utf-8")
    flags = '-I"$HOME_/include" -I"$HOME_/include/aclnnop" -L"$HOME_/lib64"'
    script = f"""
. '{home.parent}/set_env.sh'
HOME_=$ASCEND_TOOLKIT_HOME
g++ program.cpp {flags} -lopapi -lnnopbase -lacl_op_compiler -lruntime -lascendcl -o program
./program
echo "$ASCEND_HOME_PATH"
"""
    assert shell(script, tmp_path) == f"8.5.0 1\n{home}\n"


def test_a_second_installation_keeps_what_others_added(softnpu: Any, tmp_path: Path) -> None:
    """The tree is updated in place."""
    home = installed(softnpu, tmp_path)
    added = home / "opp" / "vendors" / "mine.txt"
    added.write_text("mine", encoding="utf-8")
    (home / "version.cfg").write_text("", encoding="utf-8")
    assert installed(softnpu, tmp_path) == home
    assert added.read_text("utf-8") == "mine"
    assert (home / "version.cfg").read_text("utf-8").startswith("Version=8.5.0")


def test_a_foreign_folder_is_left_alone(softnpu: Any, tmp_path: Path) -> None:
    """What another toolkit has there stays as it is."""
    for name in ("ascend-toolkit", "cann"):
        folder = tmp_path / name
        (folder / name).mkdir(parents=True)
        done = softnpu("sdk", "--install", folder)
        assert (done.returncode, done.stdout) == (1, "")
        assert f"{folder / name} is there already, and softnpu did not make it" in done.stderr
        assert list(folder.iterdir()) == [folder / name]
        assert list((folder / name).iterdir()) == []


def test_one_option_at_a_time(softnpu: Any, tmp_path: Path) -> None:
    """The three options each print another folder."""
    done = softnpu("sdk", "--cmake", "--install", tmp_path / "new")
    assert (done.returncode, done.stdout) == (2, "")
    assert not (tmp_path / "new").exists()
