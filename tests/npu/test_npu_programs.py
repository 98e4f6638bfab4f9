# SPDX-License-Identifier: Apache-2.0
"""Scripts as people write them, unchanged, in processes of their own."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

TRAINING = """
import torch
import torch_npu
from torch import nn

torch.manual_seed(0)
device = torch.device("npu:0")
net = nn.Sequential(
    nn.Conv2d(1, 4, 3), nn.BatchNorm2d(4), nn.ReLU(), nn.MaxPool2d(2), nn.Flatten(),
    nn.Linear(36, 3)
).to(device)
x, y = torch.randn(32, 1, 8, 8).to(device), torch.randint(0, 3, (32,)).npu()
optimizer = torch.optim.Adam(net.parameters(), 1e-2)
losses = []
for _ in range(20):
    optimizer.zero_grad()
    loss = nn.functional.cross_entropy(net(x), y)
    loss.backward()
    optimizer.step()
    losses.append(loss.item())
torch.npu.synchronize()
print(losses[0] > 1.0, losses[-1] < losses[0] / 2)
print(net[0].weight.device, torch.npu.memory_allocated() > 0)
"""


def test_training_of_a_small_network(run: Any) -> None:
    """The thin whole: an unchanged script trains on the device, and says nothing else."""
    done = run(TRAINING)
    assert done.stdout == "True True\nnpu:0 True\n", done.stderr
    assert done.stderr == ""


def test_checkers_find_nothing_in_it(run: Any) -> None:
    """Tensors that live until the end are no leaks, and no access is out of order."""
    done = run(TRAINING, "check")
    assert done.returncode == 0, done.stderr
    assert done.stdout == "True True\nnpu:0 True\n"


def test_the_device_is_there_without_an_import(run: Any) -> None:
    """PyTorch's autoload finds it, and TORCH_DEVICE_BACKEND_AUTOLOAD=0 keeps it away."""
    script = "import torch; print(hasattr(torch, 'npu') and torch.npu.is_available())"
    assert run(script).stdout == "True\n"
    assert run(script, env={"TORCH_DEVICE_BACKEND_AUTOLOAD": "0"}).stdout == "False\n"


def test_programs_that_did_not_ask_have_no_device() -> None:
    """Neither importing PyTorch nor softnpu.torch registers it."""
    script = "import torch, softnpu.torch; print(hasattr(torch, 'npu'))"
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    )
    assert done.stdout == "False\n"


@pytest.mark.parametrize(
    ("visible", "expected"), [("", 2), ("1", 1), ("0,1", 2), ("1,0", 0), ("0,5", 0)]
)
def test_visible_devices(run: Any, visible: str, expected: int) -> None:
    """ASCEND_RT_VISIBLE_DEVICES must ascend and name devices that are there, or none is."""
    env = {"SOFTNPU_DEVICES": "2", "ASCEND_RT_VISIBLE_DEVICES": visible}
    done = run("import torch; print(torch.npu.device_count(), torch.npu.is_available())", env=env)
    assert done.stdout == f"{expected} {expected > 0}\n"


def test_several_devices(run: Any) -> None:
    """Each has memory, a generator and a current stream of its own; mixing them is an error."""
    script = """
import torch
a, b = torch.ones(3, device="npu:0"), torch.ones(3, device="npu:1")
try:
    a + b
except RuntimeError as error:
    print("npu:0" in str(error) and "npu:1" in str(error))
print((a + b.to("npu:0")).tolist(), torch.npu.memory_allocated(0), torch.npu.memory_allocated(1))
torch.npu.set_device(1)
print(torch.ones(1, device="npu").device, torch.npu.current_device())
with torch.npu.device(0):
    print(torch.ones(1).npu().device)
torch.manual_seed(3)
print(torch.equal(torch.rand(4, device="npu:0").cpu(), torch.rand(4, device="npu:1").cpu()))
"""
    done = run(script, env={"SOFTNPU_DEVICES": "2"})
    expected = ["True", "[2.0, 2.0, 2.0] 512 512", "npu:1 1", "npu:0", "True"]
    assert done.stdout.splitlines() == expected, done.stderr


