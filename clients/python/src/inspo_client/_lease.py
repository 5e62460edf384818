from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypedDict

from ._wire import Wording


class Message(TypedDict):
    """A turn of a conversation."""

    role: str
    content: str


@dataclass(frozen=True)
class Question:
    """What the work is about, as far as new instructions may know of it."""

    id: str
    text: str | None = None
    golden_answers: Sequence[str] | None = None

    def _to_wire(self) -> dict[str, object]:
        return given(id=self.id, text=self.text, goldenAnswers=self.golden_answers)


@dataclass(frozen=True)
class Reward:
    """A reward by the id of its lease: exactly one of `value`, `failed` and `abandoned`."""

    lease: str
    #: in [0, 1], or the population's `rewardRange`
    value: float | None = None
    #: The environment failed, so that nothing is known of the instruction.
    failed: bool = False
    #: The instruction was not used.
    abandoned: bool = False
    #: which sample of the lease, from 0; required where it covers several
    sample: int | None = None
    #: what was good or bad, in words: what new instructions are written from
    feedback: str | None = None
    transcript: str | Sequence[Message] | None = None
    golden_answers: Sequence[str] | None = None
    tokens: int | None = None
    #: US dollars
    usd: float | None = None
    policy_version: str | None = None

    def _to_wire(self) -> dict[str, object]:
        return given(
            lease=self.lease,
            value=self.value,
            failed=self.failed or None,
            abandoned=self.abandoned or None,
            sample=self.sample,
            feedback=self.feedback,
            transcript=self.transcript,
            goldenAnswers=self.golden_answers,
            tokens=self.tokens,
            usd=self.usd,
            policyVersion=self.policy_version,
        )


@dataclass(frozen=True)
class Work:
    """What a lease says, apart from what it does."""

    population: str
    key: str
    n: int
    id: str | None
    cohort: str | None
    instruction: str | None
    wording: Wording
    probability: float | None
    replaces: str | None
    closes_at: str | None


class LeaseBase:
    """One instruction for one unit of work."""

    def __init__(self, work: Work, tell: Callable[[Reward], None]) -> None:
        self.population = work.population
        self.key = work.key
        #: samples that it covers
        self.n = work.n
        #: What the server calls the lease; with it, `Inspo.reward` rewards it from anywhere. None where it gave out none.
        self.id = work.id
        self.cohort = work.cohort
        #: the id of the instruction; None where it is the caller's fallback
        self.instruction = work.instruction
        #: with which the instruction was drawn, in (0, 1]; None without a lease
        self.probability = work.probability
        #: the id of the instruction that its `sticky` key had first and that has left the population; None where it keeps its own
        self.replaces = work.replaces
        #: from when on a reward is late, as ISO 8601; None while nobody knows
        self.closes_at = work.closes_at
        self._work = work
        self._tell = tell

    @property
    def leased(self) -> bool:
        """
        False where the server did not answer in time: the work goes on with the last incumbent or the fallback, and is not
        counted.
        """
        return self.id is not None

    @property
    def text(self) -> str:
        """The instruction. Raises TypeError where it has several texts."""
        if isinstance(self._work.wording, str):
            return self._work.wording
        names = ", ".join(self._work.wording)
        raise TypeError(f"the instructions of {self.population} have the texts {names}; read lease.texts")

    @property
    def texts(self) -> Mapping[str, str]:
        """The texts of the instruction by their names. Raises TypeError where it has but one."""
        if not isinstance(self._work.wording, str):
            return self._work.wording
        raise TypeError(f"the instructions of {self.population} have one text; read lease.text")

    def _report(self, reward: Reward) -> None:
        sample = reward.sample
        if self.n > 1 if sample is None else not 0 <= sample < self.n:
            raise ValueError(f"sample is {sample}; expected at least 0 and below {self.n}, the lease's n")
        if self.id is not None:
            self._tell(reward)

    def _abandon(self, sample: int | None) -> None:
        for one in [sample] if sample is not None or self.n == 1 else range(self.n):
            self._report(Reward(self.id or "", abandoned=True, sample=one))


class Lease(LeaseBase):
    def reward(
        self,
        value: float,
        *,
        sample: int | None = None,
        feedback: str | None = None,
        transcript: str | Sequence[Message] | None = None,
        golden_answers: Sequence[str] | None = None,
        tokens: int | None = None,
        usd: float | None = None,
        policy_version: str | None = None,
    ) -> None:
        """
        Queues a reward, in [0, 1] or the population's `rewardRange`, and returns at once. Without a lease nothing is told.
        Raises ValueError where `sample` is missing though the lease covers several, or none of them.
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
                policy_version=policy_version,
            )
        )

    def fail(
        self,
        *,
        sample: int | None = None,
        feedback: str | None = None,
        transcript: str | Sequence[Message] | None = None,
    ) -> None:
        """Queues that the environment failed, as `reward` does a reward."""
        self._report(Reward(self.id or "", failed=True, sample=sample, feedback=feedback, transcript=transcript))

    def abandon(self, *, sample: int | None = None) -> None:
        """Queues that the instruction was not used, for all samples or one of them."""
        self._abandon(sample)


def given(**fields: object) -> dict[str, object]:
    """The fields that are not None."""
    return {name: value for name, value in fields.items() if value is not None}
