# SPDX-License-Identifier: Apache-2.0
"""Where the repository and the SDK are."""

from __future__ import annotations

import re
from pathlib import Path

from softnpu.cli.environment import sdk_prefix

ROOT = Path(__file__).resolve().parents[2]
# The headers of the SDK, those that are generated among them.
INCLUDE = sdk_prefix() / "include"
# The header of everyday operators, which the headers that programs include for them are, and those
# of operators that programs declare themselves.
EVERYDAY = ("aclnnop/softnpu_everyday.h", "aclnnop/aclnn_rotary_position_embedding.h")


def everyday_functions() -> list[str]:
    """The functions of everyday operators, as their headers declare them."""
    text = "".join((INCLUDE / header).read_text("utf-8") for header in EVERYDAY)
    return re.findall(r"aclnnStatus (aclnn\w+)\(", text)


def headers() -> list[str]:
    """The headers of the SDK; one for all that are the header of everyday operators.

    Those in level2/ are other names of the headers above.
    """
    names = sorted(str(file.relative_to(INCLUDE)) for file in INCLUDE.rglob("*.h"))
    names = [name for name in names if "/level2/" not in name]
    texts = {name: (INCLUDE / name).read_text("utf-8") for name in names}
    thin = [name for name in names if '"softnpu_everyday.h"' in texts[name]]
    return [name for name in names if name not in thin[1:]]
