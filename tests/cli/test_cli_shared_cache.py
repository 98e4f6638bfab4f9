# SPDX-License-Identifier: Apache-2.0
"""A cache folder that other users can write to is not used: they could plant programs there."""

from __future__ import annotations

import grp
import os
import pwd
from collections.abc import Callable
from contextlib import nullcontext
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from softnpu.cli.private import NotPrivateError, require_private

HELLO = '#include <cstdio>\nint main() { std::puts("genuine"); }\n'
PLANTED = "#!/bin/sh\necho planted\n"
OTHER = 65534

as_root = pytest.mark.skipif(os.geteuid() != 0, reason="only root gives files to other users")


def plant(softnpu: Any) -> Path:
    """Keep a program, and replace it by another one."""
    softnpu.write("hello.cpp", HELLO)
    assert softnpu("run", "hello.cpp").stdout == "genuine\n"
    (folder,) = softnpu.programs()
    program: Path = folder / "hello"
    program.write_text(PLANTED)
    assert softnpu("run", "hello.cpp").stdout == "planted\n"
    return program


def moved(folder: Path) -> None:
    """Put a folder behind a link that belongs to another user."""
    target = folder.with_name("elsewhere")
    folder.rename(target)
    folder.symlink_to(target)
    os.chown(folder, OTHER, OTHER, follow_symlinks=False)


def given_away(path: Path) -> None:
    """Give it to another user."""
    os.chown(path, OTHER, OTHER)


WAYS: list[Any] = [
    (lambda path: path.chmod(0o777), "others can write to {}"),
    (lambda path: path.chmod(0o702), "others can write to {}"),
    pytest.param(given_away, "{} belongs to the user", marks=as_root),
]


@pytest.mark.parametrize(("change", "why"), WAYS)
@pytest.mark.parametrize("level", range(4))
def test_folders_of_others(
    tmp_path: Path, level: int, change: Callable[[Path], None], why: str
) -> None:
    """Each folder above may be the one."""
    folder = tmp_path / "a" / "b" / "c"
    folder.mkdir(parents=True)
    require_private(folder)
    changed = [folder, *folder.parents][level]
    change(changed)
    with pytest.raises(NotPrivateError, match=why.format(changed)):
        require_private(folder)


@pytest.mark.parametrize("level", [0, pytest.param(1, marks=as_root), 2, 4])
def test_planted_programs(softnpu: Any, level: int) -> None:
    """The program, its folder, and each folder above: another user could have put it there."""
    program = plant(softnpu)
    changed = [program, *program.parents][level]
    change, why = given_away, "{} belongs to the user"
    if level % 2 == 0:
        change, why = WAYS[0]
    change(changed)
    done = softnpu("run", "hello.cpp")
    assert (done.returncode, done.stdout) == (0, "genuine\n")
    (line,) = done.stderr.splitlines()
    assert line.startswith("softnpu: the cache folder ")
    assert f" is not used: {why.format(changed)}" in line
    assert program.read_text() == PLANTED


@as_root
def test_links_of_others(softnpu: Any) -> None:
    """Who owns a link decides where it leads."""
    program = plant(softnpu)
    moved(program.parent.parent)
    done = softnpu("run", "hello.cpp")
    assert (done.returncode, done.stdout) == (0, "genuine\n")
    assert f"{program.parent.parent} belongs to the user" in done.stderr


def test_own_links(softnpu: Any, tmp_path: Path) -> None:
    """They are followed, and count where they lead."""
    softnpu.write("hello.cpp", HELLO)
    link = tmp_path / "link"
    link.symlink_to("behind")
    (tmp_path / "behind").mkdir(0o755)
    for mode, kept in ((0o755, True), (0o777, False)):
        (tmp_path / "behind").chmod(mode)
        done = softnpu("run", "hello.cpp", env={"XDG_CACHE_HOME": str(link)})
        assert (done.returncode, done.stdout, not done.stderr) == (0, "genuine\n", kept)


def test_the_program_and_what_comes_after_it(softnpu: Any) -> None:
    """A program that is not kept runs as others do, and leaves nothing behind."""
    Path(softnpu.environment["XDG_CACHE_HOME"]).mkdir()
    Path(softnpu.environment["XDG_CACHE_HOME"]).chmod(0o777)
    temporary = softnpu.folder / "temporary"
    temporary.mkdir()
    text = "#include <unistd.h>\nint main() { char c[9]; return read(0, c, 9) + 5; }\n"
    softnpu.write("read.cpp", text)
    words = ["--stats"], ["--explain-missing"], []
    for options in words:
        done = softnpu("run", *options, "read.cpp", stdin="in", env={"TMPDIR": str(temporary)})
        assert done.returncode == 7, done.stderr
    done = softnpu("check", "read.cpp", stdin="in", env={"TMPDIR": str(temporary)})
    assert done.returncode == 7, done.stderr
    assert list(temporary.iterdir()) == []


def test_clearing(softnpu: Any) -> None:
    """Links of others could lead to any folder, so nothing is removed."""
    program = plant(softnpu)
    program.parent.parent.chmod(0o777)
    done = softnpu("cache", "--clear")
    assert (done.returncode, done.stdout) == (1, "")
    assert f"others can write to {program.parent.parent}" in done.stderr
    assert program.exists()


def test_folders_are_made_for_the_user_alone(softnpu: Any) -> None:
    """Whatever the umask allows others."""
    softnpu.write("hello.cpp", HELLO)
    before = os.umask(0)
    try:
        assert softnpu("run", "hello.cpp").stderr == ""
        assert softnpu("run", "hello.cpp").stderr == ""
    finally:
        os.umask(before)
    (folder,) = softnpu.programs()
    for path in [folder / "hello", folder, *list(folder.parents)[:3]]:
        assert path.stat().st_mode & 0o777 == 0o700, path


def test_sticky_folders(tmp_path: Path) -> None:
    """Folders of one's own are safe in them; a file or a link may be a second name of another."""
    tmp_path.chmod(0o1777)
    folder, file, link = (tmp_path / name for name in ("folder", "file", "link"))
    folder.mkdir(0o700)
    file.touch()
    link.symlink_to(folder)
    require_private(folder)
    for path in (file, link):
        with pytest.raises(NotPrivateError, match=f"others can write to {tmp_path}"):
            require_private(path)


def test_links_without_an_end(tmp_path: Path) -> None:
    """They are an error of the system."""
    for name, target in (("circle", "circle"), ("nowhere", "missing")):
        (tmp_path / name).symlink_to(target)
        with pytest.raises(OSError, match=name):
            require_private(tmp_path / name / "below")


@pytest.mark.parametrize(
    ("group", "members", "private"),
    [
        ("ann", [], True),
        ("ann", ["ann"], True),
        ("ann", ["ann", "bob"], False),
        ("users", [], False),
    ],
)
def test_groups(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, group: str, members: list[str], private: bool
) -> None:
    """A group may write if it is the user's own and nobody else is in it."""
    number = tmp_path.stat().st_gid
    user = SimpleNamespace(pw_name="ann", pw_gid=number)
    monkeypatch.setattr(pwd, "getpwuid", lambda _: user)
    found = SimpleNamespace(gr_name=group, gr_mem=members)
    monkeypatch.setattr(grp, "getgrgid", lambda _: found)
    tmp_path.chmod(0o770)
    with nullcontext() if private else pytest.raises(NotPrivateError, match="others can write"):
        require_private(tmp_path)