def test_a_forked_child_cannot_use_the_device(run: Any) -> None:
    """The error is the one that people know."""
    script = """
import os, torch
torch.ones(1, device="npu")
if os.fork() == 0:
    try:
        torch.ones(1, device="npu")
    except RuntimeError as error:
        print(str(error).splitlines()[0], flush=True)
    os._exit(0)
os.wait()
"""
    assert "Cannot re-initialize NPU in forked subprocess" in run(script).stdout


def test_out_of_memory(run: Any) -> None:
    """A device has no more than SOFTNPU_MEMORY_MB, and what is freed can be used again."""
    script = """
import torch
kept = torch.empty(60 << 20, dtype=torch.uint8, device="npu")
try:
    torch.empty(60 << 20, dtype=torch.uint8, device="npu")
except torch.OutOfMemoryError as error:
    print(str(error)[:48])
del kept
torch.empty(80 << 20, dtype=torch.uint8, device="npu")
"""
    done = run(script, env={"SOFTNPU_MEMORY_MB": "100"})
    assert done.stdout == "NPU out of memory. Tried to allocate 60.00 MiB (\n", done.stderr
    assert done.returncode == 0


def test_the_option_of_pytest(tmp_path: Path) -> None:
    """Tests, and the processes that they start, find torch_npu."""
    (tmp_path / "test_device.py").write_text(
        "import subprocess, sys\n"
        "import torch_npu\n"
        "import torch\n"
        "def test_device():\n"
        "    assert torch.ones(2).npu().is_npu\n"
        "    subprocess.run([sys.executable, '-c', 'import torch_npu'], check=True)\n"
    )
    words = [sys.executable, "-m", "pytest", "-q", "--softnpu-npu", "-p", "no:cacheprovider"]
    done = subprocess.run(
        [*words, str(tmp_path)], capture_output=True, text=True, check=False, cwd=tmp_path
    )
    assert done.returncode == 0, done.stdout + done.stderr


def test_the_vendors_package_goes_first(run: Any, tmp_path: Path) -> None:
    """Where it is installed, softnpu says so and steps back."""
    package = tmp_path / "elsewhere" / "torch_npu"
    package.mkdir(parents=True)
    (package / "__init__.py").write_text("vendor = True\n")
    env = {"PYTHONPATH": str(package.parent), "TORCH_DEVICE_BACKEND_AUTOLOAD": "0"}
    done = run("import torch_npu; print(torch_npu.vendor)", env=env)
    assert done.stdout == "True\n", done.stderr
    assert f"torch_npu is the one in {package}" in done.stderr


def test_without_a_compiler(run: Any, tmp_path: Path) -> None:
    """The message says what to install, and a program without the device runs all the same."""
    env = {"XDG_CACHE_HOME": str(tmp_path / "empty"), "PATH": str(tmp_path), "CXX": ""}
    done = run("import torch; print(hasattr(torch, 'npu'))", env=env)
    assert done.stdout == "False\n"
    assert "apt install g++" in done.stderr
    assert run("import torch_npu", env=env).returncode == 1


def test_shells_find_it() -> None:
    """``eval "$(softnpu env)"`` is enough."""
    shell = shutil.which("bash") or "sh"
    script = f'eval "$({sys.executable} -m softnpu env)"; {sys.executable} -c "import torch_npu"'
    done = subprocess.run(
        [shell, "-c", script], capture_output=True, text=True, check=False, env=dict(os.environ)
    )
    assert done.returncode == 0, done.stderr


def test_autograd_may_have_started_before_the_device_was_there(run: Any) -> None:
    """It counts the devices at the first backward() of the process."""
    script = """
import torch
torch.ones(3, requires_grad=True).sin().sum().backward()
import torch_npu
for device in "cpu", "npu:0", "npu:1":
    x = torch.ones(3, device=device, requires_grad=True)
    (2 * x).sum().backward()
    print(x.grad.tolist())
"""
    assert run(script, env={"SOFTNPU_DEVICES": "2"}).stdout.count("[2.0, 2.0, 2.0]") == 3
