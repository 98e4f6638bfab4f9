# SPDX-License-Identifier: Apache-2.0
"""Folders and files that nobody else can change: only what they hold may be executed."""

import contextlib
import grp
import os
import pwd
import stat
from pathlib import Path


class NotPrivateError(Exception):
    """Another user can change a file, or put another one in its place."""


def require_private(path: Path, make_folders: bool = False) -> None:
    """Raise NotPrivateError if anybody but this user and root decides what lies at ``path``.

    The folders on the way count, and so do symbolic links and where they lead. Parents come
    first: once nobody else can write to a folder, what it holds does not change after its check.
    ``make_folders`` makes those that are missing, for this user alone.
    """
    if path != path.parent:
        require_private(path.parent, make_folders)
    if make_folders:
        with contextlib.suppress(FileExistsError):
            path.mkdir(0o700)
    found = path.lstat()
    if found.st_uid not in (0, os.geteuid()):
        raise NotPrivateError(f"{path} belongs to {_user(found.st_uid)}")
    if not stat.S_ISDIR(found.st_mode) and _others_write(path.parent.stat()):
        # Others can give any file and link a second name there, also one that is not theirs.
        raise NotPrivateError(f"others can write to {path.parent}")
    if stat.S_ISLNK(found.st_mode):
        path.stat()  # fails if the link leads nowhere, or in a circle
        require_private(path.parent / path.readlink(), make_folders)
    elif _others_write(found) and not _is_sticky_folder(found):
        raise NotPrivateError(f"others can write to {path}")


def _is_sticky_folder(found: os.stat_result) -> bool:
    """Whether others can add to a folder, but not rename or remove what it holds, as in /tmp."""
    return stat.S_ISDIR(found.st_mode) and bool(found.st_mode & stat.S_ISVTX)


def _others_write(found: os.stat_result) -> bool:
    if found.st_mode & stat.S_IWOTH:
        return True
    return bool(found.st_mode & stat.S_IWGRP) and not _is_own_group(found.st_gid)


def _is_own_group(number: int) -> bool:
    """Whether a group is for this user alone: systems that have such groups let them write."""
    try:
        user = pwd.getpwuid(os.geteuid())
        group = grp.getgrgid(number)
    except KeyError:
        return False
    names_user = number == user.pw_gid and group.gr_name == user.pw_name
    return names_user and set(group.gr_mem) <= {user.pw_name}


def _user(number: int) -> str:
    try:
        return f"the user {pwd.getpwuid(number).pw_name}"
    except KeyError:
        return f"the user {number}"
