# SPDX-License-Identifier: Apache-2.0
"""Options for pytest: ``--softnpu-check`` and ``--softnpu-npu``.

``pytest --softnpu-npu``: tests and their child processes have PyTorch's device `npu`.

``pytest --softnpu-check``: a test that causes a finding of the checkers fails.
``--softnpu-check-tools`` takes the same checkers as ``softnpu check --tool``. Its default is all
but apicheck, because tests expect failures. Findings of a test's setup, call and teardown count.
Leaks are objects that its call created and that still exist after its teardown.
``@pytest.mark.softnpu_findings("memcheck/double-free", ...)`` lists findings that a test causes on
purpose; patterns such as ``memcheck/*`` are allowed.
"""

from __future__ import annotations

import importlib
import os
import sys
from collections.abc import Generator
from fnmatch import fnmatchcase
from io import StringIO

import pytest

TOOLS = "memcheck,initcheck,racecheck,synccheck,leakcheck"

_moment = pytest.StashKey[int]()


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the options."""
    group = parser.getgroup("softnpu")
    group.addoption(
        "--softnpu-check",
        action="store_true",
        help="Fail tests that use softnpu's device wrongly.",
    )
    group.addoption(
        "--softnpu-check-tools",
        metavar="TOOLS",
        help=f"The same with these checkers, all or some; default: {TOOLS}, since tests expect "
        "calls to fail.",
    )

    group.addoption(
        "--softnpu-npu",
        action="store_true",
        help="Give PyTorch the device npu, and tests an importable torch_npu.",
    )


def pytest_configure(config: pytest.Config) -> None:
    """Start the checkers before any test runs."""
    config.addinivalue_line(
        "markers",
        "softnpu_findings(*kinds): findings that the test provokes, as TOOL/KIND patterns",
    )
    if config.getoption("--softnpu-npu"):
        _set_up_npu()
    tools = config.getoption("--softnpu-check-tools")
    config.option.softnpu_check = config.option.softnpu_check or tools is not None
    if not config.getoption("--softnpu-check"):
        return
    from softnpu import _core

    try:
        # Pytest does not capture its output yet.
        last_words = os.dup(2)
        _core.start_checks(TOOLS if tools is None else tools, last_words)
    except ValueError as error:
        raise pytest.UsageError(f"--softnpu-check-tools: {error}") from None
    config.pluginmanager.register(_Checks(), "softnpu-checks")


def _set_up_npu() -> None:
    """Set up this process and its children as ``softnpu run`` does for a program."""
    from softnpu.cli.environment import sdk_environment, sdk_prefix

    prefix = sdk_prefix()
    os.environ.update(sdk_environment(prefix, os.environ))
    sys.path.insert(0, str(prefix / "python" / "site-packages"))
    try:
        importlib.import_module("torch_npu")
    except ImportError as error:
        raise pytest.UsageError(f"--softnpu-npu: {error}") from None


class _Checks:
    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_setup(self, item: pytest.Item) -> Generator[None, None, None]:
        yield
        _fail_on_findings(item)

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_call(self, item: pytest.Item) -> Generator[None, None, None]:
        from softnpu import _core

        item.stash[_moment] = _core.check_moment()
        try:
            yield
        except BaseException:
            item.stash[_moment] = -1  # leaks of a failed test are not findings
            raise
        _fail_on_findings(item)

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_teardown(self, item: pytest.Item) -> Generator[None, None, None]:
        from softnpu import _core

        yield
        since = item.stash.get(_moment, -1)
        if since >= 0:
            _core.look_for_leaks(since)
        _fail_on_findings(item)


def _fail_on_findings(item: pytest.Item) -> None:
    from softnpu import _core

    lines = _core.take_findings()
    if not lines:
        return
    from rich.console import Console

    from softnpu.cli.findings import Finding, parse_findings, show

    marks = item.iter_markers("softnpu_findings")
    provoked = [pattern for mark in marks for pattern in mark.args]

    def is_provoked(finding: Finding) -> bool:
        kind = f"{finding.tool}/{finding.kind}"
        return any(fnmatchcase(kind, pattern) for pattern in provoked)

    findings = [finding for finding in parse_findings(lines) if not is_provoked(finding)]
    if not findings:
        return
    text = StringIO()
    show(findings, Console(file=text, highlight=False, width=200))
    pytest.fail(text.getvalue(), pytrace=False)
