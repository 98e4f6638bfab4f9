# SPDX-License-Identifier: Apache-2.0
"""Lets the theme's search find every number.

Its library, Lunr, merges nodes of its index whose descriptions are equal. A description is made of
characters and of numbers of nodes, written one behind the other: where the characters are digits
themselves, different nodes get the same one, and numbers such as 507046 are lost. A comma behind
each number of a node keeps them apart.
"""

from __future__ import annotations

import re
from pathlib import Path

_DESCRIPTION = re.compile(r"(TokenSet\.prototype\.toString=function\(\)\{[^}]*?\.id)(?=\}return)")


def repair(site: Path) -> bool:
    """Change the script of the search in a site that was built; false if it is another one."""
    scripts = list((site / "assets" / "javascripts" / "workers").glob("search.*.js"))
    changes = 0
    for script in scripts:
        text, found = _DESCRIPTION.subn(r'\1+","', script.read_text("utf-8"))
        script.write_text(text, encoding="utf-8")
        changes += found
    return 0 < changes == len(scripts)
