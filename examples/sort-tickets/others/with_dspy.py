"""The ticket job in DSPy: `OPENAI_API_KEY=… python with_dspy.py`, beside tickets.csv."""

import csv
import os

import dspy

model = dspy.LM(f"openai/{os.environ.get('MODEL', 'gpt-4.1-mini')}")
dspy.configure(lm=model)
with open("tickets.csv") as file:
    tickets = [dspy.Example(**row).with_inputs("input") for row in csv.DictReader(file)]
prompt = "Sort the support ticket into billing, bug, account, how-to or idea."
sorter = dspy.Predict(dspy.Signature("input -> category", prompt))


def score(ticket, output, trace=None, pred_name=None, pred_trace=None):
    return float(output.category.strip() == ticket.expected)


optimizer = dspy.GEPA(metric=score, max_metric_calls=300, reflection_lm=model)
best = optimizer.compile(sorter, trainset=tickets[:30], valset=tickets[30:])
print(best.signature.instructions)
