# SPDX-License-Identifier: Apache-2.0
"""What tests of the C API share: the compilers, the installed SDK."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest


@pytest.fixture(scope="session")
def sdk() -> Path:
    """The prefix of the installed SDK, as the command line gives it."""
    command = [sys.executable, "-m", "softnpu", "sdk"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    return Path(done.stdout.rstrip("\n"))


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Runs tests that name `cxx` or `cc` with each compiler that this machine has."""
    for fixture, names in (("cxx", ("g++", "clang++")), ("cc", ("gcc", "clang"))):
        if fixture in metafunc.fixturenames:
            found = [name for name in names if shutil.which(name)]
            metafunc.parametrize(fixture, found)
