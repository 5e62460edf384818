"""Writes the weights of a GGUF file, without quantization, as a directory of transformers, unless it exists: weights.py GGUF DIR."""

import os
import sys
from pathlib import Path

from transformers import AutoModelForCausalLM, AutoTokenizer


def dequantized(gguf: Path, directory: Path) -> Path:
    """Returns `directory`, or the source where it is such a directory already."""
    if gguf.is_dir():
        return gguf
    if not directory.is_dir():
        made = directory.with_name(f"{directory.name}-{os.getpid()}")
        tokens = AutoTokenizer.from_pretrained(gguf.parent, gguf_file=gguf.name)
        # The file has the wrong end token: the start of a turn.
        tokens.eos_token = tokens.pad_token = "<|im_end|>"
        tokens.save_pretrained(made)
        model = AutoModelForCausalLM.from_pretrained(gguf.parent, gguf_file=gguf.name)
        # From transformers 5.17 the model is marked as quantized, and is not written, although its weights are not.
        model.hf_quantizer = None
        model.config.__dict__.pop("quantization_config", None)
        model.save_pretrained(made)
        made.rename(directory)
    return directory


if __name__ == "__main__":
    dequantized(*map(Path, sys.argv[1:]))
