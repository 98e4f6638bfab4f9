# SPDX-License-Identifier: Apache-2.0
"""Files that cannot be read are refused by name, however they are broken."""

from __future__ import annotations

import io
import json
import math
import os
import pickle
import struct
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import softnpu
from softnpu.contract import Contract
from softnpu.judging.case import CaseError
from softnpu.judging.dtypes import NUMPY
from softnpu.judging.files import read_array, read_case, read_raw
from tests.python.judged import CONTRACTS, right_case, small

FLOAT = NUMPY["FLOAT"]
RIGHT = "{'descr': '<f4', 'fortran_order': False, 'shape': (4,)}"
HEADERS = [
    *("", "{}", "[]", "(" * 9999, "1" * 5000, "{[]: 1}", "\0", "{'descr'", "-" * 9999 + "1"),
    *(RIGHT.replace("(4,)", to) for to in ("(-4,)", "(9,)", "('x',)", "None", f"({2**62}, 4)")),
    *(RIGHT.replace("(4,)", to) for to in (f"({2**70},)", f"({10**11},)", f"({'1, ' * 99})")),
    *(RIGHT.replace("'<f4'", to) for to in ("'|O'", "'xx'", "None", "3", "[()]", "[1]")),
    RIGHT.replace("'<f4'", "[('a', '<f4'), ('a', '<f4')]"),
]


def packed(members: dict[str, bytes], method: int = zipfile.ZIP_STORED) -> bytes:
    """A ZIP file."""
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", method) as archive:
        for name, data in members.items():
            archive.writestr(name, data)
    return file.getvalue()


def array_file(array: Any, **options: Any) -> bytes:
    """An .npy file."""
    file = io.BytesIO()
    np.save(file, array, **options)
    return file.getvalue()


def with_header(header: str, version: int = 2) -> bytes:
    """An .npy file with any text as header, and 16 bytes of elements."""
    text = header.encode("latin-1")
    return b"\x93NUMPY" + bytes([version, 0]) + struct.pack("<I", len(text)) + text + bytes(16)


def flipped(data: bytes, seed: int, count: int) -> Iterator[bytes]:
    """The same with one byte changed, in some places."""
    rng = np.random.default_rng(seed)
    for place in rng.integers(0, len(data), count):
        yield data[:place] + bytes([data[place] ^ rng.integers(1, 256)]) + data[place + 1 :]


ONE = array_file(np.arange(4, dtype=np.float32))
CASE = {f"{name}.npy": array_file(value) for name, value in small().items()}
METHODS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA)


@pytest.mark.parametrize("method", METHODS)
def test_damaged_cases(tmp_path: Path, method: int) -> None:
    """Cut off or with a wrong byte: arrays, or an error that names the file."""
    file = tmp_path / "case.npz"
    whole = packed(CASE, method)
    cut = [whole[:length] for length in range(0, len(whole), 37)]
    refused = []
    for data in (*cut, *flipped(whole, method, 200)):
        file.write_bytes(data)
        try:
            assert all(isinstance(value, np.ndarray) for value in read_case(file).values())
        except CaseError as error:
            refused.append(str(error))
    assert len(refused) > len(cut)
    assert [text for text in refused if not text.startswith(str(file))] == []


@pytest.mark.parametrize("header", HEADERS, ids=range(len(HEADERS)))
@pytest.mark.parametrize("version", [1, 2, 3, 9])
def test_wrong_headers(tmp_path: Path, header: str, version: int) -> None:
    """Alone and in a case."""
    if "(-" in header and np.lib.NumpyVersion(np.__version__) < "2.3.0":
        pytest.skip("this NumPy reads a negative size as the number of elements that there are")
    one, case = tmp_path / "one.npy", tmp_path / "case.npz"
    one.write_bytes(with_header(header, version))
    case.write_bytes(packed({**CASE, "gradInput.npy": with_header(header, version)}))
    for read, file in ((read_array, one), (read_case, case)):
        with pytest.raises(CaseError, match=file.name) as caught:
            read(file)
        assert caught.value.rule == "case-file"
        assert len(str(caught.value)) < 400


OTHER_FILES = {
    "empty": b"",
    "text": "Grüße\n".encode("latin-1"),
    "pickle": pickle.dumps([1]),
    "objects": array_file(np.array([None]), allow_pickle=True),
    "empty member": packed({**CASE, "gradInput.npy": b""}),
    "text as member": packed({**CASE, "gradInput.npy": b"text"}),
    "member beside arrays": packed({**CASE, "readme.txt": b"text"}),
    "folder": packed({**CASE, "folder/": b""}),
    "objects in a member": packed({"a.npy": array_file(np.array([None]), allow_pickle=True)}),
}


@pytest.mark.parametrize("data", OTHER_FILES.values(), ids=OTHER_FILES)
def test_other_files(tmp_path: Path, data: bytes) -> None:
    """Nothing in them is executed or guessed."""
    file = tmp_path / "case.npz"
    file.write_bytes(data)
    for read in (read_case, read_array):
        with pytest.raises(CaseError, match=r"case\.npz (is no file of NumPy's|holds )"):
            read(file)


def test_what_is_no_file(tmp_path: Path) -> None:
    """A pipe could be waited for, and a device read, for ever."""
    os.mkfifo(tmp_path / "pipe")
    for path in (tmp_path / "pipe", Path("/dev/zero")):
        for call in (
            lambda path=path: read_case(path),
            lambda path=path: read_array(path),
            lambda path=path: read_raw(path, FLOAT, (4,)),
        ):
            with pytest.raises(CaseError, match=f"{path} is a pipe or a device; expected a file"):
                call()
    with pytest.raises(IsADirectoryError):
        read_case(tmp_path)


def test_raw_files_of_any_size(tmp_path: Path) -> None:
    """The shape decides, and is compared before anything is read."""
    file = tmp_path / "x.bin"
    with file.open("wb") as sparse:
        sparse.truncate(1 << 40)
    for shape in ((4,), (), (0, 2**63), (2**70, 2**70)):
        with pytest.raises(CaseError, match=r"x\.bin has 1099511627776 bytes; expected \d+"):
            read_raw(file, FLOAT, shape)


VALUES: list[Any] = [
    *(math.nan, math.inf, -1, 0, 1e308, 2**64 - 1, -(2**63), 1j, True, "text", b"bytes", ""),
    *([], [1, 2], [[1, 2]], np.zeros((0, 3)), np.zeros((1,) * 32), np.array(np.datetime64("now"))),
    *(np.full(8, math.nan, np.float32), np.longdouble(1), np.zeros(2, "V3"), np.zeros(())),
    *(np.zeros((), kind) for kind in ("V0", "V2", "V4", "m8[s]", [("a", "f4")])),
]


@pytest.mark.parametrize("spec", CONTRACTS, ids=lambda spec: spec.python)
def test_values_of_any_kind(spec: Contract) -> None:
    """Each argument of each operator: a report, or an error that names what is wrong."""
    right = right_case(spec.python)
    reports = 0
    for name in [*right, "format"]:
        for value in VALUES:
            try:
                report = softnpu.verify(spec.python, {**right, name: np.asarray(value)})
            except CaseError:
                continue
            assert str(report), (name, value)
            assert json.dumps(report.as_dict(), allow_nan=False), (name, value)
            reports += 1
    assert reports < len(VALUES) * len(right) / 2
