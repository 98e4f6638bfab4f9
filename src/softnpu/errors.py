# SPDX-License-Identifier: Apache-2.0
"""Failures of the device as exceptions: a thin shell over the documented status codes."""

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
        One line: the function, the argument, what came and what was expected. It is the same that
        ``aclGetRecentErrMsg()`` gives a C program; kept as an attribute.
    """

    def __init__(self, status: int, message: str) -> None:
        super().__init__(status, message)
        self.status = status
        self.message = message

    @property
    def name(self) -> str:
        """The documented name of an operator's status; empty for other codes."""
        return _core.status_name(self.status)

    def __str__(self) -> str:
        """Show the message alone; it names the function and the argument."""
        return self.message


class ParamNullptrError(AclnnError, TypeError):
    """161001: a required argument is None, or an array has no data; a TypeError, too."""


class ParamInvalidError(AclnnError, ValueError):
    """161002: an argument breaks the operator's contract; a ValueError, too."""


class DeviceRuntimeError(AclnnError):
    """361001: the operator failed while it ran."""


class IndexOutOfRangeError(DeviceRuntimeError, IndexError):
    """361001, because an index lies outside the axes that it counts; an IndexError, too."""


_CLASSES: dict[int, type[AclnnError]] = {
    161001: ParamNullptrError,
    161002: ParamInvalidError,
    361001: DeviceRuntimeError,
}


def error_from_status(status: int, message: str) -> AclnnError:
    """Return the exception that stands for a status."""
    return _CLASSES.get(status, AclnnError)(status, message)


def index_error_from_status(status: int, message: str) -> AclnnError:
    """Return the exception for a status whose cause is an index."""
    return IndexOutOfRangeError(status, message)


# When the interpreter ends, nothing can be imported any more.
_core.load_errors()
