# SPDX-License-Identifier: Apache-2.0
"""What a call leaves for the next: every second one of some sizes runs from the end, plans stay."""

from __future__ import annotations

import itertools
import random
import threading
from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

import softnpu
from softnpu.judging.ulp import same_bits
from tests.support import laws
from tests.support import specials as sp
from tests.support.layouts import Layout, place, place_output
from tests.support.upsample import Sizes, both, each_alone

Array = npt.NDArray[Any]

# 2.4 MB and more of operands: what calls turn around for, in 9 rows of tiles that are no multiple.
SHAPE = (517, 613)


def random_arrays(count: int, shape: tuple[int, ...], name: str) -> list[Array]:
    """Arrays of values of all sizes, with some that are special."""
    rng = np.random.default_rng(90)
    return [sp.random_values(rng, shape, np.dtype(name)) for _ in range(count)]


def in_pieces(call: Callable[..., Array], inputs: list[Array]) -> Array:
    """The result of small calls, which are never turned around."""
    step = 7
    return np.concatenate(
        [
            call(*(one[at : at + step] for one in inputs))
            for at in range(0, inputs[0].shape[0], step)
        ]
    )


@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("given", ["float32", "float16"])
@pytest.mark.parametrize("made", ["float32", "float16"])
@pytest.mark.parametrize("threads", [1, 2, 3])
def test_turned_calls_have_the_same_bits(threads: int, made: str, given: str, order: str) -> None:
    """Law: four calls in a row give what small calls do, and write all of the output alone."""
    inputs = random_arrays(3, SHAPE, given)

    def call(*arrays: Array) -> Array:
        out = np.empty(arrays[0].shape, made)
        softnpu.smooth_l1_loss_backward(*arrays, "none", 0.5, out=out)
        return out

    expected = in_pieces(call, inputs)
    placed = [place(one, Layout("input", order=order, offset=1)).view for one in inputs[:2]]
    with laws.threads(threads):
        for _ in range(4):
            out = place_output(SHAPE, np.dtype(made), Layout("out", pads=(0, 3), offset=1))
            softnpu.smooth_l1_loss_backward(*placed, inputs[2], "none", 0.5, out=out.view)
            assert same_bits(out.view.copy(), expected)
            assert out.surroundings_unchanged()


def test_a_turned_call_works_in_place() -> None:
    """Law: an output that is an input is right in either order, with sliced operands, too."""
    grad, x = random_arrays(2, SHAPE, "float32")
    sliced = np.zeros((SHAPE[0], 2 * SHAPE[1]), np.float32)[:, ::2]
    expected = in_pieces(lambda g, v: softnpu.elu_backward(g, 1.5, 1, 0.5, False, v), [grad, x])
    for _ in range(4):
        sliced[...] = x
        softnpu.elu_backward(grad, 1.5, 1, 0.5, False, sliced, out=sliced)
        assert same_bits(sliced.copy(), expected)


@pytest.mark.parametrize("inner", [(9, 20, 21), (18, 40, 42), (27, 70, 63), (5, 13, 70)], ids=str)
@pytest.mark.parametrize("name", ["float32", "bfloat16", "float64"])
def test_turned_upsample_gradients_have_the_same_bits(name: str, inner: Sizes) -> None:
    """Law: the same for sums of boxes, of one thread and of three."""
    outer, channels = (18, 40, 42), 24
    grad = random_arrays(1, (1, channels, *outer), name)[0]
    expected = each_alone(grad, inner)
    for threads in (1, 3):
        with laws.threads(threads):
            for _ in range(3):
                got = softnpu.upsample_nearest3d_backward(grad, outer, [1, channels, *inner])
                assert same_bits(got, expected), f"{threads} threads"


