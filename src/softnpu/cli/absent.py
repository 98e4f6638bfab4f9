# SPDX-License-Identifier: Apache-2.0
"""Programs that need operators which softnpu lacks: they start, and calls return 561003."""

from __future__ import annotations

import contextlib
import hashlib
import re
import subprocess
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from softnpu.cli.cache import kept
from softnpu.cli.missing import ANSWERS, Missing
from softnpu.cli.output import fail
from softnpu.cli.toolchain import C, find_compiler

if TYPE_CHECKING:
    from softnpu.cli.run import Program

_OPERATOR = re.compile(r"aclnn[A-Z]\w*")
_FUNCTION = 'int {0}(void) {{ return softnpu_absent_operator("{0}"); }}\n'


@contextlib.contextmanager
def answered(program: Program, prefix: Path, is_script: bool) -> Iterator[Program]:
    """Provide the program with an environment in which calls of absent operators return 561003.

    A library is preloaded that answers look-ups by dlsym. If the executable or its libraries need
    absent operators, a library that defines them is compiled and preloaded, too.
    """
    file, environment = Path(program.words[0]).absolute(), program.environment
    data = b"" if is_script else file.read_bytes()
    if b"libasan.so" in data or b"libtsan.so" in data:  # they must be loaded before others
        yield program
        return
    helper = prefix / "lib64" / "softnpu" / "libmissing.so"
    preloaded = {**environment, "SOFTNPU_ABSENT": "1"}
    preloaded["LD_PRELOAD"] = _appended(environment, helper)
    names = _absent(file, environment, prefix) if b"aclnn" in data else []
    if not names:
        yield replace(program, environment=preloaded)
        return
    key = hashlib.sha256("\0".join([str(prefix), *names]).encode()).hexdigest()
    with kept(key, ANSWERS, lambda made: _build(names, prefix, made)) as made:
        preloaded["LD_PRELOAD"] = _appended(preloaded, made.file)
        yield replace(program, environment=preloaded, stays=program.stays and made.is_kept)


def _appended(environment: dict[str, str], library: Path) -> str:
    return ":".join(filter(None, [environment.get("LD_PRELOAD", ""), str(library)]))


def _absent(program: Path, environment: dict[str, str], prefix: Path) -> list[str]:
    missing = Missing(prefix, environment)
    missing.add(program)
    return sorted(name for name in missing.absent() if _OPERATOR.fullmatch(name))


def _build(names: list[str], prefix: Path, file: Path) -> None:
    libraries = prefix / "lib64"
    command = [*find_compiler(C), "-shared", "-fPIC", "-w", "-xc", "-", "-o", str(file)]
    command += [f"-L{libraries}", "-lsoftnpu", "-Xlinker", "-rpath", "-Xlinker", str(libraries)]
    text = "int softnpu_absent_operator(const char *);\n" + "".join(map(_FUNCTION.format, names))
    done = subprocess.run(command, input=text, text=True, capture_output=True, check=False)
    if done.returncode != 0:
        fail(f"cannot compile the answers for absent operators: {done.stderr}")
    file.chmod(0o700)
