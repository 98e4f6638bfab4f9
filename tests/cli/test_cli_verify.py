# SPDX-License-Identifier: Apache-2.0
"""`softnpu verify`: cases from files, verdicts as exit statuses, and what is printed."""

from __future__ import annotations

import json
from typing import Any

import ml_dtypes
import numpy as np
import numpy.typing as npt
import pytest

import softnpu as package
from tests.support.documents import blocks, run_python

Case = dict[str, Any]
OPERATOR = "aclnnEluBackward"
NUMBERS = ("alpha=1.5", "scale=1", "inputScale=0.5", "isResult=false")


def case_of(dtype: npt.DTypeLike = np.float32) -> Case:
    """A right case."""
    grad = np.linspace(-2, 2, 12).reshape(3, 4).astype(dtype)
    x = np.linspace(3, -4, 12).reshape(3, 4).astype(dtype)
    got = package.elu_backward(grad, 1.5, 1, 0.5, False, x)
    numbers = {"alpha": 1.5, "scale": 1, "inputScale": 0.5, "isResult": False}
    return {"gradOutput": grad, **numbers, "selfOrResult": x, "gradInput": got}


def tensors(case: Case) -> Case:
    """The arrays of a case."""
    return {n: value for n, value in case.items() if isinstance(value, np.ndarray)}


def save(softnpu: Any, case: Case, name: str = "case.npz") -> None:
    """Write a case into the command's folder."""
    np.savez(softnpu.folder / name, **case)


@pytest.mark.parametrize("operator", [OPERATOR, "elu_backward", "EluBackward"])
def test_right_results_pass(softnpu: Any, operator: str) -> None:
    """A right result gives status 0 and says so, under any name of the operator."""
    save(softnpu, case_of())
    done = softnpu("verify", operator, "case.npz")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith(f"{OPERATOR}: gradInput, float32 [3, 4]: passes\n")


def test_wrong_results_fail(softnpu: Any) -> None:
    """A wrong element gives status 1, and is named with its inputs."""
    case = case_of()
    case["gradInput"][1, 2] = 7
    save(softnpu, case)
    done = softnpu("verify", OPERATOR, "case.npz", "--worst", 1)
    assert (done.returncode, done.stderr) == (1, "")
    assert "[3, 4]: fails\n" in done.stdout
    row = next(line for line in done.stdout.splitlines() if line.strip().startswith("[1, 2]"))
    assert "7" in row.split()
    assert f"gradOutput={case['gradOutput'][1, 2]:.9g}" in row
    assert str(package.verify(OPERATOR, case, worst=1)).split() == done.stdout.split()


@pytest.mark.parametrize("dtype", [np.float16, np.float32, ml_dtypes.bfloat16])
def test_raw_files(softnpu: Any, dtype: Any) -> None:
    """Raw elements need a type and a shape, for all of them or one by one."""
    case = case_of(dtype)
    words = []
    for name, array in tensors(case).items():
        array.tofile(softnpu.folder / f"{name}.bin")
        words.append(f"{name}={name}.bin")
    name = np.dtype(dtype).name
    documented = {"float16": "FLOAT16", "float32": "FLOAT", "bfloat16": "BF16"}[name]
    for types in (["--dtype", name], [f"--dtype={n}={documented}" for n in tensors(case)]):
        shapes = ["--shape", "12", "--shape", "gradInput=12"]
        done = softnpu("verify", OPERATOR, *words, *NUMBERS, *types, *shapes)
        assert (done.returncode, done.stderr) == (0, "")
        assert f"{name} [12]: passes" in done.stdout


def test_npy_files_beside_a_case(softnpu: Any) -> None:
    """Inputs in an .npz file, the result of a device beside it."""
    case = case_of()
    result = case.pop("gradInput")
    save(softnpu, case)
    np.save(softnpu.folder / "out.npy", result)
    assert softnpu("verify", OPERATOR, "case.npz", "gradInput=out.npy").returncode == 0
    np.save(softnpu.folder / "out.npy", result + 1)
    assert softnpu("verify", OPERATOR, "case.npz", "gradInput=out.npy").returncode == 1


