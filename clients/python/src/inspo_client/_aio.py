"""The asyncio client. Blocking calls run in threads and are awaited."""

from __future__ import annotations

import asyncio
import functools
from collections.abc import Callable, Coroutine, Sequence
from typing import Any, Concatenate, ParamSpec, TypeVar

from ._inspo import Counts, Inspo
from ._lease import Lease, LeaseBase, Reward
from ._transport import in_thread

A = TypeVar("A")
B = TypeVar("B")
P = ParamSpec("P")


def _queued(method: Callable[Concatenate[LeaseBase, P], None]) -> Callable[Concatenate[AsyncLease, P], Coroutine[Any, Any, None]]:
    @functools.wraps(method)
    async def queued(self: AsyncLease, /, *args: P.args, **options: P.kwargs) -> None:
        method(self, *args, **options)

    return queued


def _awaited(
    method: Callable[Concatenate[Inspo, P], A],
    convert: Callable[[A], B],
    discard: Callable[[A], object] = lambda _: None,
) -> Callable[Concatenate[AsyncInspo, P], Coroutine[Any, Any, B]]:
    """The method in a thread. `discard` gets its result if the awaiting task was cancelled."""

    @functools.wraps(method)
    async def awaited(self: AsyncInspo, /, *args: P.args, **options: P.kwargs) -> B:
        future = in_thread(lambda: method(self._inspo, *args, **options))
        try:
            return convert(await asyncio.shield(asyncio.wrap_future(future)))
        except asyncio.CancelledError:
            future.add_done_callback(lambda done: None if done.exception() else discard(done.result()))
            raise

    return awaited


def _same(result: A) -> A:
    return result


def _constructed(
    make: Callable[P, Inspo],
) -> Callable[[Callable[..., None]], Callable[Concatenate[AsyncInspo, P], None]]:
    """Gives a constructor the parameters of `make`."""
    return lambda init: init


class AsyncLease(LeaseBase):
    """A lease whose methods are awaited."""

    reward = _queued(Lease.reward)
    fail = _queued(Lease.fail)
    abandon = _queued(Lease.abandon)


def _async_lease(lease: Lease) -> AsyncLease:
    return AsyncLease(**vars(lease))


def _abandon(leases: Sequence[Lease]) -> None:
    for lease in leases:
        lease.abandon()


class AsyncInspo:
    """`Inspo` for asyncio: the same methods, awaited."""

    @_constructed(Inspo)
    def __init__(self, *args: Any, **options: Any) -> None:
        self._inspo = Inspo(*args, **options)

    @property
    def counts(self) -> Counts:
        return self._inspo.counts

    lease = _awaited(Inspo.lease, _async_lease, Lease.abandon)
    leases = _awaited(Inspo.leases, lambda leases: [_async_lease(lease) for lease in leases], _abandon)
    incumbent = _awaited(Inspo.incumbent, _same)
    close = _awaited(Inspo.close, _same)
    rewind = _awaited(Inspo.rewind, _same)
    flush = _awaited(Inspo.flush, _same)

    async def reward(self, population: str, reward: Reward) -> None:
        """See `Inspo.reward`."""
        self._inspo.reward(population, reward)

    async def __aenter__(self) -> AsyncInspo:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.flush()
