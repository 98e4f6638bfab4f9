# SPDX-License-Identifier: Apache-2.0
"""elu, selu and smooth_l1 with an output that is given."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any

import softnpu
from softnpu.bench.arrays import Arrays, distinct, itemsize
from softnpu.bench.cases import case as groups
from softnpu.bench.cases.case import GRID, Call, Case, Prepared
from softnpu.bench.cases.shapes import shape_for

ALPHA = 1.6732632423543772848170429916717
SCALE = 1.0507009873554804934193349852946

FLOATS = ("float32", "float16", "bfloat16")
# The operators as the table names them, with the variant that decides what they compute.
ELU = ("elu_backward", "exp")
ELU_Y = ("elu_backward", "result")
SELU = ("selu_backward", "")
SMOOTH_L1 = ("smooth_l1_loss_backward", "")

# self, behind gradOutput: PyTorch's loops over strides branch on its values.
X = 1
# With so many elements each call finds other values there, as it does in a program. What does not
# change is learned: two threads, selu sliced float32 64K, PyTorch 45 us instead of 180. With more
# it is not, and fewer take less than 2 us, of which a clock for each call would be too much.
RENEWED = range(1 << 13, 1 << 19)


@dataclass(frozen=True)
class Operand:
    """One array: its shape, its data type, and how it lies in memory."""

    shape: tuple[int, ...]
    dtype: str
    layout: str = "contiguous"

    @property
    def bytes(self) -> int:
        """What has to be moved to read or write each of its elements once."""
        return distinct(self.shape, self.layout) * itemsize(self.dtype)


@dataclass(frozen=True)
class Elementwise:
    """Inputs, an output, and the operator between them."""

    operator: tuple[str, str]
    inputs: tuple[Operand, ...]
    out: Operand
    reduction: int = 0

    def prepare(self, arrays: Arrays) -> Prepared:
        """Make the arrays and bind both sides to them."""
        inputs = [
            arrays.values(one.shape, one.dtype, seed, one.layout)
            for seed, one in enumerate(self.inputs)
        ]
        out = arrays.empty(self.out.shape, self.out.dtype, self.out.layout)
        # PyTorch has no integers here.
        if arrays.torch is None or self.inputs[0].dtype.startswith("int"):
            return Prepared(self._ours(inputs, out), None, out)
        renew = None
        if math.prod(self.out.shape) in RENEWED:
            inputs[X], renew = arrays.renewed(
                self.inputs[X].shape, self.inputs[X].dtype, X, self.inputs[X].layout
            )
        call = torch_call(arrays.torch, "grad_input", self.operator, inputs, self.reduction)
        return Prepared(self._ours(inputs, out), partial(call, grad_input=out), out, renew)

    def _ours(self, inputs: list[Any], out: Any) -> Call:
        return partial(softnpu_call(self.operator, inputs, self.reduction), out=out)

    def case(self, group: str, layout: str, size: str, variant: str = "", dtype: str = "") -> Case:
        """Name it."""
        operands = (*self.inputs, self.out)
        return Case(
            group=group,
            operator=self.operator[0],
            variant="-".join(word for word in (self.operator[1], variant) if word),
            dtype=dtype or self.inputs[0].dtype,
            layout=layout,
            size=size,
            elements=math.prod(self.out.shape),
            bytes=sum(operand.bytes for operand in operands),
            prepare=self.prepare,
        )


def softnpu_call(operator: tuple[str, str], inputs: list[Any], reduction: int = 0) -> Any:
    """Bind softnpu's function to inputs; out is left to be given, or not."""
    if operator == SELU:
        return partial(softnpu.selu_backward, *inputs)
    if operator == SMOOTH_L1:
        grad, x, target = inputs
        return partial(softnpu.smooth_l1_loss_backward, grad, x, target, reduction, 1.0)
    grad, x = inputs
    return partial(softnpu.elu_backward, grad, 1.0, 1.0, 1.0, operator == ELU_Y, x)


def torch_call(
    torch: Any, overload: str, operator: tuple[str, str], inputs: list[Any], reduction: int = 0
) -> Any:
    """Bind PyTorch's operator, its overload looked up once, to the same."""
    if operator == SMOOTH_L1:
        function = getattr(torch.ops.aten.smooth_l1_loss_backward, overload)
        return partial(function, *inputs, reduction, 1.0)
    function = getattr(torch.ops.aten.elu_backward, overload)
    grad, x = inputs
    if operator == SELU:
        return partial(function, grad, ALPHA, SCALE, 1.0, True, x)
    return partial(function, grad, 1.0, 1.0, 1.0, operator == ELU_Y, x)


def cases() -> Iterator[Case]:
    """All of them, class by class."""
    yield from _contiguous()
    yield from _broadcast()
    yield from _strided()
    yield from _outputs()
    yield from _mixed()


def uniform(
    operator: tuple[str, str],
    dtype: str,
    size: str,
    layouts: tuple[str, ...],
    out: str = "contiguous",
    shape_layout: str = "contiguous",
) -> Elementwise:
    """All operands of one shape and type; a layout for each of the inputs."""
    shape = shape_for(shape_layout, size)
    inputs = tuple(Operand(shape, dtype, layout) for layout in layouts)
    return Elementwise(operator, inputs, Operand(shape, dtype, out))


