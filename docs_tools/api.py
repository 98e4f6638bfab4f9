# SPDX-License-Identifier: Apache-2.0
"""The pages of Python functions that exist for each operator, as directives of mkdocstrings."""

from __future__ import annotations

from pathlib import Path
from types import ModuleType

from softnpu import errors, functional, reference

FUNCTIONS = """\
# softnpu

The operators as functions on arrays. [NumPy](../guides/numpy.md) is the guide,
[Operators](../operators/index.md) has formulas and pictures.

## Operators
"""
REFERENCE = """\
# softnpu.reference

The definitions of the operators in float64. They are written to be read; the tests compare
softnpu's results with them.
"""


def pages() -> dict[str, str | bytes]:
    """Write both pages."""
    operators = [path(functional, name) for name in functional.__all__ if name != "Array"]
    groups = {
        "Memory": ["softnpu.pool.release_memory", "softnpu.pool.set_pool_limit"],
        "Judging": [
            "softnpu.judging.verify",
            "softnpu.judging.report.Report",
            "softnpu.judging.report.Element",
        ],
        "Errors": [f"softnpu.errors.{name}" for name in errors.__all__],
    }
    functions = FUNCTIONS + directives(operators)
    for title, paths in groups.items():
        functions += f"\n## {title}\n{directives(paths)}"
    definitions = [path(reference, name) for name in reference.__all__]
    return {
        "reference/python.md": functions,
        "reference/python-reference.md": REFERENCE + directives(definitions),
    }


def path(package: ModuleType, name: str) -> str:
    """Name a function by the module that defines it."""
    module = Path(getattr(package, name).__code__.co_filename).stem
    within = "" if package.__name__.endswith(f".{module}") else f"{module}."
    return f"{package.__name__}.{within}{name}"


def directives(paths: list[str]) -> str:
    """Ask mkdocstrings for some objects."""
    return "".join(f"\n::: {each}\n    options:\n      heading_level: 3\n" for each in paths)
