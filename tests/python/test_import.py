# SPDX-License-Identifier: Apache-2.0
"""What importing the package costs."""

from __future__ import annotations

from collections.abc import Callable

import softnpu


def test_import_loads_nothing_heavy(script: Callable[[str], str]) -> None:
    """PyTorch, the command line's libraries and ml_dtypes wait until they are needed."""
    heavy = script(
        "import sys, softnpu\n"
        "print([m for m in ('torch', 'typer', 'rich', 'ml_dtypes', 'ctypes')"
        " if m in sys.modules])"
    )
    assert heavy == "[]"


def test_import_adds_no_other_package(script: Callable[[str], str]) -> None:
    """NumPy is the only one that it needs."""
    added = script(
        "import sys, numpy\n"
        "before = set(sys.modules)\n"
        "import softnpu\n"
        "new = {m.partition('.')[0] for m in set(sys.modules) - before}\n"
        "print(*sorted(new - sys.stdlib_module_names))"
    )
    assert added.split() == ["softnpu"]


def test_calls_with_numpy_never_import_pytorch(script: Callable[[str], str]) -> None:
    """Only a bfloat16 array needs ml_dtypes, and it is there by then."""
    loaded = script(
        "import sys, numpy as np, softnpu\n"
        "x = np.ones(3, np.float32)\n"
        "softnpu.selu_backward(x, x)\n"
        "print('torch' in sys.modules, 'ml_dtypes' in sys.modules)"
    )
    assert loaded == "False False"


def test_the_version_is_that_of_the_distribution() -> None:
    """One place decides it."""
    from importlib.metadata import version

    assert softnpu.__version__ == version("softnpu")
