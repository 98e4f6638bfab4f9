# SPDX-License-Identifier: Apache-2.0
"""What tests of the runtime share: a thread's device with a stream."""

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.acl_runtime import Runtime
from tests.support.graphs import Graphs
from tests.support.native import compiled
from tests.support.virtual_memory import Range


@pytest.fixture
def rt() -> Iterator[Graphs]:
    """Device 0 set in this thread, and a stream, whose work may be captured."""
    with Graphs() as runtime:
        runtime.api.aclrtGetLastError(0)
        yield runtime


@pytest.fixture
def addresses(rt: Runtime) -> Iterator[Range]:
    """Eight units of reserved addresses."""
    with Range(rt, 8) as reserved:
        yield reserved


@pytest.fixture(scope="module")
def traced_program() -> Path:
    """The program that traces and statistics are made of."""
    return compiled("traced")


@pytest.fixture
def observed(tmp_path: Path) -> Path:
    """The program that is observed while something is in its way, in a folder for its files."""
    return Path(shutil.copy(compiled("observed"), tmp_path))
