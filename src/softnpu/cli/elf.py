# SPDX-License-Identifier: Apache-2.0
"""A reader of 64-bit ELF files: the libraries and symbols that a file needs and defines."""

from __future__ import annotations

import struct
from dataclasses import dataclass, field
from pathlib import Path

_MAGIC = b"\x7fELF\x02\x01"  # 64-bit, little-endian: x86-64 and 64-bit Arm
_INTERPRETER = 3  # types of segments
_DYNAMIC, _DYNAMIC_SYMBOLS = 6, 11  # types of sections
_RPATH, _RUNPATH = 15, 29  # tags of the dynamic section
_WEAK = 2


@dataclass
class Elf:
    """The names that a file needs and defines, and its loader."""

    interpreter: str = ""
    search_path: list[str] = field(default_factory=list)
    defined: set[str] = field(default_factory=set)
    # Without weak ones, which need not exist.
    needed: set[str] = field(default_factory=set)
    wanted: set[str] = field(default_factory=set)


def read_elf(file: Path) -> Elf | None:
    """Read a file; None if it is not a 64-bit ELF file, or cannot be read."""
    try:
        data = file.read_bytes()
        return _read(data, file) if data.startswith(_MAGIC) else None
    except (OSError, struct.error, ValueError):
        return None


def _read(data: bytes, file: Path) -> Elf:
    elf = Elf()
    segments, sections = struct.unpack_from("<QQ", data, 32)
    segment_size, segment_count, section_size, section_count = struct.unpack_from("<4H", data, 54)
    for index in range(segment_count):
        kind, _, offset, _, _, size = struct.unpack_from(
            "<IIQQQQ", data, segments + index * segment_size
        )
        if kind == _INTERPRETER:
            elf.interpreter = data[offset : offset + size].rstrip(b"\0").decode()
    # Of each section: type, offset, size, and the section of its names.
    headers = [
        struct.unpack_from("<4xI16xQQI", data, sections + index * section_size)
        for index in range(section_count)
    ]
    for kind, offset, size, link in headers:
        if kind not in (_DYNAMIC, _DYNAMIC_SYMBOLS):
            continue
        names = data[headers[link][1] : headers[link][1] + headers[link][2]]
        content = data[offset : offset + size]
        if kind == _DYNAMIC:
            _read_search_path(elf, content, names, file)
        else:
            _read_symbols(elf, content, names)
    return elf


def _read_search_path(elf: Elf, content: bytes, names: bytes, file: Path) -> None:
    for tag, value in struct.iter_unpack("<QQ", content):
        if tag in (_RPATH, _RUNPATH):
            text = _name(names, value).replace("${ORIGIN}", "$ORIGIN")
            path = text.replace("$ORIGIN", str(file.resolve().parent))
            elf.search_path += filter(None, path.split(":"))


def _read_symbols(elf: Elf, content: bytes, names: bytes) -> None:
    for name, info, _, section, _, _ in struct.iter_unpack("<IBBHQQ", content):
        if name == 0:
            continue
        if section != 0:
            elf.defined.add(_name(names, name))
        elif info >> 4 == _WEAK:
            elf.wanted.add(_name(names, name))
        else:
            elf.needed.add(_name(names, name))


def _name(names: bytes, start: int) -> str:
    return names[start : names.index(b"\0", start)].decode(errors="surrogateescape")
