# SPDX-License-Identifier: Apache-2.0
"""``pytest --softnpu-check``: a test that makes the checkers find something fails.

``--softnpu-check-tools`` takes the same checkers as ``softnpu check --tool``. Findings of a
test's setup, call and teardown count. Leaks are what its call made and nothing has freed after its
teardown.
"""

from __future__ import annotations

from collections.abc import Generator
from io import StringIO

import pytest

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
        default="all",
        metavar="TOOLS",
        help="The checkers: all, or some of memcheck,initcheck,racecheck,synccheck,leakcheck.",
    )


def pytest_configure(config: pytest.Config) -> None:
    """Start the checkers before any test does anything."""
    if not config.getoption("--softnpu-check"):
        return
    from softnpu import _core

    try:
        _core.start_checks(config.getoption("--softnpu-check-tools"))
    except ValueError as error:
        raise pytest.UsageError(f"--softnpu-check-tools: {error}") from None
    config.pluginmanager.register(_Checks(), "softnpu-checks")


class _Checks:
    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_setup(self) -> Generator[None, None, None]:
        yield
        _fail_on_findings()

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_call(self, item: pytest.Item) -> Generator[None, None, None]:
        from softnpu import _core

        item.stash[_moment] = _core.check_moment()
        try:
            yield
        except BaseException:
            item.stash[_moment] = -1  # what a failed test leaves behind is no finding
            raise
        _fail_on_findings()

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_teardown(self, item: pytest.Item) -> Generator[None, None, None]:
        from softnpu import _core

        yield
        since = item.stash.get(_moment, -1)
        if since >= 0:
            _core.look_for_leaks(since)
        _fail_on_findings()


def _fail_on_findings() -> None:
    from softnpu import _core

    lines = _core.take_findings()
    if not lines:
        return
    from rich.console import Console

    from softnpu.cli.findings import parse_findings, show

    text = StringIO()
    show(parse_findings(lines), Console(file=text, highlight=False, width=200))
    pytest.fail(text.getvalue(), pytrace=False)
