# SPDX-License-Identifier: Apache-2.0
"""A cache of compiled programs, keyed by content, in the user's cache folder."""

import contextlib
import fcntl
import hashlib
import json
import os
import shutil
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import typer

from softnpu import __version__
from softnpu.cli.output import advise, fail
from softnpu.cli.private import NotPrivateError, require_private
from softnpu.cli.toolchain import Toolchain, advice

# The number of programs to keep, those that were run last. Each edit of a source adds one, and so
# does each run of a source that uses __TIME__.
_KEPT = 100

# An unfinished build that is older than a day was interrupted by a signal.
_ABANDONED = 24 * 3600.0


@dataclass(frozen=True)
class Compiled:
    """A program built from a source. It is deleted after the block, unless it is cached."""

    file: Path
    is_kept: bool


@contextlib.contextmanager
def compiled(source: Path, toolchain: Toolchain) -> Iterator[Compiled]:
    """Provide the program built from ``source``; build it unless it is in the cache.

    The key is the preprocessed text, which covers all included files, the name, the compiler, the
    flags (they contain the SDK's folder) and softnpu's version. Programs that may depend on other
    files, such as libraries in the flags, are built each time.

    A cached program is not removed until the block ends or this process becomes the program. The
    cache is not used if other users can write to it: programs would run with this user's rights.
    """
    preprocessed = toolchain.preprocess(source)
    if preprocessed.status:
        sys.stderr.buffer.write(preprocessed.stderr)
        if missing := advice(preprocessed.stderr):
            advise(missing)
        raise typer.Exit(preprocessed.status)
    key = _key(source, toolchain, preprocessed.stdout)
    reuse = toolchain.reads_only(preprocessed.stdout)
    with kept(key, source.stem, lambda file: _build(source, toolchain, file), reuse) as made:
        yield made


@contextlib.contextmanager
def kept(
    key: str, name: str, build: Callable[[Path], None], reuse: bool = True
) -> Iterator[Compiled]:
    """Provide the file of a key in the cache, which ``build`` creates at a given path.

    It is built each time, unless it may be reused. A cached file is not removed during the block.
    """
    programs = _writable_folder()
    program = programs / key / name
    with contextlib.ExitStack() as locks:
        if _is_kept(program, build, reuse, locks):
            yield Compiled(program, is_kept=True)
            return
    with tempfile.TemporaryDirectory(prefix="softnpu-program-") as folder:
        program = Path(folder) / name
        build(program)
        yield Compiled(program, is_kept=False)


def _is_kept(
    program: Path, build: Callable[[Path], None], reuse: bool, locks: contextlib.ExitStack
) -> bool:
    programs = program.parent.parent
    try:
        require_private(programs, make_folders=True)
        if not reuse or not _keep(program, locks):
            _build_into(program, build, locks)
        require_private(program)
    except NotPrivateError as shared:
        typer.echo(f"softnpu: the cache folder {programs} is not used: {shared}", err=True)
    except OSError as error:
        fail(
            f"cannot write the cache folder {programs}: {error.strerror}",
            hint="Name another cache folder in XDG_CACHE_HOME.",
        )
    else:
        return True
    return False


def programs_folder() -> Path:
    """Return the folder of compiled programs; RuntimeError if no variable names one."""
    # The XDG specification requires a relative XDG_CACHE_HOME to be ignored.
    base = Path(os.environ.get("XDG_CACHE_HOME", ""))
    if not base.is_absolute():
        base = Path.home() / ".cache"
    if not base.is_absolute():
        raise RuntimeError("HOME is not an absolute path")
    return base / "softnpu" / "programs"


@dataclass(frozen=True)
class Program:
    """A program in the cache: its name, its size, and its last run (seconds since 1970)."""

    name: str
    file: Path
    bytes: int
    last_run: float


def kept_programs(programs: Path) -> list[Program]:
    """List the programs in a cache folder, the last run first."""
    found = []
    for folder in programs.glob("[!.]*"):
        with contextlib.suppress(OSError):  # removed by another run
            last_run = folder.stat().st_mtime
            for file in folder.iterdir():
                found.append(Program(file.name, file, file.stat().st_size, last_run))
    return sorted(found, key=lambda program: -program.last_run)


def remove_all(programs: Path) -> list[Program]:
    """Remove all programs, once no run is about to start one; return the removed ones.

    Unfinished builds are kept. Running processes are not affected. NotPrivateError if other users
    could redirect the removal to other files.
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


def _keep(program: Path, locks: contextlib.ExitStack) -> bool:
    """Mark the program as run now, and protect it from removal; False if it does not exist."""
    with contextlib.ExitStack() as lock:
        _keep_all(program.parent.parent, lock)
        if not _is_runnable(program):
            return False
        locks.push(lock.pop_all())
    with contextlib.suppress(OSError):  # a read-only cache
        os.utime(program.parent)
    return True


def _is_runnable(program: Path) -> bool:
    """Whether the file is there and complete: after a power failure it may be empty."""
    return program.is_file() and program.stat().st_size > 0 and os.access(program, os.X_OK)


def _build_into(program: Path, build: Callable[[Path], None], locks: contextlib.ExitStack) -> None:
    """Build in a separate folder and move the program, so that no process sees it incomplete."""
    folder, programs = program.parent, program.parent.parent
    _remove_abandoned(programs)
    scratch = Path(tempfile.mkdtemp(dir=programs, prefix=".building-"))
    try:
        build(scratch / program.name)
        _remove_unused(programs)
        _keep_all(programs, locks)
        # Replaces an earlier program; processes that run it are not affected.
        folder.mkdir(exist_ok=True, mode=0o700)
        (scratch / program.name).replace(program)
    finally:
        shutil.rmtree(scratch, ignore_errors=True)


def _build(source: Path, toolchain: Toolchain, program: Path) -> None:
    status = toolchain.build(source, program)
    if status != 0:
        raise typer.Exit(status)
    if not program.is_file():
        fail(f"the compiler {toolchain.compiler[0]} wrote no program")
    program.chmod(0o700)  # for this user only, whatever the umask


def _keep_all(programs: Path, locks: contextlib.ExitStack) -> None:
    """Prevent the removal of programs until the lock is closed, which exec also does."""
    # Without a folder, or if it cannot be locked, no process removes anything.
    with contextlib.suppress(OSError):
        locks.callback(os.close, _lock(programs, fcntl.LOCK_SH))


def _remove_unused(programs: Path) -> None:
    """Make room for one more program, unless another run is about to start a program."""
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
