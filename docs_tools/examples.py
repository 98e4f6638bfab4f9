# SPDX-License-Identifier: Apache-2.0
"""The example programs of an operator, and what they print."""

from __future__ import annotations

import contextlib
import io
from pathlib import Path

from docs_tools.markdown import code

ROOT = Path(__file__).resolve().parents[1]
C_EXAMPLES = ROOT / "examples" / "c"
PYTHON_EXAMPLES = ROOT / "examples" / "python" / "operators"


def c_example(name: str) -> str:
    """Show the C++ program and its output, to which a test holds it; nothing if there is none."""
    if not (C_EXAMPLES / f"{name}.cpp").is_file():
        return ""
    program = _without_licence((C_EXAMPLES / f"{name}.cpp").read_text("utf-8"))
    output = (C_EXAMPLES / "expected" / f"{name}.txt").read_text("utf-8")
    return (
        code(program, "cpp", f"{name}.cpp")
        + f"\n`softnpu run {name}.cpp` prints:\n\n{code(output)}\n"
        + "[example.h](../../examples/c/example.h) owns descriptors and device memory.\n"
    )


def python_example(name: str, described: str) -> str:
    """Show a Python program, or the one of the description, and what it prints now."""
    file = PYTHON_EXAMPLES / f"{name}.py"
    program = file.read_text("utf-8") if file.is_file() else described
    printed = output_of(program)
    return code(_without_licence(program), "python") + f"\nIt prints:\n\n{code(printed)}"


def output_of(program: str) -> str:
    """Run a Python program within this process."""
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(compile(program, "example", "exec"), {"__name__": "__main__"})
    return printed.getvalue()


def _without_licence(program: str) -> str:
    lines = program.splitlines()
    while lines and (lines[0].endswith("SPDX-License-Identifier: Apache-2.0") or lines[0] == "//"):
        del lines[0]
    return "\n".join(lines)
