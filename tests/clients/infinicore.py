# SPDX-License-Identifier: Apache-2.0
"""Builds InfiniCore's operators for Ascend against softnpu, and compares them with NumPy.

    python tests/clients/infinicore.py CHECKOUT [--build DIR]

CHECKOUT is one of https://github.com/InfiniTensor/InfiniCore; it is not changed. The operators that
call aclnn alone are compiled; those with kernels in Ascend C are not. This is not one of the tests.
"""

from __future__ import annotations

import argparse
import ctypes as ct
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np

ASCEND = 3  # of infiniDevice_t
TO_DEVICE, TO_HOST = 1, 2  # of infinirtMemcpyKind_t
TYPES = {"bool": 2, "int32": 5, "int64": 6, "float16": 12, "float32": 13, "bfloat16": 19}
SOURCES = [
    "src/infinirt/infinirt.cc",
    "src/infinirt/cpu/*.cc",
    "src/infinirt/ascend/*.cc",
    "src/infiniop/devices/handle.cc",
    "src/infiniop/devices/ascend/*.cc",
    "src/infiniop/*.cc",
    "src/utils/*.cc",
]
OPERATORS = ["add", "causal_softmax", "embedding", "gemm", "rearrange", "rms_norm"]
LIBRARIES = ["ascendcl", "nnopbase", "opapi", "runtime"]
BF16 = np.dtype(ml_dtypes.bfloat16)
ROUNDING = {"float32": 1e-6, "float16": 1e-3, "bfloat16": 8e-3}


def build(checkout: Path, folder: Path) -> ct.CDLL:
    """Lay out a toolkit and compile a library of the operators."""
    subprocess.run(["softnpu", "sdk", "--install", folder / "toolkit"], check=True)
    home = folder / "toolkit" / "ascend-toolkit" / "latest"
    found = [*SOURCES]
    for each in OPERATORS:
        found += [f"src/infiniop/ops/{each}/operator.cc", f"src/infiniop/ops/{each}/ascend/*.cc"]
    sources = [path for pattern in found for path in sorted(checkout.glob(pattern))]
    objects = []
    for source in sources:
        objects.append(folder / ("_".join(source.relative_to(checkout).parts) + ".o"))
        flags = ["-std=c++17", "-O1", "-fPIC", "-DENABLE_ASCEND_API", "-DENABLE_CPU_API"]
        flags += ["-fopenmp", f"-I{checkout / 'include'}", f"-I{home / 'include'}"]
        # Of the CPU's operators, only the headers are at hand.
        flags = [f for f in flags if f != "-DENABLE_CPU_API" or "infiniop" not in source.parts]
        subprocess.run(["g++", *flags, "-c", source, "-o", objects[-1]], check=True)
    library = folder / "libinfini.so"
    links = [f"-L{home / 'lib64'}", f"-Wl,-rpath,{home / 'lib64'}", *(f"-l{x}" for x in LIBRARIES)]
    subprocess.run(["g++", "-shared", *objects, *links, "-fopenmp", "-o", library], check=True)
    return ct.CDLL(str(library), os.RTLD_LAZY)


