# SPDX-License-Identifier: Apache-2.0
"""Shapes near the nominal sizes.

Most are no powers of two: equal powers of two make several arrays compete for the same sets of a
cache, which would hide the rest. The layout "power of two" measures exactly that. Nor are arrays a
few bytes short of 256 MiB, which an allocator puts 256 MiB apart: the first cache of a Zen 4 takes
what is as far apart for the same line, and everything takes 1.3 to 1.8 times as long.
"""

MATRICES = {
    "1K": (25, 41),
    "16K": (127, 129),
    "64K": (255, 257),
    "256K": (511, 513),
    "1M": (1000, 1049),
    "4M": (2039, 2057),
    "8M": (2879, 2914),
    "16M": (4003, 4195),
    "64M": (8179, 8219),
    "256M": (16381, 16387),
}

# N, C, D, H, W, for channels-last.
VOLUMES = {
    "1K": (2, 5, 4, 5, 5),
    "64K": (2, 24, 9, 12, 13),
    "1M": (2, 32, 16, 32, 33),
    "16M": (4, 64, 32, 45, 46),
}


def shape_for(layout: str, size: str) -> tuple[int, ...]:
    """Give the shape in which a layout is measured at a size."""
    if layout == "channels-last":
        return VOLUMES[size]
    if layout == "power-of-two":
        return {"64K": (256, 256), "1M": (1024, 1024), "16M": (4096, 4096)}[size]
    return MATRICES[size]
