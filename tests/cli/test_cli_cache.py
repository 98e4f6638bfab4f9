# SPDX-License-Identifier: Apache-2.0
"""Which compiled programs are kept, where, and for how long."""

import fcntl
import json
import os
import time
from pathlib import Path
from typing import Any

HELLO = '#include <cstdio>\nint main() { std::puts("hello"); }\n'


def test_concurrent_runs(softnpu: Any) -> None:
    """Runs of one program that start together all work, and leave one program and nothing else."""
    softnpu.write("hello.cpp", HELLO)
    running = [softnpu.start("run", "hello.cpp") for _ in range(4)]
    assert [process.communicate()[0] for process in running] == ["hello\n"] * 4
    assert [process.returncode for process in running] == [0] * 4
    assert len(softnpu.programs()) == 1


def test_a_damaged_program_is_built_again(softnpu: Any) -> None:
    """Where the power failed there can be a name without bytes."""
    softnpu.write("hello.cpp", HELLO)
    softnpu("run", "hello.cpp")
    (folder,) = softnpu.programs()
    file = folder / "hello"
    file.write_bytes(b"")
    assert softnpu("run", "hello.cpp").stdout == "hello\n"
    file.chmod(0o600)
    assert softnpu("run", "hello.cpp").stdout == "hello\n"


def test_abandoned_builds_are_removed(softnpu: Any) -> None:
    """What a killed run left is gone a day later; what is being built stays."""
    softnpu.write("hello.cpp", HELLO)
    softnpu("run", "hello.cpp")
    (program,) = softnpu.programs()
    old, new = program.parent / ".building-old", program.parent / ".building-new"
    for folder in (old, new):
        folder.mkdir()
        (folder / "part").touch()
    a_day_ago = time.time() - 25 * 3600
    os.utime(old, (a_day_ago, a_day_ago))
    softnpu.write("hello.cpp", f"{HELLO}int other;\n")
    assert softnpu("run", "hello.cpp").stdout == "hello\n"
    assert not old.exists()
    assert new.is_dir()


KEPT = 100


def fill(softnpu: Any, count: int) -> list[Path]:
    """Programs that were run one after the other, the last of them a second ago."""
    programs = Path(softnpu.environment["XDG_CACHE_HOME"], "softnpu", "programs")
    folders = [programs / f"{number:064x}" for number in range(count)]
    for age, folder in enumerate(reversed(folders), 1):
        folder.mkdir(parents=True)
        (folder / "hello").touch()
        os.utime(folder, (time.time() - age,) * 2)
    return folders


def test_the_programs_that_were_run_last_are_kept(softnpu: Any) -> None:
    """A run counts, not only the making; a day of edits does not fill the disk."""
    softnpu.write("hello.cpp", HELLO)
    softnpu("run", "hello.cpp")
    (first,) = softnpu.programs()
    os.utime(first, (0, 0))
    older = fill(softnpu, KEPT + 20)
    assert softnpu("run", "hello.cpp").stdout == "hello\n"
    assert len(softnpu.programs()) == 1 + len(older)
    softnpu.write("hello.cpp", f"{HELLO}int other;\n")
    assert softnpu("run", "hello.cpp").stdout == "hello\n"
    kept = softnpu.programs()
    assert len(kept) == KEPT
    assert {first, *older[-(KEPT - 2) :]} < set(kept)


def test_a_program_that_tells_the_time(softnpu: Any) -> None:
    """Each run makes another; the one before goes as all others do."""
    softnpu.write("time.cpp", "#include <cstdio>\nint main() { std::puts(__TIME__); }\n")
    fill(softnpu, KEPT)
    times = []
    for seconds in (0, 1):  # __TIME__ counts whole ones
        time.sleep(seconds)
        times.append(softnpu("run", "time.cpp").stdout)
        assert len(softnpu.programs()) == KEPT
    assert times[0] != times[1]


def test_nothing_is_removed_while_a_run_is_about_to_start(softnpu: Any) -> None:
    """Between finding a program and becoming it, it has to stay; other runs go on meanwhile."""
    softnpu.write("hello.cpp", HELLO)
    older = fill(softnpu, KEPT)
    about_to_start = os.open(older[0].parent, os.O_RDONLY)
    fcntl.flock(about_to_start, fcntl.LOCK_SH)
    assert softnpu("run", "hello.cpp").stdout == "hello\n"
    assert len(softnpu.programs()) == KEPT + 1
    os.close(about_to_start)
    softnpu.write("hello.cpp", f"{HELLO}int other;\n")
    assert softnpu("run", "hello.cpp").stdout == "hello\n"
    assert len(softnpu.programs()) == KEPT
    assert not older[0].exists()


