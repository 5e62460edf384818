from __future__ import annotations

import re
import ssl
import threading
import time
import uuid
from collections.abc import Sequence

from .._inspo import Counts, Inspo, LeaseRequest, NoInstruction, Problem
from .._lease import Lease, Reward

#: The most leases in one request, as the server allows.
_MOST_LEASES = 1024
#: Seconds between two attempts.
_PAUSE = 0.5


class Stopped(Exception):
    """The server and the training run do not go together any more, so that training has to stop."""


class TrainingRun:
    """
    The cohorts of one training run in a population of the profile `trainer`: `train/0`, `train/1`, …, one for each batch of
    prompts that is sampled at once. Unlike an agent, a trainer does not go on without the server: samples of one group would have
    different instructions, or rewards would be lost. So every method waits up to `retry_budget` seconds and raises Stopped then, or at once
    where the server refuses what it would refuse again; the trainer is resumed from its checkpoint. For any number of threads and of ranks, which all have one of their own.
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
        `run` names the training run, and begins the names of its cohorts: another run on the same population, or one that begins
        anew without a checkpoint, takes another name.
        """
        if not re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,99}", run) or run == "auto":
            raise ValueError(f"run is {run!r}; expected letters, digits, `.`, `_` and `-`, and not `auto`")
        self.population = population
        self.run = run
        self._retry_budget = retry_budget
        self._problem = ""
        #: by thread, of its last call that got no leases: whether the next one would get none; plain, since datasets pickle it
        self._final: dict[int, bool] = {}
        #: whether the first cohort of this trainer is known, its last step, and the validations that were closed
        self._begun = False
        self._step = 0
        self._validations = 0
        #: whether something had to be told again since a cohort was closed the last time, and what was counted then
        self._again = False
        self._counted = Counts()
        self._repeated = 0
        self._train = Inspo(urls, api_key=api_key, tls=tls, on_problem=self._note)
        #: of its own, since what becomes of its rewards is no reason to stop
        self._validate = Inspo(urls, api_key=api_key, tls=tls, on_problem=self._note)

    def resume(self, number: int, attempt: str) -> None:
        """
        Before the first lease of a trainer that goes on with the cohort of this number, from 1: the population goes back to the end
        of the one before. All ranks ask, and name the `attempt` alike, such as by an id that the first one made up; each
        attempt has a name of its own.
        """
        to = self.cohort(number - 1)
        rewound = self._train.rewind(self.population, to=to, request_id=attempt, timeout=self._retry_budget)
        if rewound is None:
            raise self._stopped(f"could not go back to {to}")

    def go_on(self, steps: int) -> None:
        """
        Before the first lease of a trainer of one process that has done so many steps, each with a cohort of its own: resumes
        where there are any. What comes later changes nothing.
        """
        if not self._begun and steps > 0:
            self.resume(steps, uuid.uuid4().hex)
        self._begun = True

    def step(self, step: int) -> int:
        """
        The number of the cohort of a global step, which count from 1 and come once each. A trainer of one process, whose first
        step is not 1, goes on from a checkpoint.
        """
        if step <= self._step:
            raise ValueError(f"the global step is {step} after {self._step}; expected one batch for each step")
        self.go_on(step - 1)
        self._step = step
        return step - 1

    def validation_name(self, steps: int) -> str:
        """A name for the validation after so many steps, another once that was closed."""
        return f"{steps}.{self._validations}"

    def leases(
        self, number: int, requests: Sequence[LeaseRequest], *, policy_version: str | None = None
    ) -> list[Lease]:
        """
        The leases of a cohort, or a part of them: the same for every rank that asks with the same keys. Each request has a key
        that is its own in the cohort.
        """
        return self._leases(self._train, self.cohort(number), requests, None, policy_version)

    def validation(self, name: str, requests: Sequence[LeaseRequest]) -> list[Lease]:
        """Leases to validate with, all of the incumbent; `name` names the validation, such as `12`."""
        return self._leases(self._validate, f"{self.run}/validation/{name}", requests, "validation", None)

    def reward(self, reward: Reward, *, validation: bool = False) -> None:
        """Queues a reward by the id of its lease, as `Inspo.reward`: for where the lease itself is not at hand."""
        (self._validate if validation else self._train).reward(self.population, reward)

    def close(self, number: int, groups: int) -> None:
        """
        Waits until all rewards of this process are told, and has the cohort closed as soon as so many groups are reported, by
        whichever rank. Raises Stopped where a reward was not accepted, such as one that was told before.
        """
        cohort = self.cohort(number)
        if self._train.close(self.population, cohort, groups=groups, timeout=self._retry_budget) is None:
            raise self._stopped(f"could not tell the rewards of {cohort}")
        before, counts, repeated = self._counted, self._train.counts, self._train._transport.repeated
        # A reward whose answer was lost is told again, and then is a duplicate of itself.
        again = self._again or repeated > self._repeated
        names = ["late", "superseded", "unknown", "refused", "dropped", *([] if again else ["duplicate"])]
        self._again, self._counted, self._repeated = False, counts, repeated
        wrong = {name: getattr(counts, name) - getattr(before, name) for name in names}
        wrong = {name: count for name, count in wrong.items() if count > 0}
        if wrong:
            told = ", ".join(f"{count} {name}" for name, count in wrong.items())
            raise self._stopped(
                f"rewards up to {cohort} were not all accepted ({told}). Where the cohort was trained on before, "
                "resume from a checkpoint, or begin a run of another name"
            )

    def close_validation(self, name: str, groups: int | None = None) -> None:
        """
        Waits until all rewards of validations are told, and has this one closed: at once, or as soon as so many groups are
        reported, by whichever rank.
        """
        cohort = f"{self.run}/validation/{name}"
        if self._validate.close(self.population, cohort, groups=groups, timeout=self._retry_budget) is None:
            raise self._stopped(f"could not tell the rewards of {cohort}")
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
    ) -> list[Lease]:
        if any(request.key is None for request in requests):
            raise ValueError("key is None; expected one for each request, the same in every rank")
        leases: list[Lease] = []
        end = time.monotonic() + self._retry_budget
        while len(leases) < len(requests):
            left = end - time.monotonic()
            if left <= 0:
                raise self._stopped(f"got no leases of {cohort} within {self._retry_budget:g} s")
            some = requests[len(leases) : len(leases) + _MOST_LEASES]
            try:
                # All the time that is left: an answer that comes too late is given back, though other ranks may use it.
                given = client.leases(
                    self.population, some, cohort=cohort, phase=phase, policy_version=policy_version, timeout=left
                )
            except NoInstruction:
                given = []
            if given and given[0].leased:
                leases.extend(given)
            elif self._final.get(threading.get_ident(), False):
                raise self._stopped(f"got no leases of {cohort}")
            else:
                time.sleep(min(_PAUSE, left))
        return leases

    def _note(self, problem: Problem) -> None:
        self._again = self._again or problem.kind == "waiting"
        self._problem = problem.message
        if problem.kind == "unleased":
            self._final[threading.get_ident()] = problem.final

    def _stopped(self, what: str) -> Stopped:
        why = f": {self._problem}" if self._problem else ""
        return Stopped(f"{self.population}: {what}{why}")
