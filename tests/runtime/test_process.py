# SPDX-License-Identifier: Apache-2.0
"""aclInit and aclFinalize, and what the environment decides: each test has its own process."""

import ctypes as ct
import os
import re
import tempfile
from pathlib import Path

import pytest

from tests.support.acl_runtime import (
    CONTEXT_NULL,
    INVALID_FILE,
    INVALID_PARAM,
    PARAM_INVALID,
    PARSE_FILE,
    REPEAT_FINALIZE,
    REPEAT_INITIALIZE,
    CallbackType,
    in_fresh_process,
    made,
    message,
    out,
    run_python,
)
from tests.support.capi_symbols import Functions

PRODUCTS = ["Ascend950", "Ascend910_93", "Ascend910B", "Ascend310B", "Ascend310P", "Ascend910"]


@in_fresh_process
def test_second_init(api: Functions) -> None:
    """A second aclInit gives 100002 and harms nothing."""
    assert api.aclInit(None) == 0
    assert api.aclInit(None) == REPEAT_INITIALIZE
    assert "aclInit: " in message(api)
    assert api.aclrtSetDevice(0) == 0
    assert api.aclFinalize() == 0


@in_fresh_process
def test_finalize_without_init(api: Functions) -> None:
    """`aclFinalize` without aclInit gives 100037; a second aclInit does not count."""
    assert api.aclFinalize() == REPEAT_FINALIZE
    assert api.aclInit(None) == 0
    assert api.aclInit(None) == REPEAT_INITIALIZE
    assert api.aclFinalize() == 0
    assert api.aclFinalize() == REPEAT_FINALIZE


@in_fresh_process
def test_init_after_finalize(api: Functions) -> None:
    """Initialising again after aclFinalize works, as often as one likes."""
    for _ in range(3):
        assert api.aclInit(None) == 0
        assert api.aclrtSetDevice(0) == 0
        stream = made(api.aclrtCreateStream)
        assert api.aclrtSynchronizeStream(stream) == 0
        assert api.aclrtDestroyStream(stream) == 0
        assert api.aclrtResetDevice(0) == 0
        assert api.aclFinalize() == 0


@in_fresh_process
def test_finalize_releases_devices(api: Functions) -> None:
    """`aclFinalize` resets what is still set; what the program made can still be destroyed."""
    assert api.aclInit(None) == 0
    assert [api.aclrtSetDevice(0) for _ in range(3)] == [0, 0, 0]
    stream, block = made(api.aclrtCreateStream), made(api.aclrtMalloc, 100, 0)
    assert api.aclFinalize() == 0
    assert out(ct.c_int32, api.aclrtGetDevice)[0] == CONTEXT_NULL
    assert api.aclrtDestroyStream(stream) == 0
    assert api.aclrtFree(block) == 0


@in_fresh_process
def test_finalize_from_own_work(api: Functions) -> None:
    """`aclFinalize` from work of a device's stream releases nothing, says so, can be repeated."""
    assert api.aclInit(None) == 0
    assert api.aclrtSetDevice(0) == 0
    seen: list[int | str] = []
    end = CallbackType(lambda _: seen.extend([api.aclFinalize(), message(api)]))
    assert api.aclrtLaunchHostFunc(None, ct.cast(end, ct.c_void_p), None) == 0
    assert api.aclrtSynchronizeStream(None) == 0
    assert seen == [
        PARAM_INVALID,
        "aclFinalize: called from work of one of the device's streams",
    ]
    assert api.aclInit(None) == REPEAT_INITIALIZE
    assert api.aclFinalize() == 0
    assert out(ct.c_int32, api.aclrtGetDevice)[0] == CONTEXT_NULL


@in_fresh_process
def test_config_path_missing(api: Functions) -> None:
    """A config path that does not exist, or is a folder, gives 100003 and initialises nothing."""
    for path in (b"/nonexistent/acl.json", b"/"):
        assert api.aclInit(path) == INVALID_FILE
        assert path.decode() in message(api)
    assert api.aclFinalize() == REPEAT_FINALIZE


@in_fresh_process
def test_message_is_one_line(api: Functions) -> None:
    """A message stays in one line, whatever is in the path that it repeats."""
    assert api.aclInit(b"/no/such\nfile\r") == INVALID_FILE
    assert (
        message(api)
        == 'aclInit: configPath "/no/such\\nfile\\r" is no regular file that can be read'
    )


@in_fresh_process
def test_config_path_special(api: Functions) -> None:
    """A pipe, a device and a file without end are refused at once, with a message."""
    with tempfile.TemporaryDirectory() as folder:
        pipe, large = Path(folder) / "pipe", Path(folder) / "large"
        os.mkfifo(pipe)
        with large.open("wb") as file:
            file.truncate(1 << 40)
        for path in (str(pipe), "/dev/zero", "/dev/stdin", str(large)):
            assert api.aclInit(path.encode()) == INVALID_FILE
            said = message(api)
            assert said is not None
            assert path in said


