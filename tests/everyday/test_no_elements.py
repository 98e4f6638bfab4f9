# SPDX-License-Identifier: Apache-2.0
"""Tensors without elements take neither time nor memory, however large their other sizes are."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tests.support.described import call

MANY = 2**40
NONE, INDICES = np.zeros((MANY, 0), "f4"), np.zeros((MANY, 0), "i8")
EMPTY_BATCH, PLANES = np.zeros((0, 1, 2, 2), "f4"), np.zeros((0, 1, 2**20, 2**20), "f4")
MATRICES = np.zeros((MANY, 0, 0), "f4")
NO_INDEX = np.zeros(0, "i8")
NO_WEIGHT, WEIGHT = np.zeros(0, "f4"), np.ones(4, "f4")
PLANELESS = np.zeros((MANY, 4, 0), "f4")
HEADS, ROWS = np.zeros((1, MANY, 0, 4), "f4"), np.zeros((1, MANY, 0, 8), "f4")
FLASH = (
    *(HEADS, HEADS, HEADS, HEADS, *[None] * 4, ROWS, ROWS, None, HEADS, None),
    *(1.0, 1.0, 0, 0, MANY, "BNSD", 0, 0, HEADS, HEADS, HEADS, None),
)

CASES: list[tuple[str, Any]] = [
    ("Softmax", (NONE, 1, NONE)),
    ("LayerNorm", (NONE, [0], None, None, 1e-5, NONE, None, None)),
    ("LayerNorm", (NONE, [0], NO_WEIGHT, NO_WEIGHT, 1e-5, NONE, None, None)),
    ("GroupNorm", (PLANELESS, WEIGHT, WEIGHT, MANY, 4, 0, 2, 1e-5, PLANELESS, None, None)),
    ("BatchNorm", (PLANELESS, *[WEIGHT] * 4, True, 0.1, 1e-5, PLANELESS, WEIGHT, WEIGHT)),
    ("Eye", (MANY, 0, NONE)),
    ("Repeat", (np.zeros((1, 1), "f4"), [MANY, 0], NONE)),
    ("Triu", (NONE, 0, NONE)),
    ("FlashAttentionScoreGrad", FLASH),
    ("SoftmaxBackward", (NONE, NONE, 1, NONE)),
    ("SwiGlu", (NONE, 1, NONE)),
    ("LinalgCross", (*[np.zeros((MANY, 3, 0), "f4")] * 2, 1, np.zeros((MANY, 3, 0), "f4"))),
    ("Sort", (NONE, True, 1, False, NONE, INDICES)),
    ("Topk", (NONE, 0, 1, True, True, NONE, INDICES)),
    ("IndexSelect", (NONE, 1, NO_INDEX, NONE)),
    ("IndexAdd", (NONE, 1, NO_INDEX, NONE, 1.0, NONE)),
    ("Index", (NONE, [None, NO_INDEX.reshape(0, 1)], np.zeros((MANY, 0, 1), "f4"))),
    ("InplaceMaskedScatter", (NONE, np.zeros((1, 1), "?"), np.zeros(1, "f4"))),
    (
        "BatchMatMul",
        (*(np.zeros((MANY, *s), "f4") for s in ((0, 3), (3, 0), (0, 0))), 0),
    ),
    (
        "TriangularSolve",
        (MATRICES, MATRICES, True, False, False, MATRICES.copy(), MATRICES.copy()),
    ),
    (
        "Convolution",
        (
            *(np.zeros((0, 0, 5), "f4"), np.zeros((MANY, 0, 3), "f4"), None),
            *([1], [0], [1], False, [0], 1, np.zeros((0, MANY, 3), "f4"), 0),
        ),
    ),
    ("AvgPool2d", (PLANES, [1, 1], [1, 1], [0, 0], False, True, 0, 0, PLANES)),
    ("AdaptiveAvgPool2d", (np.zeros((1, 4, 4), "f4"), [MANY, 0], np.zeros((1, MANY, 0), "f4"))),
    ("UpsampleNearest2d", (EMPTY_BATCH, [MANY, 2], np.zeros((0, 1, MANY, 2), "f4"))),
]


@pytest.mark.parametrize(("name", "values"), CASES)
def test_nothing_to_do(name: str, values: Any) -> None:
    """The call succeeds at once."""
    call(name, *values)
