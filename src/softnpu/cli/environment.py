# SPDX-License-Identifier: Apache-2.0
"""Where the SDK lies, and the environment in which programs find it."""

import os
import shlex
from collections.abc import Mapping
from pathlib import Path

import softnpu
from softnpu.cli.output import fail

PACKAGE = Path(softnpu.__file__).resolve().parent

# Build files name the prefix by any one of these.
PREFIX_VARIABLES = ("ASCEND_HOME_PATH", "ASCEND_TOOLKIT_HOME", "ASCEND_CUSTOM_PATH")
# Where the libraries are found, and the module acl of Python.
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
    """Put ``folder`` first and nowhere else in ``search_path``, and drop empty entries."""
    others = [entry for entry in search_path.split(":") if entry not in ("", folder)]
    return ":".join([folder, *others])


def sdk_environment(prefix: Path, current: Mapping[str, str]) -> dict[str, str]:
    """Set the variables that point builds and programs at the SDK, as ``current`` has them."""
    variables = dict.fromkeys(PREFIX_VARIABLES, str(prefix))
    for name, folder in SEARCH_PATHS.items():
        variables[name] = prepended(str(prefix / folder), current.get(name, ""))
    return variables


def log_environment(current: Mapping[str, str]) -> dict[str, str]:
    """Let failures be written to stderr, unless the user chose what is."""
    chosen = current.get("SOFTNPU_LOG") or current.get("ASCEND_GLOBAL_LOG_LEVEL")
    return {} if chosen else {"SOFTNPU_LOG": "error"}


def export_lines(variables: Mapping[str, str]) -> str:
    """Write shell text that sets ``variables``, safe to ``eval`` whatever the values hold."""
    return "".join(f"export {name}={shlex.quote(value)}\n" for name, value in variables.items())


def program_environment(prefix: Path) -> dict[str, str]:
    """Add what programs need to the environment of this process: the SDK, and the log."""
    return {**os.environ, **sdk_environment(prefix, os.environ), **log_environment(os.environ)}
