"""Checks requests and answers of chat models by the types of their providers' own clients: [{provider, request, response}] on stdin."""

import json
import sys

from anthropic.types import Message
from anthropic.types.message_create_params import MessageCreateParamsNonStreaming
from google.genai import types as google
from openai.types.chat import ChatCompletion
from openai.types.chat.completion_create_params import CompletionCreateParamsNonStreaming
from pydantic import ConfigDict, TypeAdapter, with_config


def strict(params):
    """The typed dictionary as a check that refuses unknown fields."""
    return TypeAdapter(with_config(ConfigDict(extra="forbid", arbitrary_types_allowed=True))(params))


def read(value):
    """Reads a checked value to its end: iterables are checked when they are read."""
    if isinstance(value, dict):
        for one in value.values():
            read(one)
    elif not isinstance(value, (str, bytes)) and hasattr(value, "__iter__"):
        for one in value:
            read(one)


openai = strict(CompletionCreateParamsNonStreaming)
anthropic = strict(MessageCreateParamsNonStreaming)


def check(provider, request, response):
    if provider == "anthropic":
        read(anthropic.validate_python(request))
        Message.model_validate(response)
    elif provider == "google":
        for content in request["contents"]:
            google.Content.model_validate(content)
        for tool in request["tools"]:
            google.Tool.model_validate(tool)
        google.GenerationConfig.model_validate(request["generationConfig"])
        google.GenerateContentResponse.model_validate(response)
    else:
        read(openai.validate_python(request))
        ChatCompletion.model_validate(response)


wires = json.load(sys.stdin)
for wire in wires:
    check(**wire)
print(len(wires))
