# SPDX-License-Identifier: Apache-2.0
"""safetensors writes from the device, and loads to it."""

import tempfile

import torch
import torch_npu  # noqa: F401
from safetensors import safe_open
from safetensors.torch import load_file, load_model, save_file, save_model

net = torch.nn.Linear(4, 3).npu()
with tempfile.TemporaryDirectory() as folder:
    file = f"{folder}/weights.safetensors"
    save_file({"half": net.weight.half(), "bias": net.bias}, file)
    loaded = load_file(file, device="npu:0")
    print(loaded["half"].device, torch.equal(loaded["half"], net.weight.half()))
    with safe_open(file, framework="pt", device="npu") as opened:
        print(opened.get_tensor("bias").device, opened.get_slice("half")[1:].device)
    save_model(net, file)
    other = torch.nn.Linear(4, 3).npu()
    load_model(other, file)
    print(torch.equal(other.weight, net.weight))
