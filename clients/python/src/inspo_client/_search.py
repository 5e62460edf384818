"""A search for a better prompt, which runs as a child process: `inspo evolve --agent -`."""

from __future__ import annotations

import asyncio
import contextlib
import inspect
import json
import os
import shlex
import shutil
import subprocess
import tempfile
import threading
import time
from collections.abc import Callable, Coroutine, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from queue import Empty, Queue
from typing import Any, TypeVar

T = TypeVar("T")

#: A name of a model for `--proposer`, sentences that may be added, or a function from a request to the text of a model.
Proposer = str | Sequence[str] | Callable[[str], Any]


class SearchFailed(Exception):
    """The search ended without a result. What was answered is in its directory, if one was given."""


@dataclass(frozen=True)
class Ask:
    """A case to be answered under a prompt. The same call has the same `id` after a restart."""

    id: str
    prompt: str
    case: Any


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


class Search:
    """Asks for answers and gets their scores. Use it in a `with` block.

    `out` is a directory that keeps all answers: the same search with the same directory continues there. `command` starts the command line
    of inspo, by default INSPO_COMMAND or `inspo`. `concurrency` is the most asks that wait for a score.
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
        self._temporary = tempfile.mkdtemp(prefix="inspo-")
        folder = Path(self._temporary)
        self._out = folder / "search" if out is None else Path(out)
        self._cases: dict[str, Any] = {}
        for case in _rows(cases):
            row = dict(case) if isinstance(case, Mapping) else {"input": case}
            self._cases[_key(row)] = case
        (folder / "prompt.txt").write_text(prompt, encoding="utf-8")
        (folder / "cases.jsonl").write_text("\n".join(self._cases), encoding="utf-8")
        calls, usd = (budget, None) if isinstance(budget, int) else (budget.get("calls", 300), budget.get("usd"))
        self._proposer: Callable[[str], Any] | None = None
        if isinstance(proposer, str):
            flags = ["--proposer", proposer]
        elif callable(proposer):
            self._proposer, flags = proposer, ["--proposer", "-"]
        else:
            (folder / "sentences.txt").write_text("\n".join(proposer), encoding="utf-8")
            flags = ["--sentences", str(folder / "sentences.txt")]
        self._command = [
            *(command if command is not None else shlex.split(os.environ.get("INSPO_COMMAND", "inspo"))),
            *("evolve", str(folder / "prompt.txt"), str(folder / "cases.jsonl"), "--agent", "-", *flags, "--json"),
            *("--out", str(self._out), "--calls", str(calls), "--seed", str(random_seed), "--quiet"),
            # Who takes asks and gives scores decides how long an answer takes.
            *("--workers", str(concurrency), "--timeout", "1000000"),
            *([] if usd is None else ["--budget", str(usd)]),
        ]
        self._asks: Queue[Ask | None] = Queue()
        self._lock = threading.Lock()
        self._told: dict[str, str] = {}
        self._open: set[str] = set()
        self._child: subprocess.Popen[str] | None = None
        self._closed = False
        self._failure: Exception | None = None
        self._result: Result | None = None

    def __enter__(self) -> Search:
        self._start()
        threading.Thread(target=self._follow, daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        with self._lock:
            self._closed = True
            child = self._child
        if child is not None:
            self._close(child)
            try:
                child.wait(10)
            except subprocess.TimeoutExpired:
                child.kill()
                child.wait()
        shutil.rmtree(self._temporary, ignore_errors=True)

    def ask(self, n: int = 1) -> list[Ask]:
        """Waits for at least one ask, and returns at most `n`; none when the search is over."""
        found: list[Ask] = []
        while len(found) < n:
            try:
                ask = self._asks.get(timeout=0.02) if found else self._asks.get()
            except Empty:
                break
            if ask is None:
                self._asks.put(None)
                break
            found.append(ask)
        if not found and self._failure is not None:
            raise self._failure
        return found

    def tell(
        self, ask: Ask, score: float, feedback: str | None = None, *, output: Any = "", usd: float | None = None
    ) -> None:
        """Gives the score of an ask, in [0, 1], and what a proposer should read about it."""
        if not 0 <= score <= 1:
            raise ValueError(f"score is {score}; expected a number in [0, 1]")
        self._answer(ask.id, {"output": output, "score": score, "feedback": feedback, "usd": usd})

    def fail(self, ask: Ask, error: str) -> None:
        """Gives up an ask: it counts as a call, and has no score."""
        self._answer(ask.id, {"error": error})

    @property
    def result(self) -> Result:
        """Of a search that is over."""
        if self._failure is not None:
            raise self._failure
        if self._result is None:
            raise RuntimeError("the search is not over; ask until there is nothing to ask")
        return self._result

    def _answer(self, key: str, answer: Mapping[str, Any]) -> None:
        line = json.dumps({"id": key, **answer}, ensure_ascii=False)
        with self._lock:
            # Kept for a process that takes the place of one that was killed, and asks again.
            self._told[key] = line
            self._open.discard(key)
            self._write(line)

    def _write(self, line: str) -> None:
        if self._child is not None and self._child.stdin is not None:
            with contextlib.suppress(OSError, ValueError):
                self._child.stdin.write(line + "\n")
                self._child.stdin.flush()

    @staticmethod
    def _close(child: subprocess.Popen[str]) -> None:
        """Closes the input of the child, which ends it, and the output of one that ended."""
        for stream in (child.stdin, None if child.poll() is None else child.stdout):
            if stream is not None:
                with contextlib.suppress(OSError):
                    stream.close()

    def _start(self) -> subprocess.Popen[str]:
        with self._lock:
            if self._closed:
                raise SearchFailed("the search was left")
            errors = open(Path(self._temporary) / "errors.txt", "w+", encoding="utf-8")  # noqa: SIM115
            try:
                self._child = subprocess.Popen(
                    self._command,
                    stdin=subprocess.PIPE,
                    stdout=subprocess.PIPE,
                    stderr=errors,
                    encoding="utf-8",
                    start_new_session=True,
                )
            except OSError as error:
                raise SearchFailed(f"{self._command[0]} cannot be run: {error}") from error
            finally:
                errors.close()
            return self._child

    def _follow(self) -> None:
        """Reads what the child asks, until it ends; starts another one when it was killed."""
        try:
            kills = 0
            while True:
                child = self._child
                assert child is not None and child.stdout is not None
                for line in child.stdout:
                    self._receive(line)
                code = child.wait()
                self._close(child)
                if code == 0:
                    self._result = self._read()
                    return
                if self._closed:
                    return
                kills += 1
                if code > 0 or kills > 20:
                    said = (Path(self._temporary) / "errors.txt").read_text(encoding="utf-8").strip()
                    raise SearchFailed(said or f"the search ended with code {code}")
                time.sleep(0.1)
                self._start()
        except Exception as error:
            self._failure = error
        finally:
            self._asks.put(None)

    def _receive(self, line: str) -> None:
        asked = json.loads(line)
        key = asked.get("id")
        if key is None:
            return
        with self._lock:
            if key in self._told:
                return self._write(self._told[key])
            if key in self._open:
                return
            self._open.add(key)
        if "request" in asked:
            threading.Thread(target=self._propose, args=(key, asked["request"]), daemon=True).start()
        else:
            self._asks.put(Ask(key, asked["prompt"], self._cases[_key(asked["case"])]))

    def _propose(self, key: str, request: str) -> None:
        assert self._proposer is not None
        try:
            text = self._proposer(request)
            text = asyncio.run(_awaited(text)) if inspect.isawaitable(text) else text
            self._answer(key, {"output": text})
        except Exception as error:
            self._answer(key, {"error": repr(error)})

    def _read(self) -> Result:
        document = json.loads((self._out / "result.json").read_text(encoding="utf-8"))
        report = (self._out / "report.md").read_text(encoding="utf-8")
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
    options = {"out": out, "concurrency": concurrency, "random_seed": random_seed, "command": command}
    loop = asyncio.get_running_loop()
    pool = ThreadPoolExecutor(concurrency + 1)

    async def call(function: Callable[..., Any], *given: Any) -> Any:
        found = await loop.run_in_executor(pool, function, *given)
        return await found if inspect.isawaitable(found) else found

    async def answer(search: Search, ask: Ask) -> None:
        try:
            output = await call(agent, ask.prompt, ask.case)
        except Exception as error:
            return search.fail(ask, repr(error))
        found = await call(score, output, ask.case)
        number, feedback = found if isinstance(found, tuple) else (found, None)
        search.tell(ask, float(number), feedback, output=output if _is_json(output) else str(output))

    tasks: set[asyncio.Task[None]] = set()
    try:
        with Search(prompt, cases, proposer=proposer, budget=budget, **options) as search:  # type: ignore[arg-type]
            while True:
                asking = loop.run_in_executor(pool, search.ask, concurrency)
                # A score that raises ends the search.
                while not asking.done():
                    done, _ = await asyncio.wait({asking, *tasks}, return_when=asyncio.FIRST_COMPLETED)
                    for task in done & tasks:
                        tasks.discard(task)
                        task.result()
                asks = asking.result()
                if not asks:
                    return search.result
                tasks |= {asyncio.create_task(answer(search, ask)) for ask in asks}
    finally:
        for task in tasks:
            task.cancel()
        pool.shutdown(wait=False)


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
    return _run(evolve_async(prompt, cases, agent, score, proposer, budget, **options))


def _run(coroutine: Coroutine[Any, Any, T]) -> T:
    """Runs a coroutine also where a loop runs already, as in a notebook."""
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return asyncio.run(coroutine)
    with ThreadPoolExecutor(1) as pool:
        return pool.submit(asyncio.run, coroutine).result()


async def _awaited(awaitable: Any) -> Any:
    return await awaitable


def _rows(cases: Any) -> Iterable[Any]:
    return cases.to_dict("records") if hasattr(cases, "columns") and hasattr(cases, "to_dict") else cases


def _key(row: Mapping[str, Any]) -> str:
    return json.dumps(row, ensure_ascii=False, sort_keys=True)


def _is_json(value: Any) -> bool:
    try:
        return bool(json.loads(json.dumps(value)) == value)
    except (TypeError, ValueError):
        return False
