# SPDX-License-Identifier: Apache-2.0
"""PyTorch's databases of modules and optimizers, through its own classes for tests of a device.

PyTorch makes the classes for the device when this is imported, so the device must be there before:
``python tests/npu/device_tests.py tests/npu generic.py`` runs it.
"""

from __future__ import annotations

import copy
from collections.abc import Iterator
from typing import Any

import torch
from torch import Tensor
from torch.testing import assert_close
from torch.testing._internal.common_device_type import instantiate_device_type_tests
from torch.testing._internal.common_modules import module_db, modules
from torch.testing._internal.common_optimizers import optim_db, optims
from torch.testing._internal.common_utils import TestCase
from torch.utils._pytree import tree_leaves, tree_map


def moved(value: Any, device: str) -> Any:
    """Copy all tensors in a value to a device; they require what they did."""

    def move(leaf: Any) -> Any:
        if not isinstance(leaf, Tensor):
            return leaf
        return leaf.detach().to(device, copy=True).requires_grad_(leaf.requires_grad)

    return tree_map(move, value)


def outputs(result: Any) -> list[Tensor]:
    """Give the tensors in a result; a packed sequence is one, too."""
    return [leaf for leaf in tree_leaves(result) if isinstance(leaf, Tensor)]


class TestModules(TestCase):
    """Each fourth module: results, buffers and gradients, in training and in evaluation."""

    @modules(module_db[::4], allowed_dtypes=(torch.float32,))
    def test_results(
        self, device: str, dtype: torch.dtype, module_info: Any, training: bool
    ) -> None:
        """A module on the device does what its copy does on the CPU."""
        compared = 0
        for sample in inputs(module_info, dtype, training):
            made, given = sample.constructor_input, sample.forward_input
            module = module_info.module_cls(*made.args, **made.kwargs).to(dtype).train(training)
            expected = self.run_module(module, given, "cpu")
            got = self.run_module(copy.deepcopy(module).to(device), given, device)
            assert {t.device.type for t in got} <= {"npu"}
            assert_close(got, expected, check_device=False)
            compared += len(expected)
        assert compared > 0

    def run_module(self, module: Any, given: Any, device: str) -> list[Tensor]:
        """Run a copy of a module forward and backward; give all tensors that this makes."""
        module = copy.deepcopy(module)
        args, kwargs = moved((given.args, given.kwargs), device)
        torch.manual_seed(7)
        results = outputs(module(*args, **kwargs))
        recorded = [t for t in results if t.requires_grad]
        if recorded:
            torch.autograd.backward(recorded, [torch.ones_like(t) for t in recorded])
        used = [*module.parameters(), *outputs((args, kwargs))]
        return [*results, *module.buffers(), *(t.grad for t in used if t.grad is not None)]


def inputs(module_info: Any, dtype: torch.dtype, training: bool) -> Iterator[Any]:
    """Give the first inputs of a module that name no device."""
    torch.manual_seed(1)
    samples = module_info.module_inputs_func(
        module_info, device="cpu", dtype=dtype, requires_grad=True, training=training
    )
    usable = [each for each in samples if each.forward_input is not None]
    yield from usable[:2]


class TestOptimizers(TestCase):
    """All optimizers, with the first settings that PyTorch tests."""

    @optims([each for each in optim_db if not each.only_supports_sparse_grads], [torch.float32])
    def test_results(self, device: str, dtype: torch.dtype, optim_info: Any) -> None:  # noqa: ARG002
        """Three steps give the parameters and the states that they give on the CPU."""
        for setting in optim_info.optim_inputs_func(device="cpu")[:4]:
            expected = self.train(optim_info, setting, "cpu")
            got = self.train(optim_info, setting, device)
            assert_close(got, expected, check_device=False)

    def train(self, optim_info: Any, setting: Any, device: str) -> list[Any]:
        """Fit a matrix; give it, and the state of the optimizer."""
        torch.manual_seed(1)
        matrix = torch.nn.Parameter(torch.randn(5, 4).to(device))
        x, y = torch.randn(6, 4).to(device), torch.randn(6, 5).to(device)
        before = matrix.detach().clone()
        optimizer = optim_info.optim_cls([matrix], **copy.deepcopy(setting.kwargs))

        def closure() -> Tensor:
            optimizer.zero_grad()
            loss = torch.nn.functional.mse_loss(x @ matrix.mT, y)
            loss.backward()
            return loss

        for _ in range(3):
            if optim_info.step_requires_closure:
                optimizer.step(closure)
            else:
                closure()
                optimizer.step()
        if setting.kwargs.get("lr") != 0:
            assert not torch.equal(matrix, before)
        return [matrix.detach(), *outputs(optimizer.state_dict())]


instantiate_device_type_tests(TestModules, globals(), only_for="privateuse1")
instantiate_device_type_tests(TestOptimizers, globals(), only_for="privateuse1")
