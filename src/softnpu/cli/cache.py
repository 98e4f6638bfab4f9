# SPDX-License-Identifier: Apache-2.0
"""Compiled programs, kept by content in the user's cache folder."""

import contextlib
import hashlib
import json
import os
import shutil
import sys
import tempfile
import time
from pathlib import Path

import typer

from softnpu import __version__
from softnpu.cli.output import fail
from softnpu.cli.toolchain import Toolchain, exit_status

# What is older than a day is no longer being built: a signal ended that run.
_ABANDONED = 24 * 3600.0


def compiled(source: Path, toolchain: Toolchain) -> Path:
    """Give the program made from ``source``; build it when no equal one was built before.

    A program is equal when its preprocessed text, its name, the compiler, the flags (they hold the
    SDK's folder) and softnpu's version are: that covers every file that the source includes. What
    may be made of other files too, such as libraries that the flags name, is built each time.
    """
    preprocessed = toolchain.preprocess(source)
    if preprocessed.returncode != 0:
        sys.stderr.buffer.write(preprocessed.stderr)
        raise typer.Exit(exit_status(preprocessed.returncode))
    programs = _writable_folder()
    folder = programs / _key(source, toolchain, preprocessed.stdout)
    program = folder / source.stem
    try:
        if not toolchain.reads_only(preprocessed.stdout) or not program.is_file():
            _build_into(folder, source, toolchain)
    except OSError as error:
        fail(
            f"cannot write the cache folder {programs}: {error.strerror}",
            hint="Name another cache folder in XDG_CACHE_HOME.",
        )
    return program


def programs_folder() -> Path:
    """Give the folder where compiled programs are kept; RuntimeError where nothing names one."""
    # A relative XDG_CACHE_HOME is to be ignored, says the specification that defines it.
    base = Path(os.environ.get("XDG_CACHE_HOME", ""))
    if not base.is_absolute():
        base = Path.home() / ".cache"
    if not base.is_absolute():
        raise RuntimeError("HOME is no absolute path")
    return base / "softnpu" / "programs"


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


def _build_into(folder: Path, source: Path, toolchain: Toolchain) -> None:
    """Build in a folder of its own and move the program, so that nobody meets half of it."""
    folder.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    _remove_abandoned(folder.parent)
    scratch = Path(tempfile.mkdtemp(dir=folder.parent, prefix=".building-"))
    try:
        status = toolchain.build(source, scratch / source.stem)
        if status != 0:
            raise typer.Exit(exit_status(status))
        if not (scratch / source.stem).is_file():
            fail(f"the compiler {toolchain.compiler[0]} wrote no program")
        # An earlier program gives way; a process that runs it keeps it.
        folder.mkdir(exist_ok=True, mode=0o700)
        (scratch / source.stem).replace(folder / source.stem)
    finally:
        shutil.rmtree(scratch, ignore_errors=True)


def _remove_abandoned(programs: Path) -> None:
    for scratch in programs.glob(".building-*"):
        with contextlib.suppress(OSError):
            if time.time() - scratch.stat().st_mtime > _ABANDONED:
                shutil.rmtree(scratch)
