# SPDX-License-Identifier: Apache-2.0
"""Links from pages to files of the repository, which the site publishes as well."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

# Pages that lie elsewhere in the repository, and their names in the site.
MIRRORED = {
    "ARCHITECTURE.md": "architecture.md",
    "CHANGELOG.md": "changelog.md",
    "CONTRIBUTING.md": "contributing.md",
    "benchmarks/README.md": "benchmarks.md",
    "tests/contract/README.md": "contract-tables.md",
}
# Pages that have a place in the navigation, and appear there once they exist.
PLANNED = ("gpus.md", "graphs.md", "scale.md")

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


def written(nav: Any, docs: Path) -> Any:
    """Leave planned pages that do not exist out of a navigation."""
    if isinstance(nav, list):
        return [entry for item in nav if (entry := written(item, docs)) not in (None, {})]
    if isinstance(nav, dict):
        kept = {title: written(item, docs) for title, item in nav.items()}
        return {title: item for title, item in kept.items() if item is not None}
    return None if nav in PLANNED and not (docs / nav).exists() else nav


def navigation(nav: Any) -> Iterator[str]:
    """List the pages of a navigation."""
    if isinstance(nav, str):
        yield nav
        return
    for item in nav.values() if isinstance(nav, dict) else nav:
        yield from navigation(item)


def _in_site(target: str) -> str:
    if target in MIRRORED:
        return MIRRORED[target]
    return target.removeprefix("docs/") if target.startswith("docs/") else published(target)
