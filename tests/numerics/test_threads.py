# SPDX-License-Identifier: Apache-2.0
"""The number of threads changes no bit."""

from __future__ import annotations

import itertools
import os
import subprocess
import sys

import numpy as np
import pytest

import softnpu
from softnpu import _core
from tests.support import laws
from tests.support import specials as sp
from tests.support.cases import Case, cases
from tests.support.layouts import Layout, place, place_output
from tests.support.ulp import same_bits


@pytest.mark.parametrize("case", cases("large"), ids=lambda c: c.name)
def test_threads_do_not_matter(case: Case) -> None:
    """Law: 1, 2, 3 and 8 threads give the same bits, for contiguous and for transposed inputs."""
    laws.threads_do_not_matter(case.call, case.inputs)
    transposed = [place(v, Layout("transposed", order="F")).view for v in case.inputs]
    laws.threads_do_not_matter(case.call, transposed)


@pytest.mark.parametrize("shape", [(33, 300), (127, 129), (180, 96), (3, 70, 65), (363, 361)])
@pytest.mark.parametrize("name", ["float32", "float16"])
def test_threads_share_a_transposed_output(name: str, shape: tuple[int, ...]) -> None:
    """Law: each thread has columns of an output that lies the other way; the bits are the same."""
    rng = np.random.default_rng(71)
    g, x = (sp.random_values(rng, shape, np.dtype(name)) for _ in range(2))
    with laws.threads(1):
        expected = softnpu.selu_backward(g, x)
    for count in laws.THREADS:
        for axes in itertools.permutations(range(len(shape))):
            out = place_output(shape, np.dtype(name), Layout("out", order=axes, offset=1))
            with laws.threads(count):
                softnpu.selu_backward(g, x, out=out.view)
            assert same_bits(out.view, expected), f"{count} threads, axes {axes}"
            assert out.surroundings_unchanged()


@pytest.mark.parametrize("axis", range(3))
@pytest.mark.parametrize("name", ["float32", "float64"])
def test_one_long_sum_does_not_depend_on_threads(name: str, axis: int) -> None:
    """Law: a single sum of 10**6 terms is the same however many threads could share it."""
    outer = [1, 1, 1]
    outer[axis] = 10**6
    grad = np.random.default_rng(70).standard_normal((1, 1, *outer)).astype(name)

    def run() -> np.ndarray:
        return softnpu.upsample_nearest3d_backward(grad, outer, [1, 1, 1, 1, 1])

    with laws.threads(1):
        expected = run()
    for count in laws.THREADS:
        with laws.threads(count):
            assert same_bits(run(), expected), f"{count} threads"


def test_the_default_is_what_the_process_may_use() -> None:
    """Law: a process that is bound to one processor gets one thread."""
    source = """
import os
os.sched_setaffinity(0, [min(os.sched_getaffinity(0))])
from softnpu import _core
print(_core.info()["threads"])
"""
    environment = {k: v for k, v in os.environ.items() if k != "SOFTNPU_THREADS"}
    done = subprocess.run(
        [sys.executable, "-c", source], capture_output=True, text=True, check=True, env=environment
    )
    assert done.stdout.strip() == "1"


def test_the_setting_is_taken() -> None:
    """Law: set_threads changes what info reports, so that the tests above compare what they say."""
    for count in laws.THREADS:
        with laws.threads(count):
            assert _core.info()["threads"] == count
