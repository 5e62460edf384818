"""An application that evaluates a flag, and an evaluator that scores what came of it, once by spans and once by log records."""
import time

import configuration
from openfeature import api
from openfeature.evaluation_context import EvaluationContext
from openfeature.exception import ErrorCode
from opentelemetry import trace
from opentelemetry._logs import LogRecord, SeverityNumber, get_logger, set_logger_provider
from opentelemetry.exporter.otlp.proto.http._log_exporter import OTLPLogExporter
from opentelemetry.sdk._logs import LoggerProvider
from opentelemetry.sdk._logs.export import BatchLogRecordProcessor

name = "gen_ai.evaluation.result"
tracer = configuration.trace.get_tracer("support")
logs = LoggerProvider()
logs.add_log_record_processor(BatchLogRecordProcessor(OTLPLogExporter()))
set_logger_provider(logs)
flags = api.get_client()


def score(text: str) -> dict[str, str | float]:
    value = 1.0 if "which order" in text else 0.1
    return {"gen_ai.evaluation.name": "Relevance", "gen_ai.evaluation.score.value": value}


def converse(number: int) -> None:
    context = EvaluationContext(f"conversation-{number}", {"plan": "free"})
    with tracer.start_as_current_span("conversation") as span:
        details = flags.get_string_details("support", "none", context)
        assert details.error_code is None, details.error_message
        if number % 2 == 0:
            span.add_event(name, score(details.value))
    if number % 2 == 1:
        trace.get_tracer_provider().force_flush()
        record = LogRecord(
            timestamp=time.time_ns(),
            event_name=name,
            severity_number=SeverityNumber.INFO,
            context=trace.set_span_in_context(span),
            attributes=score(details.value),
        )
        get_logger("evaluator").emit(record)


missing = flags.get_string_details("support", "none")
assert missing.error_code == ErrorCode.TARGETING_KEY_MISSING, missing
assert flags.get_string_details("none", "none", EvaluationContext("a")).error_code == ErrorCode.FLAG_NOT_FOUND
for number in range(1, 401):
    converse(number)
    if number % 40 == 0:
        trace.get_tracer_provider().force_flush()
        logs.force_flush()
trace.get_tracer_provider().shutdown()
logs.shutdown()
