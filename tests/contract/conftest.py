# SPDX-License-Identifier: Apache-2.0
"""A device session for the tests that make their calls by hand."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.support.capi import Session


@pytest.fixture
def session() -> Iterator[Session]:
    """A device with a stream; what is made through it is released at the end."""
    with Session() as opened:
        yield opened
