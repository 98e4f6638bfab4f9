# SPDX-License-Identifier: Apache-2.0
"""The Triton kernels beside PyTorch's CUDA operators and a copy, on the GPU of this machine.

    python benchmarks/gpu.py

First every kernel is compared with a float64 definition; then all are timed in turns, by CUDA
events. The numbers are shares of the bandwidth of a copy in the same run. Needs PyTorch, Triton
and NumPy, matplotlib for the picture, and no compiled part of softnpu.
"""

from __future__ import annotations

import argparse
import datetime
import json
import shutil
import statistics
import subprocess
import sys
import tempfile
import types
from pathlib import Path
from typing import Any

import torch

ROOT = Path(__file__).resolve().parent.parent
SOURCES = ROOT / "src" / "softnpu"
sys.path.insert(0, str(Path(__file__).resolve().parent))


def load_kernels() -> Any:
    """Import softnpu.triton from the sources, without the rest of the package."""
    if "softnpu" in sys.modules:
        import softnpu.triton

        return softnpu.triton
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder, "softnpu")
        shutil.copytree(SOURCES, copy)
        generator = [
            sys.executable,
            str(SOURCES / "codegen"),
            str(ROOT / "operators"),
            str(SOURCES),
        ]
        subprocess.run([*generator, folder], check=True)
        shutil.copytree(Path(folder, "package", "triton"), copy / "triton", dirs_exist_ok=True)
        package = types.ModuleType("softnpu")
        package.__path__ = [str(copy)]
        sys.modules["softnpu"] = package
        import softnpu.triton

        return softnpu.triton


kernels = load_kernels()

from gpu_cases import Case, timed_cases  # noqa: E402
from gpu_checks import checks  # noqa: E402


def check(device: str) -> int:
    """Compare with the definitions; give the number of comparisons, or raise."""
    count = 0
    for label, computed, exact, units in checks(kernels, device):
        error = units_apart(computed, exact)
        if not error <= units:
            raise SystemExit(f"{label}: {error} ULP from the definition; expected {units} or less")
        count += 1
    return count


def units_apart(computed: torch.Tensor, exact: torch.Tensor) -> float:
    """Give the largest distance of a result from float64 values that are rounded once."""
    if not computed.is_floating_point() or computed.dtype == torch.float64:
        return 0.0 if torch.equal(computed, exact.to(computed.dtype)) else float("inf")
    width = {2: torch.int16, 4: torch.int32}[computed.element_size()]
    rounded = exact.to(computed.dtype)
    places = []
    for values in (computed, rounded):
        bits = values.contiguous().view(width).long()
        places.append(torch.where(bits < 0, torch.iinfo(width).min - bits, bits))
    apart = (places[0] - places[1]).abs()
    apart[computed.isnan() & rounded.isnan()] = 0
    return float(apart.max())


def measure(case: Case, rounds: int) -> dict[str, float]:
    """Time both sides in turns; give the medians in milliseconds."""
    times: dict[str, list[float]] = {side: [] for side in case.sides}
    for call in case.sides.values():
        for _ in range(3):
            call()
    for _ in range(rounds):
        for side, call in case.sides.items():
            begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
            begin.record()
            call()
            end.record()
            end.synchronize()
            times[side].append(begin.elapsed_time(end))
    return {side: statistics.median(values) for side, values in times.items()}


def run(rounds: int) -> dict[str, Any]:
    """Measure all cases; the first is the copy."""
    rows: list[dict[str, Any]] = []
    bandwidth = 0.0
    with kernels.deferred_index_checks():
        for make in timed_cases(kernels):
            case = make()
            medians = measure(case, rounds)
            if not bandwidth:
                bandwidth = case.bytes / medians["copy"]
            row: dict[str, Any] = {"case": case.label, "aim": case.aim, "bytes": case.bytes}
            for side, value in medians.items():
                row[f"{side} ms"] = round(value, 4)
                row[f"{side} share"] = round(case.bytes / value / bandwidth, 3)
            rows.append(row)
            print(line(row), flush=True)
            del case
            torch.cuda.empty_cache()
    import triton

    return {
        "date": datetime.date.today().isoformat(),
        "gpu": torch.cuda.get_device_name(),
        "torch": torch.__version__,
        "triton": triton.__version__,
        "copy GB/s": round(bandwidth / 1e6),
        "rows": rows,
    }


def line(row: dict[str, Any]) -> str:
    """Show a row as text."""
    shares = "  ".join(
        f"{key.split()[0]} {value:.2f}" for key, value in row.items() if key.endswith("share")
    )
    return f"{row['case']:58} {shares}  aim: {row['aim']}"


def draw(report: dict[str, Any], path: Path) -> None:
    """Draw the shares as bars; without matplotlib, say so."""
    try:
        from matplotlib.figure import Figure
    except ImportError:
        print("no picture: matplotlib is not installed")
        return
    rows = report["rows"][1:]
    figure = Figure(figsize=(9, 0.42 * len(rows) + 1.4), layout="constrained")
    axes = figure.subplots()
    places = range(len(rows))
    for shift, side in ((-0.2, "softnpu"), (0.2, "torch")):
        shares = [row.get(f"{side} share", 0) for row in rows]
        axes.barh([place + shift for place in places], shares, 0.38, label=side)
    axes.set_yticks(places, [row["case"] for row in rows], fontsize=8)
    axes.invert_yaxis()
    axes.axvline(1, color="grey", linewidth=0.8)
    axes.set_xlabel(f"share of a copy's bandwidth ({report['copy GB/s']} GB/s, {report['gpu']})")
    axes.legend()
    figure.savefig(path, dpi=120)


def main() -> None:
    """Check, measure, write."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, default=Path("gpu-results"), help="folder to write to")
    parser.add_argument("--rounds", type=int, default=25, help="calls of each side; default: 25")
    parser.add_argument("--check", metavar="DEVICE", help="only check, on this device")
    options = parser.parse_args()
    if options.check is None and not torch.cuda.is_available():
        parser.error("no CUDA device; TRITON_INTERPRET=1 with --check cpu only checks")
    print(f"{check(options.check or 'cuda')} results agree with their definitions", flush=True)
    if options.check is not None:
        return
    report = run(options.rounds)
    options.out.mkdir(parents=True, exist_ok=True)
    (options.out / "gpu.json").write_text(json.dumps(report, indent=1) + "\n")
    draw(report, options.out / "gpu.png")


if __name__ == "__main__":
    main()
