# SPDX-License-Identifier: Apache-2.0
"""What SOFTNPU_TRACE and SOFTNPU_VERBOSE say of a program."""

from __future__ import annotations

import json
import os
import re
import subprocess
import time
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from tests.support.acl_runtime import run_python
from tests.support.native import run

ELEMENTS = 300 * 200
BYTES = 4 * ELEMENTS
GATHER = "aclnnMaxUnpool3dBackward"
STREAMS_OF = 10_000_000

Event = dict[str, Any]


def traced(program: Path, file: Path, how: str = "to its end") -> list[Event]:
    """The events of one run."""
    done = run(program, how, SOFTNPU_TRACE=str(file))
    assert done.returncode == (-9 if how == "killed" else 0), done.stderr
    events: list[Event] = json.loads(file.read_text(encoding="ascii"))
    return events


def slices(events: list[Event], category: str) -> list[Event]:
    """The slices of a category, in the order of time."""
    found = [e for e in events if e["ph"] == "X" and e["cat"] == category]
    return sorted(found, key=lambda e: float(e["ts"]))


def holding(events: list[Event], end: Event) -> list[Event]:
    """The slices that an end of an arrow lies in."""
    track = end["pid"], end["tid"]
    return [
        e
        for e in events
        if e["ph"] == "X"
        and (e["pid"], e["tid"]) == track
        and e["ts"] <= end["ts"] <= e["ts"] + e["dur"]
    ]


def test_what_ran(traced_program: Path, tmp_path: Path) -> None:
    """Operators have their operands, copies their bytes, failures their message, and times lie
    within the process.
    """
    before = time.clock_gettime_ns(time.CLOCK_MONOTONIC) / 1e3
    events = traced(traced_program, tmp_path / "trace")
    after = time.clock_gettime_ns(time.CLOCK_MONOTONIC) / 1e3
    for event in events:
        if event["ph"] == "X":
            assert event["dur"] > 0
            assert before < event["ts"] < event["ts"] + event["dur"] < after
    operators = slices(events, "operator")
    assert [e["name"] for e in operators] == ["aclnnElu"] * 3 + [GATHER]
    assert [e["args"].get("self") for e in operators[:3]] == [
        "FLOAT [300, 200] contiguous",
        "FLOAT [300, 200] permuted",
        "FLOAT [300, 200] broadcast",
    ]
    assert [e["args"]["bytes"] for e in operators[:3]] == [2 * BYTES, 2 * BYTES, BYTES + 800]
    assert operators[0]["args"]["out"] == "FLOAT [300, 200] contiguous"
    for e in operators:
        assert e["args"]["GB/s"] == pytest.approx(e["args"]["bytes"] / e["dur"] / 1e3, abs=1e-3)
    assert operators[3]["args"]["gradOutput"] == "FLOAT [1, 1, 1, 1, 1] scalar"
    assert operators[3]["args"]["status"] == 361001
    assert "99" in operators[3]["args"]["failure"]
    (copy,) = [e for e in slices(events, "copy") if e["name"] == "aclrtMemcpyAsync"]
    assert copy["args"]["bytes"] == 2 * BYTES
    (fill,) = slices(events, "fill")
    assert (fill["name"], fill["args"]["bytes"]) == ("aclrtMemset", BYTES)


