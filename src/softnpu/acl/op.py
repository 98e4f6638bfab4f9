# SPDX-License-Identifier: Apache-2.0
"""Operators compiled ahead of time. softnpu has none, but clients set their directory."""

from __future__ import annotations

import os

from softnpu import _core

__all__ = ["set_model_dir"]


def set_model_dir(model_dir: str | os.PathLike[str]) -> int:
    """Accept a folder of compiled operators; softnpu uses none of them.

    Parameters
    ----------
    model_dir : path
        The directory, which is ignored.

    Returns
    -------
    int
        ACL_SUCCESS.

    Raises
    ------
    TypeError
        model_dir is not a path.

    Notes
    -----
    Source: acl.op.set_model_dir of pyACL.
    """
    return _core.aclopSetModelDir(model_dir)
