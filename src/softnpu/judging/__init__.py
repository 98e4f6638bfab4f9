# SPDX-License-Identifier: Apache-2.0
"""Judges results of the operators that were computed elsewhere, against the float64 definitions."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from softnpu.judging.report import Report

__all__ = ["verify"]


def verify(
    operator: str,
    case: Mapping[str, Any] | str | os.PathLike[str],
    *,
    rtol: float | None = None,
    atol: float | None = None,
    ulp: float | None = None,
    worst: int = 10,
) -> Report:
    """Judge a result that was computed elsewhere: by an NPU, another emulator, or your own kernel.

    The float64 definition of the operator (`softnpu.reference`) is evaluated on the inputs and
    rounded once to the data type of the result. Without tolerances the operator's documented
    accuracy decides. If tolerances are given, each element must satisfy all of them.

    Parameters
    ----------
    operator : str
        Its documented name or that of the Python function: "aclnnEluBackward", "elu_backward".
    case : mapping, or path of an .npz file
        All inputs and attributes under their documented names, and the result under the output's.
        An operator that works in place has its input under ``selfRef``, the result under ``out``.
        Upsampling also takes ``format``, "NDHWC" for arrays whose last axis is the channel. Arrays
        are NumPy's, PyTorch tensors of any device, or any on the CPU that speak DLPack.
    rtol, atol : float, optional
        The maximum error is ``atol + rtol * abs(reference)``; each defaults to 0.
    ulp : float, optional
        The maximum error in units in the last place.
    worst : int, optional
        The maximum number of elements to list.

    Returns
    -------
    Report
        ``ok`` is the verdict; ``str()`` formats it, and `softnpu.judging.report` describes all
        fields.

    Raises
    ------
    ValueError
        There is no such operator, the case has missing or unknown names, or breaks the operator's
        contract; or a tolerance is negative or not a number.
    OSError
        The file cannot be read.

    Notes
    -----
    The definitions favour readability over speed: upsampling and unpooling take some seconds for a
    million elements.
    """
    # Loaded on demand, so that importing the package is fast.
    from softnpu.judging.case import build
    from softnpu.judging.files import read_case
    from softnpu.judging.judge import Tolerances, judge

    values = case if isinstance(case, Mapping) else read_case(case)
    return judge(build(operator, values), Tolerances(rtol, atol, ulp), worst)
