# SPDX-License-Identifier: Apache-2.0
import typing
from collections.abc import Sequence
from typing import Any, TypeVar

_T = TypeVar("_T")

def info() -> dict[str, typing.Any]: ...
