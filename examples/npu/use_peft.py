# SPDX-License-Identifier: Apache-2.0
"""LoRA of peft on a tiny model: only the adapter trains; it is merged, saved and loaded."""

import tempfile

import torch
import torch_npu  # noqa: F401
from peft import LoraConfig, PeftModel, get_peft_model
from transformers import LlamaConfig, LlamaForCausalLM

SIZES = {"hidden_size": 32, "intermediate_size": 64, "vocab_size": 50}
torch.manual_seed(0)
config = LlamaConfig(**SIZES, num_hidden_layers=2, num_attention_heads=4, num_key_value_heads=2)
base = LlamaForCausalLM(config).npu()
model = get_peft_model(base, LoraConfig(r=4, target_modules=["q_proj", "v_proj"]))
tokens = (torch.arange(12).repeat(8, 1) + torch.arange(8)[:, None]).npu()
trained = [p for p in model.parameters() if p.requires_grad]
optimizer = torch.optim.AdamW(trained, 1e-2)

losses = []
for _ in range(10):
    with torch.autocast("npu", dtype=torch.bfloat16):
        loss = model(input_ids=tokens, labels=tokens).loss
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    losses.append(loss.item())
print(model.device, losses[-1] < losses[0])

model.eval()
with tempfile.TemporaryDirectory() as folder, torch.no_grad():
    wanted = model(tokens).logits
    model.save_pretrained(folder)
    again = PeftModel.from_pretrained(model.unload(), folder, torch_device="npu").eval()
    print(torch.equal(again(tokens).logits, wanted))
    merged = again.merge_and_unload()
    print(torch.allclose(merged(tokens).logits, wanted, atol=1e-5))
