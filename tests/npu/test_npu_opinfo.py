# SPDX-License-Identifier: Apache-2.0
"""PyTorch's operator database: a sample of it, and the list of what differs."""

from __future__ import annotations

import pytest

from tests.npu import opinfo

pytestmark = [
    pytest.mark.filterwarnings("ignore"),
]

# Every twelfth entry; the script goes through all of them.
PARTS, STEP = 6, 72


@pytest.mark.parametrize("part", range(PARTS))
def test_the_bits_are_those_of_the_cpu(part: int) -> None:
    """The first input of each type of an entry, but for those in the list of exceptions."""
    known = opinfo.exceptions()
    wrong = {}
    for op in opinfo.op_db[part::STEP]:
        if opinfo.title(op) not in known:
            found = opinfo.differences(op, samples=1)
            if found:
                wrong[opinfo.title(op)] = found
    assert wrong == {}


def test_the_exceptions_are_few_and_real() -> None:
    """They name entries of the database; at most 4 % of it."""
    titles = {opinfo.title(op) for op in opinfo.op_db}
    known = opinfo.exceptions()
    assert {
        *known,
        *opinfo.LISTS["contents_undefined"],
        *opinfo.LISTS["arguments_on_cpu"],
    } <= titles
    assert len(known) <= 0.04 * len(titles)
