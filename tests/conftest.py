# SPDX-License-Identifier: Apache-2.0
"""What tests share: an empty pool, the report of measured accuracies."""

from __future__ import annotations

import gc
import os
from collections.abc import Iterator
from fnmatch import fnmatchcase
from typing import Any

import pytest

# Triton reads it when it is imported: its interpreter runs the kernels that need a GPU otherwise.
os.environ.setdefault("TRITON_INTERPRET", "1")

from softnpu.toml import read
from tests.support import accuracy

# Thousands of tests and their modules stay until the end: each collection would walk them in vain.
gc.disable()


def pytest_collection_finish() -> None:
    """Collect only what tests make."""
    gc.freeze()
    gc.enable()


def pytest_sessionfinish(session: pytest.Session) -> None:
    """Hand what a worker measured to the process that reports it. The end collects everything."""
    gc.unfreeze()
    output = getattr(session.config, "workeroutput", None)
    if output is not None:
        output["accuracy"] = accuracy.packed()


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node: Any) -> None:
    """Take what a worker measured; one that crashed has handed nothing over."""
    accuracy.add(getattr(node, "workeroutput", {}).get("accuracy", []))


def pytest_terminal_summary(
    terminalreporter: pytest.TerminalReporter, config: pytest.Config
) -> None:
    """Report what the accuracy rows measured in this run, and keep it in build/accuracy.json."""
    if not accuracy.measured:
        return
    accuracy.write(config.rootpath / "build" / "accuracy.json")
    terminalreporter.section("accuracy, measured of promised")
    for line in accuracy.summary():
        terminalreporter.line(line)


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Under the checkers, tell which findings tests provoke, and skip what cannot run there."""
    if not config.getoption("--softnpu-check", default=False):
        return
    known = read(config.rootpath / "tests" / "checkers" / "provoked.toml")
    for item in items:
        name = item.nodeid.split("[")[0]
        for pattern, kinds in known["provokes"].items():
            if fnmatchcase(name, pattern):
                item.add_marker(pytest.mark.softnpu_findings(*kinds))
        for pattern, reason in known["cannot"].items():
            if fnmatchcase(name, pattern):
                item.add_marker(pytest.mark.skip(reason=reason))


@pytest.fixture
def empty_pool() -> Iterator[None]:
    """A pool of output buffers with nothing in it, and a limit of 256 MB."""
    import softnpu
    from softnpu import _core

    before = _core.info()["pool_limit"]
    gc.collect()
    softnpu.release_memory()
    softnpu.set_pool_limit(256 << 20)
    yield
    softnpu.set_pool_limit(before)
    softnpu.release_memory()
