"""The trials of `run.ts` for optimizers in Python: the simulated agent, its score, and the scripted proposer."""

import json
import os
import re
import sys
from collections.abc import Iterator

# What an optimizer prints goes to standard error; standard output is for requests.
_requests = os.fdopen(os.dup(1), "w")
os.dup2(2, 1)


class Spent(Exception):
    """All calls of the budget are made."""


def _send(request):
    print(json.dumps(request), file=_requests, flush=True)
    return json.loads(sys.stdin.readline())


class Trial:
    def __init__(self, prompt, calls, cases, seed, settings):
        self.prompt, self.calls, self.cases, self.seed, self.settings = prompt, calls, cases, seed, settings
        self.is_spent = False
        self.answers = []
        self.scores = {}

    def ask(self, prompt, case):
        """What the agent answers: a text that names the answer, whose score and feedback `scored` returns."""
        answer = _send({"do": "ask", "prompt": prompt, "case": case})
        if answer is None:
            self.is_spent = True
            raise Spent
        self.answers.append(answer)
        self.scores.setdefault(prompt, []).append(answer["score"])
        return f"label {len(self.answers) - 1}"

    def scored(self, output):
        return self.answers[int(re.search(r"label (\d+)", output)[1])]

    def best(self, calls=35):
        """The prompt with the highest mean score so far among those of at least so many calls."""
        tried = {prompt: sum(own) / len(own) for prompt, own in self.scores.items() if len(own) >= calls}
        return max(tried, key=tried.get, default=self.prompt)

    def propose(self, parent, request, count):
        return _send({"do": "propose", "parent": parent, "request": request, "count": count})


def trials() -> Iterator[Trial]:
    while (trial := _send({"do": "next"})) is not None:
        yield Trial(**trial)


def give(prompt):
    """Ends a trial with the prompt that the optimizer returns."""
    _send({"do": "return", "prompt": prompt})


def case_of(text):
    """The number of the ticket that a request of the agent is about."""
    return int(re.findall(r"Ticket (\d+)", text)[-1])
