"""Writes a Llama of random weights, small enough for a CPU, with the tokenizer of another folder: tiny_llama.py TOKENIZER MODEL."""

import shutil
import sys

import torch
from transformers import AutoTokenizer, LlamaConfig, LlamaForCausalLM

source, target = sys.argv[1:]
tokenizer = AutoTokenizer.from_pretrained(source)
torch.manual_seed(0)
model = LlamaForCausalLM(
    LlamaConfig(
        vocab_size=len(tokenizer),
        hidden_size=32,
        intermediate_size=64,
        num_hidden_layers=1,
        num_attention_heads=2,
        num_key_value_heads=1,
        max_position_embeddings=1024,
        tie_word_embeddings=False,
        eos_token_id=tokenizer.eos_token_id,
        pad_token_id=tokenizer.pad_token_id,
        dtype="float32",
    )
)
with torch.no_grad():
    for parameter in model.parameters():
        # Sharper than initial weights are, so that samples differ in likelihood.
        if parameter.dim() > 1:
            parameter.mul_(8)
model.save_pretrained(target)
for name in ("tokenizer.json", "tokenizer_config.json"):
    shutil.copy(f"{source}/{name}", target)
