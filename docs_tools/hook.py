# SPDX-License-Identifier: Apache-2.0
"""What MkDocs calls while it builds: adds the generated pages, and mends links out of ``docs/``."""

from __future__ import annotations

import logging
import os
import sys
from pathlib import Path
from typing import Any

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))  # MkDocs loads this file by its path
os.environ.pop("SOFTNPU_SOC", None)  # the pages show the default product

from docs_tools import links, pages, search  # noqa: E402

log = logging.getLogger("mkdocs.plugins.docs_tools")


def on_config(config: MkDocsConfig) -> MkDocsConfig:
    """List generated pages in the navigation."""
    config.nav = pages.listed(config.nav)
    return config


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the pages that are made from tables, headers and programs."""
    made: dict[str, str | bytes] = pages.everything()
    made |= {page: (ROOT / source).read_text("utf-8") for source, page in links.MIRRORED.items()}
    texts = {name: text for name, text in made.items() if isinstance(text, str)}
    sources = links.sources(ROOT, texts)
    made |= {links.published(path): (ROOT / path).read_bytes() for path in sources}
    for name, content in made.items():
        files.append(File.generated(config, name, content=content))
    return files


def on_page_markdown(markdown: str, page: Page, **_: Any) -> str:
    """Point links at what the site has of the repository."""
    return links.mended(markdown, page.file.src_uri)


def on_post_build(config: MkDocsConfig) -> None:
    """Let the search find numbers."""
    if not search.repair(Path(config.site_dir)):
        log.warning("the theme's search has changed: see docs_tools/search.py")
