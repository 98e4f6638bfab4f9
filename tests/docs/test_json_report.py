# SPDX-License-Identifier: Apache-2.0
"""The page on checkers describes each field of the report in JSON, and no other."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

from softnpu.cli.findings import Finding, Frame, Part
from softnpu.cli.reports import Report, as_json
from tests.support.paths import ROOT

PART = Part("by this call", "aclrtFree(devPtr=0x10)", (Frame("main", "program.cpp", 3),))


def fields(value: Any, path: str = "") -> set[str]:
    """List the paths of all fields: findings[].tool."""
    if isinstance(value, list):
        return set().union(*(fields(each, f"{path}[]") for each in value))
    if not isinstance(value, dict):
        return set()
    names = {name: f"{path}.{name}".removeprefix(".") for name in value}
    return set(names.values()).union(*(fields(value[name], names[name]) for name in names))


def described() -> set[str]:
    """List the paths in the table, where `.kind` stands for what comes before it, and .kind."""
    text = (ROOT / "docs" / "checking.md").read_text(encoding="utf-8")
    section = text.partition("### Reports for programs")[2].partition("\n## ")[0]
    found = set()
    for cell in re.findall(r"^\| (`.*?) \|", section, re.M):
        first, *others = re.findall(r"`([^`]+)`", cell)
        before = first.rpartition(".")[0]
        found |= {first, *(before + each for each in others)}
    return found


def test_fields_of_the_json_report() -> None:
    """All that the report can contain."""
    finding = Finding("memcheck", "double-free", "what", (PART,), "why", "change", "", 1, "")
    report = Report(Path("program.cpp"), [finding], 86)
    assert described() == fields(json.loads(as_json(report)))
