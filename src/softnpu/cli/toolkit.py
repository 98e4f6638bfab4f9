# SPDX-License-Identifier: Apache-2.0
"""``softnpu sdk --install``: the SDK in the folders where programs look for the toolkit."""

import platform
import shlex
import shutil
from pathlib import Path

from softnpu.cli.output import fail

# The version of the toolkit whose interface the SDK has; aclsysGetVersionStr returns it, too.
VERSION = "8.5.0"
HOME = "ascend-toolkit"
MARK = ".softnpu"
# Other names of the folder of the version.
LINKS = ("latest", "cann")
# What programs expect in folders of their own; each has the headers and the libraries.
COMPONENTS = ("runtime", "compiler", "acllib")
# Some programs look only in the folder of a machine with an Arm processor.
FOR_ARM = "aarch64-linux"


def install(prefix: Path, folder: Path) -> Path:
    """Lay the toolkit's tree out in ``folder``, with links to the SDK, and return its home.

    A second call updates the tree, and keeps files that others have added to it.
    """
    home = folder / HOME
    _check_own(folder, home)
    version = home / VERSION
    version.mkdir(parents=True, exist_ok=True)
    (home / MARK).write_text(f"{prefix}\n", encoding="utf-8")
    _fill(version, prefix)
    _link(home / "latest", Path(VERSION))
    for name in LINKS:
        _link(folder / name, Path(HOME, VERSION))
    script = shlex.quote(str((home / "latest" / "set_env.sh").absolute()))
    (home / "set_env.sh").write_text(f". {script}\n", encoding="utf-8")
    return home / "latest"


def _check_own(folder: Path, home: Path) -> None:
    """Fail if something is in the way that this command did not make."""
    ours = (home / MARK).is_file()
    others = [home] if home.exists() and not ours else []
    for name in LINKS:
        link = folder / name
        points_here = link.is_symlink() and link.readlink().parts[0] == HOME
        if (link.exists() or link.is_symlink()) and not (ours and points_here):
            others.append(link)
    if others:
        fail(
            f"{others[0]} is there already, and softnpu did not make it",
            hint="Choose another folder, or remove it first.",
        )


def _fill(version: Path, prefix: Path) -> None:
    arch = version / f"{platform.machine()}-linux"
    for part in (*(version / name for name in COMPONENTS), arch):
        part.mkdir(exist_ok=True)
        for name in ("include", "lib64"):
            _link(part / name, prefix / name)
        _describe(part / "version.info")
    if arch.name != FOR_ARM:
        _link(version / FOR_ARM, Path(arch.name))
    _describe(arch / "ascend_toolkit_install.info", f"arch={platform.machine()}\npath={version}\n")
    for name in ("include", "lib64", "python"):
        _link(version / name, prefix / name)
    (version / "opp" / "vendors").mkdir(parents=True, exist_ok=True)
    for name in ("version.cfg", "version.info", "opp/version.info"):
        _describe(version / name)
    # A copy, because the script looks where it lies.
    shutil.copyfile(prefix / "set_env.sh", version / "set_env.sh")


def _describe(file: Path, more: str = "") -> None:
    text = f"Version={VERSION}\nversion={VERSION}\npackage_name=softnpu\n{more}"
    file.write_text(text, encoding="utf-8")


def _link(link: Path, target: Path) -> None:
    if link.is_symlink():
        link.unlink()
    link.symlink_to(target)