def test_bfloat16_in_files(softnpu: Any) -> None:
    """NumPy's files keep its bytes; bits that were saved as integers need a name."""
    case = case_of(ml_dtypes.bfloat16)
    save(softnpu, case)
    assert "bfloat16 [3, 4]: passes" in softnpu("verify", OPERATOR, "case.npz").stdout
    save(softnpu, {n: v.view("u2") if n in tensors(case) else v for n, v in case.items()})
    refused = softnpu("verify", OPERATOR, "case.npz")
    assert (refused.returncode, refused.stdout) == (2, "")
    assert "gradOutput" in refused.stderr
    named = [f"--dtype={name}=bfloat16" for name in tensors(case)]
    assert "bfloat16 [3, 4]: passes" in softnpu("verify", OPERATOR, "case.npz", *named).stdout


def test_other_attributes(softnpu: Any) -> None:
    """Lists, names of reductions and formats are words, too."""
    np.save(softnpu.folder / "x.npy", np.ones((1, 1, 2, 2, 3), np.float32))
    np.save(softnpu.folder / "y.npy", np.ones((1, 2, 4, 4, 3), np.float32))
    words = ["self=x.npy", "out=y.npy", "outputSize=2,4,4", "scalesD=0", "scalesH=0", "scalesW=-1"]
    refused = softnpu("verify", "upsample_nearest3d", *words)
    assert refused.returncode == 2
    assert "aclnnUpsampleNearest3d" in refused.stderr
    done = softnpu("verify", "upsample_nearest3d", *words, "format=NDHWC")
    assert (done.returncode, done.stderr) == (0, "")
    np.save(softnpu.folder / "y.npy", np.array(0.5, np.float32))
    np.save(softnpu.folder / "z.npy", np.zeros((1, 1, 2, 2, 3), np.float32))
    loss = ["self=x.npy", "target=z.npy", "result=y.npy", "beta=1"]
    assert softnpu("verify", "smooth_l1_loss", *loss, "reduction=mean").returncode == 0
    assert softnpu("verify", "smooth_l1_loss", *loss, "reduction=1").returncode == 0
    assert softnpu("verify", "smooth_l1_loss", *loss, "reduction=sum").returncode == 1
    assert softnpu("verify", "smooth_l1_loss", *loss, "reduction=average").returncode == 2


@pytest.mark.parametrize(
    ("tolerances", "status"),
    [((), 1), (("--ulp", 8), 0), (("--ulp", 7), 1), (("--rtol", "1e-5"), 0), (("--atol", 0), 1)],
)
def test_tolerances(softnpu: Any, tolerances: tuple[object, ...], status: int) -> None:
    """Tolerances decide in place of the documented accuracy, which is reported all the same."""
    case = case_of()
    case["gradInput"][0, 0] = np.float32(-2)
    case["gradInput"][0, 0] -= np.float32(2.0**-22) * 8
    save(softnpu, case)
    done = softnpu("verify", OPERATOR, "case.npz", *tolerances)
    assert done.returncode == status
    assert "documented accuracy 2 ULP of float32: 1 outside" in done.stdout
    assert ("tolerances" in done.stdout) == bool(tolerances)


def test_products(softnpu: Any) -> None:
    """A product that lacks the operator, or bfloat16, has no results that could be judged."""
    save(softnpu, {"self": np.ones(2, np.float32), "out": np.ones(2, np.float32)})
    done = softnpu("verify", "aclnnSelu", "case.npz", env={"SOFTNPU_SOC": "Ascend950"})
    assert (done.returncode, done.stdout) == (2, "")
    assert "aclnnSelu" in done.stderr
    assert "Ascend950" in done.stderr


