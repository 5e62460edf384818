"""Pydantic AI's agent."""

import sys

from lines import found, serve
from pydantic_ai import Agent
from pydantic_ai.models.openai import OpenAIChatModel, OpenAIResponsesModel
from pydantic_ai.providers.openai import OpenAIProvider

Model = OpenAIResponsesModel if "responses" in sys.argv else OpenAIChatModel


async def play(call, question, streams):
    model = Model(call["model"], provider=OpenAIProvider(base_url=call["baseUrl"], api_key="none"))
    agent = Agent(model, system_prompt="You find facts.")
    agent.tool_plain(name="search")(found)
    return (await agent.run(question, event_stream_handler=follow if streams else None)).output


async def follow(_, events):
    async for _ in events:
        pass


serve(play)
