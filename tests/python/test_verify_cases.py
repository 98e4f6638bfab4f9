# SPDX-License-Identifier: Apache-2.0
"""What `softnpu.verify` takes, and what it refuses."""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import pytest

import softnpu
from tests.python.foreign import Foreign
from tests.python.judged import (
    ELU,
    right_case,
    small,
)


def test_arrays_of_bytes_are_bfloat16() -> None:
    """Law: what NumPy's files make of bfloat16 is read as that."""
    case = right_case(ELU, ml_dtypes.bfloat16)
    raw = {n: v.view("V2") if isinstance(v, np.ndarray) else v for n, v in case.items()}
    assert softnpu.verify(ELU, raw).dtype == "bfloat16"


def test_other_byte_orders_and_strides() -> None:
    """Law: neither matters."""
    case = small()
    case["gradInput"] = case["gradInput"].astype(">f4")
    case["gradOutput"] = np.ones((4, 4), np.float32)[::2, ::2]
    assert softnpu.verify(ELU, case).ok


def test_arrays_of_other_libraries() -> None:
    """Law: any array on the CPU that speaks DLPack is read."""
    case = {n: Foreign(v) if isinstance(v, np.ndarray) else v for n, v in small().items()}
    assert softnpu.verify(ELU, case).ok


def test_files(tmp_path: Path) -> None:
    """Law: the path of an .npz file stands for what it holds."""
    np.savez(tmp_path / "case.npz", **small())
    assert softnpu.verify(ELU, tmp_path / "case.npz").ok
    assert softnpu.verify(ELU, str(tmp_path / "case.npz")) == softnpu.verify(ELU, small())
    with pytest.raises(FileNotFoundError):
        softnpu.verify(ELU, tmp_path / "other.npz")


def test_empty_results() -> None:
    """Law: nothing is right."""
    none = np.empty((0, 2), np.float32)
    report = softnpu.verify("aclnnSelu", {"self": none, "out": none})
    assert (report.ok, report.elements, report.histogram) == (True, 0, {})
    assert "passes" in str(report)


# What is refused, and what the message says of it.
REFUSED: list[tuple[Callable[[], Any], list[str]]] = [
    (lambda: softnpu.verify("aclnnRelu", {}), ["no documented operator 'aclnnRelu'"]),
    (lambda: softnpu.verify("elu_backwards", {}), ["aclnnEluBackward"]),
    (
        lambda: softnpu.verify(ELU, {n: v for n, v in small().items() if n != "alpha"}),
        [ELU, "missing: alpha", "expected: gradOutput, alpha"],
    ),
    (
        lambda: softnpu.verify(ELU, small(grad_input=1, beta=2)),
        [ELU, "unknown: grad_input, beta", "expected: gradOutput"],
    ),
    (
        lambda: softnpu.verify(ELU, small(gradInput=np.ones((2, 3), np.float32))),
        [ELU, "gradInput has shape [2, 3]", "[2, 2]"],
    ),
    (
        lambda: softnpu.verify(ELU, small(gradInput=np.ones((2, 2), np.int32))),
        [ELU, "gradInput", "INT32"],
    ),
    (
        lambda: softnpu.verify(ELU, small(gradOutput=np.ones((2, 2)))),
        [ELU, "gradOutput", "DOUBLE"],
    ),
    (
        lambda: softnpu.verify(ELU, small(gradOutput=np.array([["a"]]))),
        [ELU, "gradOutput has data type <U1", "float32"],
    ),
    (lambda: softnpu.verify(ELU, small(alpha=[1.0, 2.0])), [ELU, "alpha has shape (2,)", "single"]),
    (
        lambda: softnpu.verify(ELU, small(gradOutput=[[1.0], [1.0, 2.0]])),
        [ELU, "gradOutput, of class list, is no array"],
    ),
    (lambda: softnpu.verify(ELU, small(alpha=-1.0)), [ELU, "alpha", "-1"]),
    (lambda: softnpu.verify(ELU, small(alpha="one")), [ELU, "alpha", "expected a number"]),
    (
        lambda: softnpu.verify("aclnnInplaceSelu", {"selfRef": np.ones(2), "out": np.ones(3)}),
        ["aclnnInplaceSelu", "out has shape [3]", "selfRef has shape [2]"],
    ),
    (
        lambda: softnpu.verify("selu_", {"selfRef": np.ones(2, "f4"), "out": np.ones(2, "f2")}),
        ["aclnnInplaceSelu", "out has data type float16", "float32"],
    ),
    (
        lambda: softnpu.verify("smooth_l1_loss", right_case("smooth_l1_loss") | {"reduction": 3}),
        ["aclnnSmoothL1Loss", "reduction", "3"],
    ),
    (
        lambda: softnpu.verify(
            "upsample_nearest3d", right_case("upsample_nearest3d") | {"outputSize": 2}
        ),
        ["aclnnUpsampleNearest3d", "outputSize has shape ()", "list"],
    ),
    (
        lambda: softnpu.verify(
            "max_unpool3d", right_case("max_unpool3d") | {"indices": np.full((2, 3, 1, 2, 4), 24)}
        ),
        ["aclnnMaxUnpool3d", "indices", "24"],
    ),
    (lambda: softnpu.verify(ELU, small(), rtol=-1), ["rtol is -1", "0 or more"]),
    (lambda: softnpu.verify(ELU, small(), ulp=math.nan), ["ulp is nan"]),
    (lambda: softnpu.verify(ELU, small(), atol=math.inf), ["atol is inf"]),
]


@pytest.mark.parametrize(("call", "parts"), REFUSED, ids=[parts[-1] for _, parts in REFUSED])
def test_bad_input_is_refused(call: Callable[[], Any], parts: list[str]) -> None:
    """Law: what cannot be judged is a ValueError that names argument, value and expectation."""
    with pytest.raises(ValueError, match=re.escape(parts[0])) as caught:
        call()
    assert [part for part in parts if part not in str(caught.value)] == []