def inputs_of(operator: tuple[str, str]) -> int:
    """Count the operator's inputs."""
    return 3 if operator == SMOOTH_L1 else 2


def _contiguous() -> Iterator[Case]:
    """Everything dense. float32 is measured at many sizes: bandwidth and time per element."""
    for group, operator in (
        (groups.ELU_EXP, ELU),
        (groups.ELU_RESULT, ELU_Y),
        (groups.ELU_RESULT, SELU),
        (groups.SMOOTH, SMOOTH_L1),
    ):
        count = inputs_of(operator)
        ladder = ("1K", "16K", "64K", "256K", "1M", "4M", "16M", "64M", "256M")
        for dtype in FLOATS:
            for size in GRID if operator == ELU_Y or dtype != "float32" else ladder:
                same = uniform(operator, dtype, size, ("contiguous",) * count)
                yield same.case(group, "contiguous", size)
        for dtype, sizes in (("float32", ("64K", "1M", "16M")), ("float16", ("1M",))):
            for size in sizes:
                same = uniform(operator, dtype, size, ("offset",) * count, "offset")
                yield same.case(group, "offset", size)
        for size in ("64K", "1M", "16M"):
            layouts = ("power-of-two",) * count
            same = uniform(operator, "float32", size, layouts, layouts[0], layouts[0])
            yield same.case(group, "power-of-two", size)
    for dtype in ("int32", "int8"):
        for size in ("1M", "16M"):
            same = uniform(SELU, dtype, size, ("contiguous",) * 2)
            yield same.case(groups.ELU_RESULT, "contiguous", size)


def _broadcast() -> Iterator[Case]:
    """smooth_l1 with operands of fewer elements, as losses have them."""
    for dtype in FLOATS:
        for size in GRID:
            rows, columns = shape_for("contiguous", size)
            full = Operand((rows, columns), dtype)
            row = Operand((1, columns), dtype)
            column = Operand((rows, 1), dtype)
            scalar = Operand((), dtype)
            flat = Operand((rows, columns), dtype, "stride-0")
            for layout, inputs, reduction in (
                ("rows", (full, full, row), 0),
                ("columns", (full, full, column), 0),
                ("scalar", (scalar, full, full), 1),
                ("stride-0", (flat, full, full), 0),
            ):
                one = Elementwise(SMOOTH_L1, inputs, full, reduction)
                yield one.case(groups.SMOOTH, layout, size, "mean" if reduction else "")


def _strided() -> Iterator[Case]:
    """One input that lies in memory unlike the others and the output."""
    for operator in (ELU, SELU, SMOOTH_L1):
        group = groups.SMOOTH_STRIDED if operator == SMOOTH_L1 else groups.ELU_STRIDED
        dense = ("contiguous",) * (inputs_of(operator) - 1)
        layouts = ["transposed", "channels-last", "sliced"]
        for layout in [*layouts, "stride-0"] if operator != SMOOTH_L1 else layouts:
            for dtype in FLOATS[:2] if layout == "stride-0" else FLOATS:
                for size in GRID:
                    other = uniform(
                        operator, dtype, size, (*dense, layout), shape_layout=_shaped(layout)
                    )
                    yield other.case(group, layout, size)
        for size in ("64K", "1M", "16M"):
            turned = (*dense, "transposed")
            other = uniform(operator, "float32", size, turned, shape_layout="power-of-two")
            yield other.case(group, "transposed-power-of-two", size)


def _outputs() -> Iterator[Case]:
    """Dense inputs, and an output that is not."""
    for operator in (ELU, SELU, SMOOTH_L1):
        dense = ("contiguous",) * inputs_of(operator)
        for layout in ("transposed", "channels-last", "sliced"):
            for dtype in ("float32", "bfloat16"):
                for size in ("64K", "1M", "16M"):
                    other = uniform(operator, dtype, size, dense, layout, _shaped(layout))
                    yield other.case(groups.OUTPUTS, f"out-{layout}", size)


def _shaped(layout: str) -> str:
    return "channels-last" if layout == "channels-last" else "contiguous"


def _mixed() -> Iterator[Case]:
    """Results of another type than the inputs, and inputs that are promoted."""
    mixes = (
        (ELU, ("float32", "float32"), "float16"),
        (ELU, ("float16", "float16"), "float32"),
        (ELU, ("bfloat16", "bfloat16"), "float32"),
        (ELU, ("float32", "float32"), "float64"),
        (SMOOTH_L1, ("float16", "float32", "float32"), "float32"),
        (SMOOTH_L1, ("bfloat16", "float16", "bfloat16"), "float32"),
        (SMOOTH_L1, ("float32", "bfloat16", "bfloat16"), "bfloat16"),
    )
    for operator, types, out in mixes:
        for size in ("64K", "1M", "16M"):
            shape = shape_for("contiguous", size)
            inputs = tuple(Operand(shape, dtype) for dtype in types)
            names = "-".join(dict.fromkeys(types))
            one = Elementwise(operator, inputs, Operand(shape, out))
            yield one.case(groups.MIXED, "contiguous", size, dtype=f"{names}-to-{out}")
