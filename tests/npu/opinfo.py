# SPDX-License-Identifier: Apache-2.0
"""PyTorch's operator database on the device: each sample must give the bits that the CPU gives.

As a script it goes through all of it: ``softnpu run tests/npu/opinfo.py -- [--samples N] [NAMES]``
"""

from __future__ import annotations

import argparse
import sys
import time
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import torch
from torch import Tensor
from torch.testing._internal.common_methods_invocations import op_db
from torch.utils._pytree import tree_flatten, tree_map

from softnpu.toml import read

# The types that the device has.
DTYPES = (
    torch.float32,
    torch.float16,
    torch.bfloat16,
    torch.complex64,
    torch.int64,
    torch.int32,
    torch.int16,
    torch.int8,
    torch.uint8,
    torch.bool,
)
LISTS = read(Path(__file__).with_name("opinfo_exceptions.toml"))


def title(op: Any) -> str:
    """Name an entry as the list of exceptions does."""
    return f"{op.name}.{op.variant_test_name}" if op.variant_test_name else op.name


def exceptions() -> dict[str, str]:
    """Read which entries differ, and why."""
    return {name: reason for reason, names in LISTS["reasons"].items() for name in names}


def differences(op: Any, samples: int | None = None) -> list[str]:
    """Compare an entry on the device and on the CPU, with ``samples`` inputs of each type."""
    found = []
    for dtype in DTYPES:
        if dtype not in op.supported_dtypes("cpu"):
            continue
        gradients = op.supports_autograd and dtype in op.supported_backward_dtypes("cpu")
        for number, sample in enumerate(op.sample_inputs("cpu", dtype, requires_grad=gradients)):
            if samples is not None and number >= samples:
                break
            if not names_device(sample):
                continue
            for form, function in forms(op, sample):
                what = difference(function, sample, gradients)
                if what:
                    found.append(f"{dtype} sample {number} {form}: {what}")
    return found


def names_device(sample: Any) -> bool:
    """Whether anything says where a call's results are to be."""
    leaves = tree_flatten((sample.input, sample.args))[0]
    return "device" in sample.kwargs or any(isinstance(leaf, Tensor) for leaf in leaves)


def forms(op: Any, sample: Any) -> Iterator[tuple[str, Any]]:
    """Give the ways of calling an operator."""
    if title(op) in LISTS["contents_undefined"]:
        yield "", lambda *args, **kw: _layout(op.op(*args, **kw))
    elif title(op) in LISTS["arguments_on_cpu"]:
        yield "", lambda first, *args, **kw: op.op(first, *tree_map(_to_cpu, args), **kw)
    else:
        yield "", op.op
    if op.inplace_variant and not (sample.broadcasts_input or not isinstance(sample.input, Tensor)):
        yield "in place", lambda first, *args, **kw: op.inplace_variant(first.clone(), *args, **kw)


def _layout(result: Tensor) -> Any:
    return torch.zeros_like(result), result.stride()


def _to_cpu(value: Any) -> Any:
    return value.cpu() if isinstance(value, Tensor) else value


def difference(function: Any, sample: Any, gradients: bool) -> str:
    """Say how the device's results differ from the CPU's; "" if they do not."""
    expected = outcome(function, sample, "cpu", gradients)
    got = outcome(function, sample, "npu", gradients)
    what = compare(expected, got) or misplaced(got)
    runs = (outcome(function, sample, "cpu", gradients) for _ in range(3 if what else 0))
    if any(compare(expected, again) for again in runs):
        return ""  # not even the CPU's results are equal to each other
    return what