WAIT = """#include <cstdio>
int main() {
  std::puts("on");
  std::fflush(stdout);
  std::getchar();
  std::puts("off");
}
"""


def test_running_programs_hold_nothing_up(softnpu: Any) -> None:
    """Once a program runs, its file may go."""
    softnpu.write("wait.cpp", WAIT)
    softnpu.write("hello.cpp", HELLO)
    with softnpu.start("run", "wait.cpp") as waiting:
        assert waiting.stdout.readline() == "on\n"
        (own,) = softnpu.programs()
        os.utime(own, (0, 0))
        fill(softnpu, KEPT)
        assert softnpu("run", "hello.cpp").stdout == "hello\n"
        assert len(softnpu.programs()) == KEPT
        assert not own.exists()
        assert waiting.communicate("\n")[0] == "off\n"
    assert waiting.returncode == 0


def test_cache_that_cannot_be_written(softnpu: Any) -> None:
    """A cache folder that cannot be made is named, with the way out."""
    softnpu.write("hello.cpp", HELLO)
    blocked = softnpu.write("blocked", "a file")
    done = softnpu("run", "hello.cpp", env={"XDG_CACHE_HOME": str(blocked)})
    assert done.returncode == 1
    assert str(blocked) in done.stderr
    assert "XDG_CACHE_HOME" in done.stderr


def test_cache_in_the_home_folder(softnpu: Any, tmp_path: Path) -> None:
    """Without XDG_CACHE_HOME programs are kept in ~/.cache/softnpu/programs."""
    softnpu.write("hello.cpp", HELLO)
    assert softnpu("run", "hello.cpp", env={"XDG_CACHE_HOME": "", "HOME": str(tmp_path)}).stdout
    assert list((tmp_path / ".cache" / "softnpu" / "programs").glob("*/hello"))


def test_the_cache_is_shown(softnpu: Any) -> None:
    """Each program with its size, the one that was run last first; nothing is changed."""
    empty = softnpu("cache")
    assert (empty.returncode, empty.stderr) == (0, "")
    assert empty.stdout.startswith("0 programs, 0.0 KiB, in ")
    softnpu.write("hello.cpp", HELLO)
    softnpu.write("other.cpp", HELLO)
    for name in ("hello.cpp", "other.cpp"):
        softnpu("run", name)
    older = next(folder for folder in softnpu.programs() if (folder / "hello").exists())
    os.utime(older, (time.time() - 60,) * 2)
    shown = softnpu("cache").stdout
    assert shown.index("other") < shown.index("hello")
    record = json.loads(softnpu("cache", "--json").stdout)
    assert [program["name"] for program in record["programs"]] == ["other", "hello"]
    sizes = [Path(program["file"]).stat().st_size for program in record["programs"]]
    assert sizes == [program["bytes"] for program in record["programs"]]
    assert record["bytes"] == sum(sizes)
    assert len(softnpu.programs()) == 2


def test_the_cache_is_cleared(softnpu: Any) -> None:
    """Programs go; what is being built stays; the next run builds again."""
    softnpu.write("hello.cpp", HELLO)
    softnpu("run", "hello.cpp")
    building = softnpu.programs()[0].parent / ".building-now"
    building.mkdir()
    done = softnpu("cache", "--clear")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("removed 1 program, ")
    assert softnpu.programs() == [building]
    assert softnpu("cache", "--clear").stdout.startswith("removed 0 programs, ")
    assert softnpu("run", "hello.cpp").stdout == "hello\n"


def test_clearing_waits_for_a_run_that_is_about_to_start(softnpu: Any) -> None:
    """Between finding a program and becoming it, it has to stay."""
    softnpu.write("hello.cpp", HELLO)
    softnpu("run", "hello.cpp")
    (program,) = softnpu.programs()
    about_to_start = os.open(program.parent, os.O_RDONLY)
    fcntl.flock(about_to_start, fcntl.LOCK_SH)
    with softnpu.start("cache", "--clear") as clearing:
        time.sleep(1)
        assert program.exists()
        os.close(about_to_start)
        assert "removed 1 program" in clearing.communicate()[0]
    assert not program.exists()
