# SPDX-License-Identifier: Apache-2.0
"""Four threads, each with a context of its own, fit the input of an elu to a target."""

from __future__ import annotations

import sys
import threading
from typing import Any

import acl
import numpy as np
import numpy.typing as npt
import tensor_library as tl

STEPS = 20
SHAPES = [(64,), (7, 9), (3, 5, 11), (128, 33)]
FACTORS = (1.3, 1.1, 0.9)


def expected(x: npt.NDArray[Any], gradient: npt.NDArray[Any]) -> tuple[Any, Any]:
    """Elu and its gradient by NumPy."""
    alpha, scale, input_scale = FACTORS
    power = np.exp(np.minimum(x, 0) * input_scale)
    y = scale * np.where(x > 0, x, alpha * (power - 1))
    slope = scale * np.where(x > 0, 1, alpha * input_scale * power)
    return y, gradient * slope


def fit(number: int, lines: dict[int, str]) -> None:
    """One thread's work; its line is written when all was right."""
    random = np.random.default_rng(number)
    x = random.normal(size=SHAPES[number]).astype(np.float32)
    target = random.normal(size=x.shape).clip(-1).astype(np.float32)
    with tl.Session() as session:
        losses = []
        for _ in range(STEPS):
            source = tl.Tensor.of(x)
            result = tl.elu(source, *FACTORS)
            y = result.numpy()
            difference = y - target
            gradient = result.backward(tl.Tensor.of(difference)).numpy()
            wanted_y, wanted_gradient = expected(x.astype(np.float64), difference)
            np.testing.assert_allclose(y, wanted_y, rtol=1e-6, atol=1e-7)
            np.testing.assert_allclose(gradient, wanted_gradient, rtol=1e-6, atol=1e-7)
            losses.append(float(np.square(difference).mean()))
            x = x - np.float32(0.5) * gradient
        assert losses[-1] < losses[0] / 4, losses
        # A chain of launches without a synchronisation: frees have to wait for the stream.
        tensors = [tl.Tensor.of(x)]
        for _ in range(30):
            tensors.append(tl.elu(tensors[-1], *FACTORS))
        chain = tensors[-1].numpy()
        for _ in range(30):
            x = expected(x.astype(np.float64), x)[0].astype(np.float32)
        np.testing.assert_allclose(chain, x, rtol=1e-5, atol=1e-6)
        del source, result, tensors
        memory = session.memory
        assert memory.in_use == 0
        assert memory.reused > memory.allocated
        lines[number] = f"thread {number}: fitted"


def main() -> None:
    """Run the threads, and print their lines in order."""
    tl.check(acl.init(), "acl.init")
    lines: dict[int, str] = {}
    threads = [threading.Thread(target=fit, args=(i, lines)) for i in range(len(SHAPES))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for number in sorted(lines):
        print(lines[number])
    tl.check(acl.finalize(), "acl.finalize")
    sys.exit(len(lines) != len(SHAPES))


if __name__ == "__main__":
    main()
