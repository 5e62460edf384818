from __future__ import annotations

import atexit
import logging
import math
import os
import re
import ssl
import threading
import time
import uuid
import weakref
from collections import Counter
from collections.abc import Callable, Sequence
from concurrent.futures import Future, TimeoutError
from dataclasses import dataclass, replace
from typing import TypeVar
from urllib.parse import urlsplit

from . import _wire
from ._lease import Lease, LeaseRequest, Question, Reward, given, to_wire
from ._outbox import CloseItem, Item, Outbox, RewardItem, RewindItem
from ._populations import Populations
from ._transport import Failure, Read, Request, Result, Transport, in_thread
from ._wire import CohortState, Instruction, LeaseAnswer, LeasesAnswer, Rewound, Wording

A = TypeVar("A")

#: Default timeout of close, rewind and flush, in seconds.
_TIMEOUT = 30.0

#: Outcomes of a reward that `Counts` counts; any other counts as refused.
_OUTCOMES = ("accepted", "duplicate", "late", "superseded", "unknown", "refused", "dropped")


@dataclass(frozen=True)
class Problem:
    """
    `unleased`: a call returned without a lease; `waiting`: sending rewards failed, and is retried; `dropped`: the client dropped
    a reward, close or rewind; `lost`: the process ended before rewards were acknowledged. The other kinds are the server's
    outcomes of a reward.
    """

    kind: str
    population: str
    message: str
    #: whether a retry of the same call would fail again, such as for an unknown population or an invalid request
    final: bool = False


@dataclass(frozen=True)
class Counts:
    """Numbers of leases, and of rewards by outcome, since the client was created; `pending` rewards wait to be sent."""

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
class Incumbent:
    """An instruction to use outside learning."""

    #: None for the fallback
    id: str | None
    wording: Wording
    #: False if the server did not answer this call
    fresh: bool


class NoInstruction(Exception):
    """No server answered this call or an earlier one, and the call has no fallback."""


