# SPDX-License-Identifier: Apache-2.0
"""aclInit and aclFinalize, and what the environment decides: each test has its own process."""

import ctypes as ct
import os
import re
import tempfile
from pathlib import Path

from tests.support.acl_runtime import (
    CONTEXT_NULL,
    INVALID_FILE,
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
        == 'aclInit: configPath "/no/such\\nfile\\r" is not a regular file that can be read'
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
