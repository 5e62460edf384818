from __future__ import annotations

import re
import ssl
import threading
import time
import uuid
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from .._inspo import Counts, Inspo, NoInstruction, Problem
from .._lease import Lease, LeaseRequest, Reward

#: Maximum number of leases in a request, as the server allows.
_MAX_LEASES = 1024
#: Seconds between two attempts.
_PAUSE = 0.5


class Stopped(Exception):
    """Training has to stop: the server is unreachable, or its state differs from that of the training run."""


@dataclass(frozen=True)
class Validation:
    """The groups of a validation."""

    #: by key
    leases: Mapping[str, Lease]
    close: Callable[[], None]


class TrainingRun:
    """
    The cohorts of one training run in a population of the profile `trainer`: `train/0`, `train/1`, …, one per batch of prompts
    sampled at once. Unlike an agent, a trainer cannot continue without the server: samples of one group would have different
    instructions, or rewards would be lost. So each method waits up to `retry_budget` seconds, then raises Stopped; it raises at once if
    a retry would be refused again. Resume the trainer from its checkpoint then. Thread-safe; each rank creates its own.
    """

    def __init__(
        self,
        urls: Sequence[str],
        population: str,
        *,
        run: str = "train",
        api_key: str | None = None,
        retry_budget: float = 60.0,
        tls: ssl.SSLContext | None = None,
    ) -> None:
        """
        `run` names the training run, and is the prefix of its cohorts' names. Use a new name for a later run on the same
        population, or for one that restarts without a checkpoint. Runs at the same time each need a population of their own.
        """
        if not re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,99}", run) or run == "auto":
            raise ValueError(f"run is {run!r}; expected letters, digits, `.`, `_` and `-`, and not `auto`")
        self.population = population
        self.run = run
        self._retry_budget = retry_budget
        self._problem = ""
        #: by thread, whether a retry of its last failed call would fail again; a plain dict, since datasets pickle it
        self._final: dict[int, bool] = {}
        self._started = False
        #: those that are closed
        self._validations = 0
        #: whether rewards were resent since the last cohort was closed, and the counts then
        self._resent = False
        self._counted = Counts()
        self._repeated = 0
        self._train = Inspo(urls, api_key=api_key, tls=tls, on_problem=self._note)
        #: separate, because rejected rewards of a validation do not stop training
        self._validate = Inspo(urls, api_key=api_key, tls=tls, on_problem=self._note)

    def resume(self, number: int, attempt: str, *, unclosed: int = 0) -> None:
        """
        Resets the population to the end of the previous cohort, before the first lease of a trainer that resumes with cohort
        `number`, from 1. All ranks call it with the same `attempt`, an id that is new for each attempt. The last `unclosed`
        cohorts are closed before, with the rewards so far: the trainer was stopped while they were sampled.
        """
        to = self.cohort(number - 1)
        for one in range(max(0, number - unclosed), number):
            if self._train.close(self.population, self.cohort(one), timeout=self._retry_budget) is None:
                raise self._stopped(f"could not close {self.cohort(one)}")
        rewound = self._train.rewind(self.population, to=to, request_id=attempt, timeout=self._retry_budget)
        if rewound is None:
            raise self._stopped(f"could not rewind to {to}")

    def start(self, steps: int, *, unclosed: int = 0) -> None:
        """
        Resumes before the first lease of a single-process trainer that has done `steps` steps, one cohort each. Does nothing
        for a new training run, or when called again.
        """
        if not self._started and steps > 0:
            self.resume(steps, uuid.uuid4().hex, unclosed=unclosed)
        self._started = True

    def validate(self, steps: int, requests: Sequence[LeaseRequest]) -> Validation:
        """The leases of a validation after `steps` steps of a single-process trainer."""
        name = self.validation_name(steps)
        leases = self.validation(name, requests)
        return Validation({lease.key: lease for lease in leases}, lambda: self.close_validation(name, len(leases)))

    def validation_name(self, steps: int) -> str:
        """A name for the validation after `steps` steps, different for each."""
        return f"{steps}.{self._validations}"

    def leases(
        self,
        number: int,
        requests: Sequence[LeaseRequest],
        *,
        policy_version: str | None = None,
        full_batch: bool = False,
    ) -> list[Lease]:
        """
        Leases of a cohort, all or a part: every rank gets the same leases for the same keys. Each request needs a key, unique
        in the cohort. With `full_batch` these are all requests of the cohort, at most 1,024: the server asks some questions
        under several instructions, as further leases with the key of the question before `#`, and as many others not at all.
        """
        return self._leases(self._train, self.cohort(number), requests, None, policy_version, full_batch)

    def validation(self, name: str, requests: Sequence[LeaseRequest]) -> list[Lease]:
        """Leases of the incumbent, for a validation called `name`, such as `12`."""
        return self._leases(self._validate, f"{self.run}/validation/{name}", requests, "validation", None)

    def reward(self, reward: Reward, *, validation: bool = False) -> None:
        """Queues a reward by its lease id, as `Inspo.reward`."""
        (self._validate if validation else self._train).reward(self.population, reward)

    def close(self, number: int, groups: int | None = None) -> None:
        """
        Waits until all rewards of this process are acknowledged, and has the cohort closed: now, or as soon as any ranks have
        reported `groups` groups. Raises Stopped if a reward was not accepted, such as one that was reported before.
        """
        cohort = self.cohort(number)
        if self._train.close(self.population, cohort, groups=groups, timeout=self._retry_budget) is None:
            raise self._stopped(f"could not send the rewards of {cohort}")
        before, counts, repeated = self._counted, self._train.counts, self._train._transport.repeated
        # A resent reward, whose first answer was lost, is a duplicate of itself.
        resent = self._resent or repeated > self._repeated
        names = ["late", "superseded", "unknown", "refused", "dropped", *([] if resent else ["duplicate"])]
        self._resent, self._counted, self._repeated = False, counts, repeated
        wrong = {name: getattr(counts, name) - getattr(before, name) for name in names}
        if any(wrong.values()):
            outcomes = ", ".join(f"{count} {name}" for name, count in wrong.items() if count > 0)
            remedy = (
                "Another trainer may hold the population: a run of another name closes the cohorts of this one when it opens its "
                f"own, and a rewind gives them up. GET /v1/populations/{self.population} names the open cohorts, which begin "
                "with the name of their run. Trainers at the same time each need a population of their own; to take over, stop "
                "the other, then resume from a checkpoint"
                if wrong["late"] or wrong["superseded"]
                else "If the cohort was trained on before, resume from a checkpoint, or start a run of another name"
            )
            raise self._stopped(f"rewards up to {cohort} were not all accepted ({outcomes}). {remedy}")

    def close_validation(self, name: str, groups: int | None = None) -> None:
        """
        Waits until all rewards of validations are acknowledged, and has this one closed: now, or as soon as any ranks have
        reported `groups` groups.
        """
        cohort = f"{self.run}/validation/{name}"
        if self._validate.close(self.population, cohort, groups=groups, timeout=self._retry_budget) is None:
            raise self._stopped(f"could not send the rewards of {cohort}")
        self._validations += 1

    def cohort(self, number: int) -> str:
        """The name of a cohort, from 0."""
        if number < 0:
            raise ValueError(f"number is {number}; expected at least 0")
        return f"{self.run}/{number}"

    def _leases(
        self,
        client: Inspo,
        cohort: str,
        requests: Sequence[LeaseRequest],
        phase: str | None,
        policy_version: str | None,
        full_batch: bool | None = None,
    ) -> list[Lease]:
        if any(request.key is None for request in requests):
            raise ValueError("key is None; expected a key in each request, the same in every rank")
        if full_batch and len(requests) > _MAX_LEASES:
            raise ValueError(f"{len(requests)} requests; expected at most {_MAX_LEASES} in a full batch")
        leases: list[Lease] = []
        done = 0
        end = time.monotonic() + self._retry_budget
        while done < len(requests):
            left = end - time.monotonic()
            if left <= 0:
                raise self._stopped(f"got no leases of {cohort} within {self._retry_budget:g} s")
            some = requests[done : done + _MAX_LEASES]
            try:
                given = client.leases(
                    self.population,
                    some,
                    cohort=cohort,
                    phase=phase,
                    policy_version=policy_version,
                    full_batch=full_batch or None,
                    timeout=left,
                )
            except NoInstruction:
                given = []
            if given and given[0].leased:
                leases.extend(given)
                done += len(some)
            elif self._final.get(threading.get_ident(), False):
                raise self._stopped(f"got no leases of {cohort}")
            else:
                time.sleep(min(_PAUSE, left))
        return leases

    def _note(self, problem: Problem) -> None:
        self._resent = self._resent or problem.kind == "waiting"
        self._problem = problem.message
        if problem.kind == "unleased":
            self._final[threading.get_ident()] = problem.final

    def _stopped(self, what: str) -> Stopped:
        reason = f": {self._problem}" if self._problem else ""
        return Stopped(f"{self.population}: {what}{reason}")
