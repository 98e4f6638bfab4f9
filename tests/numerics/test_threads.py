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
from softnpu.judging.ulp import same_bits
from tests.support import laws
from tests.support import specials as sp
from tests.support.cases import Case, cases
from tests.support.layouts import Layout, place, place_output
from tests.support.upsample import each_alone


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


@pytest.mark.parametrize(
    ("name", "inputs", "n"),
    [("float32", 2, 1_500_000), ("float16", 2, 3_000_000), ("float32", 3, 1_200_000)],
)
def test_threads_decide_how_results_are_written(name: str, inputs: int, n: int) -> None:
    """Law: sizes that one thread writes past the caches, and several do not, have the same bits."""
    rng = np.random.default_rng(72)
    arrays = [sp.random_values(rng, (n,), np.dtype(name)) for _ in range(inputs)]
    written = []
    for count in laws.THREADS:
        out = np.zeros_like(arrays[0])
        with laws.threads(count):
            if inputs == 2:
                softnpu.selu_backward(*arrays, out=out)
            else:
                softnpu.smooth_l1_loss_backward(*arrays, "none", 0.5, out=out)
        written.append(out)
    assert all(same_bits(out, written[0]) for out in written)


def test_wide_results_of_few_numbers() -> None:
    """Law: a large result of inputs that are repeated has the bits of its rows."""
    rng = np.random.default_rng(73)
    row, column = (sp.random_values(rng, s, np.dtype("float32")) for s in ((1, 3001), (3001, 1)))
    grad = np.float32(1.5)
    whole = np.zeros((3001, 3001), np.float32)
    softnpu.smooth_l1_loss_backward(grad, row, column, "none", 0.5, out=whole)
    for at in (0, 1234, 3000):
        one = softnpu.smooth_l1_loss_backward(grad, row[0], column[at], "none", 0.5)
        assert same_bits(whole[at].copy(), one)


@pytest.mark.parametrize("n", [8192, 16385, 24575, 24577, 32768, 40_001, 1 << 16, 300_001])
def test_jobs_of_large_teams(n: int) -> None:
    """Law: jobs too short for a large team, or too short for pieces of usual length, miss none."""
    rng = np.random.default_rng(76)
    g, x = (sp.random_values(rng, (n,), np.dtype("float32")) for _ in range(2))
    indices = rng.permutation(n).reshape(1, 1, 1, n)

    def run() -> list[np.ndarray]:
        out = place_output((n,), g.dtype, Layout("gaps", steps=(2,)))
        softnpu.selu_backward(g, x, out=out.view)
        assert out.surroundings_unchanged()
        volumes = (g.reshape(indices.shape), x.reshape(indices.shape))
        gathered = softnpu.max_unpool3d_backward(*volumes, indices, [1, 1, n], [1, 1, 1], [0, 0, 0])
        return [softnpu.selu_backward(g, x), out.view.copy(), gathered]

    with laws.threads(1):
        expected = run()
    for count in (4, 5, 16, 64):
        with laws.threads(count):
            for _ in range(3):
                assert all(map(same_bits, run(), expected)), f"{count} threads"


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


@pytest.mark.parametrize("name", ["float32", "float16", "float64"])
@pytest.mark.parametrize("inner", [(1, 1, 1), (1, 3, 2), (2, 1, 5)], ids=str)
def test_threads_share_channels(name: str, inner: tuple[int, int, int]) -> None:
    """Law: few rows of many channels side by side have the same bits for any number of threads."""
    outer, channels = (5, 6, 7), 1024
    grad = sp.random_values(np.random.default_rng(74), (1, *outer, channels), np.dtype(name))
    size = (1, *inner, channels)
    for layout in (Layout("dense"), Layout("gaps", pads=(0, 0, 0, 1, 3))):
        written = []
        for count in (*laws.THREADS, 5):
            out = place_output(size, grad.dtype, layout)
            with laws.threads(count):
                softnpu.upsample_nearest3d_backward(grad, outer, size, format="NDHWC", out=out.view)
            assert out.surroundings_unchanged()
            written.append(out.view.copy())
        assert all(same_bits(result, written[0]) for result in written)


@pytest.mark.parametrize("name", ["float32", "float16", "float64"])
@pytest.mark.parametrize("channels", [4, 7, 8, 19, 33])
@pytest.mark.parametrize(
    ("outer", "inner"),
    [((30, 44, 2), (20, 11, 2)), ((30, 40, 5), (20, 20, 2)), ((20, 30, 5), (20, 20, 4))],
)
def test_threads_share_narrow_volumes(
    name: str, channels: int, outer: tuple[int, int, int], inner: tuple[int, int, int]
) -> None:
    """Law: volumes in short rows have the same bits, dealt whole to threads or in parts."""
    grad = sp.random_values(np.random.default_rng(75), (1, channels, *outer), np.dtype(name))
    expected = each_alone(grad, inner)
    for count in laws.THREADS:
        out = place_output(expected.shape, grad.dtype, Layout("out", offset=1))
        with laws.threads(count):
            softnpu.upsample_nearest3d_backward(grad, outer, expected.shape, out=out.view)
        assert same_bits(out.view.copy(), expected), f"{count} threads"
        assert out.surroundings_unchanged()


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
