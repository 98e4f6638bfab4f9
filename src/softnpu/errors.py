# SPDX-License-Identifier: Apache-2.0
"""Failures of the device as exceptions: a thin shell over the documented status codes."""

from __future__ import annotations

from typing import Any, TypeVar

from softnpu import _core

__all__ = [
    "AclnnError",
    "DeviceRuntimeError",
    "IndexOutOfRangeError",
    "ParamInvalidError",
    "ParamNullptrError",
]


class AclnnError(RuntimeError):
    """A documented status other than success.

    Parameters
    ----------
    status : int
        The documented code; kept as an attribute.
    message : str
        One line: the function, the argument, the actual and the expected value. The same text as
        from ``aclGetRecentErrMsg()`` in a C program; kept as an attribute.
    rule : str, optional
        The id of the rule that was broken; kept as an attribute. ``softnpu explain`` takes it, and
        a traceback shows it as a note below the message (from Python 3.11 on).
    """

    def __init__(self, status: int, message: str, rule: str = "") -> None:
        super().__init__(status, message, rule)
        self.status = status
        self.message = message
        self.rule = rule
        if rule:
            with_rule(self, rule=rule)

    @property
    def name(self) -> str:
        """The documented name of an operator's status; empty for other codes."""
        return _core.status_name(self.status)

    def __str__(self) -> str:
        """Return the message, which has the function and the argument."""
        return self.message


class ParamNullptrError(AclnnError, TypeError):
    """161001: a required argument is None, or an array has no data; a TypeError, too."""


class ParamInvalidError(AclnnError, ValueError):
    """161002: an argument breaks the operator's contract; a ValueError, too."""


class DeviceRuntimeError(AclnnError):
    """361001: the operator failed while it ran."""


class IndexOutOfRangeError(DeviceRuntimeError, IndexError):
    """361001: an index is out of range; an IndexError, too."""


# The message for a masked array, after the argument's name; the core has the same.
MASKED_ARRAY = (
    "is a masked array; expected an array without a mask: pass .filled(value), or .data to ignore "
    "the mask"
)

_Error = TypeVar("_Error", bound=Exception)


def with_rule(error: _Error, *, rule: str) -> _Error:
    """Set the ``.rule`` of an exception of any class, and add a note that shows it."""
    named: Any = error
    named.rule = rule
    if hasattr(error, "add_note"):
        named.add_note(f"rule: {rule} (softnpu explain {rule})")
    return error


_CLASSES: dict[int, type[AclnnError]] = {
    161001: ParamNullptrError,
    161002: ParamInvalidError,
    361001: DeviceRuntimeError,
}


def error_from_status(status: int, message: str, rule: str = "") -> AclnnError:
    """Return the exception for a status."""
    return _CLASSES.get(status, AclnnError)(status, message, rule)


def index_error_from_status(status: int, message: str, rule: str = "") -> AclnnError:
    """Return the exception for a status whose cause is an index."""
    return IndexOutOfRangeError(status, message, rule)


def plain_error(cls: type[Exception], message: str, rule: str) -> Exception:
    """Return one of Python's own exceptions, for calls that never reach an operator."""
    return with_rule(cls(message), rule=rule)


# Imported early, because imports fail when the interpreter ends.
_core.load_errors()
