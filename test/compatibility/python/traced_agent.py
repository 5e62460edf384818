"""Prints the spans of an agent of Pydantic AI, which uses a tool in its second turn, as lines of OTLP."""

import sys

from google.protobuf.json_format import MessageToJson
from opentelemetry.exporter.otlp.proto.common.trace_encoder import encode_spans
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor, SpanExporter, SpanExportResult
from pydantic_ai import Agent
from pydantic_ai.messages import ModelResponse, TextPart, ToolCallPart
from pydantic_ai.models.function import FunctionModel
from pydantic_ai.models.instrumented import InstrumentationSettings


class Printed(SpanExporter):
    def export(self, spans):
        print(MessageToJson(encode_spans(spans), indent=None))
        return SpanExportResult.SUCCESS


def respond(messages, _):
    last = messages[-1].parts[-1]
    if last.part_kind == "tool-return":
        return ModelResponse([TextPart(f"It is {last.content}.")])
    if "weather" in str(last.content):
        return ModelResponse([ToolCallPart("weather", {"city": "Oslo"})])
    return ModelResponse([TextPart("Hello!")])


traces = TracerProvider()
traces.add_span_processor(SimpleSpanProcessor(Printed()))
agent = Agent(FunctionModel(respond), instructions="Be kind.")
agent.instrument = InstrumentationSettings(tracer_provider=traces, version=int(sys.argv[1]))


@agent.tool_plain
def weather(city: str) -> str:
    return "sunny"


first = agent.run_sync("Hi.")
agent.run_sync("How is the weather?", message_history=first.all_messages())
