# SPDX-License-Identifier: Apache-2.0
"""What a type checker says of calls, beside what they do."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, get_args, get_origin

import numpy as np
import pytest

from tests.support.paths import ROOT
from tests.support.process import importing_tests


@dataclass(frozen=True)
class Call:
    """An expression, and the type that its value is to have, if one is asked for."""

    expression: str
    type: str | None = None

    def __str__(self) -> str:
        return self.expression


def meant(kind: Any) -> Any:
    """The type behind an alias, which NDArray is from NumPy 2.5 on."""
    alias = get_origin(kind)
    return alias.__value__[get_args(kind)] if hasattr(alias, "__value__") else kind


class Program:
    """Calls as one program: checked once by mypy, and run call by call."""

    def __init__(self, setup: str, calls: Sequence[Call]) -> None:
        lines = [f"assert_type({call}, {call.type})" if call.type else str(call) for call in calls]
        head = [*setup.strip().splitlines(), "from typing_extensions import assert_type"]
        self.setup = setup
        self.text = "\n".join([*head, *lines]) + "\n"
        self.lines = {call: number for number, call in enumerate(calls, len(head) + 1)}

    def value(self, call: Call) -> Any:
        """What the call returns; it must be of exactly the type that is asked for."""
        names: dict[str, Any] = {}
        exec(self.setup, names)
        value = eval(call.expression, names)
        if call.type is not None:
            kind = meant(eval(call.type, names))
            assert type(value) is (get_origin(kind) or kind)
            if isinstance(value, np.ndarray):
                (dtype,) = get_args(get_args(kind)[1])
                assert dtype in (Any, value.dtype)
        return value

    def complaint(self, call: Call) -> str:
        """What mypy says of the call; nothing where it is content."""
        return self._complaints.get(self.lines[call], "")

    @cached_property
    def _complaints(self) -> dict[int, str]:
        pytest.importorskip("mypy", reason="the types are checked with mypy")
        options = ["--strict", "--follow-imports=silent", "--config-file="]
        # What mypy knows of the libraries serves every worker, and the next run.
        options.append(f"--cache-dir={ROOT / 'build' / 'mypy'}")
        with TemporaryDirectory() as folder:
            Path(folder, "calls.py").write_text(self.text, encoding="utf-8")
            done = subprocess.run(
                [sys.executable, "-m", "mypy", *options, "calls.py"],
                cwd=folder,
                env=importing_tests("MYPYPATH"),
                capture_output=True,
                text=True,
                check=False,
            )
        found = re.findall(r"^calls\.py:(\d+): error: (.*)", done.stdout, re.M)
        complaints = {int(line): text for line, text in found}
        # A fault elsewhere could make every type Any.
        assert done.returncode in (0, 1), done.stdout + done.stderr
        assert set(complaints) <= set(self.lines.values()), done.stdout
        return complaints