@pytest.mark.parametrize("name", ["float32", "float16", "float64"])
def test_turned_gathers_have_the_same_bits(name: str) -> None:
    """Law: the same for gathers, and the first bad index is named in either order."""
    shape, outer = (1, 3, 24, 51, 53), (30, 60, 60)
    rng = np.random.default_rng(94)
    grad = sp.random_values(rng, (*shape[:2], *outer), np.dtype(name))
    indices = rng.integers(0, 30 * 60 * 60, shape)
    flat = indices.reshape(1, 3, -1)
    expected = np.take_along_axis(grad.reshape(1, 3, -1), flat, axis=2).reshape(shape)
    sizes = (outer, (2, 2, 2), (0, 0, 0))
    for threads in (1, 2, 3):
        with laws.threads(threads):
            for _ in range(3):
                got = softnpu.max_unpool3d_backward(grad, expected, indices, *sizes)
                assert same_bits(got, expected), f"{threads} threads"
    for bad in ((0, 2, 5, 6, 7), (0, 0, 23, 50, 52), (0, 0, 3, 0, 9)):
        indices[bad] = -1
        for _ in range(2):
            with pytest.raises(IndexError, match=rf"indices\[{', '.join(map(str, bad))}\] is -1"):
                softnpu.max_unpool3d_backward(grad, expected, indices, *sizes)


def plans() -> list[Callable[[], tuple[Array, Array]]]:
    """Gradients that differ in one thing each, more than are kept; and what they should be."""
    rng = np.random.default_rng(91)
    made = []
    sizes = [((4, 6, 8), (2, 3, 4)), ((6, 8, 4), (2, 3, 4)), ((4, 6, 8), (3, 3, 5))]
    for (outer, inner), name in itertools.product(sizes, ("float32", "float64", "float16")):
        grad = rng.standard_normal((1, 5, *outer)).astype(name)
        made.append(lambda grad=grad, inner=inner: both(grad, inner))
    grad = rng.standard_normal((1, 3, 7, 7, 7)).astype(np.float32)
    for scale in (2.4, 2.6, 0.0):
        made.append(lambda scale=scale: both(grad, (3, 3, 3), scale, scale, scale))
    apart = np.zeros((1, 3, 7, 7, 14), np.float32)[..., ::2]
    apart[...] = grad
    made.append(lambda: both(apart, (3, 3, 3)))
    return made


def test_kept_plans_are_told_apart() -> None:
    """Law: gradients are right in any order of calls, whatever came before and however often."""
    calls = plans()
    shuffled = random.Random(92)
    for _ in range(20):
        for call in shuffled.sample(calls, len(calls)):
            for _ in range(shuffled.randint(1, 2)):
                got, expected = call()
                np.testing.assert_allclose(got, expected, rtol=2e-3 if got.itemsize == 2 else 1e-6)


def test_formats_and_threads_are_told_apart() -> None:
    """Law: the same shapes mean H halved in NCDHW and W in NDHWC, for any number of threads."""
    grad = np.random.default_rng(93).standard_normal((1, 4, 4, 4, 4)).astype(np.float32)
    size = (1, 4, 4, 2, 4)
    expected = grad[..., ::2, :] + grad[..., 1::2, :]
    for threads, name in itertools.product((1, 8, 3, 1), ("NCDHW", "NDHWC", "NDHWC")):
        with laws.threads(threads):
            got = softnpu.upsample_nearest3d_backward(grad, (4, 4, 4), size, format=name)
        assert same_bits(got, expected), name


def test_threads_share_kept_plans() -> None:
    """Law: threads that plan at once, and push each other's plans out, get right gradients."""
    wrong: list[str] = []

    def work(seed: int) -> None:
        calls = plans()
        shuffled = random.Random(seed)
        for _ in range(300):
            got, expected = shuffled.choice(calls)()
            if not np.allclose(got, expected, rtol=2e-3, atol=1e-3):
                wrong.append(f"thread {seed}, shape {got.shape}")

    threads = [threading.Thread(target=work, args=(seed,)) for seed in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []
