# SPDX-License-Identifier: Apache-2.0
"""Pieces of Markdown."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterable, Sequence


def table(head: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """Write a table; cells are Markdown."""
    lines = [head, ["---"] * len(head), *rows]
    return "".join(f"| {' | '.join(map(_cell, line))} |\n" for line in lines)


def code(text: str, language: str = "text", title: str = "") -> str:
    """Write a block of code."""
    option = f' title="{title}"' if title else ""
    return f"```{language}{option}\n{text.strip(chr(10))}\n```\n"


def literal(text: object) -> str:
    """Write code within a line."""
    return f"`{text}`" if str(text) else ""


def tabs(contents: dict[str, str]) -> str:
    """Write tabs with a title each."""
    parts = [f'=== "{title}"\n\n{indented(text)}\n' for title, text in contents.items()]
    return "\n".join(parts)


def folded(title: str, text: str) -> str:
    """Write a block that opens when it is clicked."""
    return f'??? note "{title}"\n\n{indented(text)}\n'


def indented(text: str) -> str:
    """Put a text into a block of Markdown that contains it."""
    return textwrap.indent(text, "    ")


def formula(latex: str) -> str:
    """Typeset a formula as MathML, which browsers show without help."""
    # Only the site needs it; tests read the other pages without.
    from latex2mathml.converter import convert

    # A brace that grows needs a mathematical font, which not all machines have: the style draws it.
    brace = r'<mo [^>]*form="prefix">&#x0007B;</mo><mtable'
    typeset = re.sub(brace, '<mtable class="cases"', convert(latex, display="block"))
    return f'<div class="formula">{typeset}</div>\n'


def _cell(content: object) -> str:
    # A bar would end the cell, also within code.
    return str(content).replace("|", "&#124;").replace("\n", " ")
