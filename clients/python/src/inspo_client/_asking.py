"""A child process of the command line that asks this process for answers: `--agent -`."""

from __future__ import annotations

import asyncio
import contextlib
import inspect
import json
import os
import shutil
import subprocess
import tempfile
import threading
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Coroutine, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from queue import Empty, Queue
from typing import Any, Generic, TypeVar

from ._command import command as found_command

R = TypeVar("R")
T = TypeVar("T")
S = TypeVar("S", bound="Asking[Any]")


class SearchFailed(Exception):
    """The child ended without a result. What was answered is in its directory, if one was given."""


@dataclass(frozen=True)
class Ask:
    """A case to be answered under a prompt. The same call has the same `id` after a restart."""

    id: str
    prompt: str
    case: Any


class Asking(ABC, Generic[R]):
    """Asks for answers and gets their scores; a subclass says by which arguments, and reads the result."""

    def __init__(
        self,
        cases: Any,
        out: str | os.PathLike[str] | None,
        concurrency: int,
        random_seed: int,
        command: Sequence[str] | None,
    ) -> None:
        program = list(command if command is not None else found_command())
        self._temporary = tempfile.mkdtemp(prefix="inspo-")
        self._folder = Path(self._temporary)
        self._out = self._folder / "search" if out is None else Path(out)
        self._cases = list(_rows(cases))
        rows = [dict(case) if isinstance(case, Mapping) else {"input": case} for case in self._cases]
        self._text("cases.jsonl", "\n".join(map(json.dumps, rows)))
        self._command = [
            *program,
            *self._arguments(),
            *("--agent", "-", "--json", "--quiet", "--out", str(self._out), "--seed", str(random_seed)),
            # Who takes asks and gives scores decides how long an answer takes.
            *("--workers", str(concurrency), "--timeout", "1000000"),
        ]
        self._asks: Queue[Ask | None] = Queue()
        self._lock = threading.Lock()
        self._told: dict[str, str] = {}
        self._open: set[str] = set()
        self._child: subprocess.Popen[str] | None = None
        self._closed = False
        # Outputs of which the score raised, by ask, for the next time.
        self._unscored = self._out / "events.jsonl.unscored"
        self._failure: Exception | None = None
        self._result: R | None = None

    @abstractmethod
    def _arguments(self) -> Sequence[str]:
        """The verb, and what it needs besides an agent; the cases are in the file `cases.jsonl` of the folder."""

    @abstractmethod
    def _read(self, document: Mapping[str, Any], report: str) -> R: ...

    def _propose(self, request: str) -> Any:
        raise SearchFailed(f"asked for prompts: {request[:100]}")

    def _text(self, name: str, text: str) -> str:
        """Writes a file of the folder."""
        file = self._folder / name
        file.write_text(text, encoding="utf-8")
        return str(file)

    def __enter__(self: S) -> S:
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

    def unscored(self) -> dict[str, Any]:
        """Outputs that were paid for, and whose score raised, by the id of their ask."""
        kept: dict[str, Any] = json.loads(self._unscored.read_text(encoding="utf-8")) if self._unscored.exists() else {}
        return kept

    def keep(self, ask: Ask, output: Any) -> None:
        """Keeps an output whose score raised."""
        with self._lock:
            self._unscored.write_text(json.dumps({**self.unscored(), ask.id: output}), encoding="utf-8")

    @property
    def result(self) -> R:
        """Of what is over."""
        if self._failure is not None:
            raise self._failure
        if self._result is None:
            raise RuntimeError("the search is not over; ask until there is nothing to ask")
        return self._result

    def _answer(self, key: str, answer: Mapping[str, Any]) -> None:
        # In ASCII, since half of a surrogate pair cannot be written otherwise.
        line = json.dumps({"id": key, **answer})
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
                    document = json.loads((self._out / "result.json").read_text(encoding="utf-8"))
                    self._result = self._read(document, (self._out / "report.md").read_text(encoding="utf-8"))
                    return
                if self._closed:
                    return
                kills += 1
                if code > 0 or kills > 20:
                    said = (Path(self._temporary) / "errors.txt").read_text(encoding="utf-8").strip()
                    if self._out.parent == self._folder:
                        said = said.replace(
                            f"All answers so far are in {self._out}; the same command continues.",
                            "Its answers are lost; give `out`, a directory that keeps them.",
                        )
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
            threading.Thread(target=self._answer_request, args=(key, asked["request"]), daemon=True).start()
        else:
            self._asks.put(Ask(key, asked["prompt"], self._cases[asked["row"]]))

    def _answer_request(self, key: str, request: str) -> None:
        try:
            text = self._propose(request)
            text = asyncio.run(_awaited(text)) if inspect.isawaitable(text) else text
            self._answer(key, {"output": text})
        except Exception as error:
            self._answer(key, {"error": repr(error)})


async def answered(
    asking: Asking[R], agent: Callable[[str, Any], Any], score: Callable[[Any, Any], Any], concurrency: int
) -> R:
    """Answers what is asked by an agent and a score, functions or coroutines, and gives the result."""
    loop = asyncio.get_running_loop()
    pool = ThreadPoolExecutor(concurrency + 1)

    async def call(function: Callable[..., Any], *given: Any) -> Any:
        found = await loop.run_in_executor(pool, function, *given)
        return await found if inspect.isawaitable(found) else found

    unscored = asking.unscored()

    async def answer(ask: Ask) -> None:
        try:
            output = unscored[ask.id] if ask.id in unscored else await call(agent, ask.prompt, ask.case)
        except Exception as error:
            return asking.fail(ask, repr(error))
        try:
            found = await call(score, output, ask.case)
        except Exception:
            if _is_json(output):
                asking.keep(ask, output)
            raise
        number, feedback = found if isinstance(found, tuple) else (found, None)
        asking.tell(ask, float(number), feedback, output=output if _is_json(output) else str(output))

    tasks: set[asyncio.Task[None]] = set()
    try:
        with asking:
            while True:
                waiting = loop.run_in_executor(pool, asking.ask, concurrency)
                while not waiting.done():
                    futures: set[asyncio.Future[Any]] = {waiting, *tasks}
                    done, _ = await asyncio.wait(futures, return_when=asyncio.FIRST_COMPLETED)
                    failed = [task for task in done & tasks if task.exception() is not None]
                    tasks -= done
                    if failed:
                        # A score that raises ends the search, after the answers that are on their way.
                        await asyncio.gather(*tasks, return_exceptions=True)
                        failed[0].result()
                asks = waiting.result()
                if not asks:
                    return asking.result
                tasks |= {asyncio.create_task(answer(ask)) for ask in asks}
    finally:
        for task in tasks:
            task.cancel()
        pool.shutdown(wait=False)


def run(coroutine: Coroutine[Any, Any, T]) -> T:
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
    rows: Iterable[Any] = cases.to_dict("records") if hasattr(cases, "columns") and hasattr(cases, "to_dict") else cases
    return rows


def _is_json(value: Any) -> bool:
    try:
        return bool(json.loads(json.dumps(value)) == value)
    except (TypeError, ValueError):
        return False