def test_json(softnpu: Any) -> None:
    """One object with all fields of the report; what JSON has no number for is a text."""
    case = case_of()
    case["gradInput"][2, 3] = np.nan
    save(softnpu, case)
    done = softnpu("verify", OPERATOR, "case.npz", "--format", "json", "--ulp", 2)
    assert (done.returncode, done.stderr) == (1, "")
    found = json.loads(done.stdout, parse_constant=lambda name: pytest.fail(name))
    kinds = {
        "ok": bool,
        "operator": str,
        "output": str,
        "dtype": str,
        "unit": str,
        "shape": list,
        "elements": int,
        "max_ulp": float,
        "mean_ulp": float,
        "max_absolute": float,
        "max_relative": float,
        "correctly_rounded": float,
        "nan": int,
        "infinity": int,
        "zero_sign": int,
        "accuracy": str,
        "outside_accuracy": int,
        "tolerances": dict,
        "outside_tolerances": int,
        "histogram": dict,
        "worst": list,
    }
    assert {name: type(value) for name, value in found.items()} == kinds
    assert (found["ok"], found["nan"], found["shape"]) == (False, 1, [3, 4])
    assert found["tolerances"] == {"ulp": 2}
    assert found["histogram"]["NaN"] == 1
    worst = found["worst"][0]
    assert list(worst) == [
        "index",
        "inputs",
        "expected",
        "got",
        "reference",
        "ulp",
        "absolute",
        "ok",
    ]
    assert (worst["index"], worst["got"], worst["ulp"]) == ([2, 3], "nan", "inf")
    assert found == package.verify(OPERATOR, case, ulp=2).as_dict()


def test_pictures(softnpu: Any) -> None:
    """`--plot` writes a picture of right and of wrong results, of any size."""
    pytest.importorskip("matplotlib")
    case = case_of()
    for changes in ({}, {(0, 0): np.nan, (0, 1): np.inf, (1, 1): 5}):
        for where, value in changes.items():
            case["gradInput"][where] = value
        save(softnpu, case)
        done = softnpu("verify", OPERATOR, "case.npz", "--plot", "errors.png")
        assert (done.returncode, done.stderr) == (int(bool(changes)), "")
        assert (softnpu.folder / "errors.png").read_bytes().startswith(b"\x89PNG")
        (softnpu.folder / "errors.png").unlink()
    none = np.empty(0, np.float32)
    save(softnpu, {"self": none, "out": none})
    assert softnpu("verify", "selu", "case.npz", "--plot", "errors.png").returncode == 0
    refused = softnpu("verify", "selu", "case.npz", "--plot", "nowhere/errors.png")
    assert refused.returncode == 2
    assert "cannot write nowhere/errors.png: No such file" in refused.stderr


def test_pictures_need_matplotlib(softnpu: Any) -> None:
    """Without it, `--plot` says what to install."""
    save(softnpu, case_of())
    softnpu.write("matplotlib.py", "raise ImportError('not installed')\n")
    found = {"PYTHONPATH": str(softnpu.folder)}
    done = softnpu("verify", OPERATOR, "case.npz", "--plot", "errors.png", env=found)
    assert (done.returncode, done.stdout) == (2, "")
    assert "--plot needs matplotlib" in done.stderr
    assert "pip install 'softnpu[bench]'" in done.stderr


