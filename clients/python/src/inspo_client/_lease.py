from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypedDict

from ._wire import Wording


class Message(TypedDict):
    """A turn of a conversation."""

    role: str
    content: str


@dataclass(frozen=True)
class Question:
    """What the work is about. New instructions are written from it."""

    id: str
    text: str | None = None
    golden_answers: Sequence[str] | None = None


@dataclass(frozen=True)
class Reward:
    """A reward, identified by its lease id. Set exactly one of `value`, `failed` and `abandoned`."""

    lease: str
    #: in [0, 1], or in the population's `rewardRange`
    value: float | None = None
    #: The environment failed: the sample is no evidence about the instruction.
    failed: bool = False
    #: The instruction was not used.
    abandoned: bool = False
    #: index of the sample, from 0; required if the lease covers several
    sample: int | None = None
    #: what was good or bad, in words; new instructions are written from it
    feedback: str | None = None
    transcript: str | Sequence[Message] | None = None
    golden_answers: Sequence[str] | None = None
    tokens: int | None = None
    #: US dollars
    usd: float | None = None
    #: further numbers, such as `latency` in seconds, which guardrails bound
    metrics: Mapping[str, float] | None = None
    policy_version: str | None = None


@dataclass(frozen=True, eq=False)
class LeaseBase:
    """One instruction for one unit of work."""

    population: str
    key: str
    #: number of samples that the lease covers
    n: int
    #: lease id of the server; `Inspo.reward` accepts it from any process. None if the server did not answer
    id: str | None
    cohort: str | None
    #: id of the instruction; None for the caller's fallback
    instruction: str | None
    #: probability with which the instruction was drawn, in (0, 1]; None without a lease
    probability: float | None
    #: id of the removed instruction that the `sticky` key had before; None if it keeps its instruction
    replaces: str | None
    #: time after which a reward is late, as ISO 8601; None if not known yet
    closes_at: str | None
    _wording: Wording = field(repr=False)
    _send: Callable[[Reward], None] = field(repr=False)

    @property
    def leased(self) -> bool:
        """
        False if the server did not answer in time. The lease then has the last incumbent or the fallback, and its rewards are
        not sent.
        """
        return self.id is not None

    @property
    def text(self) -> str:
        """The instruction. Raises TypeError if it has several texts."""
        if isinstance(self._wording, str):
            return self._wording
        names = ", ".join(self._wording)
        raise TypeError(f"the instructions of {self.population} have the texts {names}; read lease.texts")

    @property
    def texts(self) -> Mapping[str, str]:
        """The texts of the instruction by name. Raises TypeError if it has only one."""
        if not isinstance(self._wording, str):
            return self._wording
        raise TypeError(f"the instructions of {self.population} have one text; read lease.text")

    def _report(self, reward: Reward) -> None:
        sample = reward.sample
        if self.n > 1 if sample is None else not 0 <= sample < self.n:
            raise ValueError(f"sample is {sample}; expected at least 0 and below {self.n}, the lease's n")
        if self.id is not None:
            self._send(reward)


class Lease(LeaseBase):
    # `self` is a LeaseBase, so that AsyncLease can share the methods.
    def reward(
        self: LeaseBase,
        value: float,
        *,
        sample: int | None = None,
        feedback: str | None = None,
        transcript: str | Sequence[Message] | None = None,
        golden_answers: Sequence[str] | None = None,
        tokens: int | None = None,
        usd: float | None = None,
        metrics: Mapping[str, float] | None = None,
        policy_version: str | None = None,
    ) -> None:
        """
        Queues a reward, in [0, 1] or in the population's `rewardRange`, and returns immediately. Does nothing without a lease.
        Raises ValueError if `sample` is out of range, or missing although the lease covers several samples.
        """
        self._report(
            Reward(
                self.id or "",
                value,
                sample=sample,
                feedback=feedback,
                transcript=transcript,
                golden_answers=golden_answers,
                tokens=tokens,
                usd=usd,
                metrics=metrics,
                policy_version=policy_version,
            )
        )

    def fail(
        self: LeaseBase,
        *,
        sample: int | None = None,
        feedback: str | None = None,
        transcript: str | Sequence[Message] | None = None,
    ) -> None:
        """Queues a report that the environment failed."""
        self._report(Reward(self.id or "", failed=True, sample=sample, feedback=feedback, transcript=transcript))

    def abandon(self: LeaseBase, *, sample: int | None = None) -> None:
        """Queues a report that the instruction was not used, for one sample or for all of them."""
        for one in [sample] if sample is not None or self.n == 1 else range(self.n):
            self._report(Reward(self.id or "", abandoned=True, sample=one))


@dataclass(frozen=True)
class LeaseRequest:
    #: The caller's name for the work: the same key in a cohort gets the same lease. Random by default.
    key: str | None = None
    #: number of samples that the lease covers
    n: int = 1
    stratum: str | None = None
    #: Requests with one sticky key, such as turns of a conversation, get one instruction and count as one unit.
    sticky: str | None = None
    question: Question | None = None
    #: Instructions that the question is asked under, each at most once; 1 by default. Further leases on the question follow the
    #: first, each with its key before `#`.
    instructions: int | None = None


def to_wire(record: LeaseRequest | Question | Reward) -> dict[str, object]:
    """The fields that are neither None nor False."""
    fields = {re.sub("_(.)", lambda found: found[1].upper(), name): value for name, value in vars(record).items()}
    return {
        name: to_wire(value) if isinstance(value, Question) else value
        for name, value in fields.items()
        if value is not None and value is not False
    }


def given(**fields: object) -> dict[str, object]:
    """The fields that are not None."""
    return {name: value for name, value in fields.items() if value is not None}
