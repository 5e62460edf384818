from __future__ import annotations

import logging
import threading
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from .._lease import Lease, LeaseRequest
from ._run import Stopped, TrainingRun

_log = logging.getLogger(__name__)


class Unreported(Stopped):
    """No sample of a whole cohort was reported."""


@dataclass
class _Cohort:
    number: int
    #: groups requested so far
    groups: int = 0
    reported: int = 0
    #: by key, the samples that are not reported
    waiting: dict[str, set[int]] = field(default_factory=dict)
    leases: dict[str, Lease] = field(default_factory=dict)

    def unreported(self) -> Iterator[tuple[Lease, int]]:
        for key, lease in self.leases.items():
            for sample in sorted(self.waiting.get(key, ())):
                yield lease, sample


class Stream:
    """
    The cohorts of an asynchronous, single-process trainer, which requests groups while earlier ones are sampled or trained on.
    A cohort has `groups` groups, in the order of the requests, whichever step trains on them. It is closed when all its samples
    are reported, and at the latest when the cohort `ahead` places later begins: samples that are not reported by then, such as
    those of a failed rollout, have failed. Thread-safe.
    """

    def __init__(self, run: TrainingRun, *, groups: int, ahead: int) -> None:
        for name, value in (("groups", groups), ("ahead", ahead)):
            if value < 1:
                raise ValueError(f"{name} is {value}; expected at least 1")
        self._run = run
        self._groups = groups
        self._ahead = ahead
        self._lock = threading.Lock()
        #: groups requested so far, with those of the steps before a resume; None before the start
        self._requested: int | None = None
        #: by number, those that are not closed
        self._cohorts: dict[int, _Cohort] = {}

    def start(self, steps: int) -> None:
        """Resumes before the first request of a trainer that has done `steps` steps. Does nothing when called again."""
        with self._lock:
            if self._requested is None:
                self._run.start(steps, unclosed=self._ahead)
                self._requested = steps * self._groups

    def leases(self, step: int, requests: Sequence[LeaseRequest]) -> dict[str, Lease]:
        """
        The leases of groups that a trainer requests in a step, from 1, by key. Groups that are sampled at the same time need
        different keys. Raises Stopped if the server cannot be used, and Unreported if a cohort ends without a report.
        """
        self.start(step - 1)
        leases: dict[str, Lease] = {}
        for cohort, part in self._assign(requests):
            for lease in self._run.leases(cohort.number, part, policy_version=str(step)):
                cohort.leases[lease.key] = leases[lease.key] = lease
            self._end_overdue(cohort.number)
        return leases

    def reward(self, key: str, sample: int, value: float, transcript: Any = None) -> None:
        """
        Reports a sample. Waits for the server after the last one of a cohort. A sample that is reported again, or after its
        cohort was closed, is logged and not used.
        """
        with self._lock:
            cohort = next((one for one in self._cohorts.values() if sample in one.waiting.get(key, ())), None)
            if cohort is None:
                _log.warning("sample %s of %s is not used: it was reported before, or its cohort is closed", sample, key)
                return
            cohort.leases[key].reward(value, sample=sample, transcript=transcript)
            cohort.reported += 1
            cohort.waiting[key].remove(sample)
            if not cohort.waiting[key]:
                del cohort.waiting[key]
            if cohort.waiting or cohort.groups < self._groups:
                return
            del self._cohorts[cohort.number]
        self._run.close(cohort.number, cohort.groups)

    def end(self) -> None:
        """Closes all cohorts at the end of training. Samples that are not reported are no evidence."""
        with self._lock:
            cohorts, self._cohorts = self._cohorts, {}
        for cohort in cohorts.values():
            for lease, sample in cohort.unreported():
                lease.abandon(sample=sample)
            if cohort.leases:
                self._run.close(cohort.number)

    def _assign(self, requests: Sequence[LeaseRequest]) -> list[tuple[_Cohort, list[LeaseRequest]]]:
        """The requests of each cohort."""
        parts: dict[int, tuple[_Cohort, list[LeaseRequest]]] = {}
        with self._lock:
            used = {key for one in self._cohorts.values() for key in one.waiting}
            for request in requests:
                if request.key in used:
                    raise ValueError(f"key is {request.key}, which is being sampled; expected another one")
            for request in requests:
                key = str(request.key)
                assert self._requested is not None
                number = self._requested // self._groups
                self._requested += 1
                cohort = self._cohorts.setdefault(number, _Cohort(number))
                cohort.groups += 1
                cohort.waiting[key] = set(range(request.n))
                parts.setdefault(number, (cohort, []))[1].append(request)
        return list(parts.values())

    def _end_overdue(self, newest: int) -> None:
        with self._lock:
            overdue = [one for number, one in self._cohorts.items() if number <= newest - self._ahead]
            for cohort in overdue:
                del self._cohorts[cohort.number]
        for cohort in overdue:
            if cohort.reported == 0:
                raise Unreported(f"{self._run.population}: no sample of {self._run.cohort(cohort.number)} was reported")
            for lease, sample in cohort.unreported():
                lease.fail(sample=sample)
            self._run.close(cohort.number)
