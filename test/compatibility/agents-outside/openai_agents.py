"""OpenAI's agents, as their page shows them."""

import sys

from agents import Agent, OpenAIChatCompletionsModel, OpenAIResponsesModel, Runner, function_tool, set_tracing_disabled
from lines import found, serve
from openai import AsyncOpenAI

set_tracing_disabled(True)
search = function_tool(found, name_override="search")
Model = OpenAIResponsesModel if "responses" in sys.argv else OpenAIChatCompletionsModel


async def play(call, question, streams):
    client = AsyncOpenAI(base_url=call["baseUrl"], api_key="none", max_retries=0)
    model = Model(model=call["model"], openai_client=client)
    agent = Agent(name="searcher", instructions="You find facts.", model=model, tools=[search])
    if not streams:
        return (await Runner.run(agent, question)).final_output
    result = Runner.run_streamed(agent, question)
    async for _ in result.stream_events():
        pass
    return result.final_output


serve(play)
