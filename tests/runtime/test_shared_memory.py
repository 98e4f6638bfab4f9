# SPDX-License-Identifier: Apache-2.0
"""Device memory that processes share by keys."""

from __future__ import annotations

import ctypes as ct
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

from tests.support.acl_runtime import PARAM_INVALID, Runtime, in_fresh_process, made
from tests.support.paths import ROOT

NAMED, ALL = 0, 1
KEY_BYTES = 65

# Adds 1 to the 8 floats behind the key of each line, and prints the status and the message.
IMPORTER = """
import os, sys
import numpy as np
from tests.runtime.test_shared_memory import imported
from tests.support.acl_runtime import Runtime
with Runtime() as rt:
    print(os.getpid(), flush=True)
    for line in sys.stdin:
        key = line.strip().encode()
        status, memory = imported(rt, key)
        if status == 0:
            rt.upload(rt.download(memory, 32).view(np.float32) + 1, memory)
            status = rt.api.aclrtIpcMemClose(key)
        print(status, rt.message(), flush=True)
"""


def export(rt: Runtime, memory: int, size: int = 32, flags: int = ALL) -> bytes:
    """The key of memory."""
    key = ct.create_string_buffer(KEY_BYTES)
    rt.check(rt.api.aclrtIpcMemGetExportKey(memory, size, key, KEY_BYTES, flags))
    return key.value


def imported(rt: Runtime, key: bytes) -> tuple[int, int]:
    """The status, and the address of the memory in this process."""
    memory = ct.c_void_p()
    status = rt.api.aclrtIpcMemImportByKey(ct.byref(memory), key, 1)
    assert (status == 0) == (memory.value is not None)
    return status, memory.value or 0


def floats(rt: Runtime, memory: int) -> list[float]:
    """The 8 floats at an address."""
    return rt.download(memory, 32).view(np.float32).tolist()


Ask = Callable[[bytes], str]


@pytest.fixture(scope="module")
def other() -> Iterator[tuple[int, Ask]]:
    """Another process: its number, and what it answers to a key."""
    with subprocess.Popen(
        [sys.executable, "-c", IMPORTER],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT), *sys.path])},
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        given, answers = process.stdin, process.stdout

        def ask(key: bytes) -> str:
            given.write(key.decode() + "\n")
            given.flush()
            return answers.readline().strip()

        yield int(answers.readline()), ask
        given.close()
        assert process.wait(timeout=60) == 0


def test_both_processes_see_what_the_other_writes(rt: Runtime, other: tuple[int, Ask]) -> None:
    """Each time the key is imported, until its process closes it."""
    memory = rt.upload(np.arange(8, dtype=np.float32))
    key = export(rt, memory)
    for round in range(3):
        assert other[1](key) == "0"
        assert floats(rt, memory) == [i + round + 1 for i in range(8)]
    rt.check(rt.api.aclrtIpcMemClose(key))
    answer = other[1](key)
    assert answer.startswith(f"{PARAM_INVALID} ")
    assert "was closed" in answer


def test_neighbours_keep_their_contents(rt: Runtime, other: tuple[int, Ask]) -> None:
    """Memory is shared by whole pages, which small allocations have in common."""
    memories = [rt.upload(np.full(8, i, np.float32)) for i in range(200)]
    keys = [export(rt, memory) for memory in memories[::3]]
    large = rt.upload(np.zeros(100_000, np.float32))
    inside = export(rt, large + 4096 * 4 + 32)
    assert {other[1](key) for key in (*keys, inside)} == {"0"}
    assert [floats(rt, m)[7] for m in memories] == [i + (i % 3 == 0) for i in range(200)]
    assert rt.download(large, 400_000).view(np.float32).sum() == 8


def test_a_process_must_be_named(rt: Runtime, other: tuple[int, Ask]) -> None:
    """Unless the memory is exported for all; the message has its number."""
    number, ask = other
    memory = rt.upload(np.zeros(8, np.float32))
    key = export(rt, memory, flags=NAMED)
    answer = ask(key)
    assert answer.startswith(f"{PARAM_INVALID} ")
    assert f"this one is {number}" in answer
    rt.check(rt.api.aclrtIpcMemSetImportPid(key, (ct.c_int32 * 2)(1, number), 2))
    assert ask(key) == "0"
    assert floats(rt, memory) == [1.0] * 8


