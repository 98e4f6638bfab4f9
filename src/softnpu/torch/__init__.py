# SPDX-License-Identifier: Apache-2.0
"""softnpu's operators as PyTorch's own: ``torch.ops.softnpu.*``.

Importing this module registers them, for tensors on the CPU and on NVIDIA GPUs: with autograd in
reverse and forward mode, `torch.autocast`, `torch.vmap`, `torch.func`, `torch.compile` and
`torch.export`. The arguments are those of softnpu's functions, whose contracts hold; each operator
has an ``out`` overload. The functions of `softnpu` take part in autograd, too: the first tensor
that requires grad imports this module.

`softnpu.torch.nn` has modules that replace `torch.nn`'s; within a `patch` block, softnpu computes a
model's own operators.
"""

from importlib.util import find_spec

if find_spec("torch") is None:
    raise ModuleNotFoundError(
        "softnpu.torch needs PyTorch: pip install torch (docs/support.md names the versions that "
        "are tested; the index of its builds for CPUs alone has the smallest)",
        name="torch",
    )

from softnpu.torch import calls, compiling, functions, nn
from softnpu.torch.functions import *  # noqa: F403  the operators
from softnpu.torch.gpu import check_indices, deferred_index_checks
from softnpu.torch.patching import Patch, patch
from softnpu.torch.recording import meet_distributed

__all__ = [
    "Patch",
    "check_indices",
    "deferred_index_checks",
    "nn",
    "patch",
    *functions.__all__,
]

calls.take_part()
compiling.take_part()
meet_distributed()
