"""The ticket job in gepa: `OPENAI_API_KEY=… python with_gepa.py`, beside tickets.csv."""

import csv
import os

import gepa
from gepa.adapters.default_adapter.default_adapter import EvaluationResult

model = f"openai/{os.environ.get('MODEL', 'gpt-4.1-mini')}"
with open("tickets.csv") as file:
    tickets = [
        {"input": row["input"], "additional_context": {}, "answer": row["expected"]} for row in csv.DictReader(file)
    ]


def score(ticket, output):
    return EvaluationResult(score=float(output.strip() == ticket["answer"]), feedback=f"Expected: {ticket['answer']}")


result = gepa.optimize(
    seed_candidate={"system_prompt": "Sort the support ticket into billing, bug, account, how-to or idea."},
    trainset=tickets[:30],
    valset=tickets[30:],
    task_lm=model,
    reflection_lm=model,
    evaluator=score,
    max_metric_calls=300,
)
print(result.best_candidate["system_prompt"])
