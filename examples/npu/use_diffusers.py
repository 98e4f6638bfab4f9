# SPDX-License-Identifier: Apache-2.0
"""A tiny UNet of diffusers: training steps with a scheduler's noise, sampling, a pipeline."""

import torch
import torch_npu  # noqa: F401
from diffusers import DDIMPipeline, DDIMScheduler, DDPMScheduler, UNet2DModel
from diffusers.training_utils import EMAModel

torch.manual_seed(0)
device = torch.device("npu")
unet = UNet2DModel(
    sample_size=8,
    in_channels=1,
    out_channels=1,
    layers_per_block=1,
    block_out_channels=(8, 16),
    down_block_types=("DownBlock2D", "AttnDownBlock2D"),
    up_block_types=("AttnUpBlock2D", "UpBlock2D"),
    norm_num_groups=4,
).to(device)
average = EMAModel(unet.parameters())
scheduler = DDPMScheduler(num_train_timesteps=50)
optimizer = torch.optim.AdamW(unet.parameters(), 3e-3)
clean = torch.ones(8, 1, 8, 8, device=device)

losses = []
for _ in range(12):
    noise = torch.randn_like(clean)
    steps = torch.randint(0, 50, (8,), device=device)
    with torch.autocast("npu", dtype=torch.bfloat16):
        guess = unet(scheduler.add_noise(clean, noise, steps), steps).sample
        loss = torch.nn.functional.mse_loss(guess, noise)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    average.step(unet.parameters())
    losses.append(loss.item())
print(unet.device, sum(losses[-3:]) < sum(losses[:3]))

pipeline = DDIMPipeline(unet, DDIMScheduler(num_train_timesteps=50)).to(device)
pipeline.set_progress_bar_config(disable=True)
generator = torch.Generator(device).manual_seed(0)
images = pipeline(2, generator=generator, num_inference_steps=4, output_type="np").images
print(pipeline.device, images.shape)
