# SPDX-License-Identifier: Apache-2.0
"""Interpolation and its transposes, against PyTorch in float64."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from softnpu.errors import ParamInvalidError
from tests.everyday.arrays import FLOATS
from tests.everyday.layers import LAYOUTS, assert_rounded, data, unwritten
from tests.support.described import call

torch = pytest.importorskip("torch")
pytestmark = pytest.mark.torch
aten = torch.ops.aten

# spatial sizes of the small and of the large tensor, and scales
ONE = [([4], [8], []), ([5], [3], []), ([1], [4], []), ([4], [10], [2.5]), ([6], [1], [])]
TWO = [
    ([4, 3], [8, 7], []),
    ([5, 6], [2, 9], []),
    ([1, 1], [3, 2], []),
    ([4, 6], [8, 9], [2.0, 1.5]),
    ([3, 4], [3, 4], []),
]
# name, sizes, whether there is alignCorners, forward operator of PyTorch, forward of softnpu
KINDS: dict[str, tuple[list[Any], bool, Any, bool]] = {
    "UpsampleNearest1d": (ONE, False, aten.upsample_nearest1d, False),
    "UpsampleNearest2d": (TWO, False, aten.upsample_nearest2d, True),
    "UpsampleLinear1d": (ONE, True, aten.upsample_linear1d, True),
    "UpsampleBilinear2d": (TWO, True, aten.upsample_bilinear2d, True),
    "UpsampleBicubic2d": (TWO, True, aten.upsample_bicubic2d, True),
}
CASES = [
    (name, sizes, align)
    for name, (all_sizes, aligns, *_) in KINDS.items()
    for sizes in all_sizes
    for align in ((False, True) if aligns else (False,))
]


@pytest.mark.parametrize(("name", "sizes", "align"), CASES, ids=str)
@pytest.mark.parametrize("dtype", FLOATS, ids=str)
@pytest.mark.parametrize("layout", LAYOUTS)
def test_upsampling(name: str, sizes: Any, align: bool, dtype: Any, layout: str) -> None:
    """Forward and backward, with scales or without."""
    small, large, scales = sizes
    _, aligns, reference, has_forward = KINDS[name]
    x = data(dtype, (2, 3, *small), 1, layout)
    source = torch.from_numpy(x.astype("f8")).requires_grad_()
    flags = [align] if aligns else []
    y = reference(source, large, *flags, *(scales or [None] * len(small)))
    absent = [-1.0, 0.0] if layout == "sliced" else [0.0, -1.0]
    numbers = scales or absent[: len(small)]
    if has_forward and not (name == "UpsampleNearest2d" and scales):  # which has no scales
        out = unwritten(dtype, y.shape, layout)
        call(name, x, large, *flags, *(numbers if aligns else []), out)
        assert_rounded(out, y.detach().numpy())
    grad = data(dtype, tuple(y.shape), 2, layout)
    (wanted,) = torch.autograd.grad(y, source, torch.from_numpy(grad.astype("f8")))
    result = unwritten(dtype, x.shape, layout)
    call(f"{name}Backward", grad, large, x.shape, *flags, *numbers, result)
    assert_rounded(result, wanted.numpy())


@pytest.mark.parametrize(("small", "large"), [(2, 82), (7, 3), (10, 49), (1000, 333)])
def test_nearest_is_exact(small: int, large: int) -> None:
    """The source of element i is floor(i * in / out), in integers."""
    x, out = data("f4", (1, 1, small, 2)), unwritten("f4", (1, 1, large, 2))
    call("UpsampleNearest2d", x, [large, 2], out)
    np.testing.assert_array_equal(out, x[:, :, np.arange(large) * small // large])


@pytest.mark.parametrize("scale", [1e-320, 1e-12])
def test_scales_far_from_the_sizes(scale: float) -> None:
    """All elements but the first come from the last."""
    grad, result = np.ones((1, 1, 5), "f4"), unwritten("f4", (1, 1, 3))
    call("UpsampleNearest1dBackward", grad, [5], [1, 1, 3], scale, result)
    np.testing.assert_array_equal(result, [[[1, 0, 4]]])
    call("UpsampleLinear1dBackward", grad, [5], [1, 1, 3], False, scale, result)
    np.testing.assert_array_equal(result, [[[0, 0, 5]]])


def test_mistakes() -> None:
    """Each is found in phase one."""
    x, out = np.zeros((1, 2, 3, 4), "f4"), np.zeros((1, 2, 6, 8), "f4")
    with pytest.raises(ParamInvalidError, match="out has shape"):
        call("UpsampleNearest2d", x, [6, 9], out)
    with pytest.raises(ParamInvalidError, match="expected 2 elements"):
        call("UpsampleNearest2d", x, [6], out)
    with pytest.raises(ParamInvalidError, match="expected spatial sizes above 0"):
        call("UpsampleNearest2d", x, [0, 8], out)
    with pytest.raises(ParamInvalidError, match="self has shape"):
        call("UpsampleBilinear2d", x[0], [6, 8], True, 0.0, 0.0, out)
    with pytest.raises(ParamInvalidError, match="gradInput has shape"):
        call("UpsampleBilinear2dBackward", out, [6, 8], [1, 2, 3, 5], True, 0.0, 0.0, x)
    with pytest.raises(ParamInvalidError, match="gradOut has shape"):
        call("UpsampleBicubic2dBackward", out, [6, 7], [1, 2, 3, 4], True, 0.0, 0.0, x)
