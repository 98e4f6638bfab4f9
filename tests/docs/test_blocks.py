# SPDX-License-Identifier: Apache-2.0
"""Every block of code in the documents runs, and prints what the page shows."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from tests.docs.blocks import PAGES, Page, assert_alike, blocks
from tests.support.paths import ROOT

# Pages whose blocks another test runs, because they need more than a folder.
ELSEWHERE = {
    "docs/findings.md": "tests/checkers/test_programs.py",
    "docs/gpus.md": "tests/torch/test_document.py",
    "docs/graphs.md": "tests/clients/test_programs.py",
    "docs/judging.md": "tests/cli/test_cli_verify.py",
    "docs/many-machines.md": "tests/torch/test_many_machines.py",
    "docs/npu.md": "tests/npu/test_npu_document.py",
    "docs/pytorch.md": "tests/torch/test_document.py",
    "docs/tracing.md": "tests/cli/test_cli_profile.py",
}
# What pages take from the repository.
FILES = {"docs/checking.md": ["examples/checking/*.cpp", "examples/c"]}
TOOLS = {"docs/guides/cmake.md": ["cmake"], "docs/guides/debugging.md": ["gdb", "valgrind"]}


def copy(pattern: str, folder: Path) -> None:
    """Put what a page needs where its commands expect it."""
    for path in sorted(ROOT.glob(pattern)):
        if path.is_dir():
            shutil.copytree(path, folder / path.relative_to(ROOT))
        else:
            shutil.copy(path, folder)


def read(page: str, folder: Path) -> Page:
    """Go through a page's blocks in its order."""
    reader = Page(folder)
    for block in blocks(page):
        reader.take(block)
    return reader


@pytest.mark.parametrize("page", [page for page in PAGES if page not in ELSEWHERE])
def test_blocks(page: str, tmp_path: Path) -> None:
    """In the page's order, in one folder."""
    if missing := [tool for tool in TOOLS.get(page, []) if shutil.which(tool) is None]:
        pytest.skip(f"needs {missing}")
    for pattern in FILES.get(page, []):
        copy(pattern, tmp_path)
    read((ROOT / page).read_text("utf-8"), tmp_path)


@pytest.mark.parametrize(("page", "test"), ELSEWHERE.items())
def test_other_pages_have_a_test(page: str, test: str) -> None:
    """The test that is named exists, and reads the page."""
    # That of the findings is in the module that writes the page.
    text = (ROOT / test).read_text("utf-8") + (ROOT / "tests/checkers/page.py").read_text("utf-8")
    assert Path(page).name in text


def test_a_fragment_says_why_and_is_not_run(tmp_path: Path) -> None:
    """Other blocks of the page are."""
    page = "<!-- fragment: never -->\n```sh\nexit 1\n```\n\nThen:\n\n```sh\ntouch here\n```\n"
    read(page, tmp_path)
    assert (tmp_path / "here").exists()


@pytest.mark.parametrize(
    "page",
    [
        "```console\n$ echo 1\n2\n```\n",
        "```console\n$ printf '1\\n2\\n'\n1\n```\n",
        "```sh\nfalse\n```\n",
        "```python\nprint(1)\n```\n\n```text\n2\n```\n",
        "    ```python\n    raise SystemExit(1)\n    ```\n",
        "```yaml\na: b\n```\n",
    ],
)
def test_what_is_wrong_is_found(page: str, tmp_path: Path) -> None:
    """A command or a program that prints something else, or fails; a file without a name."""
    with pytest.raises(AssertionError):
        read(page, tmp_path)


def test_dots_stand_for_anything() -> None:
    """For lines, and within one; for no line, too; everything else counts."""
    assert_alike("a\nb\nc\n", "a\n...\nc", "")
    assert_alike("a\nc\n", "a\n...\nc\n", "")
    assert_alike("at 0x12 end\n", "at 0x... end", "")
    with pytest.raises(AssertionError):
        assert_alike("a\nb\n", "a", "")


def test_the_job_file_runs(tmp_path: Path) -> None:
    """Each step of the page on CI, without those that need a network."""
    yaml = pytest.importorskip("yaml")
    reader = read((ROOT / "docs/guides/ci.md").read_text("utf-8"), tmp_path)
    job = yaml.safe_load((tmp_path / ".github/workflows/aclnn.yml").read_text("utf-8"))
    steps = [step["run"] for step in job["jobs"]["test"]["steps"] if "run" in step]
    assert len(steps) == 5
    for text in steps:
        if not text.startswith("pip "):
            reader.run_commands(text)
