# SPDX-License-Identifier: Apache-2.0
"""The command's options, forms of output, and exit statuses."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.checkers.programs import FOLDER, Report

Checked = Callable[..., Report]

DOUBLE_FREE = FOLDER / "memcheck_double_free.cpp"
LEAK = FOLDER / "leakcheck_leaked_memory.cpp"


def built(source: Path, folder: Path) -> Path:
    """A program that is started without `softnpu check`."""
    program = folder / "program"
    build = [sys.executable, "-m", "softnpu", "build", str(source), "-o", str(program)]
    subprocess.run(build, check=True, env={**os.environ, "CPPFLAGS": f"-I{FOLDER}"})
    return program


def test_only_the_tools_that_were_asked_for(checked: Checked) -> None:
    """Memcheck sees no leak, and leakcheck no double free."""
    assert checked(LEAK, "--tool", "memcheck").status == 0
    assert checked(DOUBLE_FREE, "--tool", "leakcheck").status == 0
    both = checked(DOUBLE_FREE, "--tool", "memcheck,leakcheck")
    assert both.kinds == ["memcheck/double-free"]


def test_text_goes_to_stderr_without_colours(checked: Checked) -> None:
    """The headline, the call, its line, what to do, and the count."""
    report = checked(DOUBLE_FREE, "--format", "text")
    assert report.stdout == ""
    assert "\x1b" not in report.stderr
    for part in (
        "1. memcheck (double-free): aclrtFree: devPtr is in memory that was freed already",
        "by this call: aclrtFree(devPtr=0x",
        "memcheck_double_free.cpp:",
        "and freed here",
        "Free each allocation once",
        "softnpu check: 1 finding\n",
    ):
        assert part in report.stderr


def test_sarif(checked: Checked) -> None:
    """Rule, message and place."""
    report = checked(DOUBLE_FREE, "--format", "sarif")
    (run,) = json.loads(report.stdout)["runs"]
    (result,) = run["results"]
    assert result["ruleId"] == "memcheck/double-free"
    place = result["locations"][0]["physicalLocation"]
    assert place["artifactLocation"]["uri"].endswith("memcheck_double_free.cpp")
    assert place["region"]["startLine"] > 5
    assert len(result["relatedLocations"]) == 2
    assert run["automationDetails"]["id"].endswith("memcheck_double_free.cpp/")


def test_sarif_without_source_lines(tmp_path: Path) -> None:
    """Hosts refuse a result without a place: it is at the first line of the program's file."""
    program = built(DOUBLE_FREE, tmp_path)
    subprocess.run(["strip", program], check=True)
    command = [sys.executable, "-m", "softnpu", "check", "--format", "sarif", "program"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
    (result,) = json.loads(done.stdout)["runs"][0]["results"]
    place = result["locations"][0]["physicalLocation"]
    assert place == {"artifactLocation": {"uri": "program"}, "region": {"startLine": 1}}
    assert "relatedLocations" not in result


def test_the_programs_output_is_not_in_the_document(checked: Checked) -> None:
    """Where the document has stdout, the program's goes to stderr; under schedules, too."""
    for options in ((), ("--schedules", "1")):
        report = checked(CLEAN, "--format", "json", *options)
        assert json.loads(report.stdout) == {
            "version": 1,
            "status": 0,
            "failure": "",
            "findings": [],
        }
        assert "done\n" in report.stderr


def test_the_file_for_the_findings_is_opened_first(checked: Checked, tmp_path: Path) -> None:
    """Where that fails, the program does not run."""
    wrong = checked(CLEAN, "--format", "json", "--output", str(tmp_path / "no" / "file"))
    assert (wrong.status, wrong.stdout) == (2, "")
    assert "cannot write" in wrong.stderr


def test_options_behind_the_file(tmp_path: Path) -> None:
    """They are the program's behind --; else those of the command are refused."""
    (tmp_path / "program.cpp").write_text("int main(int argc, char**) { return argc; }\n")
    command = [sys.executable, "-m", "softnpu", "check", "program.cpp"]
    wrong = subprocess.run(
        [*command, "--tool=memcheck"], cwd=tmp_path, capture_output=True, text=True
    )
    assert wrong.returncode == 2
    assert "--tool=memcheck stands after FILE" in wrong.stderr
    for words, count in ((["--", "--tool", "memcheck"], 3), (["--other", "x"], 3)):
        done = subprocess.run([*command, *words], cwd=tmp_path, capture_output=True)
        assert done.returncode == count


def test_lines_of_headers(checked: Checked) -> None:
    """A function of a header that was inlined is named with the header's line."""
    report = checked(FOLDER / "racecheck_stream_race.cpp", "--format", "text")
    launch = re.search(r"at Elu::launch\S+ \((\S+):(\d+)\)", report.stderr)
    assert launch is not None
    line = (FOLDER / "program.h").read_text("utf-8").splitlines()[int(launch[2]) - 1]
    assert launch[1].endswith("program.h")
    assert "aclnnElu(" in line


def test_paths_in_sarif_are_relative_to_the_working_folder(tmp_path: Path) -> None:
    """As code hosts want them; a path from elsewhere is a whole URI."""
    (tmp_path / "a b.cpp").write_text(DOUBLE_FREE.read_text("utf-8"), "utf-8")
    command = [sys.executable, "-m", "softnpu", "check", "--format", "sarif", "a b.cpp"]
    settings = {**os.environ, "CPPFLAGS": f"-I{FOLDER}"}
    done = subprocess.run(command, cwd=tmp_path, env=settings, capture_output=True, text=True)
    (result,) = json.loads(done.stdout)["runs"][0]["results"]
    places = [each["physicalLocation"] for each in result["relatedLocations"]]
    uris = {place["artifactLocation"]["uri"] for place in places}
    assert "a%20b.cpp" in uris
    assert all(uri == "a%20b.cpp" or uri.startswith("file:///") for uri in uris)


def test_sarif_of_a_program_that_failed(checked: Checked, tmp_path: Path) -> None:
    """The document is there, and says that not everything was seen."""
    report = tmp_path / "report.sarif"
    options = "--format", "sarif", "--output", str(report)
    for program, status, text in (
        ("int main() { return no; }\n", 1, "the program did not compile or start"),
        ("#include <cstdlib>\nint main() { std::abort(); }\n", 134, "ended by signal 6, SIGABRT"),
    ):
        assert checked(program, *options).status == status
        (run,) = json.loads(report.read_text("utf-8"))["runs"]
        (invocation,) = run["invocations"]
        assert run["results"] == []
        assert (invocation["executionSuccessful"], invocation["exitCode"]) == (False, status)
        assert text in invocation["toolExecutionNotifications"][0]["message"]["text"]
        report.unlink()


TWO_LEAKS = """
#include "program.h"
int main() {
  begin();
  floats();
  floats();
  std::exit(STATUS);
}
"""


def test_leaks_of_a_program_that_failed_are_one_line(checked: Checked) -> None:
    """It left before it freed anything; who asks for leaks gets them all."""
    failed = TWO_LEAKS.replace("STATUS", "3")
    report = checked(failed, "--format", "text")
    assert "2 leaks of a program that failed" in report.stderr
    assert "(leaked-memory)" not in report.stderr
    end = "softnpu check: 2 findings; later ones may follow from the first\n"
    assert report.stderr.endswith(end)
    listed = checked(failed, "--format", "text", "--tool", "leakcheck")
    passed = checked(TWO_LEAKS.replace("STATUS", "0"), "--format", "text")
    for each in (listed, passed):
        assert each.stderr.count("leakcheck (leaked-memory)") == 2


def test_a_signal_is_told(checked: Checked) -> None:
    """A program that crashes without a finding has not passed; a large status is no signal."""
    killed = checked("#include <cstdlib>\nint main() { std::abort(); }\n", "--format", "text")
    assert "the program was ended by signal 6, SIGABRT" in killed.stderr
    failed = checked("int main() { return 134; }\n", "--format", "text")
    assert (failed.status, failed.stderr) == (134, "softnpu check: no findings\n")


def test_exit_statuses(checked: Checked) -> None:
    """Findings win over the program's status; without them it is the program's own."""
    assert checked(DOUBLE_FREE, "--error-exitcode", "3").status == 3
    assert checked(DOUBLE_FREE, "--error-exitcode", "0").status == 0
    assert checked(TWO_LEAKS.replace("STATUS", "4"), "--error-exitcode", "0").status == 4
    program = '#include "program.h"\nint main() { begin(); end(); return 7; }\n'
    assert checked(program).status == 7
    killed = "#include <cstdlib>\nint main() { std::abort(); }\n"
    assert checked(killed).status == 134
    assert checked(DOUBLE_FREE, "--tool", "nocheck").status == 2


def test_suppressions(checked: Checked, tmp_path: Path) -> None:
    """By kind, and by a function in the stack; a bad line is refused with its number."""
    known = tmp_path / "known"
    known.write_text("\ufeff# ours\nleakcheck/* floats*\nmemcheck/double-free other\n", "utf-8")
    assert checked(LEAK, "--suppressions", str(known)).status == 0
    assert checked(DOUBLE_FREE, "--suppressions", str(known)).status == 86
    for line in ("leakcheck", "leakcheka/*"):
        known.write_text(f"\n{line}\n", "utf-8")
        wrong = checked(LEAK, "--suppressions", str(known))
        assert wrong.status == 2
        assert f"{known}:2" in wrong.stderr


def test_a_program_that_was_started_otherwise(tmp_path: Path) -> None:
    """SOFTNPU_CHECK switches the checkers on: text on stderr, exit status 86, or one's own."""
    program = built(DOUBLE_FREE, tmp_path)
    settings = {**os.environ, "SOFTNPU_CHECK": "all"}
    done = subprocess.run([str(program)], capture_output=True, text=True, env=settings)
    assert done.returncode == 86
    assert "softnpu: memcheck (double-free): aclrtFree" in done.stderr
    settings["SOFTNPU_CHECK_EXITCODE"] = "0"
    assert subprocess.run([str(program)], capture_output=True, env=settings).returncode == 0
    settings["SOFTNPU_CHECK"] = "nonsense"
    done = subprocess.run([str(program)], capture_output=True, text=True, env=settings)
    assert "SOFTNPU_CHECK" in done.stderr
    assert done.returncode == 0


def test_host_access_ends_the_program_with_a_status_of_its_own(tmp_path: Path) -> None:
    """87, where nothing else runs it."""
    program = built(FOLDER / "memcheck_host_access.cpp", tmp_path)
    settings = {**os.environ, "SOFTNPU_CHECK": "memcheck"}
    done = subprocess.run([str(program)], capture_output=True, text=True, env=settings)
    assert done.returncode == 87
    assert "reads device memory" in done.stderr
    del settings["SOFTNPU_CHECK"]
    assert subprocess.run([str(program)], capture_output=True, env=settings).returncode == 0


TESTS = """
from softnpu import acl

acl.init()
acl.rt.set_device(0)

def test_clean():
    memory, _ = acl.rt.malloc(64, 0)
    acl.rt.free(memory)

def test_twice():
    memory, _ = acl.rt.malloc(64, 0)
    acl.rt.free(memory)
    acl.rt.free(memory)

def test_leak():
    acl.rt.malloc(64, 0)

def test_fails_by_itself():
    acl.rt.malloc(64, 0)
    assert False
"""


def test_the_pytest_plugin(tmp_path: Path) -> None:
    """The test that caused a finding fails, with the report; others do not."""
    (tmp_path / "test_it.py").write_text(TESTS, "utf-8")
    command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "test_it.py"]
    plain = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path)
    assert "1 failed, 3 passed" in plain.stdout
    done = subprocess.run(
        [*command, "--softnpu-check"], capture_output=True, text=True, cwd=tmp_path
    )
    assert "2 failed, 2 passed, 1 error" in done.stdout, done.stdout
    assert "memcheck (double-free)" in done.stdout
    assert "leakcheck (leaked-memory): 1 allocation of 64 bytes" in done.stdout
    assert "/_pytest/" not in done.stdout
    wrong = subprocess.run([*command, "--softnpu-check-tools=x"], capture_output=True, text=True)
    assert wrong.returncode == pytest.ExitCode.USAGE_ERROR


