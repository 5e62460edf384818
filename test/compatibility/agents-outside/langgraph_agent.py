"""LangGraph's agent of a model and tools, with a model of LangChain."""

from langchain_core.messages import SystemMessage
from langchain_core.tools import tool
from langchain_openai import ChatOpenAI
from langgraph.graph import START, MessagesState, StateGraph
from langgraph.prebuilt import ToolNode, tools_condition
from lines import found, serve

search = tool("search")(found)


async def play(call, question, streams):
    model = ChatOpenAI(base_url=call["baseUrl"], api_key="none", model=call["model"], max_retries=0)
    bound = model.bind_tools([search])

    async def ask(state: MessagesState):
        return {"messages": [await bound.ainvoke([SystemMessage("You find facts."), *state["messages"]])]}

    graph = StateGraph(MessagesState).add_node("ask", ask).add_node("tools", ToolNode([search]))
    graph.add_edge(START, "ask").add_conditional_edges("ask", tools_condition).add_edge("tools", "ask")
    agent = graph.compile()
    asked = {"messages": [("user", question)]}
    if not streams:
        return (await agent.ainvoke(asked))["messages"][-1].content
    pieces = []
    async for message, about in agent.astream(asked, stream_mode="messages"):
        if about["langgraph_node"] == "ask":
            pieces.append(message.content)
    return "".join(pieces)


serve(play)
