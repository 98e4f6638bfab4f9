# SPDX-License-Identifier: Apache-2.0
"""Compiled programs, kept by content in the user's cache folder."""

import contextlib
import fcntl
import hashlib
import json
import os
import shutil
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import typer

from softnpu import __version__
from softnpu.cli.output import fail
from softnpu.cli.private import NotPrivateError, require_private
from softnpu.cli.toolchain import Toolchain

# As many programs are kept, those that were run last. Each edit of a source makes one, and each run
# of a source that has __TIME__ in it.
_KEPT = 100

# What is older than a day is no longer being built: a signal ended that run.
_ABANDONED = 24 * 3600.0


@dataclass(frozen=True)
class Compiled:
    """A program that was made from a source; one that is not kept goes with the block."""

    file: Path
    is_kept: bool


@contextlib.contextmanager
def compiled(source: Path, toolchain: Toolchain) -> Iterator[Compiled]:
    """Give the program made from ``source``; build it when no equal one was built before.

    A program is equal when its preprocessed text, its name, the compiler, the flags (they hold the
    SDK's folder) and softnpu's version are: that covers every file that the source includes. What
    may be made of other files too, such as libraries that the flags name, is built each time.

    A program that is kept stays where it is until this process ends, or becomes it. None is kept
    where another user could have put it: it would run with this user's rights.
    """
    preprocessed = toolchain.preprocess(source)
    if preprocessed.status:
        sys.stderr.buffer.write(preprocessed.stderr)
        raise typer.Exit(preprocessed.status)
    programs = _writable_folder()
    program = programs / _key(source, toolchain, preprocessed.stdout) / source.stem
    try:
        require_private(programs, make_folders=True)
        if not toolchain.reads_only(preprocessed.stdout) or not _keep(program):
            _build_into(program.parent, source, toolchain)
        require_private(program)
    except NotPrivateError as shared:
        typer.echo(f"softnpu: the cache folder {programs} is not used: {shared}", err=True)
    except OSError as error:
        fail(
            f"cannot write the cache folder {programs}: {error.strerror}",
            hint="Name another cache folder in XDG_CACHE_HOME.",
        )
    else:
        yield Compiled(program, is_kept=True)
        return
    with tempfile.TemporaryDirectory(prefix="softnpu-program-") as folder:
        program = Path(folder) / source.stem
        _build(source, toolchain, program)
        yield Compiled(program, is_kept=False)


def programs_folder() -> Path:
    """Give the folder where compiled programs are kept; RuntimeError where nothing names one."""
    # A relative XDG_CACHE_HOME is to be ignored, says the specification that defines it.
    base = Path(os.environ.get("XDG_CACHE_HOME", ""))
    if not base.is_absolute():
        base = Path.home() / ".cache"
    if not base.is_absolute():
        raise RuntimeError("HOME is no absolute path")
    return base / "softnpu" / "programs"


@dataclass(frozen=True)
class Program:
    """A program in the cache: its name, its size, and when it was run last (seconds since 1970)."""

    name: str
    file: Path
    bytes: int
    last_run: float


def kept_programs(programs: Path) -> list[Program]:
    """List the programs in a cache folder, the one that was run last first."""
    found = []
    for file in programs.glob("[!.]*/*"):
        with contextlib.suppress(OSError):  # another run removed it meanwhile
            last_run = file.parent.stat().st_mtime
            found.append(Program(file.name, file, file.stat().st_size, last_run))
    return sorted(found, key=lambda program: -program.last_run)


def remove_all(programs: Path) -> list[Program]:
    """Remove all programs, after runs that are about to start one; give what is gone.

    What is being built stays. A process that runs a program keeps it. NotPrivateError where others
    could make it remove something else.
    """
    if not programs.is_dir():
        return []
    require_private(programs)
    lock = _lock(programs, fcntl.LOCK_EX)
    try:
        before = kept_programs(programs)
        for program in before:
            shutil.rmtree(program.file.parent)
    finally:
        os.close(lock)
    _remove_abandoned(programs)
    return before


def _writable_folder() -> Path:
    try:
        return programs_folder()
    except RuntimeError:
        fail(
            "there is no home folder to keep compiled programs in",
            hint="Name a cache folder in XDG_CACHE_HOME.",
        )


def _key(source: Path, toolchain: Toolchain, text: bytes) -> str:
    parts = [
        __version__,
        source.name,
        toolchain.identity(),
        toolchain.compile_flags,
        toolchain.link_flags,
    ]
    return hashlib.sha256(json.dumps(parts).encode() + b"\0" + text).hexdigest()


def _keep(program: Path) -> bool:
    """Have the program stay, and count as run now; False where it is not there."""
    lock = _keep_all(program.parent.parent)
    if _is_runnable(program):
        with contextlib.suppress(OSError):  # a cache that can only be read
            os.utime(program.parent)
        return True
    if lock is not None:
        os.close(lock)
    return False


def _is_runnable(program: Path) -> bool:
    """Say whether it is there; where the power failed, its name can be there without its bytes."""
    return program.is_file() and program.stat().st_size > 0 and os.access(program, os.X_OK)


def _build_into(folder: Path, source: Path, toolchain: Toolchain) -> None:
    """Build in a folder of its own and move the program, so that nobody meets half of it."""
    programs = folder.parent
    _remove_abandoned(programs)
    scratch = Path(tempfile.mkdtemp(dir=programs, prefix=".building-"))
    try:
        _build(source, toolchain, scratch / source.stem)
        _remove_unused(programs)
        _keep_all(programs)
        # An earlier program gives way; a process that runs it keeps it.
        folder.mkdir(exist_ok=True, mode=0o700)
        (scratch / source.stem).replace(folder / source.stem)
    finally:
        shutil.rmtree(scratch, ignore_errors=True)


def _build(source: Path, toolchain: Toolchain, program: Path) -> None:
    status = toolchain.build(source, program)
    if status != 0:
        raise typer.Exit(status)
    if not program.is_file():
        fail(f"the compiler {toolchain.compiler[0]} wrote no program")
    program.chmod(0o700)  # whatever the umask allows others


def _keep_all(programs: Path) -> int | None:
    """Keep others from removing programs until the lock is closed, as it is by exec, too."""
    try:
        return _lock(programs, fcntl.LOCK_SH)
    except OSError:  # there is no folder; or it cannot be locked, and nobody removes anything
        return None


def _remove_unused(programs: Path) -> None:
    """Make room for one more program, unless a run is about to start one: then a later one does."""
    try:
        lock = _lock(programs, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return
    used = {}
    for folder in programs.glob("[!.]*"):
        with contextlib.suppress(OSError):
            used[folder] = folder.stat().st_mtime
    for folder in sorted(used, key=used.__getitem__, reverse=True)[_KEPT - 1 :]:
        shutil.rmtree(folder, ignore_errors=True)
    os.close(lock)


def _lock(programs: Path, kind: int) -> int:
    descriptor = os.open(programs, os.O_RDONLY)
    try:
        fcntl.flock(descriptor, kind)
    except OSError:
        os.close(descriptor)
        raise
    return descriptor


def _remove_abandoned(programs: Path) -> None:
    for scratch in programs.glob(".building-*"):
        with contextlib.suppress(OSError):
            if time.time() - scratch.stat().st_mtime > _ABANDONED:
                shutil.rmtree(scratch)