def test_freed_memory_is_not_imported(rt: Runtime, other: tuple[int, Ask]) -> None:
    """Its key can still be closed."""
    memory = made(lambda out: rt.api.aclrtMalloc(out, 32, 0))
    key = export(rt, memory)
    rt.check(rt.api.aclrtFree(memory))
    assert other[1](key).startswith(f"{PARAM_INVALID} ")
    rt.check(rt.api.aclrtIpcMemClose(key))


def test_a_process_imports_its_own_memory(rt: Runtime) -> None:
    """At another address, which is the device's; each import is closed, then the export."""
    memory = rt.upload(np.arange(8, dtype=np.float32))
    key = export(rt, memory, flags=NAMED)
    status, address = imported(rt, key)
    assert status == 0
    assert address != memory
    assert imported(rt, key) == (0, address)
    rt.upload(np.full(8, 5, np.float32), address)
    assert floats(rt, memory) == [5.0] * 8
    assert rt.api.aclrtFree(address) == PARAM_INVALID
    assert "aclrtIpcMemClose" in rt.message()
    for _ in range(3):
        rt.check(rt.api.aclrtIpcMemClose(key))
    assert rt.api.aclrtIpcMemClose(key) == PARAM_INVALID
    assert rt.api.aclrtMemset(address, 32, 0, 32) == PARAM_INVALID
    assert "freed" in rt.message()


def test_misuse(rt: Runtime) -> None:
    """Nothing is exported or imported, and the message names the argument."""
    memory, host = rt.malloc(64), made(lambda out: rt.api.aclrtMallocHost(out, 64))
    key, place = ct.create_string_buffer(KEY_BYTES), ct.c_void_p()
    export_key, api = rt.api.aclrtIpcMemGetExportKey, rt.api
    calls: list[tuple[str, Any]] = [
        ("devPtr", lambda: export_key(None, 64, key, KEY_BYTES, 0)),
        ("devPtr", lambda: export_key(memory, 65, key, KEY_BYTES, 0)),
        ("devPtr", lambda: export_key(host, 64, key, KEY_BYTES, 0)),
        ("devPtr", lambda: export_key(key, 64, key, KEY_BYTES, 0)),
        ("size", lambda: export_key(memory, 0, key, KEY_BYTES, 0)),
        ("key", lambda: export_key(memory, 64, None, KEY_BYTES, 0)),
        ("len", lambda: export_key(memory, 64, key, KEY_BYTES - 1, 0)),
        ("flags", lambda: export_key(memory, 64, key, KEY_BYTES, 2)),
        ("key", lambda: api.aclrtIpcMemImportByKey(ct.byref(place), None, 0)),
        ("key", lambda: api.aclrtIpcMemImportByKey(ct.byref(place), b"", 0)),
        ("key", lambda: api.aclrtIpcMemImportByKey(ct.byref(place), b"softnpu-1-2-3-4-", 0)),
        ("key", lambda: api.aclrtIpcMemImportByKey(ct.byref(place), b"softnpu-99999999-2-3-4", 0)),
        ("devPtr", lambda: api.aclrtIpcMemImportByKey(None, b"softnpu-1-2-3-4", 0)),
        ("flags", lambda: api.aclrtIpcMemImportByKey(ct.byref(place), b"softnpu-1-2-3-4", 2)),
        ("key", lambda: api.aclrtIpcMemClose(b"softnpu-1-2-3-4")),
        ("pid", lambda: api.aclrtIpcMemSetImportPid(export(rt, memory).ljust(1), None, 1)),
        (
            "num",
            lambda: api.aclrtIpcMemSetImportPid(
                export(rt, memory), (ct.c_int32 * 300)(*range(1, 301)), 300
            ),
        ),
        ("pid", lambda: api.aclrtDeviceGetBareTgid(None)),
    ]
    for argument, call in calls:
        assert call() == PARAM_INVALID, argument
        assert argument in rt.message()
    assert key.value == b""
    assert place.value is None
    rt.check(api.aclrtFreeHost(host))


@in_fresh_process
def test_a_forked_child_has_memory_of_its_own(api: Any) -> None:
    """As all device memory after a fork: what one of the two writes, the other does not see."""
    with Runtime() as rt:
        memory = rt.upload(np.arange(8, dtype=np.float32))
        key = export(rt, memory)
        child = os.fork()
        if child == 0:
            values = (ct.c_float * 8).from_address(memory)
            right = values[7] == 7 and api.aclrtIpcMemClose(key) == PARAM_INVALID
            values[7] = 100
            os._exit(0 if right else 1)
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
        assert floats(rt, memory)[7] == 7
        number = ct.c_int32()
        rt.check(api.aclrtDeviceGetBareTgid(ct.byref(number)))
        assert number.value == os.getpid()
