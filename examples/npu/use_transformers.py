# SPDX-License-Identifier: Apache-2.0
"""A tiny Llama of transformers: Trainer in three precisions, saving, loading, generating."""

import tempfile

import torch
import torch_npu  # noqa: F401
from transformers import LlamaConfig, LlamaForCausalLM, Trainer, TrainingArguments, set_seed

SIZES = {"hidden_size": 32, "intermediate_size": 64, "vocab_size": 50}
config = LlamaConfig(**SIZES, num_hidden_layers=2, num_attention_heads=4, num_key_value_heads=2)
tokens = torch.arange(12).repeat(16, 1) + torch.arange(16)[:, None]
data = [{"input_ids": row, "labels": row} for row in tokens]

with tempfile.TemporaryDirectory() as folder:
    for precision in ("fp32", "bf16", "fp16"):
        set_seed(0)
        model = LlamaForCausalLM(config)
        arguments = TrainingArguments(
            output_dir=folder,
            max_steps=12,
            per_device_train_batch_size=8,
            learning_rate=1e-2,
            logging_steps=1,
            save_strategy="no",
            report_to=[],
            disable_tqdm=True,
            bf16=precision == "bf16",
            fp16=precision == "fp16",
        )
        trainer = Trainer(model, arguments, train_dataset=data)
        trainer.train()
        losses = [entry["loss"] for entry in trainer.state.log_history if "loss" in entry]
        print(precision, model.device, float(losses[-1]) < float(losses[0]))

    model.save_pretrained(folder)
    model = LlamaForCausalLM.from_pretrained(folder, device_map="npu", dtype=torch.bfloat16)
    start = tokens[:2, :4].to(model.device)
    for options in ({}, {"do_sample": True, "top_k": 5}, {"num_beams": 3}):
        made = model.generate(start, max_new_tokens=4, pad_token_id=0, **options)
        print(made.device, list(made.shape))
