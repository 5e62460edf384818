from __future__ import annotations

import atexit
import json
import logging
import math
import os
import re
import ssl
import threading
import time
import uuid
import weakref
from collections.abc import Callable, Sequence
from concurrent.futures import Future, TimeoutError
from dataclasses import dataclass
from types import TracebackType
from typing import TypeVar
from urllib.parse import urlsplit

from . import _wire
from ._lease import Lease, Question, Reward, Work, given
from ._outbox import CloseItem, Outbox, RewardItem, RewindItem
from ._transport import Answered, Failure, Read, Request, Result, Transport, in_thread
from ._wire import CohortState, Instruction, LeaseAnswer, LeasesAnswer, Rewound, Wording

A = TypeVar("A")

#: How long closing, rewinding and flushing wait, in seconds.
_PATIENCE = 30.0


@dataclass(frozen=True)
class Problem:
    """
    `unleased`: a call went on without a lease; `waiting`: rewards could not be told yet, and are told again; `dropped`: the
    client gave up a reward, or closing or rewinding; `lost`: the process ended before rewards were acknowledged; the others are what the
    server said of a reward.
    """

    kind: str
    population: str
    message: str
    #: whether the server would refuse the same call again: of a population that it does not have, or of a request that is wrong
    final: bool = False


@dataclass(frozen=True)
class Counts:
    """What became of leases and rewards since the client was made; `pending` rewards wait to be told."""

    leased: int = 0
    unleased: int = 0
    accepted: int = 0
    duplicate: int = 0
    late: int = 0
    superseded: int = 0
    unknown: int = 0
    refused: int = 0
    dropped: int = 0
    pending: int = 0


@dataclass(frozen=True)
class LeaseRequest:
    #: The caller's name of the work: the same key in a cohort gets the same lease. Made up by default.
    key: str | None = None
    #: samples that the lease covers
    n: int = 1
    stratum: str | None = None
    #: Requests with one sticky key, such as turns of a conversation, get one instruction and count as one unit.
    sticky: str | None = None
    question: Question | None = None


@dataclass(frozen=True)
class Incumbent:
    """An instruction to use outside learning."""

    #: None where it is the fallback
    id: str | None
    wording: Wording
    #: False where no server told it just now
    fresh: bool


class NoInstruction(Exception):
    """A call has nothing to return: no server answered, none ever did, and the call gave no fallback."""


