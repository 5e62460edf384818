"""Writes model.gguf, a random transformer of bytes and a few words, and the tokenizer's two files for transformers."""

import json
import sys
from pathlib import Path

import gguf
import numpy as np

folder = Path(sys.argv[1])
width, layers, heads, feed_forward, context = 32, 2, 4, 64, 4096

stays = [*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)]
moved = [byte for byte in range(256) if byte not in stays]
character = {byte: chr(byte) for byte in stays} | {byte: chr(0x100 + at) for at, byte in enumerate(moved)}
space = character[0x20]

special = ["<|end|>", "<|user|>", "<|assistant|>"]
merges = [("t", "h"), ("th", "e"), (space, "the"), ("a", "n"), ("an", "d"), (space, "and"), ("e", "r"), ("i", "s")]
vocabulary = [*special, *(character[byte] for byte in range(256)), *("".join(pair) for pair in merges)]

template = (
    "{%- for message in messages -%}{{- '<|' + ('assistant' if message.role == 'assistant' else 'user') + '|>' + message.content -}}"
    "{%- endfor -%}{%- if add_generation_prompt -%}{{- '<|assistant|>' -}}{%- endif -%}"
)
byte_level = {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True, "use_regex": True}
tokenizer = {
    "version": "1.0",
    "truncation": None,
    "padding": None,
    "added_tokens": [
        {"id": at, "content": text, "single_word": False, "lstrip": False, "rstrip": False, "normalized": False, "special": True}
        for at, text in enumerate(special)
    ],
    "normalizer": None,
    "pre_tokenizer": byte_level,
    "post_processor": None,
    "decoder": byte_level,
    "model": {
        "type": "BPE",
        "dropout": None,
        "unk_token": None,
        "continuing_subword_prefix": None,
        "end_of_word_suffix": None,
        "fuse_unk": False,
        "byte_fallback": False,
        "vocab": {text: at for at, text in enumerate(vocabulary)},
        "merges": [" ".join(pair) for pair in merges],
    },
}
config = {"tokenizer_class": "PreTrainedTokenizerFast", "eos_token": "<|end|>", "chat_template": template}
(folder / "tokenizer.json").write_text(json.dumps(tokenizer), encoding="utf-8")
(folder / "tokenizer_config.json").write_text(json.dumps(config), encoding="utf-8")

writer = gguf.GGUFWriter(folder / "model.gguf", "llama")
writer.add_name("tiny")
writer.add_context_length(context)
writer.add_embedding_length(width)
writer.add_block_count(layers)
writer.add_feed_forward_length(feed_forward)
writer.add_head_count(heads)
writer.add_head_count_kv(heads)
writer.add_layer_norm_rms_eps(1e-5)
writer.add_rope_dimension_count(width // heads)
writer.add_vocab_size(len(vocabulary))
writer.add_tokenizer_model("gpt2")
writer.add_tokenizer_pre("gpt-2")
writer.add_token_list(vocabulary)
writer.add_token_types(
    [gguf.TokenType.CONTROL if text in special else gguf.TokenType.NORMAL for text in vocabulary]
)
writer.add_token_merges([" ".join(pair) for pair in merges])
writer.add_eos_token_id(0)
writer.add_add_bos_token(False)

random = np.random.default_rng(1)


def add(name, *shape, scale=0.3):
    writer.add_tensor(name, (random.standard_normal(shape) * scale).astype(np.float32))


def add_ones(name):
    writer.add_tensor(name, np.ones(width, dtype=np.float32))


add("token_embd.weight", len(vocabulary), width, scale=1)
add("output.weight", len(vocabulary), width)
add_ones("output_norm.weight")
for layer in range(layers):
    add_ones(f"blk.{layer}.attn_norm.weight")
    add_ones(f"blk.{layer}.ffn_norm.weight")
    for name in ("attn_q", "attn_k", "attn_v", "attn_output"):
        add(f"blk.{layer}.{name}.weight", width, width)
    add(f"blk.{layer}.ffn_gate.weight", feed_forward, width)
    add(f"blk.{layer}.ffn_up.weight", feed_forward, width)
    add(f"blk.{layer}.ffn_down.weight", width, feed_forward)
writer.write_header_to_file()
writer.write_kv_data_to_file()
writer.write_tensors_to_file()
writer.close()