def test_tracks(traced_program: Path, tmp_path: Path) -> None:
    """Each stream is a track, and so is each thread: of its calls, and of what they wait for."""
    events = traced(traced_program, tmp_path / "trace")
    names = {(e["pid"], e["tid"]): e["args"]["name"] for e in events if e["name"] == "thread_name"}
    (host,) = [track for track, name in names.items() if name.startswith("thread ")]
    streams = {name: track for track, name in names.items() if name.startswith("stream ")}
    assert set(streams) == {"stream 1", "stream 2"}
    assert {e["pid"] for e in events} == {host[0], host[0] + STREAMS_OF}
    processes = {e["pid"]: e["args"]["name"] for e in events if e["name"] == "process_name"}
    assert processes == {host[0]: "traced", host[0] + STREAMS_OF: "traced: streams"}
    where = Counter(
        (e["name"], names[e["pid"], e["tid"]].split()[0], e["tid"] if e["tid"] < 9 else 0)
        for e in slices(events, "operator") + slices(events, "copy") + slices(events, "fill")
    )
    assert where == {
        ("aclnnElu", "stream", 1): 2,
        ("aclnnElu", "stream", 2): 1,
        (GATHER, "stream", 2): 1,
        ("aclrtMemcpyAsync", "stream", 2): 1,
        ("aclrtMemcpy", "thread", 0): 1,
        ("aclrtMemset", "thread", 0): 1,
    }
    calls = slices(events, "call")
    assert {(e["pid"], e["tid"]) for e in calls} == {host}
    assert sum(e["name"] == "aclrtMalloc" for e in calls) == 6
    (fetched,) = [e for e in calls if "status" in e["args"]]
    assert fetched["name"] == "aclrtSynchronizeStream"
    arguments = [e["args"]["arguments"] for e in calls]
    assert any(re.fullmatch(r"devPtr=0x\w+, size=240000, policy=0", each) for each in arguments)


def test_arrows(traced_program: Path, tmp_path: Path) -> None:
    """An arrow leads from the call that launched work to its slice, and from the last work before
    an event to the first that waited for it.
    """
    events = traced(traced_program, tmp_path / "trace")
    starts = {e["id"]: e for e in events if e["ph"] == "s"}
    ends = {e["id"]: e for e in events if e["ph"] == "f"}
    assert starts.keys() == ends.keys()
    assert Counter(e["cat"] for e in starts.values()) == {"launch": 5, "event": 1}
    for key, start in starts.items():
        end = ends[key]
        assert end["bp"] == "e"
        assert start["ts"] <= end["ts"]
        (target,) = [e for e in holding(events, end) if e["ts"] == end["ts"]]
        if start["cat"] == "launch":
            assert target["name"] in {e["name"] for e in holding(events, start)}
        else:
            assert [e["args"]["self"].split()[-1] for e in holding(events, start)] == ["permuted"]
            assert target["name"] == "aclrtMemcpyAsync"


def test_a_program_that_is_killed(traced_program: Path, tmp_path: Path) -> None:
    """The file is complete, and has all that had ended."""
    assert len(slices(traced(traced_program, tmp_path / "trace", "killed"), "operator")) == 4


def test_processes_share_a_file(traced_program: Path, tmp_path: Path) -> None:
    """Processes that write at the same time, and later ones, add to the file."""
    file = tmp_path / "trace"
    traced(traced_program, file)
    environment = {**os.environ, "SOFTNPU_TRACE": str(file)}
    processes = [
        subprocess.Popen([traced_program, "to its end"], env=environment) for _ in range(3)
    ]
    assert [process.wait() for process in processes] == [0, 0, 0]
    events = json.loads(file.read_text())
    operators = slices(events, "operator")
    assert len(operators) == 16
    assert len({e["pid"] for e in operators}) == 4
    assert len({e["id"] for e in events if e["ph"] == "s"}) == 24


@pytest.mark.parametrize("content", ["a document\n", "[]", None])
def test_other_files_are_left_alone(
    traced_program: Path, tmp_path: Path, content: str | None
) -> None:
    """A file with something else in it is not written to; nor can one be in no folder."""
    file = tmp_path / "file" if content else tmp_path / "no" / "folder"
    if content:
        file.write_text(content)
    done = run(traced_program, "to its end", SOFTNPU_TRACE=str(file))
    assert done.returncode == 0
    assert re.search(r"SOFTNPU_TRACE is .*has only traces in it", done.stderr)
    assert not content or file.read_text() == content


VERBOSE = re.compile(
    r"softnpu_verbose,(exec|error),cpu,(aclnn\w+),"
    r"((?:\w+:\w+:(?:contiguous|permuted|strided|broadcast|scalar):[0-9x]*;?)*),(\d+\.\d{6})"
)