class Inspo:
    """
    A thread-safe client of the instruction server. `lease`, `leases` and `incumbent` take no longer than their timeout. Without
    an answer they return the last incumbent, else the fallback, else raise NoInstruction; they raise ValueError for invalid
    arguments. Times are in seconds.
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
        `urls` are the addresses of the servers, tried in turn. `retry_delay` is the pause before failed rewards are sent again;
        it doubles with each failure up to 30 s. Beyond `max_queued` waiting rewards the oldest are dropped. `on_problem` is
        called with each problem; by default the logger `inspo_client` logs each kind once a minute.
        """
        if isinstance(urls, str) or not urls or not all(_is_address(url) for url in urls):
            raise ValueError(f"urls is {urls!r}; expected a list of http addresses without credentials")
        if api_key is not None and not re.fullmatch(r"[!-~]+", api_key):
            raise ValueError("api_key is invalid; expected visible ASCII")
        limits = {"timeout": timeout, "retry_delay": retry_delay, "max_queued": max_queued}
        for name, number in {**limits, "max_queued_characters": max_queued_characters}.items():
            if not number > 0:
                raise ValueError(f"{name} is {number}; expected a number above 0")
        headers = {"content-type": "application/json"}
        if api_key is not None:
            headers["authorization"] = f"Bearer {api_key}"
        self._timeout = timeout
        self._on_problem = on_problem or _to_logger()
        self._servers = (urls, headers, tls)
        self._limits = (max_queued, max_queued_characters, retry_delay)
        self._start()
        #: for those who have the administrator's key
        self.populations = Populations(lambda: self._transport, _path, _TIMEOUT)
        _clients.add(self)

    def _start(self) -> None:
        """Also called after a fork: the process that queued rewards sends them."""
        self._process = os.getpid()
        self._transport = Transport(*self._servers)
        self._lock = threading.Lock()
        self._known: dict[str, Instruction] = {}
        self._outboxes: dict[str, Outbox] = {}
        #: by population, the time before which the server asked for no requests
        self._not_before: dict[str, float] = {}
        #: running requests for the incumbent, by population
        self._fetching: dict[str, Future[None]] = {}
        self._counted: Counter[str] = Counter()

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
        One instruction for one unit of work. `cohort` is the trainer's name of a training step, such as `train/12`. `phase` is
        `train` (the default) or `validation`, which gets the incumbent.
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
        Leases for up to 1,024 units of work in one request, in order: either all are leased, or none. `full_batch`: these are all
        requests of the cohort; they are assigned together, as in a step of a run. Some questions get leases under several
        instructions, each with the key of its question before `#`; as many requests get no lease.
        """
        path = _path(population)
        if not 0 < len(requests) <= 1024:
            raise ValueError(f"{len(requests)} requests; expected 1 to 1,024 of them")
        for request in requests:
            if request.n < 1:
                raise ValueError(f"n is {request.n}; expected at least 1")
        keyed = [replace(request, key=request.key or str(uuid.uuid4())) for request in requests]
        body = given(cohort=cohort, phase=phase, policyVersion=policy_version, fullBatch=full_batch)
        body["requests"] = [to_wire(request) for request in keyed]

        def abandon(answer: LeasesAnswer, *, shared: bool = False) -> None:
            self._learn(population, path, answer)
            if not shared:
                for one in answer.leases:
                    self._lease(population, answer.cohort, one).abandon()

        used: Future[bool] = Future()

        def late(answer: LeasesAnswer) -> None:
            # If another server answered the same request, these are the leases in use. Other calls may use those of the caller's keys.
            shared = any(request.key for request in requests)
            used.add_done_callback(lambda done: None if done.result() else abandon(answer, shared=shared))

        result = self._call(
            population,
            Request("POST", f"{path}/leases", _wire.encoded(body), len(keyed)),
            lambda answer: _wire.leases(
                [(str(one.key), one.n, one.instructions or 1) for one in keyed], bool(full_batch), answer
            ),
            timeout,
            late,
        )
        is_used = not isinstance(result, Failure) and all(
            _fits(one.instruction.wording, fallback) for one in result.leases
        )
        used.set_result(is_used)
        if not isinstance(result, Failure):
            if is_used:
                self._learn(population, path, result)
                self._count("leased", len(result.leases))
                return [self._lease(population, result.cohort, one) for one in result.leases]
            abandon(result)
        instead = self._instead(population, fallback, result)
        self._count("unleased", len(keyed))
        return [self._lease(population, cohort, LeaseAnswer(None, str(one.key), one.n, instead)) for one in keyed]

    def incumbent(
        self, population: str, *, fallback: Wording | None = None, timeout: float | None = None
    ) -> Incumbent:
        """The instruction to use outside learning: the server's, else the last known one, else the fallback."""
        request = Request("GET", f"{_path(population)}/incumbent")
        result = self._call(population, request, _wire.incumbent, timeout)
        if not isinstance(result, Failure):
            self._known[population] = result
            if _fits(result.wording, fallback):
                return Incumbent(result.id, result.wording, fresh=True)
        instead = self._instead(population, fallback, result)
        return Incumbent(instead.id, instead.wording, fresh=False)

    def reward(self, population: str, reward: Reward) -> None:
        """Queues a reward by its lease id and returns immediately. Any process that has the id can call it."""
        encoded, problem = _encode(reward)
        if problem:
            self._record(population, "a reward", "refused", problem)
        else:
            self._outbox(population).push(
                RewardItem(
                    encoded,
                    lambda result: self._record(population, "a reward", result.outcome, result.refusal),
                    lambda reason: self._record(population, "a reward", "dropped", reason),
                )
            )

    def close(
        self, population: str, cohort: str, *, groups: int | None = None, timeout: float = _TIMEOUT
    ) -> CohortState | None:
        """
        Closes a cohort, now or as soon as any processes have reported all samples of `groups` of its leases. Rewards queued
        before are sent first. Returns None if the server did not answer within the timeout, or refused; the request may still
        reach it later.
        """
        if groups is not None and groups < 1:
            raise ValueError(f"groups is {groups}; expected at least 1")
        return self._control(population, CloseItem, given(cohort=cohort, groups=groups), timeout)

    def rewind(self, population: str, *, to: str, request_id: str, timeout: float = _TIMEOUT) -> Rewound | None:
        """
        Resets the population to the end of the cohort `to`, for a trainer that resumes from a checkpoint. It happens once per
        `request_id`, whatever the number of ranks that call it. Everything queued before is sent first. Returns None as `close`.
        """
        return self._control(population, RewindItem, {"to": to, "requestId": request_id}, timeout)

    def flush(self, *, timeout: float = _TIMEOUT) -> int:
        """Waits until everything queued is acknowledged, or until the timeout; returns how much is still pending."""
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

    def __exit__(self, *_: object) -> None:
        self.flush()

    def _call(
        self,
        population: str,
        request: Request,
        read: Read[A],
        timeout: float | None,
        late: Callable[[A], None] | None = None,
    ) -> Result[A]:
        """Sends a request unless the server asked for a pause. `late` gets an answer that arrives after the timeout."""
        self._check_process()
        timeout = self._timeout if timeout is None else timeout
        if not timeout > 0:
            raise ValueError(f"timeout is {timeout}; expected seconds above 0")
        wait = self._not_before.get(population, 0.0) - time.monotonic()
        if wait > 0:
            return Failure(f"the server asked for no requests for another {wait:.1f} s")
        result = self._transport.ask(request, read, timeout, late)
        if isinstance(result, Failure) and result.retry_after > 0:
            self._not_before[population] = time.monotonic() + result.retry_after
        return result

    def _lease(self, population: str, cohort: str | None, one: LeaseAnswer) -> Lease:
        return Lease(
            population,
            one.key,
            one.n,
            one.lease,
            cohort,
            one.instruction.id,
            one.probability,
            one.replaces,
            one.closes_at,
            one.instruction.wording,
            lambda reward: self.reward(population, reward),
        )

    def _control(
        self,
        population: str,
        make: Callable[[str, Callable[[A], None], Callable[[str], None]], Item],
        body: object,
        timeout: float,
    ) -> A | None:
        done: Future[A | None] = Future()

        def dropped(reason: str) -> None:
            self._record(population, "a close or rewind", "dropped", reason)
            done.set_result(None)

        self._outbox(population).push(make(_wire.encoded(body), done.set_result, dropped))
        try:
            return done.result(timeout)
        except TimeoutError:
            return None

    def _instead(self, population: str, fallback: Wording | None, result: Result[A]) -> Instruction:
        """The instruction to use without a usable answer; the fallback has no id."""
        failure = result if isinstance(result, Failure) else None
        reason = _wire.printable(failure.reason if failure else "the instruction lacks texts of the fallback")
        known = self._known.get(population)
        self._report("unleased", population, reason, failure is not None and failure.final)
        if known is not None and _fits(known.wording, fallback):
            return known
        if fallback is not None:
            return Instruction(None, fallback)
        raise NoInstruction(
            f"no instruction of {population}: {reason}, and no earlier call got one; pass one as fallback='…'"
        )

    def _learn(self, population: str, path: str, answer: LeasesAnswer) -> None:
        """Stores the incumbent; fetches it if the answer names another one without its texts."""
        for one in answer.leases:
            if one.instruction.id == answer.incumbent:
                self._known[population] = one.instruction
        known = self._known.get(population)
        if answer.incumbent is None or (known is not None and known.id == answer.incumbent):
            return

        def fetch() -> None:
            result = self._transport.ask(Request("GET", f"{path}/incumbent"), _wire.incumbent, 10.0)
            if not isinstance(result, Failure):
                self._known[population] = result
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
                    lambda failure: self._report("waiting", population, failure.reason),
                )
            return self._outboxes[population]

    def _record(self, population: str, what: str, outcome: str, detail: object) -> None:
        kind = outcome if outcome in _OUTCOMES else "refused"
        self._count(kind, 1)
        if kind not in ("accepted", "duplicate", "late"):
            self._report(kind, population, f"{what} was {outcome}" + ("" if detail is None else f": {detail}"))

    def _count(self, name: str, by: int) -> None:
        with self._lock:
            self._counted[name] += by

    def _at_exit(self) -> None:
        if self._process != os.getpid():
            return
        for population, outbox in self._outboxes.items():
            if waiting := outbox.pending():
                self._report("lost", population, f"{waiting} rewards wait at exit; call flush() first")

    def _report(self, kind: str, population: str, message: str, final: bool = False) -> None:
        try:
            self._on_problem(Problem(kind, population, _wire.printable(message), final))
        except Exception:  # An error in the caller's callback must not fail the call.
            pass

    def _pending(self) -> int:
        return sum(outbox.pending() for outbox in list(self._outboxes.values()))

    def _check_process(self) -> None:
        if os.getpid() != self._process:
            self._start()


