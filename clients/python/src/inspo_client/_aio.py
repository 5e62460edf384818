"""The asyncio client. Blocking calls run in threads and are awaited."""

from __future__ import annotations

import asyncio
import functools
from collections.abc import Callable, Coroutine, Sequence
from typing import Any, Concatenate, Generic, ParamSpec, TypeVar

from ._inspo import Counts, Inspo
from ._lease import Lease, LeaseBase, LeaseRequest, Reward
from ._populations import Populations
from ._transport import in_thread

A = TypeVar("A")
B = TypeVar("B")
C = TypeVar("C")
P = ParamSpec("P")


class _Async(Generic[A]):
    def __init__(self, blocking: A) -> None:
        self._blocking = blocking


def _queued(method: Callable[Concatenate[LeaseBase, P], None]) -> Callable[Concatenate[AsyncLease, P], Coroutine[Any, Any, None]]:
    @functools.wraps(method)
    async def queued(self: AsyncLease, /, *args: P.args, **options: P.kwargs) -> None:
        method(self, *args, **options)

    return queued


def _awaited(
    method: Callable[Concatenate[C, P], A],
    convert: Callable[[A], B],
    discard: Callable[..., object] = lambda *_, **__: None,
) -> Callable[Concatenate[_Async[C], P], Coroutine[Any, Any, B]]:
    """The method in a thread. `discard` gets its result and arguments if the awaiting task was cancelled."""

    @functools.wraps(method)
    async def awaited(self: _Async[C], /, *args: P.args, **options: P.kwargs) -> B:
        future = in_thread(lambda: method(self._blocking, *args, **options))
        try:
            return convert(await asyncio.shield(asyncio.wrap_future(future)))
        except asyncio.CancelledError:
            future.add_done_callback(lambda done: None if done.exception() else discard(done.result(), *args, **options))
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


def _abandon(leases: Sequence[Lease], population: str, requests: Sequence[LeaseRequest], **_: Any) -> None:
    """Other calls may use a lease under a key of the caller."""
    if not any(request.key for request in requests):
        for lease in leases:
            lease.abandon()


def _abandon_one(lease: Lease, population: str, *, key: str | None = None, **_: Any) -> None:
    _abandon([lease], population, [LeaseRequest(key)])


class AsyncPopulations(_Async[Populations]):
    """`Populations` for asyncio: the same methods, awaited."""

    create = _awaited(Populations.create, _same)
    list = _awaited(Populations.list, _same)
    get = _awaited(Populations.get, _same)
    remove = _awaited(Populations.remove, _same)


class AsyncInspo(_Async[Inspo]):
    """`Inspo` for asyncio: the same methods, awaited."""

    @_constructed(Inspo)
    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(Inspo(*args, **options))
        #: for those who have the administrator's key
        self.populations = AsyncPopulations(self._blocking.populations)

    @property
    def counts(self) -> Counts:
        return self._blocking.counts

    lease = _awaited(Inspo.lease, _async_lease, _abandon_one)
    leases = _awaited(Inspo.leases, lambda leases: [_async_lease(lease) for lease in leases], _abandon)
    incumbent = _awaited(Inspo.incumbent, _same)
    close = _awaited(Inspo.close, _same)
    rewind = _awaited(Inspo.rewind, _same)
    flush = _awaited(Inspo.flush, _same)

    async def reward(self, population: str, reward: Reward) -> None:
        """See `Inspo.reward`."""
        self._blocking.reward(population, reward)

    async def __aenter__(self) -> AsyncInspo:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.flush()
