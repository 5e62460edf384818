"""Prompts, questions and transcripts as frameworks have them: texts, or messages with roles."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Union

from .._lease import Message

#: A text, or the messages of a conversation.
Prompt = Union[str, Sequence[Mapping[str, Any]]]

#: The longest question and transcript that the server takes, in characters.
_QUESTION = 16_384
_TRANSCRIPT = 262_144


def instructed(prompt: Prompt, instruction: str) -> Any:
    """A prompt with the instruction: as the system message, in the place of one that is there, else before the text."""
    if isinstance(prompt, str):
        return f"{instruction}\n\n{prompt}"
    others = prompt[1:] if prompt and prompt[0].get("role") == "system" else prompt
    return [{"role": "system", "content": instruction}, *(dict(message) for message in others)]


def question_text(prompt: Prompt) -> str:
    """What a prompt asks: its text, or its last message."""
    text = prompt if isinstance(prompt, str) else _text(prompt[-1]) if prompt else ""
    return _shortened(text, _QUESTION)


def transcript(completion: Prompt) -> str | list[Message]:
    """A completion as the transcript of a reward."""
    if isinstance(completion, str):
        return _shortened(completion, _TRANSCRIPT)
    each = _TRANSCRIPT // max(len(completion), 1)
    return [
        {"role": str(message.get("role", "assistant")), "content": _shortened(_text(message), each)}
        for message in completion
    ]


def _text(message: Mapping[str, Any]) -> str:
    content = message.get("content")
    return content if isinstance(content, str) else str(content or "")


def _shortened(text: str, length: int) -> str:
    """The beginning and the end of a text that is too long."""
    if len(text) <= length:
        return text
    mark = f" [… {len(text) - length} characters and more …] "
    kept = max(length - len(mark), 0) // 2
    return f"{text[:kept]}{mark}{text[len(text) - kept :]}"