class Inspo:
    """
    A client of the instruction server, for any number of threads. `lease`, `leases` and `incumbent` take no longer than their
    timeout and raise for mistakes of the caller alone; without an answer they go on with the last incumbent, else with the
    fallback. Times are in seconds.
    """

    def __init__(
        self,
        urls: Sequence[str],
        *,
        api_key: str | None = None,
        timeout: float = 0.2,
        retry_delay: float = 0.5,
        max_queued: int = 10_000,
        max_queued_characters: int = 16 * 2**20,
        on_problem: Callable[[Problem], None] | None = None,
        tls: ssl.SSLContext | None = None,
    ) -> None:
        """
        `urls` are addresses of the servers, tried in turn. `retry_delay` is how long after a failure rewards are told again,
        doubled each time up to 30 s. Of those that wait, the oldest beyond `max_queued` are dropped first. `on_problem` is
        told of all that is not as it should be; by default the logger `inspo_client` is, of each kind once a minute.
        """
        if isinstance(urls, str) or not urls or not all(_is_address(url) for url in urls):
            raise ValueError(f"urls is {urls!r}; expected a list of http addresses without credentials")
        if api_key is not None and not re.fullmatch(r"[!-~]+", api_key):
            raise ValueError("api_key is unfit; expected printable ASCII without spaces")
        for name, number in (
            ("timeout", timeout),
            ("retry_delay", retry_delay),
            ("max_queued", max_queued),
            ("max_queued_characters", max_queued_characters),
        ):
            if not number > 0:
                raise ValueError(f"{name} is {number}; expected a number above 0")
        headers = {"content-type": "application/json"}
        if api_key is not None:
            headers["authorization"] = f"Bearer {api_key}"
        self._timeout = timeout
        self._on_problem = on_problem or _to_logger()
        self._servers = (urls, headers, tls)
        self._limits = (max_queued, max_queued_characters, retry_delay)
        self._begin()
        _clients.add(self)

    def _begin(self) -> None:
        """Begins anew in a process that was forked: what waits is told by the process that queued it."""
        self._process = os.getpid()
        self._transport = Transport(*self._servers)
        self._lock = threading.Lock()
        self._known: dict[str, Instruction] = {}
        self._outboxes: dict[str, Outbox] = {}
        #: when a population may be asked again, where the server said so
        self._not_before: dict[str, float] = {}
        #: incumbents that are being fetched
        self._fetching: dict[str, Future[None]] = {}
        self._counted: dict[str, int] = dict.fromkeys(
            (
                "leased",
                "unleased",
                "accepted",
                "duplicate",
                "late",
                "superseded",
                "unknown",
                "refused",
                "dropped",
            ),
            0,
        )

    @property
    def counts(self) -> Counts:
        self._check_process()
        with self._lock:
            return Counts(**self._counted, pending=self._pending())

    def lease(
        self,
        population: str,
        *,
        key: str | None = None,
        n: int = 1,
        stratum: str | None = None,
        sticky: str | None = None,
        question: Question | None = None,
        cohort: str | None = None,
        phase: str | None = None,
        policy_version: str | None = None,
        fallback: Wording | None = None,
        timeout: float | None = None,
    ) -> Lease:
        """
        One instruction for one unit of work. `cohort` is a training step as the trainer calls it, such as `train/12`; the
        `phase` is `train` by default, and `validation` gets the incumbent. Raises NoInstruction where there is nothing to go
        on with.
        """
        [lease] = self.leases(
            population,
            [LeaseRequest(key, n, stratum, sticky, question)],
            cohort=cohort,
            phase=phase,
            policy_version=policy_version,
            fallback=fallback,
            timeout=timeout,
        )
        return lease

    def leases(
        self,
        population: str,
        requests: Sequence[LeaseRequest],
        *,
        cohort: str | None = None,
        phase: str | None = None,
        policy_version: str | None = None,
        full_batch: bool | None = None,
        fallback: Wording | None = None,
        timeout: float | None = None,
    ) -> list[Lease]:
        """
        Leases for up to 1,024 units of work in one request, in their order: all of them, or none is leased. `full_batch`: these are
        all requests of the cohort; they are assigned together, as a run assigns a step, and candidates are tried on their
        questions. The leases of trials come after the others, each with the key of its question before `#`; they take the
        places of some requests, which get none.
        """
        path = _path(population)
        if not 0 < len(requests) <= 1024:
            raise ValueError(f"{len(requests)} requests; expected 1 to 1,024 of them")
        for request in requests:
            if request.n < 1:
                raise ValueError(f"n is {request.n}; expected at least 1")
        keyed = [(request.key or str(uuid.uuid4()), request) for request in requests]
        body = given(cohort=cohort, phase=phase, policyVersion=policy_version, fullBatch=full_batch)
        body["requests"] = [
            given(
                n=request.n,
                key=key,
                stratum=request.stratum,
                sticky=request.sticky,
                question=request.question and request.question._to_wire(),
            )
            for key, request in keyed
        ]

        def leased(answer: LeasesAnswer) -> list[Lease]:
            return [
                self._lease(population, one.key, one.n, answer.cohort, one.instruction, one)
                for one in answer.leases
            ]

        def give_back(answer: LeasesAnswer) -> None:
            """For answers that come too late or cannot be used."""
            self._learn(population, path, answer)
            for lease in leased(answer):
                lease.abandon()

        used: Future[bool] = Future()

        def late(answer: LeasesAnswer) -> None:
            # Where another server answered the same request, its leases are these.
            used.add_done_callback(lambda told: None if told.result() else give_back(answer))

        result = self._call(
            population,
            Request("POST", f"{path}/leases", json.dumps(body), len(keyed)),
            # Trials take the places of some.
            lambda answer: _wire.leases([(key, one.n) for key, one in keyed], bool(full_batch), answer),
            timeout,
            late,
        )
        used.set_result(
            isinstance(result, Answered)
            and all(_fits(one.instruction.wording, fallback) for one in result.value.leases)
        )
        if isinstance(result, Answered):
            if used.result():
                self._learn(population, path, result.value)
                self._count("leased", len(result.value.leases))
                return leased(result.value)
            give_back(result.value)
        instead = self._instead(population, fallback, result)
        self._count("unleased", len(keyed))
        return [self._lease(population, key, request.n, cohort, instead) for key, request in keyed]

    def incumbent(
        self, population: str, *, fallback: Wording | None = None, timeout: float | None = None
    ) -> Incumbent:
        """The instruction to use outside learning, as the server says or last said, else the fallback."""
        result = self._call(
            population, Request("GET", f"{_path(population)}/incumbent"), _wire.incumbent, timeout
        )
        if isinstance(result, Answered):
            self._known[population] = result.value
            if _fits(result.value.wording, fallback):
                return Incumbent(result.value.id, result.value.wording, fresh=True)
        instead = self._instead(population, fallback, result)
        return Incumbent(instead.id or None, instead.wording, fresh=False)

    def reward(self, population: str, reward: Reward) -> None:
        """Queues a reward by the id of its lease, as another process does that was told it; returns at once."""
        encoded, fault = _encode(reward)
        if fault:
            self._became(population, "a reward", "refused", fault)
        else:
            self._outbox(population).push(
                RewardItem(
                    encoded,
                    lambda result: self._became(population, "a reward", result.outcome, result.refusal),
                    lambda why: self._became(population, "a reward", "dropped", why),
                )
            )

    def close(
        self, population: str, cohort: str, *, groups: int | None = None, timeout: float = _PATIENCE
    ) -> CohortState | None:
        """
        Closes a cohort, or has it closed as soon as `groups` of its leases are fully reported, by whomever. Told after all
        rewards that were queued before. None where it was not told within the timeout, or refused; it may still be told later.
        """
        if groups is not None and groups < 1:
            raise ValueError(f"groups is {groups}; expected at least 1")
        body = json.dumps(given(cohort=cohort, groups=groups))
        done: Future[CohortState | None] = Future()
        self._outbox(population).push(CloseItem(body, done.set_result, self._given_up(population, done)))
        return _waited(done, timeout)

    def rewind(
        self, population: str, *, to: str, request_id: str, timeout: float = _PATIENCE
    ) -> Rewound | None:
        """
        Back to the end of the cohort `to`, as a trainer goes that falls back to a checkpoint. It happens once per
        `request_id`, however many ranks ask. Told after all that was queued before; None as for `close`.
        """
        body = json.dumps({"to": to, "requestId": request_id})
        done: Future[Rewound | None] = Future()
        self._outbox(population).push(RewindItem(body, done.set_result, self._given_up(population, done)))
        return _waited(done, timeout)

    def flush(self, *, timeout: float = _PATIENCE) -> int:
        """Waits until everything queued is told, or the time is over; returns how much is not told yet."""
        self._check_process()
        end = time.monotonic() + timeout
        with self._lock:
            outboxes, fetching = list(self._outboxes.values()), list(self._fetching.values())
        for outbox in outboxes:
            outbox.wake()
        for outbox in outboxes:
            outbox.wait(max(end - time.monotonic(), 0))
        for future in fetching:
            try:
                future.result(max(end - time.monotonic(), 0))
            except TimeoutError:
                break
        return self._pending()

    def __enter__(self) -> Inspo:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.flush()

    def _call(
        self,
        population: str,
        request: Request,
        read: Read[A],
        timeout: float | None,
        late: Callable[[A], None] | None = None,
    ) -> Result[A]:
        """Asks, unless the server said not to before some time; `late` is told what comes when the time is over."""
        self._check_process()
        timeout = self._timeout if timeout is None else timeout
        if not timeout > 0:
            raise ValueError(f"timeout is {timeout}; expected seconds above 0")
        wait = self._not_before.get(population, 0.0) - time.monotonic()
        if wait > 0:
            return Failure(f"the server asked not to be asked for {wait:.1f} s")
        result = self._transport.ask(request, read, timeout, late)
        if isinstance(result, Failure) and result.retry_after > 0:
            self._not_before[population] = time.monotonic() + result.retry_after
        return result

    def _lease(
        self,
        population: str,
        key: str,
        n: int,
        cohort: str | None,
        used: Instruction,
        one: LeaseAnswer | None = None,
    ) -> Lease:
        id, probability = (one.lease, one.probability) if one else (None, None)
        replaces, closes_at = (one.replaces, one.closes_at) if one else (None, None)
        work = Work(population, key, n, id, cohort, used.id or None, used.wording, probability, replaces, closes_at)
        return Lease(work, lambda reward: self.reward(population, reward))

    def _instead(self, population: str, fallback: Wording | None, result: Result[A]) -> Instruction:
        """What to go on with where there is no answer of use; the fallback has no id."""
        failure = result if isinstance(result, Failure) else None
        why = _wire.printable(failure.reason if failure else "the instruction lacks texts of the fallback")
        known = self._known.get(population)
        self._tell("unleased", population, why, failure is not None and failure.final)
        if known is not None and _fits(known.wording, fallback):
            return known
        if fallback is not None:
            return Instruction("", fallback)
        raise NoInstruction(
            f"no instruction of {population}: {why}, and there was none before; give one to go on with: fallback='…'"
        )

    def _learn(self, population: str, path: str, answer: LeasesAnswer) -> None:
        """Keeps the incumbent; fetches it where it is another one."""
        for one in answer.leases:
            if one.instruction.id == answer.incumbent:
                self._known[population] = one.instruction
        known = self._known.get(population)
        if answer.incumbent is None or (known is not None and known.id == answer.incumbent):
            return

        def fetch() -> None:
            result = self._transport.ask(Request("GET", f"{path}/incumbent"), _wire.incumbent, 10.0)
            if isinstance(result, Answered):
                self._known[population] = result.value
            with self._lock:
                self._fetching.pop(population, None)

        with self._lock:
            if population not in self._fetching:
                self._fetching[population] = in_thread(fetch)

    def _outbox(self, population: str) -> Outbox:
        self._check_process()
        with self._lock:
            if population not in self._outboxes:
                self._outboxes[population] = Outbox(
                    self._transport,
                    _path(population),
                    *self._limits,
                    lambda failure: self._tell("waiting", population, failure.reason),
                )
            return self._outboxes[population]

    def _given_up(self, population: str, done: Future[A | None]) -> Callable[[str], None]:
        def dropped(why: str) -> None:
            self._became(population, "a close or rewind", "dropped", why)
            done.set_result(None)

        return dropped

    def _became(self, population: str, what: str, outcome: str, detail: object) -> None:
        known = outcome if outcome in _OUTCOMES else "refused"
        self._count(known, 1)
        if known not in ("accepted", "duplicate", "late"):
            self._tell(known, population, f"{what} was {outcome}" + ("" if detail is None else f": {detail}"))

    def _count(self, name: str, by: int) -> None:
        with self._lock:
            self._counted[name] += by

    def _at_exit(self) -> None:
        if self._process != os.getpid():
            return
        for population, outbox in self._outboxes.items():
            if waiting := outbox.pending():
                self._tell("lost", population, f"{waiting} rewards wait at exit; call flush() first")

    def _tell(self, kind: str, population: str, message: str, final: bool = False) -> None:
        try:
            self._on_problem(Problem(kind, population, _wire.printable(message), final))
        except Exception:  # What the caller does with it is no reason to fail the caller.
            pass

    def _pending(self) -> int:
        return sum(outbox.pending() for outbox in list(self._outboxes.values()))

    def _check_process(self) -> None:
        if os.getpid() != self._process:
            self._begin()