@in_fresh_process
def test_config_path_in_proc(api: Functions) -> None:
    """Files that call themselves regular, but have no end or block, are refused like devices."""
    for path in ("/proc/self/pagemap", "/proc/self/mem", "/proc/kmsg"):
        assert api.aclInit(path.encode()) == INVALID_FILE
        said = message(api)
        assert said is not None
        assert path in said


@in_fresh_process
def test_config_path_of_the_largest_size(api: Functions) -> None:
    """A file of 1 MiB is read, one of a byte more is not."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "acl.json"
        file.write_text("{}" + " " * ((1 << 20) - 1))
        assert api.aclInit(str(file).encode()) == INVALID_FILE
        file.write_text("{}" + " " * ((1 << 20) - 2))
        assert api.aclInit(str(file).encode()) == 0


@in_fresh_process
def test_config_path_empty(api: Functions) -> None:
    """An empty config path is no config."""
    assert api.aclInit(b"") == 0


VALID_JSON = [
    "{}", "[]", " \r\n\t{ } \n", "null", "true", "false", "0", "-0", "10.25e+3", "1E-2", '""',
    '"\\u00e9\\n\\"\\\\\\/"', '"é"', '{"a": {"b": [1, 2, {"c": null}]}, "d": "e"}', "[[[]]]",
]  # fmt: skip
INVALID_JSON = [
    "", " ", "{", "}", "[1,]", '{"a":1,}', "{a:1}", "{'a':1}", '{"a" 1}', '{"a":}', "[1 2]", "01",
    "1.", ".5", "+1", "-", "1e", "nul", "True", "NaN", '"', '"\\x"', '"\\u12g4"', '"a\nb"', "{} {}",
    "// comment\n{}", "[" * 100000, "\ufeff{}", "{}\0", "dump=1",
]  # fmt: skip


@in_fresh_process
def test_config_json(api: Functions) -> None:
    """A config that is JSON is accepted; one that is not gives 100006 and says where it breaks."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "acl.json"
        for text in VALID_JSON:
            path.write_text(text, encoding="utf-8", newline="")
            assert api.aclInit(str(path).encode()) == 0, text
            assert api.aclFinalize() == 0
        for text in INVALID_JSON:
            path.write_text(text, encoding="utf-8", newline="")
            assert api.aclInit(str(path).encode()) == PARSE_FILE, text
            assert "line " in message(api)
        path.write_text('{\n  "a": 1,\n  b\n}')
        assert api.aclInit(str(path).encode()) == PARSE_FILE
        assert "line 3, column 3" in message(api)


INIT_TWICE = """
from tests.support.capi_symbols import functions
api = functions()
assert api.aclInit(None) == 0 and api.aclFinalize() == 0 and api.aclInit(None) == 0
assert api.aclrtSetDevice(0) == 0 and api.aclFinalize() == 0
"""


def test_banner() -> None:
    """The first aclInit prints one line on stderr that says what this is; nothing else prints."""
    done = run_python(INIT_TWICE, SOFTNPU_BANNER="1", SOFTNPU_THREADS="3", SOFTNPU_SOC="Ascend910")
    assert done.returncode == 0, done.stderr
    assert re.fullmatch(
        r"softnpu \d+\.\d+\.\d+: emulating Ascend910 on the CPU \(3 threads, \w+\); "
        r"this is not an NPU\n",
        done.stderr,
    )
    assert done.stdout == ""


def test_no_banner() -> None:
    """SOFTNPU_BANNER=0 silences the line."""
    done = run_python(INIT_TWICE, SOFTNPU_BANNER="0")
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


@pytest.mark.parametrize("name", [None, "", *PRODUCTS])
def test_product(name: str | None) -> None:
    """SOFTNPU_SOC chooses the product; without it the product is Ascend910B."""
    program = "from tests.support.capi_symbols import functions as f; print(f().aclrtGetSocName())"
    environment = {} if name is None else {"SOFTNPU_SOC": name}
    done = run_python(program, **environment)
    assert done.stdout == f"{(name or 'Ascend910B').encode()!r}\n"


