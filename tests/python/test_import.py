# SPDX-License-Identifier: Apache-2.0
"""What importing the package costs, and settings that nothing fails for."""

from __future__ import annotations

from collections.abc import Callable

import pytest

import softnpu
from tests.support.acl_runtime import run_python


def test_import_loads_nothing_heavy(script: Callable[[str], str]) -> None:
    """PyTorch, the command line's libraries, ml_dtypes, Triton, references and judges wait until
    they are needed, most of them also when NumPy's arrays are computed with.
    """
    loaded = script(
        "import sys, softnpu\n"
        "heavy = ('torch', 'triton', 'typer', 'rich', 'ml_dtypes')\n"
        "own = ('softnpu.judging.', 'softnpu.reference', 'softnpu.triton')\n"
        "print([m for m in sys.modules if m in (*heavy, 'ctypes') or m.startswith(own)])\n"
        "import numpy as np\n"
        "softnpu.selu_backward(*[np.ones(3, np.float32)] * 2)\n"
        "print([m for m in sys.modules if m in heavy])"
    )
    assert loaded.split() == ["[]", "[]"]


def test_pytorch_is_named_where_it_is_missing() -> None:
    """With what to install."""
    done = run_python("import sys; sys.modules['torch'] = None; import softnpu.torch.npu")
    assert "softnpu.torch needs PyTorch: pip install torch" in done.stderr


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


def test_the_version_is_that_of_the_distribution() -> None:
    """One place decides it."""
    from importlib.metadata import version

    assert softnpu.__version__ == version("softnpu")


@pytest.mark.parametrize(
    ("variable", "wrong", "expected"),
    [
        ("SOFTNPU_POOL_MB", "many", "a number from 0 to "),
        ("SOFTNPU_MEMORY_MB", "0", "a number from 1 to "),
        ("SOFTNPU_THREADS", "0", "a number from 1 to 1024"),
        ("SOFTNPU_ISA", "AVX2", "baseline on this machine"),
    ],
)
def test_what_cannot_be_followed_is_said_once(variable: str, wrong: str, expected: str) -> None:
    """On stderr; nothing fails for it."""
    program = "import softnpu; from softnpu import _core; print(_core.info() == _core.info())"
    for value, said in ((wrong, True), ("", False)):
        done = run_python(program, **{variable: value})
        assert done.returncode == 0
        assert done.stdout == "True\n"
        lines = done.stderr.splitlines()
        assert len(lines) == said, done.stderr
        for line in lines:
            start = f'softnpu: {variable} is "{value}", an invalid value; expected '
            assert line.startswith(start)
            assert expected in line
