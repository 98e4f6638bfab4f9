# SPDX-License-Identifier: Apache-2.0
"""``softnpu run --explain-missing``: the toolkit's functions that a program needs but lacks."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path

import typer

from softnpu import __version__
from softnpu.cli.elf import Elf, read_elf

# acl, aclrt, aclmdl, aclnn and so on, also capitalised.
_FAMILY = re.compile(r"[aA]cl[a-z]*[A-Z]\w*")
_LOADED = re.compile(r"\t(?:\S.* => )?(/.*) \(0x[0-9a-f]+\)")


# The library that answers calls of absent operators: see absent.py.
ANSWERS = "libabsent.so"


class Missing:
    """The needs of one program, collected before and after it runs."""

    def __init__(self, prefix: Path, environment: Mapping[str, str]) -> None:
        self._libraries = prefix / "lib64"
        self._environment = dict(environment)
        self._files: dict[Path, Elf] = {}
        self._provided: dict[str, str] = {}
        for name in ("ascendcl", "nnopbase", "opapi", "hccl"):
            library = f"lib{name}.so"
            elf = read_elf(self._libraries / library) or Elf()
            self._provided |= dict.fromkeys(elf.defined, library)
        self._told: set[tuple[str, str]] = set()

    def add(self, file: Path) -> None:
        """Add a file and the libraries that the system loads for it."""
        # A name without a folder is a library, which the system's loader searches.
        if len(file.parts) == 1:
            self._take_loaded(Path(sys.executable), {"LD_PRELOAD": str(file)})
        elif self._take(file):
            self._take_loaded(file, {})

    def _take(self, file: Path) -> bool:
        file = file.resolve()
        elf = None if file in self._files else read_elf(file)
        if elf is None:
            return False
        self._files[file] = elf
        return True

    def _take_loaded(self, file: Path, variables: Mapping[str, str]) -> None:
        """Ask the system's loader which libraries it would load, without starting the program."""
        loader = self._loader()
        if not loader:
            return
        environment = {**self._environment, "LD_TRACE_LOADED_OBJECTS": "1", "LD_PRELOAD": ""}
        asked = subprocess.run(
            [loader, str(file.absolute())],
            capture_output=True,
            env={**environment, **variables},
            check=False,
        )
        for found in _LOADED.findall(os.fsdecode(asked.stdout)):
            self._take(Path(found))

    def _loader(self) -> str:
        loaders = (elf.interpreter for elf in self._files.values())
        python = read_elf(Path(sys.executable).resolve()) or Elf()
        return next(filter(None, loaders), python.interpreter)

    def first_libraries(self) -> list[str]:
        """List the program's libraries that must be loaded first."""
        return [str(file) for file in self._files if file.name.startswith("libasan.")]

    def add_report(self, report: Path) -> list[tuple[str, str]]:
        """Add the libraries that the program opened; return its failed look-ups and callers."""
        lookups = []
        text = report.read_bytes() if report.exists() else b""
        for line in os.fsdecode(text).split("\n"):
            kind, _, rest = line.partition("\t")
            name, _, caller = rest.partition("\t")
            if kind == "open":
                self.add(self._opened(name, Path(caller)))
            elif kind == "symbol" and _FAMILY.fullmatch(name):
                lookups.append((name, f"looked up by {Path(caller).name}"))
        return lookups

    def _opened(self, name: str, caller: Path) -> Path:
        """Find a library as its caller does, except in the system's own folders."""
        if "/" in name:
            return Path(name)
        elf = read_elf(caller) or Elf()
        folders = elf.search_path + self._environment.get("LD_LIBRARY_PATH", "").split(":")
        paths = (Path(folder).absolute() / name for folder in folders if folder)
        return next((path for path in paths if path.is_file()), Path(name))

    def absent(self) -> set[str]:
        """Return the names that the files need, and that neither they nor softnpu define."""
        needed = set().union(*(elf.needed for elf in self._files.values()))
        return needed - self._defined() - self._provided.keys()

    def _defined(self) -> set[str]:
        return set().union(*(elf.defined for elf in self._files.values()))

    def report(self, lookups: Iterable[tuple[str, str]] = ()) -> int:
        """Write newly found missing functions to stderr; return their number."""
        defined = self._defined()
        found = [
            (symbol, f"needed by {file.name}")
            for file, elf in self._files.items()
            for symbol in (elf.needed | (elf.wanted - self._provided.keys())) - defined
            if _FAMILY.fullmatch(symbol)
        ]
        found += [
            (symbol, who)
            for symbol, who in lookups
            if symbol not in defined and symbol not in self._provided
        ]
        new = sorted(set(found) - self._told)
        self._told.update(new)
        if new:
            typer.echo(f"softnpu: missing: {_counted(new)}", err=True)
        width = max((len(symbol) for symbol, _ in new), default=0)
        for symbol, who in new:
            library = self._provided.get(symbol)
            why = f"; it is in {library}, which is not loaded" if library else ""
            typer.echo(f"  {symbol:{width}}  {who}{why}", err=True)
        return len(self._told)


def _counted(found: list[tuple[str, str]]) -> str:
    count = len({symbol for symbol, _ in found})
    return f"{count} function{'s' if count > 1 else ''} that the program needs and does not find"


def explained(
    program: list[str],
    environment: dict[str, str],
    prefix: Path,
    asked: bool,
    run: Callable[[list[str], dict[str, str]], int],
) -> int:
    """Run a program by ``run``; report missing functions before it starts and after its end."""
    missing = Missing(prefix, environment)
    missing.add(Path(program[0]).absolute())
    for preloaded in filter(None, re.split("[: ]", environment.get("LD_PRELOAD", ""))):
        if Path(preloaded).name != ANSWERS:
            missing.add(Path(preloaded))
    missing.report()
    with tempfile.TemporaryDirectory(prefix="softnpu-missing-") as folder:
        report = Path(folder) / "report"
        helper = prefix / "lib64" / "softnpu" / "libmissing.so"
        preload = [environment.get("LD_PRELOAD", ""), *missing.first_libraries(), str(helper)]
        status = run(
            program,
            {
                **environment,
                "LD_PRELOAD": ":".join(filter(None, preload)),
                "SOFTNPU_MISSING_REPORT": str(report),
            },
        )
        count = missing.report(missing.add_report(report))
    if asked and count == 0:
        typer.echo(
            f"softnpu: missing: nothing; softnpu {__version__} has each function of the toolkit "
            "that the program needs",
            err=True,
        )
    return status
