# SPDX-License-Identifier: Apache-2.0
"""Finds the inputs from which one element of a result was computed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from softnpu.reference.upsample_nearest3d_backward import starts

if TYPE_CHECKING:
    from softnpu.judging.case import Case

Array = npt.NDArray[Any]
Index = tuple[int, ...]


def inputs_at(case: Case, indices: list[Index]) -> list[dict[str, Any]]:
    """Return each element's inputs by name, with the index if it differs from the element's."""
    if case.contract.table["elementwise"]:
        return [_elementwise(case, index) for index in indices]
    if "inputSize" in case.inputs:
        return [_summed(case, index) for index in indices]
    return _moved(case, indices)


def _elementwise(case: Case, index: Index) -> dict[str, Any]:
    """Return one element of each input, unless they were reduced."""
    shape = np.broadcast_shapes(*(array.shape for array in case.tensors.values()))
    if shape != case.got.shape:
        return {}
    return {
        name: number(np.broadcast_to(array, shape)[index]) for name, array in case.tensors.items()
    }


def _moved(case: Case, indices: list[Index]) -> list[dict[str, Any]]:
    """Return the element that was copied, found by running the operator on positions."""
    name, values = next(iter(case.tensors.items()))
    if not indices:
        return []
    places = case.reference({name: np.arange(1, values.size + 1).reshape(values.shape)})
    found = []
    for place in (int(places[index]) for index in indices):
        # An unpooled result has zeros between the copies.
        source = tuple(map(int, np.unravel_index(max(place - 1, 0), values.shape)))
        found.append({f"{name}{list(source)}": number(values[source])} if place else {})
    return found


def _summed(case: Case, index: Index) -> dict[str, Any]:
    """Return the range of elements that were added."""
    name = next(iter(case.tensors))
    first = 1 if case.format == "NDHWC" else 2
    scales = [float(case.inputs[scale]) for scale in ("scalesD", "scalesH", "scalesW")]
    parts, count = [str(i) for i in index], 1
    for axis, (out, scale) in enumerate(zip(case.inputs["outputSize"], scales, strict=True), first):
        edges = starts(case.got.shape[axis], out, scale if min(scales) > 0 else None)
        begin, end = edges[index[axis]], edges[index[axis] + 1]
        parts[axis], count = f"{begin}:{end}", count * int(end - begin)
    return {f"{name}[{', '.join(parts)}]": f"{count} terms"}


def number(value: Any) -> int | float:
    """Convert a NumPy number, also a bfloat16, to a Python number."""
    return int(value) if np.asarray(value).dtype.kind in "iu" else float(value)
