"""Whether prompts are better than a control: `inspo compare`."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ._asking import Asking, answered, run


@dataclass(frozen=True)
class Comparison:
    """`verdicts` are those of the candidates: `better`, `no-worse`, `worse` or `undecided`."""

    verdicts: Sequence[str]
    calls: int
    usd: float
    report: str
    #: the document `result.json`
    document: Mapping[str, Any]


class _Comparing(Asking[Comparison]):
    def __init__(self, prompts: Sequence[str], flags: Sequence[str], *given: Any) -> None:
        self._prompts, self._flags = prompts, flags
        super().__init__(*given)

    def _arguments(self) -> Sequence[str]:
        names = ["control", *(f"candidate-{n}" for n in range(1, len(self._prompts)))]
        files = [self._text(f"{name}.txt", prompt) for name, prompt in zip(names, self._prompts)]
        return ["compare", *files, "--cases", str(self._folder / "cases.jsonl"), *self._flags]

    def _read(self, document: Mapping[str, Any], report: str) -> Comparison:
        verdicts = [candidate["verdict"] for candidate in document["candidates"]]
        return Comparison(verdicts, document["calls"], document["usd"], report, document)


async def compare_async(
    prompts: Sequence[str],
    cases: Any,
    agent: Callable[[str, Any], Any],
    score: Callable[[Any, Any], Any],
    *,
    margin: float = 0.05,
    samples: int = 1,
    calls: int | None = None,
    out: str | os.PathLike[str] | None = None,
    concurrency: int = 8,
    random_seed: int = 1,
    command: Sequence[str] | None = None,
) -> Comparison:
    """The same as `compare`, to be awaited."""
    if len(prompts) < 2:
        raise ValueError(f"prompts has {len(prompts)} texts; expected a control and at least one candidate")
    flags = ["--margin", str(margin), "--samples", str(samples), *([] if calls is None else ["--calls", str(calls)])]
    comparing = _Comparing(prompts, flags, cases, out, concurrency, random_seed, command)
    return await answered(comparing, agent, score, concurrency)


def compare(
    prompts: Sequence[str],
    cases: Any,
    agent: Callable[[str, Any], Any],
    score: Callable[[Any, Any], Any],
    **options: Any,
) -> Comparison:
    """Says of each prompt whether it is better than the first one, no worse or worse, by `score(agent(prompt, case), case)`.

    A verdict is wrong with a probability of at most 5 %, for all prompts together. `margin` is the loss that is no worse. Agent, score and
    cases are as in `evolve`.
    """
    return run(compare_async(prompts, cases, agent, score, **options))
