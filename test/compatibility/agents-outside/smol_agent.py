"""smolagents' agent, which writes the calls of tools and their results into texts of its own."""

import asyncio

from lines import found, serve
from smolagents import OpenAIServerModel, ToolCallingAgent, tool


@tool
def search(query: str) -> str:
    """Finds pages.

    Args:
        query: What to look for.
    """
    return found(query)


async def play(call, question, streams):
    model = OpenAIServerModel(call["model"], api_base=call["baseUrl"], api_key="none")
    agent = ToolCallingAgent(tools=[search], model=model, verbosity_level=0, stream_outputs=streams, max_steps=4)
    return await asyncio.to_thread(agent.run, question)


serve(play)
