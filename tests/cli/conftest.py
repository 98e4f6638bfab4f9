# SPDX-License-Identifier: Apache-2.0
"""A `softnpu` command in an environment of its own."""

import os
import signal
import subprocess
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

from tests.support.command import run_softnpu

# What a developer's shell may have set, and what would change the command's answers.
FOREIGN = ("CXX", "CC", "CXXFLAGS", "CFLAGS", "CPPFLAGS", "LDFLAGS", "PYTHONPATH")
SETTINGS = ("SOFTNPU_", "ASCEND_", "LD_LIBRARY_PATH", "XDG_CACHE_HOME")
COMMAND = [sys.executable, "-m", "softnpu"]


class Softnpu:
    """Runs `softnpu` commands in one folder, with one cache."""

    def __init__(self, folder: Path, cache: Path) -> None:
        self.folder = folder
        self.command = list(COMMAND)
        self.environment = {
            name: value
            for name, value in os.environ.items()
            if name not in FOREIGN and not name.startswith(SETTINGS)
        }
        self.environment["XDG_CACHE_HOME"] = str(cache)

    def __call__(
        self, *args: object, stdin: str = "", env: Mapping[str, str] | None = None
    ) -> "subprocess.CompletedProcess[str]":
        """Runs `softnpu ARGS` to its end; `env` adds to the environment."""
        environment = {**self.environment, **(env or {})}
        if self.command == COMMAND:
            return run_softnpu(*args, cwd=self.folder, env=environment, stdin=stdin)
        return subprocess.run(
            [*self.command, *map(str, args)],
            input=stdin,
            capture_output=True,
            text=True,
            check=False,
            cwd=self.folder,
            env=environment,
        )

    def start(self, *args: object) -> "subprocess.Popen[str]":
        """Starts `softnpu ARGS`, its stdin and stdout on pipes."""
        command = [*self.command, *map(str, args)]
        return subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            cwd=self.folder,
            env=self.environment,
        )

    def programs(self) -> list[Path]:
        """What lies in the cache."""
        return sorted(Path(self.environment["XDG_CACHE_HOME"], "softnpu", "programs").iterdir())

    def write(self, name: str, text: str, executable: bool = False) -> Path:
        """Writes a file into the folder."""
        file = self.folder / name
        file.write_text(text, encoding="utf-8")
        if executable:
            file.chmod(0o755)
        return file


@pytest.fixture(autouse=True)
def heard_signals() -> Iterator[None]:
    """Has commands start with no signal ignored, as jobs in the background and under nohup are."""
    numbers = (signal.SIGHUP, signal.SIGINT, signal.SIGQUIT, signal.SIGTERM)
    ignored = [number for number in numbers if signal.getsignal(number) == signal.SIG_IGN]
    for number in ignored:
        signal.signal(number, signal.SIG_DFL)
    yield
    for number in ignored:
        signal.signal(number, signal.SIG_IGN)


@pytest.fixture
def softnpu(tmp_path: Path) -> Softnpu:
    """A fresh folder and an empty cache."""
    folder = tmp_path / "work"
    folder.mkdir()
    return Softnpu(folder, tmp_path / "cache")


@pytest.fixture
def prefix(softnpu: Softnpu) -> Path:
    """The installed SDK."""
    return Path(softnpu("sdk").stdout.rstrip("\n"))
