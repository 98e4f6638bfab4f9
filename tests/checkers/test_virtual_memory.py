# SPDX-License-Identifier: Apache-2.0
"""The checkers where memory is mapped: what spans two mappings, and what keeps its contents."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tests.checkers.programs import Report

BEGIN = """
#include "program.h"
int main() {
  begin();
  aclrtPhysicalMemProp prop = {};
  prop.location.type = ACL_MEM_LOCATION_TYPE_DEVICE;
  const size_t unit = size_t{2} << 20;
  void *range = nullptr, *a = nullptr, *b = nullptr;
  must(aclrtReserveMemAddress(&range, 4 * unit, 0, nullptr, 0));
  char* const first = static_cast<char*>(range);
  char* const second = first + unit;
  must(aclrtMallocPhysical(&a, unit, &prop, 0));
  must(aclrtMallocPhysical(&b, unit, &prop, 0));
  must(aclrtMapMem(first, unit, 0, a, 0));
  must(aclrtMapMem(second, unit, 0, b, 0));
  aclrtStream streams[2];
  for (auto& each : streams) must(aclrtCreateStream(&each));
  std::vector<char> host(4 * unit);
  const auto kind = ACL_MEMCPY_DEFAULT;
"""
END = """
  must(aclrtSynchronizeDevice());
  for (auto& each : streams) must(aclrtDestroyStream(each));
  must(aclrtUnmapMem(first));
  must(aclrtUnmapMem(second));
  must(aclrtFreePhysical(a));
  must(aclrtFreePhysical(b));
  must(aclrtReleaseMemAddress(range));
  end();
}
"""


def body(*lines: str) -> str:
    """A program with two mappings that touch, and these lines."""
    return BEGIN + "".join(f"  {line}\n" for line in lines) + END


WRITTEN = "must(aclrtMemset(first, 2 * unit, 1, 2 * unit));"
READ = "must(aclrtMemcpy(host.data(), unit, {}, unit, kind));"
CLEAN = {
    "across both": [WRITTEN, "must(aclrtMemcpy(host.data(), 2 * unit, first, 2 * unit, kind));"],
    "copied across": [
        "must(aclrtMemset(first + unit / 2, unit, 1, unit));",
        "must(aclrtMemcpy(first, unit, first + unit / 2, unit, kind));",
        READ.format("first"),
    ],
    "kept contents": [
        WRITTEN,
        "must(aclrtUnmapMem(first));",
        "must(aclrtMapMem(first + 2 * unit, unit, 0, a, 0));",
        READ.format("first + 2 * unit"),
        "must(aclrtUnmapMem(first + 2 * unit));",
        "must(aclrtMapMem(first, unit, 0, a, 0));",
    ],
    "other halves": [
        WRITTEN,
        "must(aclrtMemsetAsync(first, unit, 1, unit, streams[0]));",
        "must(aclrtMemsetAsync(second, unit, 1, unit, streams[1]));",
    ],
}
FOUND = {
    "unwritten end": (
        ["must(aclrtMemset(first, unit + 64, 1, unit + 64));", READ.format("first + 65")],
        "initcheck/uninitialized-read",
    ),
    "new memory": (
        [
            WRITTEN,
            "must(aclrtUnmapMem(first));",
            "must(aclrtFreePhysical(a));",
            "must(aclrtMallocPhysical(&a, unit, &prop, 0));",
            "must(aclrtMapMem(first, unit, 0, a, 0));",
            READ.format("first"),
        ],
        "initcheck/uninitialized-read",
    ),
    "the end of an access in use": (
        [
            "must(aclrtMemsetAsync(first, 2 * unit, 1, 2 * unit, streams[0]));",
            "must(aclrtUnmapMem(second));",
            "aclrtSynchronizeDevice();",
            "must(aclrtMapMem(second, unit, 0, b, 0));",
        ],
        "memcheck/freed-in-use",
    ),
    "a race in the second mapping": (
        [
            "must(aclrtMemsetAsync(first, 2 * unit, 1, 2 * unit, streams[0]));",
            "must(aclrtMemsetAsync(second, unit, 2, unit, streams[1]));",
        ],
        "racecheck/stream-race",
    ),
    "the host in mapped memory": (["second[5] = 1;"], "memcheck/host-access"),
    "the host in addresses without memory": (["first[2 * unit] = 1;"], "memcheck/host-access"),
}


@pytest.mark.parametrize("name", CLEAN)
def test_what_is_right_is_not_reported(name: str, checked: Callable[..., Report]) -> None:
    """No finding."""
    report = checked(body(*CLEAN[name]))
    assert (report.kinds, report.status) == ([], 0), report


@pytest.mark.parametrize("name", FOUND)
def test_what_is_wrong_is_reported(name: str, checked: Callable[..., Report]) -> None:
    """The finding, and nothing else."""
    lines, expected = FOUND[name]
    report = checked(body(*lines))
    assert report.kinds == [expected], report


def test_leaks(checked: Callable[..., Report]) -> None:
    """Mappings, physical memory and reserved addresses that a program leaves behind."""
    report = checked(BEGIN + "  for (auto& each : streams) must(aclrtDestroyStream(each));\n}\n")
    texts = sorted(one["headline"] for one in report.findings)
    assert texts == [
        "1 aclrtDrvMemHandle was never destroyed",
        "1 aclrtDrvMemHandle was never destroyed",
        "1 mapping of 2097152 bytes was never unmapped",
        "1 mapping of 2097152 bytes was never unmapped",
        "1 reserved address range was never destroyed",
    ]
