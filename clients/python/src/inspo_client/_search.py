"""A search for a better prompt: `inspo evolve`."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ._asking import Asking, answered, run

#: A name of a model for `--proposer`, sentences that may be added, or a function from a request to the text of a model.
Proposer = str | Sequence[str] | Callable[[str], Any]


@dataclass(frozen=True)
class Result:
    """`prompt` is the given one unless the verdict is `better`."""

    verdict: str
    prompt: str
    calls: int
    usd: float
    report: str
    #: the document `result.json`
    document: Mapping[str, Any]


class Search(Asking[Result]):
    """Asks for answers and gets their scores. Use it in a `with` block.

    `out` is a directory that keeps all answers: the same search with the same directory continues there. `command` starts the command line
    of inspo; by default INSPO_COMMAND, that of this package, or `inspo`. `concurrency` is the most asks that wait for a score.
    """

    def __init__(
        self,
        prompt: str,
        cases: Any,
        *,
        proposer: Proposer,
        budget: int | Mapping[str, float] = 300,
        out: str | os.PathLike[str] | None = None,
        concurrency: int = 8,
        random_seed: int = 1,
        command: Sequence[str] | None = None,
    ) -> None:
        self._prompt, self._budget, self._proposer = prompt, budget, proposer
        super().__init__(cases, out, concurrency, random_seed, command)

    def _arguments(self) -> Sequence[str]:
        proposer, budget = self._proposer, self._budget
        if isinstance(proposer, str):
            flags = ["--proposer", proposer]
        elif callable(proposer):
            flags = ["--proposer", "-"]
        else:
            flags = ["--sentences", self._text("sentences.txt", "\n".join(proposer))]
        calls, usd = (budget, None) if isinstance(budget, int) else (budget.get("calls", 300), budget.get("usd"))
        files = [self._text("prompt.txt", self._prompt), str(self._folder / "cases.jsonl")]
        return ["evolve", *files, *flags, "--calls", str(calls), *([] if usd is None else ["--budget", str(usd)])]

    def _propose(self, request: str) -> Any:
        return self._proposer(request) if callable(self._proposer) else super()._propose(request)

    def _read(self, document: Mapping[str, Any], report: str) -> Result:
        return Result(
            document["verdict"], document["prompt"], document["calls"], document["usd"], report, document
        )


async def evolve_async(
    prompt: str,
    cases: Any,
    agent: Callable[[str, Any], Any],
    score: Callable[[Any, Any], Any],
    proposer: Proposer,
    budget: int | Mapping[str, float] = 300,
    *,
    out: str | os.PathLike[str] | None = None,
    concurrency: int = 8,
    random_seed: int = 1,
    command: Sequence[str] | None = None,
) -> Result:
    """The same as `evolve`, to be awaited."""
    search = Search(
        prompt,
        cases,
        proposer=proposer,
        budget=budget,
        out=out,
        concurrency=concurrency,
        random_seed=random_seed,
        command=command,
    )
    return await answered(search, agent, score, concurrency)


def evolve(
    prompt: str,
    cases: Any,
    agent: Callable[[str, Any], Any],
    score: Callable[[Any, Any], Any],
    proposer: Proposer,
    budget: int | Mapping[str, float] = 300,
    **options: Any,
) -> Result:
    """Searches for a prompt under which `agent(prompt, case)` gets better scores by `score(output, case)`.

    Agent, score and proposer may be functions or coroutines; a score is a number in [0, 1], or a number and feedback. The cases are JSON:
    an iterable, or a table of pandas or of Hugging Face. Half of them are held out, and decide whether the new prompt is better.
    """
    return run(evolve_async(prompt, cases, agent, score, proposer, budget, **options))
