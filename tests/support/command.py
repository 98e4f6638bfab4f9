# SPDX-License-Identifier: Apache-2.0
"""Runs `softnpu` commands and Python programs in children of a process with what they import.

Starting Python and importing takes longer than most of them.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

# What Python or the loader read when they start; with others of these a command starts anew.
AT_START = ("PYTHON", "LC_", "LANG", "LD_")

# Imports no part of softnpu: the core reads the environment when it is loaded.
SERVER = """
import json, os, runpy, sys
import ml_dtypes, numpy, pytest, rich.console, rich.table, typer.main

for line in sys.stdin:
    asked = json.loads(line)
    child = os.fork()
    if child == 0:
        flags = os.O_WRONLY | os.O_CREAT
        for number, (name, way) in enumerate(zip(asked["files"], (os.O_RDONLY, flags, flags))):
            opened = os.open(name, way)
            os.dup2(opened, number)
            os.close(opened)
        os.environ.clear()
        os.environ.update(asked["env"])
        os.chdir(asked["cwd"])
        sys.argv = [asked["name"], *asked["words"]]
        sys.stdin = open(0, closefd=False)
        sys.stdout, sys.stderr = (open(n, "w", buffering=n, closefd=False) for n in (1, 2))
        sys.path[1:1] = asked["path"]
        if asked["code"] is None:
            runpy.run_module("softnpu", run_name="__main__", alter_sys=True)
        else:
            names = {"__name__": "__main__"}
            exec(compile(asked["code"], "<string>", "exec"), names)
        sys.exit(0)
    print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), flush=True)
"""


@cache
def _server(_process: int) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-c", SERVER],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )


def run_softnpu(
    *words: object,
    cwd: str | os.PathLike[str] = ".",
    env: Mapping[str, str] = os.environ,
    stdin: str = "",
) -> subprocess.CompletedProcess[str]:
    """Run `softnpu WORDS` to its end; return its status and what it printed."""
    arguments = [os.fspath(w) if isinstance(w, os.PathLike) else str(w) for w in words]

    def at_start(variables: Mapping[str, str]) -> dict[str, str]:
        return {n: value for n, value in variables.items() if n.startswith(AT_START)}

    if at_start(env) != at_start(os.environ):
        command = [sys.executable, "-m", "softnpu", *arguments]
        return subprocess.run(
            command, input=stdin, capture_output=True, text=True, check=False, cwd=cwd, env=env
        )
    return _in_child("softnpu", arguments, cwd, env, stdin=stdin)


def run_code(
    code: str, cwd: str | os.PathLike[str], env: Mapping[str, str], path: list[str]
) -> subprocess.CompletedProcess[str]:
    """Run `python -c CODE`, with more folders to import from, and nothing to read on stdin."""
    return _in_child("-c", [], cwd, env, code=code, path=path)


def _in_child(
    name: str,
    words: list[str],
    cwd: str | os.PathLike[str],
    env: Mapping[str, str],
    stdin: str | None = None,
    code: str | None = None,
    path: Sequence[str] = (),
) -> subprocess.CompletedProcess[str]:
    with tempfile.TemporaryDirectory() as folder:
        files = [Path(folder, name) for name in ("stdin", "stdout", "stderr")]
        if stdin is None:
            files[0] = Path(os.devnull)
        else:
            files[0].write_text(stdin, "utf-8")
        asked: dict[str, Any] = {"name": name, "words": words, "code": code, "path": list(path)}
        asked |= {"cwd": os.fspath(cwd), "env": dict(env), "files": list(map(str, files))}
        server = _server(os.getpid())
        assert server.stdin is not None
        assert server.stdout is not None
        print(json.dumps(asked), file=server.stdin, flush=True)
        status = int(server.stdout.readline())
        out, err = (file.read_text("utf-8", errors="replace") for file in files[1:])
    return subprocess.CompletedProcess([name, *words], status, out, err)
