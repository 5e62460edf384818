"""Prompts, questions and transcripts of frameworks: texts, or messages with roles."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Union

from .._lease import Lease, Message

#: A text, or the messages of a conversation.
Prompt = Union[str, Sequence[Mapping[str, Any]]]

#: Maximum length of a question and a transcript that the server accepts, in characters.
_QUESTION = 16_384
_TRANSCRIPT = 262_144


def instructed(prompt: Prompt, instruction: str) -> Any:
    """The prompt with the instruction as its system message, replacing an existing one; for a text, before it."""
    if isinstance(prompt, str):
        return f"{instruction}\n\n{prompt}"
    others = prompt[1:] if prompt and prompt[0].get("role") == "system" else prompt
    return [{"role": "system", "content": instruction}, *(dict(message) for message in others)]


def with_lease(prompt: Prompt, lease: Lease) -> Any:
    """The default prompt of the adapters."""
    return instructed(prompt, lease.text)


def question_text(prompt: Prompt) -> str:
    """The question of a prompt: its text, or its last message."""
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
    """A text that is too long, without its middle."""
    if len(text) <= length:
        return text
    mark = f" [… over {len(text) - length} characters omitted …] "
    kept = max(length - len(mark), 0) // 2
    return f"{text[:kept]}{mark}{text[len(text) - kept :]}"
