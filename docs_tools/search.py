# SPDX-License-Identifier: Apache-2.0
"""Lets the theme's search find every number, and options.

Its library, Lunr, merges nodes of its index whose descriptions are equal. A description is made of
characters and of numbers of nodes, written one behind the other: where the characters are digits
themselves, different nodes get the same one, and numbers such as 507046 are lost. A comma behind
each number of a node keeps them apart.

A query that begins with two hyphens, such as --stats, is an error for Lunr. They are left out.
"""

from __future__ import annotations

import re
from pathlib import Path

_DESCRIPTION = re.compile(r"(TokenSet\.prototype\.toString=function\(\)\{[^}]*?\.id)(?=\}return)")
_QUERY = re.compile(r"(search\((\w)\)\{if\()(?=\2=)")
_NO_HYPHENS = r'\1\2=\2.replace(/(^|\\s)-+(?=\\w)/g,"$1"),'


def repair(site: Path) -> bool:
    """Change the script of the search in a site that was built; false if it is another one."""
    scripts = list((site / "assets" / "javascripts" / "workers").glob("search.*.js"))
    changes = 0
    for script in scripts:
        text, descriptions = _DESCRIPTION.subn(r'\1+","', script.read_text("utf-8"))
        text, queries = _QUERY.subn(_NO_HYPHENS, text)
        script.write_text(text, encoding="utf-8")
        changes += descriptions == queries == 1
    return 0 < changes == len(scripts)