FULL_NAMES = {
    "Ascend910B1": "Ascend910B1",
    "ascend910b2c": "Ascend910B2C",
    "ASCEND910B4-1": "Ascend910B4-1",
    "Ascend910_9391": "Ascend910_9391",
    "ascend910_9372": "Ascend910_9372",
    "ascend310p3": "Ascend310P3",
    "Ascend310B4": "Ascend310B4",
    "ascend910proa": "Ascend910ProA",
    "Ascend910PremiumA": "Ascend910PremiumA",
    "Ascend950": "Ascend950",
    "ascend950pr_9589": "Ascend950PR_9589",
    "Ascend950DT_95A1": "Ascend950DT_95A1",
}


@pytest.mark.parametrize("given", FULL_NAMES)
def test_full_names_of_products(given: str) -> None:
    """SOFTNPU_SOC takes full names, in any case; aclrtGetSocName spells them as clients do."""
    program = "from tests.support.capi_symbols import functions as f; print(f().aclrtGetSocName())"
    assert run_python(program, SOFTNPU_SOC=given).stdout == f"{FULL_NAMES[given].encode()!r}\n"


BF16 = "from softnpu import _core; print(_core.info()['bf16'])"


@pytest.mark.parametrize(
    ("name", "has"),
    [
        ("Ascend910B3", True),
        ("Ascend910_9381", True),
        ("Ascend950PR_9599", True),
        ("Ascend910A", False),
        ("Ascend310P3", False),
        ("Ascend310B1", False),
    ],
)
def test_a_full_name_stands_for_its_kind(name: str, has: bool) -> None:
    """What a product with a full name can do is what its kind can do."""
    assert run_python(BF16, SOFTNPU_SOC=name).stdout == f"{has}\n"


@pytest.mark.parametrize(
    "name",
    [
        "Ascend910B5",
        "Ascend910B1x",
        "910B",
        " Ascend910B",
        "Ascend910_93_",
        "Ascend910B_9589",
        "Ascend950_9589",
        "Ascend950PR_",
        "Ascend950PR_95899",
    ],
)
def test_no_names_of_products(name: str) -> None:
    """What is no product's name is refused, however close it is."""
    program = "from softnpu import _core; print(_core.info()['soc_failure'])"
    assert f'SOFTNPU_SOC is "{name}"; it must be' in run_python(program, SOFTNPU_SOC=name).stdout


@in_fresh_process(SOFTNPU_SOC="Ascend911")
def test_unknown_product(api: Functions) -> None:
    """An unknown SOFTNPU_SOC makes aclInit fail with 100000 and a message that lists the names."""
    assert api.aclInit(None) == INVALID_PARAM
    text = message(api)
    assert "Ascend911" in text
    names = text.replace(",", "").split()
    for name in (*PRODUCTS, "Ascend910B2C", "Ascend910_9391", "Ascend310P3", "Ascend910PremiumA"):
        assert name in names
    assert api.aclrtGetSocName() == b"Ascend910B"


@in_fresh_process(SOFTNPU_DEVICES="3")
def test_device_count(api: Functions) -> None:
    """SOFTNPU_DEVICES is the number of devices."""
    assert api.aclInit(None) == 0
    assert out(ct.c_uint32, api.aclrtGetDeviceCount) == (0, 3)
    assert [api.aclrtSetDevice(device) for device in (0, 1, 2, 3, -1)] == [0, 0, 0, 107001, 107001]


@pytest.mark.parametrize("text", ["0", "-1", "two", "1.5", "2 ", "1025", "99999999999"])
def test_wrong_device_count(text: str) -> None:
    """A SOFTNPU_DEVICES that is no number from 1 to 1024 makes aclInit fail with 100000."""
    program = """
from tests.support.capi_symbols import functions
api = functions()
print(api.aclInit(None), api.aclGetRecentErrMsg().decode())
"""
    done = run_python(program, SOFTNPU_DEVICES=text)
    assert done.stdout.startswith("100000 ")
    assert f'"{text}"' in done.stdout


@in_fresh_process
def test_one_device_by_default(api: Functions) -> None:
    """There is one device unless more are asked for."""
    assert out(ct.c_uint32, api.aclrtGetDeviceCount) == (0, 1)


FORK = """
import os
from tests.support.capi_symbols import functions
from tests.support.acl_runtime import made
api = functions()
assert api.aclInit(None) == 0 and api.aclrtSetDevice(0) == 0
stream, block = made(api.aclrtCreateStream), made(api.aclrtMalloc, 64, 0)
if os.fork() == 0:
    ok = api.aclrtMemsetAsync(block, 64, 1, 64, stream) == 0
    ok = ok and api.aclrtSynchronizeStream(stream) == 0 and api.aclrtFree(block) == 0
    os._exit(0 if ok else 1)
raise SystemExit(os.waitstatus_to_exitcode(os.wait()[1]))
"""


def test_fork() -> None:
    """A child made by fork() works on with its copy of the device."""
    done = run_python(FORK)
    assert done.returncode == 0, done.stderr