CLEAN = '#include "program.h"\nint main() { begin(); end(); std::printf("done\\n"); }\n'


def test_schedules(checked: Checked) -> None:
    """All runs of a clean program agree; a finding ends them, and the report is that run's."""
    clean = checked(CLEAN, "--schedules", "3")
    assert (clean.status, clean.stdout) == (0, "done\n"), clean
    raced = checked(FOLDER / "racecheck_stream_race.cpp", "--schedules", "3")
    assert raced.status == 86
    assert raced.kinds == ["racecheck/stream-race"]
    late = checked(FOLDER / "synccheck_unsynchronized_read.cpp", "--schedule", "deferred")
    assert late.kinds[0] == "synccheck/unsynchronized-read"
    assert checked(CLEAN, "--schedule", "later").status == 2


def test_what_fails_on_purpose_is_no_finding(checked: Checked) -> None:
    """The program's own status says how it took it."""
    program = (
        '#include "program.h"\nint main() { begin(); void* memory;\n'
        "  const int status = aclrtMalloc(&memory, 64, ACL_MEM_MALLOC_HUGE_FIRST);\n"
        "  end(); return status == 207001 ? 9 : 0; }\n"
    )
    report = checked(program, "--fail", "malloc:1")
    assert (report.kinds, report.status) == ([], 9), report
