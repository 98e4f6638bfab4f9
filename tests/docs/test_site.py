# SPDX-License-Identifier: Apache-2.0
"""What the site is made from is complete, and it builds without a warning or a network."""

from __future__ import annotations

import re
import subprocess
import sys
from html import unescape
from pathlib import Path
from urllib.parse import unquote

import pytest

from docs_tools import headers, rules, status
from docs_tools.links import mended, published
from softnpu.contract import load_contracts
from softnpu.explanations import load
from tests.support.paths import ROOT

READS = re.compile(r'"((?:SOFTNPU|ASCEND)_[A-Z_]+)"')
LINK = re.compile(r'<(?:a|img|link|script)\b[^>]*?\b(?:href|src)="?([^"\s>]+)')
OUTSIDE = re.compile(r'<(?:script|img|link|iframe)[^>]*(?:src|href)="(https?:[^"]+)"')


def code_of(*folders: str) -> str:
    """The sources in some folders."""
    files = [path for folder in folders for path in (ROOT / folder).rglob("*.*")]
    return "".join(f.read_text("utf-8") for f in files if f.suffix in (".cpp", ".h", ".py"))


def broken(pages: dict[Path, str]) -> list[str]:
    """The links within the site that lead nowhere, or to no such heading."""
    anchors = {path: set(re.findall(r'\bid="?([^"\s>]+)', text)) for path, text in pages.items()}
    found = []
    for page, text in pages.items():
        for link in LINK.findall(text):
            target, _, anchor = unescape(link).partition("#")
            if ":" in target or target.startswith("/"):  # elsewhere; the page of errors
                continue
            path = (page.parent / unquote(target)).resolve() if target else page
            path = path / "index.html" if path.is_dir() else path
            if not path.exists() or (anchor and unquote(anchor) not in anchors.get(path, {anchor})):
                found.append(f"{page.name}: {link}")
    return found


def test_a_broken_link_is_found(tmp_path: Path) -> None:
    """A file or a heading that is not there."""
    page = tmp_path / "page.html"
    links = '<a href="page.html#here"></a><a href="#gone"></a><a href=none.html></a><b id=here>'
    page.write_text(links, encoding="utf-8")
    assert broken({page: links}) == ["page.html: #gone", "page.html: none.html"]


def test_pages_of_codes_and_rules() -> None:
    """Every explanation has its place; tests/cli/test_cli_explain.py says that none is missing."""
    codes, found = status.page(), rules.pages()
    for each in load():
        if each.kind == "code":
            assert f"\n## {each.names[0]} " in codes
        elif each.kind == "rule":
            page = found[f"reference/rules/{each.area}.md"]
            assert f"\n## {each.names[0]} {{" in page
            assert [name for name in each.names[1:] if f'<span id="{name}">' not in page] == []


def test_every_variable_is_listed() -> None:
    """Those that the sources read or set."""
    page = (ROOT / "docs/reference/environment.md").read_text("utf-8")
    names = set(READS.findall(code_of("core", "src/softnpu")))
    names -= {"SOFTNPU_MISSING_REPORT", "SOFTNPU_ABSENT"}  # between softnpu run and what it starts
    assert [name for name in sorted(names) if f"`{name}`" not in page] == []


def test_every_function_of_the_c_api_is_in_the_reference() -> None:
    """Each has a heading of its own."""
    text = "\n".join(headers.page(name) for name in headers.HEADERS)
    declaration = r"(?:ACL_FUNC_VISIBILITY|ACLNN_API)[^;]*?(\w+)\("
    texts = [path.read_text("utf-8") for path in headers.INCLUDE.rglob("*.h")]
    declared = [name for text in texts for name in re.findall(declaration, text)]
    declared.remove("__attribute__")  # from the definition of the mark
    assert len(declared) > 100
    assert [name for name in declared if f"### {name}\n" not in text] == []


@pytest.mark.parametrize("operator", [n for n, c in load_contracts().items() if c.table["latex"]])
def test_formulas_name_the_arguments_that_take_part(operator: str) -> None:
    """What is typeset names what the formula in text names."""
    table = load_contracts()[operator].table
    shown = " ".join(table["latex"]) + table["where"]
    names = {row["name"] for row in table["argument"]} & set(re.findall(r"\w+", table["formula"]))
    assert [name for name in sorted(names) if not re.search(rf"\b{name}\b", shown)] == []


def test_links_follow_the_page() -> None:
    """A link in the repository becomes one in the site; others stay."""
    assert mended("[a](../ARCHITECTURE.md#x)", "kernels.md") == "[a](architecture.md#x)"
    assert mended("[a](docs/kernels.md)", "architecture.md") == "[a](kernels.md)"
    assert mended("[a](../run.md) [b](#c)", "guides/ci.md") == "[a](../run.md) [b](#c)"
    assert mended("[a](https://x.org/y)", "kernels.md") == "[a](https://x.org/y)"
    there = published("examples/c/elu.cpp")
    assert mended("[a](../examples/c/elu.cpp)", "kernels.md") == f"[a]({there})"


def test_the_site_builds(tmp_path: Path) -> None:
    """Strictly; no page loads anything from elsewhere; examples and pictures are there."""
    for module in ("mkdocs", "material", "mkdocstrings", "latex2mathml", "matplotlib"):
        pytest.importorskip(module, exc_type=ImportError)
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", str(tmp_path)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    pages = {path: path.read_text("utf-8") for path in tmp_path.rglob("*.html")}
    assert [(str(p), found) for p, text in pages.items() if (found := OUTSIDE.findall(text))] == []
    assert broken(pages) == []
    (script,) = (tmp_path / "assets" / "javascripts" / "workers").glob("search.*.js")
    assert '.id+","}return' in script.read_text("utf-8")
    index = (tmp_path / "search" / "search_index.json").read_text("utf-8")
    numbers = [each.names[0] for each in load() if each.kind == "code"]
    assert [code for code in numbers if f'"title":"{code}' not in index] == []
    for operator in load_contracts().values():
        text = pages[tmp_path / "operators" / f"{operator.name}.html"]
        assert "<math" in text
        assert f"{operator.operator}GetWorkspaceSize: " in text