WRONG_USE = [
    (["elu_backwards", "case.npz"], ["Did you mean aclnnEluBackward?"]),
    ([OPERATOR], ["CASE"]),
    ([OPERATOR, "missing.npz"], ["cannot read missing.npz: No such file"]),
    ([OPERATOR, "text.npz"], ["text.npz is no file of NumPy's"]),
    ([OPERATOR, "objects.npz"], ["objects.npz", "objects"]),
    ([OPERATOR, "one.npy"], ["one.npy holds one array", ".npz"]),
    ([OPERATOR, "case.npz", "gradInput=case.npy"], ["case.npy holds named arrays"]),
    ([OPERATOR, "case.npz", "alpha=1"], [OPERATOR, "given twice: alpha"]),
    ([OPERATOR, "alpha=1"], ["missing: gradOutput, scale, inputScale, isResult"]),
    ([OPERATOR, "gradInput=x.bin"], ["raw file", "--dtype gradInput=", "--shape gradInput="]),
    ([OPERATOR, "gradInput=x.bin", "--dtype", "int3", "--shape", "2"], ["no data type 'int3'"]),
    ([OPERATOR, "gradInput=x.bin", "--dtype", "int8", "--shape", "2x"], ["'2x'", "as in 2,3"]),
    (
        [OPERATOR, "gradInput=x.bin", "--dtype", "float32", "--shape", "2,3"],
        ["x.bin has 7 bytes", "expected 24", "[2, 3]"],
    ),
    ([OPERATOR, "case.npz", "--dtype", "gradInput=float16"], ["gradInput has data type float32"]),
    ([OPERATOR, "case.npz", "--dtype", "result=float16"], ["--dtype names result", "gradInput"]),
    ([OPERATOR, "case.npz", "--shape", "gradInput=5"], ["gradInput has shape [3, 4]", "[5]"]),
    ([OPERATOR, "case.npz", "--shape", "gradInput=12"], ["gradInput has shape [12]", "[3, 4]"]),
    ([OPERATOR, "case.npz", "--shape", "gradInput="], ["gradInput is ''", "as in 2,3"]),
    ([OPERATOR, "case.npz", "--shape", "gradInput=12" + 70 * ",1"], ["cannot have shape [12, 1"]),
    ([OPERATOR, "broken.npz"], ["broken.npz is no file of NumPy's", "decompressing"]),
    ([OPERATOR, "case.npz", "--shape", "3", "--shape", "4"], ["twice without a name: 3, 4"]),
    ([OPERATOR, "case.npz", "--ulp", "-1"], ["ulp is -1"]),
    ([OPERATOR, "case.npz", "--format", "xml"], ["xml"]),
    ([OPERATOR, "isResult=maybe"], [OPERATOR, "isResult is 'maybe'", "true or false"]),
    (["upsample_nearest3d", "outputSize=2,x"], ["outputSize is '2,x'", "integers as in 2,4,6"]),
]


@pytest.mark.parametrize(("words", "parts"), WRONG_USE, ids=[p[0] for _, p in WRONG_USE])
def test_wrong_use(softnpu: Any, words: list[str], parts: list[str]) -> None:
    """What cannot be judged gives status 2 and says what is wrong, without a traceback."""
    save(softnpu, case_of())
    save(softnpu, {"gradInput": np.array([None])}, "objects.npz")
    np.save(softnpu.folder / "one.npy", np.ones(2))
    (softnpu.folder / "case.npz").rename(softnpu.folder / "case.npy")
    save(softnpu, case_of())
    softnpu.write("text.npz", "no archive")
    np.savez_compressed(softnpu.folder / "broken.npz", gradInput=np.arange(99))
    data = (softnpu.folder / "broken.npz").read_bytes()
    (softnpu.folder / "broken.npz").write_bytes(data[:60] + bytes(40) + data[100:])
    softnpu.write("x.bin", "7 bytes")
    done = softnpu("verify", *words)
    assert (done.returncode, done.stdout) == (2, "")
    assert [part for part in parts if part not in " ".join(done.stderr.split())] == []
    assert "Traceback" not in done.stderr


def test_the_document_is_right(softnpu: Any) -> None:
    """docs/judging.md: its programs run in its order, its commands print what stands there."""
    ran = 0
    for block in blocks("docs/judging.md", "python", "text"):
        if block.language == "python":
            done = run_python(block.text, softnpu.folder)
            assert done.returncode == 0, done.stderr
        elif block.text.startswith("$ softnpu "):
            line, _, expected = block.text.partition("\n")
            printed = softnpu(*line.split()[2:]).stdout
            assert [row.rstrip() for row in printed.strip().splitlines()] == [
                row.rstrip() for row in expected.strip().splitlines()
            ]
            ran += 1
    assert ran >= 2
