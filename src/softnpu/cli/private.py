# SPDX-License-Identifier: Apache-2.0
"""Folders and files that no other user can change: only files in them may be executed."""

import contextlib
import grp
import os
import pwd
import stat
from pathlib import Path


class NotPrivateError(Exception):
    """Another user can change or replace a file."""


def require_private(path: Path, make_folders: bool = False) -> None:
    """Raise NotPrivateError if a user other than this one and root can change ``path``.

    This includes all parent folders, symbolic links and their targets. Parents are checked first:
    if no one else can write to a folder, its contents cannot change after they were checked.
    ``make_folders`` creates missing folders, for this user only.
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
        # In such a folder, others can create hard links to any file.
        raise NotPrivateError(f"others can write to {path.parent}")
    if stat.S_ISLNK(found.st_mode):
        path.stat()  # fails for dangling and circular links
        require_private(path.parent / path.readlink(), make_folders)
    elif _others_write(found) and not _is_sticky_folder(found):
        raise NotPrivateError(f"others can write to {path}")


def _is_sticky_folder(found: os.stat_result) -> bool:
    """Whether others can add files to a folder, but not rename or remove files, as in /tmp."""
    return stat.S_ISDIR(found.st_mode) and bool(found.st_mode & stat.S_ISVTX)


def _others_write(found: os.stat_result) -> bool:
    if found.st_mode & stat.S_IWOTH:
        return True
    return bool(found.st_mode & stat.S_IWGRP) and not _is_own_group(found.st_gid)


def _is_own_group(number: int) -> bool:
    """Whether a group has only this user: systems with such groups make files group-writable."""
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
