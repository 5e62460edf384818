"""The Python client that the suite drives: reads a call as JSON per line, and prints its outcome."""

from __future__ import annotations

import asyncio
import dataclasses
import inspect
import json
import math
import re
import sys
import time
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1] / "src"))

from inspo_client import AsyncInspo, Inspo, LeaseRequest, Question, Reward

#: Errors for invalid arguments.
MISTAKES = (TypeError, ValueError)


def snake(name: str) -> str:
    return re.sub(r"[A-Z]", lambda found: f"_{found[0].lower()}", name)


def options(given: dict[str, Any]) -> dict[str, Any]:
    made = {snake(name): value for name, value in given.items()}
    for name in ("timeout", "retry_delay"):
        if name in made:
            made[name] /= 1000
    if "question" in made:
        made["question"] = Question(**options(made["question"]))
    return made


def view(lease: Any) -> dict[str, Any]:
    fields = ("leased", "population", "key", "n", "id", "cohort", "instruction", "probability", "replaces")
    made = {name: getattr(lease, name) for name in fields}
    try:
        return {**made, "text": lease.text}
    except TypeError:
        return {**made, "texts": lease.texts}


class Subject:
    def __init__(self, kind: str) -> None:
        self.make = AsyncInspo if kind == "asyncio" else Inspo
        self.inspo: Any = None
        self.leases: dict[str, Any] = {}
        self.problems: list[Any] = []

    def perform(self, call: dict[str, Any]) -> Any:
        what, given = call["call"], options(call.get("with", {}))
        population, value = call.get("population", "support"), call.get("value")
        value = math.nan if value == "NaN" else value
        if what == "new":
            own: list[Any] = []
            self.problems = own
            self.inspo = self.make(**given, on_problem=own.append)
            return None
        if what == "lease":
            return self.inspo.lease(population, **given)
        if what == "leases":
            return self.inspo.leases(population, [LeaseRequest(**options(one)) for one in call["requests"]], **given)
        if what == "report":
            return self.inspo.reward(population, Reward(call["lease"], value, **given))
        if what == "close":
            return self.inspo.close(population, **given)
        if what == "rewind":
            return self.inspo.rewind(population, **given)
        if what == "incumbent":
            return self.inspo.incumbent(population, **given)
        if what == "flush":
            return self.inspo.flush(**given)
        if what == "counts":
            return self.inspo.counts
        lease = self.leases[call["lease"]]
        return lease.reward(value, **given) if what == "reward" else getattr(lease, what)(**given)

    def keep(self, call: dict[str, Any], returned: Any) -> Any:
        if call["call"] == "lease":
            self.leases[call.get("as", "")] = returned
            return view(returned)
        if call["call"] == "leases":
            for index, lease in enumerate(returned):
                self.leases[f"{call.get('as', '')}{index}"] = lease
            return [view(lease) for lease in returned]
        return dataclasses.asdict(returned) if dataclasses.is_dataclass(returned) else returned  # type: ignore[arg-type]

    async def outcome(self, line: str) -> str:
        call = json.loads(line)
        began = time.perf_counter()
        returned, thrown = None, None
        try:
            returned = self.perform(call)
            if inspect.isawaitable(returned):
                returned = await returned
        except Exception as error:
            thrown = "mistake" if isinstance(error, MISTAKES) else type(error).__name__
        milliseconds = (time.perf_counter() - began) * 1000
        kept = None if thrown else self.keep(call, returned)
        return json.dumps(
            {
                "returned": kept,
                "thrown": thrown,
                "milliseconds": milliseconds,
                "problems": [problem.kind for problem in self.problems],
                "problem": dataclasses.asdict(self.problems[-1]) if self.problems else {},
            }
        )


async def main() -> None:
    subject = Subject(sys.argv[1])
    loop = asyncio.get_running_loop()
    while line := await loop.run_in_executor(None, sys.stdin.readline):
        print(await subject.outcome(line), flush=True)


asyncio.run(main())
