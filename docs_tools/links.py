# SPDX-License-Identifier: Apache-2.0
"""Links from pages to files of the repository, which the site publishes as well."""

from __future__ import annotations

import posixpath
import re
from pathlib import Path

# Pages that lie elsewhere in the repository, and their names in the site.
MIRRORED = {
    "ARCHITECTURE.md": "architecture.md",
    "CHANGELOG.md": "changelog.md",
    "CONTRIBUTING.md": "contributing.md",
    "SECURITY.md": "security.md",
    "benchmarks/README.md": "benchmarks.md",
    "tests/contract/README.md": "contract-tables.md",
}

_LINK = re.compile(r"(?<=\]\()(?![a-z]+:|#)([^)\s#]+)((?:#[^)\s]*)?)(?=\))")


def mended(markdown: str, page: str) -> str:
    """Rewrite links that are relative to a page's place in the repository."""
    origin = {site: source for source, site in MIRRORED.items()}.get(page, f"docs/{page}")

    def replace(match: re.Match[str]) -> str:
        target = posixpath.normpath(posixpath.join(posixpath.dirname(origin), match[1]))
        return posixpath.relpath(_in_site(target), posixpath.dirname(page) or ".") + match[2]

    return _LINK.sub(replace, markdown)


def sources(root: Path, made: dict[str, str]) -> list[str]:
    """List the files outside ``docs/`` that pages link to, those that are made included."""
    texts = {f"docs/{name}": text for name, text in made.items() if name not in MIRRORED.values()}
    for path in [*(root / "docs").rglob("*.md"), *(root / source for source in MIRRORED)]:
        texts[path.relative_to(root).as_posix()] = path.read_text("utf-8")
    found = {
        posixpath.normpath(posixpath.join(posixpath.dirname(page), match[1]))
        for page, text in texts.items()
        for match in _LINK.finditer(text)
    }
    outside = (name for name in sorted(found) if not name.startswith("docs/"))
    return [name for name in outside if name not in MIRRORED and (root / name).is_file()]


def published(path: str) -> str:
    """Name a file of the repository in the site."""
    # Browsers show .txt; of other endings they would save the file.
    shown = path.endswith((".txt", ".png", ".svg", ".yml"))
    return f"source/{path}" if shown else f"source/{path}.txt"


def _in_site(target: str) -> str:
    if target in MIRRORED:
        return MIRRORED[target]
    return target.removeprefix("docs/") if target.startswith("docs/") else published(target)
