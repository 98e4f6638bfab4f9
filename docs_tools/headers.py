# SPDX-License-Identifier: Apache-2.0
"""The reference of the C API, from the headers: each declaration with the comment before it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from docs_tools.markdown import code
from softnpu.cli.environment import sdk_prefix

INCLUDE = sdk_prefix() / "include"
# The pages and their headers; those of the operators share one.
HEADERS = {
    "acl": ["acl/acl.h"],
    "acl_base": ["acl/acl_base.h"],
    "acl_op": ["acl/acl_op.h"],
    "acl_op_compiler": ["acl/acl_op_compiler.h"],
    "acl_mdl": ["acl/acl_mdl.h"],
    "acl_prof": ["acl/acl_prof.h"],
    "acl_rt": ["acl/acl_rt.h", "acl/acl_rt_memory.h"],
    "hccl": ["hccl/hccl.h"],
    "hccl_types": ["hccl/hccl_types.h"],
    "acl_meta": ["aclnn/acl_meta.h"],
    "aclnn_base": ["aclnn/aclnn_base.h"],
    "aclnnop": [f"aclnnop/{path.name}" for path in sorted((INCLUDE / "aclnnop").glob("*_*.h"))],
}
_SECTION = re.compile(r"// ---- (.*?) -+$")
_MARKS = re.compile(r"\b(ACL_FUNC_VISIBILITY|ACLNN_API)\s+")


class Piece(NamedTuple):
    """A section's title, a comment that stands alone, or a declaration with its comment."""

    kind: str
    text: str
    comment: str = ""


def pages() -> dict[str, str | bytes]:
    """Write a page for each header, and one for those of the operators."""
    return {f"reference/c/{name}.md": page(name) for name in HEADERS}


def title(name: str) -> str:
    """Name a page in the navigation."""
    headers = HEADERS[name]
    return headers[0] if len(headers) == 1 else "aclnnop/aclnn_*.h"


def page(name: str) -> str:
    """Write the page of some headers."""
    parts = [f"# {title(name)}\n"]
    for header in HEADERS[name]:
        parts += [f"## {header}\n"] if len(HEADERS[name]) > 1 else []
        parts += [_written(piece) for piece in pieces((INCLUDE / header).read_text("utf-8"))]
    return "\n".join(parts)


def pieces(header: str) -> Iterator[Piece]:
    """Cut a header into what it says."""
    comment: list[str] = []
    declared: list[str] = []
    for line in _body(header):
        if section := _SECTION.match(line):
            yield Piece("section", section[1])
        elif line.startswith("//") and not declared:
            comment.append(line.removeprefix("//").strip())
        elif line.strip() or declared:
            declared.append(line)
            if _is_complete(declared):
                yield Piece("declaration", "\n".join(declared), " ".join(comment))
                comment, declared = [], []
        elif comment:
            yield Piece("comment", " ".join(comment))
            comment = []


def _body(header: str) -> Iterator[str]:
    """Leave out the preprocessor's lines, what it hides from C, and the status codes."""
    lines = header.splitlines()[2:]
    for line in lines:
        if line.startswith(("#", 'extern "C"', "}  //", "ACL_STATUS_CODE")) or line == "}":
            yield ""
        else:
            yield line


def _is_complete(lines: list[str]) -> bool:
    text = "\n".join(re.sub(r"//.*", "", line) for line in lines)
    return text.rstrip().endswith(";") and text.count("{") == text.count("}")


def _written(piece: Piece) -> str:
    if piece.kind == "section":
        return f"## {piece.text[:1].upper()}{piece.text[1:]}\n"
    if piece.kind == "comment":
        return f"{_prose(piece.comment or piece.text)}\n"
    comment = f"{_prose(piece.comment)}\n\n" if piece.comment else ""
    return f"### {_name(piece.text)}\n\n{comment}{code(_dedented(piece.text), 'c')}"


def _prose(comment: str) -> str:
    return re.sub(r"\b(acl\w+\(?\)?|ACL_\w+\*?)", r"`\1`", comment.replace("`", ""))


def _name(declaration: str) -> str:
    function = re.search(r"(\w+)\(", _MARKS.sub("", declaration))
    pointer = re.search(r"typedef .*\(\*(\w+)\)", declaration)
    last = re.search(r"(\w+);", declaration)
    found = pointer or (None if declaration.startswith("typedef") else function) or last
    if found is None:
        raise ValueError(f"no name in {declaration!r}")
    return found[1]


def _dedented(declaration: str) -> str:
    """Leave out the export mark, and what it moved the next lines to the right by."""
    first, *rest = declaration.split("\n")
    short = _MARKS.sub("", first)
    gap = len(first) - len(short)
    return "\n".join([short, *(line[gap:] if line[:gap].isspace() else line for line in rest)])