def outcome(function: Any, sample: Any, device: str, gradients: bool) -> Any:
    """Run a function and its gradient; give all tensors, or the error."""
    moved: dict[int, Tensor] = {}

    def move(value: Any) -> Any:
        if isinstance(value, Tensor):
            if id(value) not in moved:
                on_device = value.detach().to(device, copy=True)
                moved[id(value)] = on_device.requires_grad_(value.requires_grad)
            return moved[id(value)]
        if isinstance(value, torch.device) or value == "cpu":
            return torch.device(device)
        return value

    arguments = tree_map(move, (sample.input, sample.args, sample.kwargs))
    torch.manual_seed(7)
    try:
        first, args, kwargs = arguments
        result = function(first, *args, **kwargs)
        if sample.output_process_fn_grad and gradients:
            result = sample.output_process_fn_grad(result)
    except Exception as error:
        return error
    outputs = [leaf for leaf in tree_flatten(result)[0] if isinstance(leaf, Tensor)]
    tensors = list(outputs)
    if gradients:
        try:
            tensors += _gradients(outputs, [t for t in moved.values() if t.requires_grad])
        except Exception as error:
            return error
    other = [leaf for leaf in tree_flatten(result)[0] if not isinstance(leaf, Tensor)]
    return tensors, other


def _gradients(outputs: list[Tensor], inputs: list[Tensor]) -> list[Tensor]:
    recorded = [t for t in outputs if t.requires_grad]
    if not recorded or not inputs:
        return []
    seeds = [
        torch.linspace(0.5, 1.5, t.numel()).to(t.dtype).view(t.shape).to(t.device) for t in recorded
    ]
    found = torch.autograd.grad(recorded, inputs, seeds, allow_unused=True)
    return [t for t in found if t is not None]


def misplaced(got: Any) -> str:
    """Say which result is not on the device."""
    tensors = [] if isinstance(got, Exception) else got[0]
    return next((f"a result on {t.device}" for t in tensors if t.device.type != "npu"), "")


def compare(expected: Any, got: Any) -> str:
    """Say how two outcomes differ."""
    if isinstance(expected, Exception):
        return "" if isinstance(got, Exception) else f"no error, but the CPU raises {expected!r}"
    if isinstance(got, Exception):
        return f"{type(got).__name__}: {str(got).splitlines()[0] if str(got) else ''}"
    if len(expected[0]) != len(got[0]):
        return f"{len(got[0])} tensors instead of {len(expected[0])}"
    for place, (a, b) in enumerate(zip(expected[0], got[0], strict=True)):
        what = compare_tensors(a.detach(), b.detach())
        if what:
            return f"result {place}: {what}"
    return "" if str(expected[1]) == str(got[1]) else f"{got[1]} instead of {expected[1]}"


def compare_tensors(a: Tensor, b: Tensor) -> str:
    """Say how two tensors differ."""
    if a.dtype != b.dtype:
        return f"type {b.dtype} instead of {a.dtype}"
    if a.shape != b.shape:
        return f"shape {list(b.shape)} instead of {list(a.shape)}"
    if a.layout == torch.strided and a.stride() != b.stride():
        return f"strides {b.stride()} instead of {a.stride()}"
    x, y = a, b.cpu()
    equal = torch.eq(x, y) | (torch.isnan(x) & torch.isnan(y))
    return "" if bool(equal.all()) else f"{int((~equal).sum())} of {x.numel()} elements differ"


def main() -> None:
    """Go through the whole database, and report what differs."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--samples", type=int)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--last", type=int, default=len(op_db))
    parser.add_argument("names", nargs="*")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    torch.set_num_threads(1)
    start, good, known, total = time.monotonic(), 0, exceptions(), 0
    for op in op_db[options.first : options.last]:
        if options.names and title(op) not in options.names and op.name not in options.names:
            continue
        total += 1
        try:
            found = differences(op, options.samples)
        except Exception as error:
            found = [f"{type(error).__name__}: {str(error).splitlines()[0]}"]
        good += not found
        if found and (title(op) not in known or options.names):
            print(f"{title(op)}: {len(found)}: {found[0]}", flush=True)
    print(f"{good} of {total} entries equal, {time.monotonic() - start:.0f} s", file=sys.stderr)


if __name__ == "__main__":
    main()
