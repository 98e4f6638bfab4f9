# SPDX-License-Identifier: Apache-2.0
"""What a run under the checkers showed, for programs: JSON and SARIF 2.1.0."""

from __future__ import annotations

import json
import signal
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any
from urllib.parse import quote

from softnpu import __version__
from softnpu.cli.findings import Finding, Part, without_folded


@dataclass(frozen=True)
class Report:
    """A run: its program, what was found, how it ended, and why findings may be missing."""

    program: Path
    findings: list[Finding]
    status: int
    failure: str = ""
    fold_leaks: bool = False


def ended_by(number: int) -> str:
    """Say which signal ended the program."""
    try:
        name = signal.Signals(number).name
    except ValueError:
        name = "which has no name"
    return f"the program was ended by signal {number}, {name}"


def as_json(report: Report) -> str:
    """Format everything that was found, and how the program ended."""
    document = {
        "version": 1,
        "status": report.status,
        "failure": report.failure,
        "findings": [asdict(finding) for finding in report.findings],
    }
    return json.dumps(document, indent=2) + "\n"


def as_sarif(report: Report) -> str:
    """Format findings for code hosts and editors."""
    listed, folded = without_folded(report.findings, report.fold_leaks)
    rules = sorted({(f.tool, f.kind) for f in listed})
    driver = {
        "name": "softnpu check",
        "version": __version__,
        "rules": [{"id": f"{tool}/{kind}"} for tool, kind in rules],
    }
    invocation: dict[str, Any] = {
        "executionSuccessful": not report.failure,
        "exitCode": report.status,
    }
    texts = [("error", report.failure), ("note", folded)]
    if notes := [{"level": level, "message": {"text": text}} for level, text in texts if text]:
        invocation["toolExecutionNotifications"] = notes
    run = {
        "tool": {"driver": driver},
        # Hosts replace earlier results of the same id, and keep those of other programs.
        "automationDetails": {"id": f"softnpu check/{_uri(report.program)}/"},
        "invocations": [invocation],
        "results": [_result(f, report.program) for f in listed],
    }
    document = {
        "version": "2.1.0",
        "$schema": "https://json.schemastore.org/sarif-2.1.0.json",
        "runs": [run],
    }
    return json.dumps(document, indent=2) + "\n"


def _result(finding: Finding, program: Path) -> dict[str, Any]:
    # Hosts refuse a result without a place.
    places = [_location(part) for part in finding.parts[:1]]
    if not places or "physicalLocation" not in places[0]:
        place = {"artifactLocation": {"uri": _uri(program)}, "region": {"startLine": 1}}
        places = [{**(places[0] if places else {}), "physicalLocation": place}]
    result: dict[str, Any] = {
        "ruleId": f"{finding.tool}/{finding.kind}",
        "level": "error",
        "message": {"text": f"{finding.headline}. {finding.why} {finding.suggestion}"},
        "locations": places,
    }
    related = [_location(part) for part in finding.parts[1:]]
    if related := [place for place in related if "physicalLocation" in place]:
        result["relatedLocations"] = related
    return result


def _uri(file: Path) -> str:
    """Format a path for code hosts: relative to the working folder, if it is in it."""
    if not file.is_absolute():
        return quote(file.as_posix())
    here = Path.cwd()
    return quote(file.relative_to(here).as_posix()) if here in file.parents else file.as_uri()


def _location(part: Part) -> dict[str, Any]:
    message = {"text": f"{part.role}: {part.call}" if part.call else part.role}
    known = [frame for frame in part.frames if frame.line]
    if not known:
        return {"message": message}
    uri = _uri(Path(known[0].file))
    place = {"artifactLocation": {"uri": uri}, "region": {"startLine": known[0].line}}
    return {"message": message, "physicalLocation": place}
