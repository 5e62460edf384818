"""The same for asyncio: what could wait does so in a thread, and is awaited."""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import Callable, Sequence
from types import TracebackType
from typing import TypeVar

from ._inspo import _PATIENCE, Counts, Incumbent, Inspo, LeaseRequest, Problem
from ._lease import Lease, LeaseBase, Message, Question, Reward
from ._transport import in_thread
from ._wire import CohortState, Rewound, Wording

A = TypeVar("A")


class AsyncLease(LeaseBase):
    async def reward(
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
        """As `Lease.reward`."""
        Lease(self._work, self._tell).reward(
            value,
            sample=sample,
            feedback=feedback,
            transcript=transcript,
            golden_answers=golden_answers,
            tokens=tokens,
            usd=usd,
            policy_version=policy_version,
        )

    async def fail(
        self,
        *,
        sample: int | None = None,
        feedback: str | None = None,
        transcript: str | Sequence[Message] | None = None,
    ) -> None:
        """As `Lease.fail`."""
        Lease(self._work, self._tell).fail(sample=sample, feedback=feedback, transcript=transcript)

    async def abandon(self, *, sample: int | None = None) -> None:
        """As `Lease.abandon`."""
        self._abandon(sample)


class AsyncInspo:
    """As `Inspo`, for asyncio."""

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
        self._inspo = Inspo(
            urls,
            api_key=api_key,
            timeout=timeout,
            retry_delay=retry_delay,
            max_queued=max_queued,
            max_queued_characters=max_queued_characters,
            on_problem=on_problem,
            tls=tls,
        )

    @property
    def counts(self) -> Counts:
        return self._inspo.counts

    async def lease(
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
    ) -> AsyncLease:
        """As `Inspo.lease`."""
        [lease] = await self.leases(
            population,
            [LeaseRequest(key, n, stratum, sticky, question)],
            cohort=cohort,
            phase=phase,
            policy_version=policy_version,
            fallback=fallback,
            timeout=timeout,
        )
        return lease

    async def leases(
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
    ) -> list[AsyncLease]:
        """As `Inspo.leases`."""
        leases = await _awaited(
            lambda: self._inspo.leases(
                population,
                requests,
                cohort=cohort,
                phase=phase,
                policy_version=policy_version,
                full_batch=full_batch,
                fallback=fallback,
                timeout=timeout,
            ),
            _abandon,
        )
        return [AsyncLease(lease._work, lease._tell) for lease in leases]

    async def incumbent(
        self, population: str, *, fallback: Wording | None = None, timeout: float | None = None
    ) -> Incumbent:
        """As `Inspo.incumbent`."""
        return await _awaited(lambda: self._inspo.incumbent(population, fallback=fallback, timeout=timeout))

    async def reward(self, population: str, reward: Reward) -> None:
        """As `Inspo.reward`."""
        self._inspo.reward(population, reward)

    async def close(
        self, population: str, cohort: str, *, groups: int | None = None, timeout: float = _PATIENCE
    ) -> CohortState | None:
        """As `Inspo.close`."""
        return await _awaited(lambda: self._inspo.close(population, cohort, groups=groups, timeout=timeout))

    async def rewind(
        self, population: str, *, to: str, request_id: str, timeout: float = _PATIENCE
    ) -> Rewound | None:
        """As `Inspo.rewind`."""
        return await _awaited(
            lambda: self._inspo.rewind(population, to=to, request_id=request_id, timeout=timeout)
        )

    async def flush(self, *, timeout: float = _PATIENCE) -> int:
        """As `Inspo.flush`."""
        return await _awaited(lambda: self._inspo.flush(timeout=timeout))

    async def __aenter__(self) -> AsyncInspo:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.flush()


def _abandon(leases: Sequence[Lease]) -> None:
    for lease in leases:
        lease.abandon()


async def _awaited(work: Callable[[], A], unused: Callable[[A], object] = lambda _: None) -> A:
    """Awaits work in a thread; `unused` is told what came of it where nobody awaits it any more."""
    future = in_thread(work)
    try:
        return await asyncio.shield(asyncio.wrap_future(future))
    except asyncio.CancelledError:
        future.add_done_callback(lambda done: None if done.exception() else unused(done.result()))
        raise
