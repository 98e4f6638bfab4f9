# SPDX-License-Identifier: Apache-2.0
"""``softnpu info``: the emulated product, the settings, and their origins."""

import os
import platform
from collections.abc import Iterator
from importlib import metadata
from pathlib import Path
from typing import Any, NamedTuple

from rich.text import Text

from softnpu import __version__
from softnpu.cli.cache import programs_folder
from softnpu.cli.environment import sdk_prefix
from softnpu.cli.output import JsonOption, fail, print_json, results


class Row(NamedTuple):
    """One line: the label, the value, and the origin of a value that can vary."""

    label: str
    value: str
    origin: str = ""


# Only whether these are installed is shown; importing them would take seconds.
PACKAGES = ("numpy", "ml_dtypes", "torch")
MISSING = "not installed"


def command(as_json: JsonOption = False) -> None:
    """Show the device profile, the settings and where they come from, versions and paths.

    The exit status is 1 if SOFTNPU_SOC is not the name of a product.
    """
    if as_json:
        print_json(_record())
    else:
        _show()
    if failure := str(_core_info()["soc_failure"]):
        fail(failure)


def _show() -> None:
    console = results()
    for row in [*_device_rows(), *_version_rows(), *_path_rows()]:
        text = Text.assemble((f"{row.label:<20}", "bold"), row.value)
        if row.origin:
            text.append(f"  ({row.origin})", style="dim")
        console.print(text, soft_wrap=True)


def _record() -> dict[str, Any]:
    """Return the same for programs: numbers as numbers, and settings with their origins."""
    core = _core_info()
    prefix = sdk_prefix()
    return {
        "version": __version__,
        "product": core["soc"],
        "bf16": core["bf16"],
        "devices": core["devices"],
        "device_memory": core["device_memory"],
        "threads": core["threads"],
        "isa": core["isa"],
        "isa_available": list(core["isa_available"]),
        "pool_limit": core["pool_limit"],
        "origins": {row.label: row.origin for row in _device_rows() if row.origin},
        "versions": {
            row.label: None if row.value == MISSING else row.value for row in _version_rows()
        },
        "sdk": str(prefix),
        "headers": str(prefix / "include"),
        "libraries": [str(library) for library in _libraries(prefix)],
        "compiled_programs": _programs(),
    }


def _core_info() -> dict[str, Any]:
    try:
        from softnpu import _core
    except ImportError as error:
        fail(f"the native part of softnpu cannot be loaded: {error}")
    return _core.info()


def _device_rows() -> Iterator[Row]:
    core = _core_info()
    available = ", ".join(core["isa_available"])
    yield _setting("product", str(core["soc"]), "SOFTNPU_SOC")
    yield Row("BF16", "yes" if core["bf16"] else "no", "follows from the product")
    yield _setting("devices", str(core["devices"]), "SOFTNPU_DEVICES")
    yield _setting("device memory (MB)", str(core["device_memory"] >> 20), "SOFTNPU_MEMORY_MB")
    yield _setting("threads", str(core["threads"]), "SOFTNPU_THREADS")
    yield _setting("instruction set", str(core["isa"]), "SOFTNPU_ISA")
    yield Row("this CPU can run", available)
    yield _setting("output pool (MB)", str(core["pool_limit"] >> 20), "SOFTNPU_POOL_MB")


def _setting(label: str, value: str, variable: str) -> Row:
    """Show a setting and the origin of its value, or an invalid value of its variable."""
    given = os.environ.get(variable, "")
    if not given:
        return Row(label, value, f"default; {variable} changes it")
    if _means(given, value, variable):
        return Row(label, value, f"from {variable}")
    return Row(label, value, f"{variable}={given} is an invalid value")


def _means(given: str, value: str, variable: str) -> bool:
    """Whether the core reads the variable's text as ``value``."""
    if variable == "SOFTNPU_SOC":
        return given.casefold() == value.casefold()
    # Numbers are parsed; names must match exactly.
    if given.isascii() and given.isdigit():
        return (given.lstrip("0") or "0") == value
    return given == value


def _version_rows() -> Iterator[Row]:
    yield Row("softnpu", __version__)
    yield Row("Python", platform.python_version(), platform.python_implementation())
    for package in PACKAGES:
        try:
            yield Row(package, metadata.version(package))
        except metadata.PackageNotFoundError:
            yield Row(package, MISSING)


def _path_rows() -> Iterator[Row]:
    prefix = sdk_prefix()
    yield Row("SDK", str(prefix))
    yield Row("headers", str(prefix / "include"))
    for library in _libraries(prefix):
        yield Row("library", str(library))
    if programs := _programs():
        yield Row("compiled programs", programs)
    else:
        yield Row("compiled programs", "nowhere", "no home folder; XDG_CACHE_HOME names another")


def _libraries(prefix: Path) -> list[Path]:
    return sorted((prefix / "lib64").glob("*.so"))


def _programs() -> str | None:
    try:
        return str(programs_folder())
    except RuntimeError:
        return None
