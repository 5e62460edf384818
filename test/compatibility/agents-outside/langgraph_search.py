"""LangGraph's graph of a model and a search, which the model calls in tags, since its chat template has no tools: … RETRIEVER."""

import json
import re
import sys
import urllib.request
from typing import TypedDict

from langchain_core.messages import AIMessage, HumanMessage
from langchain_openai import ChatOpenAI
from langgraph.graph import END, START, StateGraph
from lines import serve


class State(TypedDict):
    question: str
    written: str
    last: str
    turns: int


def retrieve(query):
    body = json.dumps({"queries": [query], "topk": 1}).encode()
    request = urllib.request.Request(sys.argv[1] + "/retrieve", body, {"content-type": "application/json"})
    with urllib.request.urlopen(request) as response:
        [found] = json.load(response)["result"]
    texts = [one.get("document", one)["contents"].split("\n", 1)[1] for one in found]
    return " ".join(texts) or "Nothing was found."


def search(state: State):
    query = re.search("<search>(.*?)</search>", state["last"], re.DOTALL)
    shown = retrieve(query[1].strip()) if query else "Invalid action. Search with a query or give the answer."
    return {"written": f"{state['written']}<information> {shown}</information>"}


def goes_on(state: State):
    return END if "</answer>" in state["last"] or state["turns"] == 5 else "search"


async def play(call, question, streams):
    model = ChatOpenAI(
        base_url=call["baseUrl"],
        api_key="none",
        model=call["model"],
        max_retries=0,
        stop_sequences=["</search>", "</answer>"],
        extra_body={"include_stop_str_in_output": True},
    )

    async def ask(state: State):
        messages = [HumanMessage(f"Question: {state['question'].strip()}")]
        if state["written"]:
            messages.append(AIMessage(state["written"]))
        last = (await model.ainvoke(messages)).content
        return {"written": state["written"] + last, "last": last, "turns": state["turns"] + 1}

    graph = StateGraph(State).add_node("ask", ask).add_node("search", search)
    graph.add_edge(START, "ask").add_conditional_edges("ask", goes_on).add_edge("search", "ask")
    state = await graph.compile().ainvoke({"question": question, "written": "", "last": "", "turns": 0})
    return state["last"] if "</answer>" in state["last"] else ""


serve(play)