class Infini:
    """The C API, on NumPy arrays."""

    def __init__(self, library: ct.CDLL) -> None:
        self._library = library
        self._handle = ct.c_void_p()
        self.call("infinirtInit")
        self.call("infinirtSetDevice", ASCEND, 0)
        self.call("infiniopCreateHandle", ct.byref(self._handle))

    def call(self, name: str, *arguments: Any) -> None:
        """Call a function; its status must be 0."""
        status = getattr(self._library, name)(*arguments)
        if status != 0:
            raise RuntimeError(f"{name} returns {status}")

    def copy(self, array: Any) -> ct.c_void_p:
        """Copy an array to the device, without the gaps between its elements."""
        address = ct.c_void_p()
        size = ct.c_size_t(max(array.nbytes, 1))
        self.call("infinirtMalloc", ct.byref(address), size)
        data = ct.c_void_p(array.ctypes.data)
        self.call("infinirtMemcpy", address, data, ct.c_size_t(array.nbytes), TO_DEVICE)
        return address

    def describe(self, array: Any) -> ct.c_void_p:
        """Make a descriptor of an array's sizes and strides."""
        found = ct.c_void_p()
        sizes = (ct.c_size_t * array.ndim)(*array.shape)
        steps = (ct.c_ssize_t * array.ndim)(*(s // array.itemsize for s in array.strides))
        kind = TYPES[array.dtype.name]
        self.call(
            "infiniopCreateTensorDescriptor", ct.byref(found), ct.c_size_t(array.ndim), sizes,
            steps, kind,
        )  # fmt: skip
        return found

    def run(self, name: str, arrays: list[Any], *, made: Any = (), run: Any = ()) -> None:
        """Create an operator, run it twice on the arrays, of which the first is the output.

        `made` and `run` are the numbers that creation and each run take behind the arrays.
        """
        op = ct.c_void_p()
        views = [self.describe(array) for array in arrays]
        self.call(f"infiniopCreate{name}Descriptor", self._handle, ct.byref(op), *views, *made)
        workspace: list[Any] = []
        if hasattr(self._library, f"infiniopGet{name}WorkspaceSize"):
            size = ct.c_size_t()
            self.call(f"infiniopGet{name}WorkspaceSize", op, ct.byref(size))
            memory = self.copy(np.zeros(size.value, np.uint8))
            workspace = [memory, size]
        for _ in range(2):
            bases = [array if array.base is None else array.base for array in arrays]
            copies = [self.copy(base) for base in bases]
            self.call(f"infiniop{name}", op, *workspace, *copies, *run, None)
            self.call("infinirtDeviceSynchronize")
        out = bases[0]
        data = ct.c_void_p(out.ctypes.data)
        self.call("infinirtMemcpy", data, copies[0], ct.c_size_t(out.nbytes), TO_HOST)
        # InfiniCore cannot destroy each of its operators: the status does not count.
        getattr(self._library, f"infiniopDestroy{name}Descriptor")(op)


def draw(dtype: Any, *sizes: int) -> Any:
    """Draw normal numbers."""
    return np.random.default_rng(sizes).standard_normal(sizes).astype(dtype)


def compare(got: Any, wanted: Any) -> None:
    """The output is near the float64 result."""
    near = ROUNDING[got.dtype.name]
    np.testing.assert_allclose(got.astype("f8"), wanted, 2 * near, 2 * near)


def add(infini: Infini, dtype: Any) -> None:
    """Elementwise, of two layouts."""
    a, b, out = draw(dtype, 3, 4), draw(dtype, 4, 3).T, np.zeros((3, 4), dtype)
    infini.run("Add", [out, a, b])
    compare(out, a.astype("f8") + b.astype("f8"))


def gemm(infini: Infini, dtype: Any) -> None:
    """One product and a batch, with factors that are planned at creation and later."""
    for batch in ((), (3,)):
        for alpha, beta in ((1.0, 0.0), (1.0, 1.0), (0.5, -2.0)):
            a, b = draw(dtype, *batch, 4, 5), draw(dtype, *batch, 5, 6)
            out = draw(dtype, *batch, 4, 6)
            wanted = alpha * (a.astype("f8") @ b.astype("f8")) + beta * out.astype("f8")
            infini.run("Gemm", [out, a, b], run=(ct.c_float(alpha), ct.c_float(beta)))
            compare(out, wanted)


def rms_norm(infini: Infini, dtype: Any) -> None:
    """Of rows in two and three dimensions, by weights of the same type and of float32."""
    for sizes in ((3, 16), (2, 3, 16)):
        for weights in {np.dtype(dtype), np.dtype("f4")}:
            x, w, out = draw(dtype, *sizes), draw(weights, 16), np.zeros(sizes, dtype)
            infini.run("RMSNorm", [out, x, w], made=(ct.c_float(1e-5),))
            wide = x.astype("f8")
            scale = np.sqrt((wide**2).mean(-1, keepdims=True) + 1e-5)
            compare(out, wide / scale * w.astype("f8"))


def embedding(infini: Infini, dtype: Any) -> None:
    """Rows of a table by both types of indices."""
    for kind in ("i4", "i8"):
        rows, table = np.array([[2, 0], [1, 2]], kind), draw(dtype, 3, 4)
        out = np.zeros((2, 2, 4), dtype)
        infini.run("Embedding", [out, rows, table])
        compare(out, table[rows].astype("f8"))


def causal_softmax(infini: Infini, dtype: Any) -> None:
    """A row sees what comes before it."""
    x, out = draw(dtype, 2, 3, 5), np.zeros((2, 3, 5), dtype)
    infini.run("CausalSoftmax", [out, x])
    scores = np.where(np.triu(np.ones((3, 5), bool), 3), -np.inf, x.astype("f8"))
    weights = np.exp(scores - scores.max(-1, keepdims=True))
    compare(out, weights / weights.sum(-1, keepdims=True))


def rearrange(infini: Infini, dtype: Any) -> None:
    """A copy from one layout to another."""
    x, out = draw(dtype, 4, 3).T, np.zeros((3, 4), dtype)
    infini.run("Rearrange", [out, x])
    compare(out, x.astype("f8"))


TESTS: list[Callable[[Infini, Any], None]] = [
    *(add, gemm, rms_norm, embedding, causal_softmax, rearrange),
]


def main() -> None:
    """Print what passes, and why the rest fails."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0] if __doc__ else "")
    parser.add_argument("checkout", type=Path)
    parser.add_argument("--build", type=Path, help="keep toolkit, build and outputs here")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        folder = (given.build or Path(temporary)).absolute()
        folder.mkdir(parents=True, exist_ok=True)
        infini = Infini(build(given.checkout.absolute(), folder))
        failed = 0
        for test in TESTS:
            for dtype in (np.dtype("f4"), np.dtype("f2"), BF16):
                try:
                    test(infini, dtype)
                    outcome = "passes"
                except (RuntimeError, AssertionError) as error:
                    outcome = f"fails: {str(error).strip().splitlines()[0]}"
                    failed += 1
                print(f"{test.__name__:15} {dtype.name:9} {outcome}", flush=True)
    sys.exit(min(failed, 1))


if __name__ == "__main__":
    main()
