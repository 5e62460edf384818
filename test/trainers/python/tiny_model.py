"""A Llama of random weights with a tokenizer of single characters, both made here: tiny_model.py FOLDER writes them."""

import string
import sys

import torch
from tokenizers import Regex, Tokenizer, decoders, models, pre_tokenizers
from transformers import LlamaConfig, LlamaForCausalLM, PreTrainedTokenizerFast

TEMPLATE = """{%- for message in messages %}{{ '<|' + message['role'] + '|>' + message['content'] + '<|end|>' }}{%- endfor %}
{%- if add_generation_prompt %}{{ '<|assistant|>' }}{%- endif %}"""


def tokenizer() -> PreTrainedTokenizerFast:
    special = ["<|pad|>", "<|end|>", "<|system|>", "<|user|>", "<|assistant|>", "<|unknown|>"]
    vocabulary = {token: index for index, token in enumerate([*special, *string.printable])}
    made = Tokenizer(models.WordLevel(vocabulary, unk_token="<|unknown|>"))
    made.pre_tokenizer = pre_tokenizers.Split(Regex(r"[\s\S]"), "isolated")
    made.decoder = decoders.Fuse()
    fast = PreTrainedTokenizerFast(
        tokenizer_object=made, pad_token="<|pad|>", eos_token="<|end|>", unk_token="<|unknown|>", padding_side="left"
    )
    fast.add_special_tokens({"additional_special_tokens": special[2:5]})
    fast.chat_template = TEMPLATE
    return fast


def model(tokens: PreTrainedTokenizerFast) -> LlamaForCausalLM:
    torch.manual_seed(0)
    return LlamaForCausalLM(
        LlamaConfig(
            vocab_size=len(tokens),
            hidden_size=16,
            intermediate_size=32,
            num_hidden_layers=1,
            num_attention_heads=2,
            num_key_value_heads=1,
            max_position_embeddings=512,
            eos_token_id=tokens.eos_token_id,
            pad_token_id=tokens.pad_token_id,
            bos_token_id=None,
            dtype="float32",
        )
    )


def save(folder: str) -> None:
    tokens = tokenizer()
    tokens.save_pretrained(folder)
    model(tokens).save_pretrained(folder)


if __name__ == "__main__":
    save(sys.argv[1])
