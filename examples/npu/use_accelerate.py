# SPDX-License-Identifier: Apache-2.0
"""accelerate finds the device, trains in bfloat16, saves and loads."""

import tempfile

import torch
import torch_npu  # noqa: F401
from accelerate import Accelerator
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
accelerator = Accelerator(mixed_precision="bf16", gradient_accumulation_steps=2)
net = torch.nn.Sequential(torch.nn.Linear(8, 16), torch.nn.ReLU(), torch.nn.Linear(16, 1))
optimizer = torch.optim.AdamW(net.parameters(), 1e-2)
x = torch.randn(64, 8)
batches = DataLoader(TensorDataset(x, x.sum(1, keepdim=True)), batch_size=8, shuffle=True)
net, optimizer, batches = accelerator.prepare(net, optimizer, batches)

losses = []
for _ in range(10):
    for given, wanted in batches:
        with accelerator.accumulate(net):
            loss = torch.nn.functional.mse_loss(net(given), wanted)
            accelerator.backward(loss)
            accelerator.clip_grad_norm_(net.parameters(), 1.0)
            optimizer.step()
            optimizer.zero_grad()
    losses.append(accelerator.gather(loss.detach()).mean().item())

with tempfile.TemporaryDirectory() as folder:
    accelerator.save_state(folder)
    accelerator.load_state(folder)
print(accelerator.device.type, next(net.parameters()).device, losses[-1] < losses[0])
