# SPDX-License-Identifier: Apache-2.0
"""Neither success nor failure keeps anything."""

from __future__ import annotations

import gc
import sys
import tracemalloc
from collections.abc import Callable
from typing import Any

import ml_dtypes
import numpy as np
import pytest

import softnpu
from tests.python.foreign import Foreign
from tests.python.operators import ELU, OPERATORS, SELU, UNPOOL, UPSAMPLE, Operator
from tests.support.process import resident_bytes

BF16 = np.dtype(ml_dtypes.bfloat16)


@pytest.mark.parametrize("operator", OPERATORS, ids=lambda o: o.name)
def test_references_to_arguments_are_returned(operator: Operator) -> None:
    """The counts of arrays, sizes and data types are what they were."""
    arguments: dict[str, Any] = {**operator.arrays, **operator.rest, "out": operator.out.copy()}
    watched = [*arguments.values(), np.dtype(np.float32)]
    operator.function(**arguments)  # the first call looks modules up, and import hooks keep answers
    before = [sys.getrefcount(a) for a in watched]
    for _ in range(100):
        operator.function(**arguments)
    assert [sys.getrefcount(a) for a in watched] == before


def test_references_to_data_types_of_results_are_returned() -> None:
    """Each result has one, and gives it back."""
    x = np.ones(3, BF16)
    softnpu.selu_backward(x, x)
    before = sys.getrefcount(BF16)
    results = [softnpu.selu_backward(x, x) for _ in range(100)]
    assert sys.getrefcount(BF16) - before in (0, 100)  # 0 where the count is immortal
    results.clear()
    assert sys.getrefcount(BF16) == before


def failing() -> dict[str, Callable[[], Any]]:
    """Calls that fail at every stage."""
    swapped = SELU.arrays["result"].astype(">f4")
    return {
        "null": lambda: ELU(alpha=None),
        "argument": lambda: SELU(result=swapped),
        "class": lambda: SELU(result=object()),
        "scalar": lambda: ELU(scale=10**400),
        "sizes": lambda: UPSAMPLE(input_size=[1, 2, None]),
        "contract": lambda: SELU(result=np.zeros(3, np.float32)),
        "running": lambda: UNPOOL(indices=np.full((2, 3, 1, 2, 4), -1)),
        "foreign": lambda: SELU(Foreign, out=object()),
    }


@pytest.mark.parametrize("name", failing())
def test_failures_keep_nothing(name: str) -> None:
    """Memory does not grow with the number of failed calls."""
    assert growth(failing()[name], fails=True) < 2000


@pytest.mark.parametrize("convert", [lambda a: a, Foreign], ids=["numpy", "foreign"])
@pytest.mark.parametrize("operator", OPERATORS, ids=lambda o: o.name)
def test_calls_keep_nothing(operator: Operator, convert: Callable[[Any], Any]) -> None:
    """Memory does not grow with the number of calls."""
    assert growth(lambda: operator(convert), fails=False) < 2000


def growth(call: Callable[[], Any], *, fails: bool) -> int:
    """Bytes that 300 calls leave behind, the least of some rounds; every call fails, or none.

    Free lists fill now and then, but a leak shows every time.
    """
    calls = errors = 0

    def repeat(count: int) -> None:
        nonlocal calls, errors
        for _ in range(count):
            try:
                call()
            except softnpu.AclnnError:
                errors += 1
        calls += count
        gc.collect()

    repeat(100)
    grown = []
    gc.freeze()  # what is there already is no leak: collections need not look at it
    tracemalloc.start()
    try:
        for _ in range(4):
            before = tracemalloc.get_traced_memory()[0]
            repeat(300)
            grown.append(tracemalloc.get_traced_memory()[0] - before)
    finally:
        tracemalloc.stop()
        gc.unfreeze()
    assert errors == (calls if fails else 0)
    return min(grown)


def test_native_memory_does_not_grow() -> None:
    """What tracemalloc cannot see: results, copies and capsules of this module's own."""
    x = np.zeros((100_000,), [("pad", "u1"), ("value", "f4")])["value"]
    y = np.zeros(100_000, np.float32)

    def work(count: int) -> None:
        for _ in range(count):
            softnpu.selu_backward(Foreign(y), x)

    work(50)
    before = resident_bytes()
    work(500)  # 400 MB of results and copies
    assert resident_bytes() - before < 40_000_000