_clients: weakref.WeakSet[Inspo] = weakref.WeakSet()


@atexit.register
def _at_exit() -> None:
    """Reports the rewards that are lost: threads that send rewards keep no program from ending."""
    for client in list(_clients):
        client._at_exit()


def _waited(done: Future[A | None], timeout: float) -> A | None:
    try:
        return done.result(timeout)
    except TimeoutError:
        return None


_OUTCOMES = ("accepted", "duplicate", "late", "superseded", "unknown", "refused", "dropped")


def _is_address(url: str) -> bool:
    try:
        parts = urlsplit(url)
        return (
            parts.scheme in ("http", "https")
            and bool(parts.hostname)
            and parts.port != 0
            and parts.username is None
            and parts.password is None
        )
    except ValueError:
        return False


def _path(population: str) -> str:
    if not re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,199}", population):
        raise ValueError(f"population is {population!r}; expected letters, digits, `.`, `_` and `-`")
    return f"/v1/populations/{population}"


def _fits(wording: Wording, fallback: Wording | None) -> bool:
    """Whether an instruction has the texts that the fallback has."""
    if fallback is None:
        return True
    if isinstance(wording, str) or isinstance(fallback, str):
        return isinstance(wording, str) and isinstance(fallback, str)
    return all(name in wording for name in fallback)


def _encode(reward: Reward) -> tuple[str, str]:
    """A reward as JSON, and what is wrong with it, one of them empty."""
    if [reward.value is not None, reward.failed, reward.abandoned].count(True) != 1:
        return "", "expected exactly one of value, failed and abandoned"
    try:
        for name, number in (("value", reward.value), ("tokens", reward.tokens), ("usd", reward.usd)):
            if number is not None and not math.isfinite(number):
                return "", f"{name} is {number}; expected a finite number"
        return json.dumps(reward._to_wire(), allow_nan=False), ""
    except Exception as error:
        return "", f"{type(error).__name__}: {error}"


def _to_logger() -> Callable[[Problem], None]:
    """Logs each kind of problem of a population once a minute."""
    told: dict[tuple[str, str], float] = {}

    def log(problem: Problem) -> None:
        name, now = (problem.population, problem.kind), time.monotonic()
        if now - told.get(name, -math.inf) >= 60:
            told[name] = now
            logging.getLogger("inspo_client").warning(
                "%s: %s: %s", problem.population, problem.kind, problem.message
            )

    return log
