# SPDX-License-Identifier: Apache-2.0
"""The location of the SDK, and the environment in which programs find it."""

import os
import shlex
from collections.abc import Mapping
from pathlib import Path

import softnpu
from softnpu.cli.output import fail

PACKAGE = Path(softnpu.__file__).resolve().parent

# Build files use any of these variables for the prefix.
PREFIX_VARIABLES = ("ASCEND_HOME_PATH", "ASCEND_TOOLKIT_HOME", "ASCEND_CUSTOM_PATH")
# The search paths of the libraries and of the Python module acl.
SEARCH_PATHS = {"LD_LIBRARY_PATH": "lib64", "PYTHONPATH": "python/site-packages"}


def sdk_prefix() -> Path:
    """Find the folder that holds include/, lib64/ and set_env.sh."""
    prefix = PACKAGE / "sdk"
    if not (prefix / "include" / "acl" / "acl.h").is_file():
        fail(
            f"there is no SDK at {prefix}",
            hint="This softnpu is a source tree that was not built. Install it with: pip install .",
        )
    return prefix


def prepended(folder: str, search_path: str) -> str:
    """Move ``folder`` to the front of ``search_path``, and drop empty entries."""
    others = [entry for entry in search_path.split(":") if entry not in ("", folder)]
    return ":".join([folder, *others])


def sdk_environment(prefix: Path, current: Mapping[str, str]) -> dict[str, str]:
    """Return the variables that point builds and programs at the SDK, based on ``current``."""
    variables = dict.fromkeys(PREFIX_VARIABLES, str(prefix))
    for name, folder in SEARCH_PATHS.items():
        variables[name] = prepended(str(prefix / folder), current.get(name, ""))
    return variables


def log_environment(current: Mapping[str, str]) -> dict[str, str]:
    """Enable the log of failures on stderr, unless the user has configured the log."""
    chosen = current.get("SOFTNPU_LOG") or current.get("ASCEND_GLOBAL_LOG_LEVEL")
    return {} if chosen else {"SOFTNPU_LOG": "error"}


def export_lines(variables: Mapping[str, str]) -> str:
    """Return shell code that sets ``variables``, safe to ``eval`` for any values."""
    return "".join(f"export {name}={shlex.quote(value)}\n" for name, value in variables.items())


def program_environment(prefix: Path) -> dict[str, str]:
    """Add the SDK and the log to the environment of this process."""
    return {**os.environ, **sdk_environment(prefix, os.environ), **log_environment(os.environ)}