_clients: weakref.WeakSet[Inspo] = weakref.WeakSet()


@atexit.register
def _at_exit() -> None:
    """Reports lost rewards: the threads that send them are daemons."""
    for client in list(_clients):
        client._at_exit()


def _is_address(url: str) -> bool:
    try:
        parts = urlsplit(url)
        is_http = parts.scheme in ("http", "https") and bool(parts.hostname)
        return is_http and parts.port != 0 and "@" not in parts.netloc
    except ValueError:
        return False


def _path(population: str) -> str:
    if not re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,199}", population):
        raise ValueError(f"population is {population!r}; expected letters, digits, `.`, `_` and `-`")
    return f"/v1/populations/{population}"


def _fits(wording: Wording, fallback: Wording | None) -> bool:
    """Whether an instruction has all texts of the fallback."""
    if fallback is None:
        return True
    if isinstance(wording, str) or isinstance(fallback, str):
        return isinstance(wording, str) and isinstance(fallback, str)
    return all(name in wording for name in fallback)


def _encode(reward: Reward) -> tuple[str, str]:
    """The reward as JSON, or else the problem with it; the other is empty."""
    if [reward.value is not None, reward.failed, reward.abandoned].count(True) != 1:
        return "", "expected exactly one of value, failed and abandoned"
    try:
        numbers = {"value": reward.value, "tokens": reward.tokens, "usd": reward.usd, **(reward.metrics or {})}
        for name, number in numbers.items():
            if number is not None and not math.isfinite(number):
                return "", f"{name} is {number}; expected a finite number"
        # A value may be a bool or a number of numpy, which JSON has otherwise or not at all.
        value = None if reward.value is None else float(reward.value)
        return _wire.encoded(to_wire(replace(reward, value=value)), allow_nan=False), ""
    except Exception as error:
        return "", f"{type(error).__name__}: {error}"


def _to_logger() -> Callable[[Problem], None]:
    """Logs each kind of problem of a population once a minute."""
    logged: dict[tuple[str, str], float] = {}

    def log(problem: Problem) -> None:
        name, now = (problem.population, problem.kind), time.monotonic()
        if now - logged.get(name, -math.inf) >= 60:
            logged[name] = now
            logging.getLogger("inspo_client").warning("%s: %s: %s", problem.population, problem.kind, problem.message)

    return log
