# SPDX-License-Identifier: Apache-2.0
"""All pages and pictures that are made when the site is built."""

from __future__ import annotations


def everything() -> dict[str, str | bytes]:
    """Make them: the name in the site, and what it contains."""
    return {}
