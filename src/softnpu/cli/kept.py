# SPDX-License-Identifier: Apache-2.0
"""``softnpu cache``: the compiled programs in the cache of ``softnpu run``."""

import time
from pathlib import Path
from typing import Annotated

import typer
from rich.box import SIMPLE_HEAD
from rich.table import Table
from rich.text import Text

from softnpu.cli.cache import Program, kept_programs, programs_folder, remove_all
from softnpu.cli.output import JsonOption, fail, print_json, results
from softnpu.cli.private import NotPrivateError

ClearOption = Annotated[bool, typer.Option("--clear", help="Remove all of them.")]


def command(clear: ClearOption = False, as_json: JsonOption = False) -> None:
    """Show the compiled programs in the cache of softnpu run, or remove them.

    A removed program is rebuilt on its next run. The cache keeps the 100 programs run last.
    """
    try:
        folder = programs_folder()
    except RuntimeError:
        fail("there is no home folder that programs could be kept in")
    programs = _removed(folder) if clear else kept_programs(folder)
    if as_json:
        print_json(_record(folder, programs, clear))
    else:
        _show(folder, programs, clear)


def _removed(folder: Path) -> list[Program]:
    try:
        return remove_all(folder)
    except OSError as error:
        fail(f"cannot clear {folder}: {error.strerror}")
    except NotPrivateError as shared:
        fail(f"does not clear {folder}: {shared}")


def _record(folder: Path, programs: list[Program], cleared: bool) -> dict[str, object]:
    rows = [
        {"name": p.name, "file": str(p.file), "bytes": p.bytes, "last_run": p.last_run}
        for p in programs
    ]
    total = sum(program.bytes for program in programs)
    return {"folder": str(folder), "cleared": cleared, "bytes": total, "programs": rows}


def _show(folder: Path, programs: list[Program], cleared: bool) -> None:
    console = results()
    if programs and not cleared:
        table = Table("program", "size", "last run", box=SIMPLE_HEAD)
        for program in programs:
            when = time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(program.last_run))
            table.add_row(Text(program.name), _size(program.bytes), when)
        console.print(table)
    count = f"{len(programs)} program{'' if len(programs) == 1 else 's'}"
    total = _size(sum(program.bytes for program in programs))
    what = f"removed {count}, {total}, from" if cleared else f"{count}, {total}, in"
    console.print(Text(f"{what} {folder}"), soft_wrap=True)


def _size(count: int) -> str:
    return f"{count / 1024:.1f} KiB" if count < 1 << 20 else f"{count / (1 << 20):.1f} MiB"