def verbose(text: str) -> list[tuple[str, ...]]:
    """The fields of all lines but the times."""
    lines = [line for line in text.splitlines() if line.startswith("softnpu_verbose")]
    found = [VERBOSE.fullmatch(line) for line in lines]
    assert all(found), text
    assert all(float(one[4]) > 0 for one in found if one)
    return [one.groups()[:3] for one in found if one]


def test_a_line_for_each_operator(traced_program: Path) -> None:
    """SOFTNPU_VERBOSE=1 prints a line for each operator that ran, whose template is fixed."""
    assert verbose(run(traced_program, "to its end", SOFTNPU_VERBOSE="1").stderr) == [
        ("exec", "aclnnElu", "self:FLOAT:contiguous:300x200;out:FLOAT:contiguous:300x200"),
        ("exec", "aclnnElu", "self:FLOAT:permuted:300x200;out:FLOAT:contiguous:300x200"),
        ("exec", "aclnnElu", "self:FLOAT:broadcast:300x200;out:FLOAT:contiguous:300x200"),
        (
            "error",
            GATHER,
            "gradOutput:FLOAT:scalar:1x1x1x1x1;indices:INT64:scalar:1x1x1x1x1;"
            "out:FLOAT:scalar:1x1x1x1x1",
        ),
    ]
    assert verbose(run(traced_program, "to its end", SOFTNPU_VERBOSE="0").stderr) == []


ARRAYS = """
import numpy as np, softnpu
x = np.zeros((4, 6), np.float32)
softnpu.elu(x[:, ::2])
softnpu.selu(x.T)
softnpu.elu(x[1, 1])
try:
    softnpu.max_unpool3d_backward(*[np.full((1, 1, 1, 1, 1), v, t) for v, t in
        ((0, np.float32), (0, np.float32), (9, np.int64))], [1, 1, 1], [1, 1, 1], [0, 0, 0])
except softnpu.AclnnError as error:
    assert "indices" in str(error)
"""


def test_operators_on_arrays(tmp_path: Path) -> None:
    """Python's functions are observed, too, outside of streams; a failure is an exception alone."""
    file = tmp_path / "trace"
    done = run_python(ARRAYS, SOFTNPU_VERBOSE="1", SOFTNPU_LOG="info", SOFTNPU_TRACE=str(file))
    assert done.returncode == 0, done.stderr
    assert [line[:2] for line in verbose(done.stderr)] == [
        ("exec", "aclnnElu"),
        ("exec", "aclnnSelu"),
        ("exec", "aclnnElu"),
        ("error", GATHER),
    ]
    operands = [line[2].split(";")[0] for line in verbose(done.stderr)]
    assert operands[:3] == [
        "self:FLOAT:strided:4x3",
        "self:FLOAT:permuted:6x4",
        "self:FLOAT:scalar:",
    ]
    assert "softnpu: " not in done.stderr
    events = json.loads(file.read_text())
    assert len(slices(events, "operator")) == 4
    assert {e["pid"] >= STREAMS_OF for e in events} == {False}


FORK = """
import os, numpy as np, softnpu
x = np.zeros(8, np.float32)
softnpu.elu(x)
if child := os.fork():
    assert os.waitpid(child, 0)[1] == 0
else:
    softnpu.selu(x)
"""


def test_a_forked_child_tells_its_own(tmp_path: Path) -> None:
    """A child's statistics have none of its parent's; its events have a process of their own."""
    stats, trace = tmp_path / "stats", tmp_path / "trace"
    done = run_python(FORK, SOFTNPU_STATS=str(stats), SOFTNPU_TRACE=str(trace))
    assert done.returncode == 0, done.stderr
    rows = [json.loads(line)["rows"] for line in stats.read_text().splitlines()]
    assert [[row["what"] for row in each] for each in rows] == [["aclnnSelu"], ["aclnnElu"]]
    events = json.loads(trace.read_text())
    one, other = slices(events, "operator")
    assert one["pid"] != other["pid"]
    assert {e["pid"] for e in events if e["name"] == "process_name"} == {one["pid"], other["pid"]}
