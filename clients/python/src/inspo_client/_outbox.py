"""Rewards and controls that wait for one population, sent in order until they are acknowledged."""

from __future__ import annotations

import random
import threading
from collections.abc import Callable
from dataclasses import dataclass
from typing import Generic, TypeVar, Union

from . import _wire
from ._transport import Failure, Request, Transport, in_thread

A = TypeVar("A")

#: Maximum number of rewards in a request, as the server allows, and of their characters if there are several.
_MAX_REWARDS = 1024
_MANY_CHARACTERS = 2**20
#: Maximum number of bytes of one reward: the server's limit of a request, less what is around the reward.
_MAX_BYTES = 2**22 - 2**6
#: Seconds to collect rewards that arrive faster than they are acknowledged.
_COLLECT = 0.01
#: Timeout of one request, in seconds.
_TIMEOUT = 10.0
#: Number of refusals by a proxy after which a reward is dropped, so that it does not block the others.
_MAX_REFUSALS = 8


@dataclass(frozen=True)
class _Item(Generic[A]):
    json: str
    acknowledged: Callable[[A], None]
    #: called with the reason
    dropped: Callable[[str], None]


class RewardItem(_Item[_wire.RewardResult]):
    pass


class CloseItem(_Item[_wire.CohortState]):
    pass


class RewindItem(_Item[_wire.Rewound]):
    pass


Item = Union[RewardItem, CloseItem, RewindItem]


class Outbox:
    def __init__(
        self,
        transport: Transport,
        path: str,
        items: int,
        characters: int,
        retry_delay: float,
        on_failure: Callable[[Failure], None],
    ) -> None:
        self._transport = transport
        self._path = path
        self._items = items
        self._characters = characters
        self._retry_delay = retry_delay
        self._on_failure = on_failure
        self._changed = threading.Condition()
        self._queue: list[Item] = []
        self._held = 0
        self._sending = 0
        self._size = _MAX_REWARDS
        self._failures = 0
        self._refusals = 0
        self._woken = False
        self._running = False

    def push(self, item: Item) -> None:
        # The server may close the connection before its refusal is read, so the same bytes would be sent forever.
        if (size := len(item.json.encode())) > _MAX_BYTES:
            return item.dropped(f"it has {size} bytes; expected at most {_MAX_BYTES}: shorten its texts")
        dropped: list[Item] = []
        with self._changed:
            self._queue.append(item)
            self._held += len(item.json)
            while len(self._queue) > self._items or self._held > self._characters:
                dropped.append(self._remove(min(self._sending, len(self._queue) - 1)))
            if self._queue and not self._running:
                self._running = True
                in_thread(self._deliver)
        for one in dropped:
            one.dropped(f"more than {self._items} rewards or {self._characters} characters are waiting")

    def wake(self) -> None:
        """Retries now."""
        with self._changed:
            self._failures = 0
            self._woken = True
            self._changed.notify_all()

    def pending(self) -> int:
        return len(self._queue)

    def wait(self, timeout: float) -> None:
        """Returns when nothing is pending, or after the timeout."""
        with self._changed:
            self._changed.wait_for(lambda: not self._running, timeout)

    def _deliver(self) -> None:
        while True:
            with self._changed:
                if not self._queue:
                    self._running = False
                    self._changed.notify_all()
                    return
                sent = self._batch()
                self._sending = len(sent)
            failure = self._send(sent)
            if failure is None:
                self._failures = self._refusals = 0
                self._size = min(2 * self._size, _MAX_REWARDS)
                # Rewards that arrived meanwhile suggest more: one request for many is cheaper.
                with self._changed:
                    if self._queue and isinstance(self._queue[-1], RewardItem) and len(self._queue) < self._size:
                        self._pause(_COLLECT)
                continue
            self._on_failure(failure)
            skip_pause = self._reduce(failure, len(sent))
            self._sending = 0
            if skip_pause:
                continue
            self._failures += 1
            # Doubles up to 30 s; the random factor keeps clients from retrying at the same time.
            backoff = min(self._retry_delay * 2.0 ** min(self._failures - 1, 16), 30.0)
            with self._changed:
                self._pause(backoff * (1 - random.random() / 2), failure.retry_after)

    def _pause(self, own: float, requested: float = 0.0) -> None:
        """Waits as long as the server requested; without a request `wake` ends the pause."""
        self._woken = False
        self._changed.wait_for(lambda: self._woken and requested == 0, max(own, requested))

    def _batch(self) -> list[Item]:
        """The first rewards, with the close of their cohort if it comes next; or one control."""
        count = length = 0
        queue = self._queue
        limit = min(self._size, len(queue))
        while count < limit and isinstance(queue[count], RewardItem):
            length += len(queue[count].json)
            if count > 0 and length > _MANY_CHARACTERS:
                break
            count += 1
        closes = 0 < count < limit and isinstance(queue[count], CloseItem)
        return queue[: count + 1 if count == 0 or closes else count]

    def _send(self, sent: list[Item]) -> Failure | None:
        last = sent[-1]
        if isinstance(last, RewindItem):
            request = Request("POST", f"{self._path}/rewind", last.json)
            rewound = self._transport.ask(request, _wire.rewound, _TIMEOUT)
            if isinstance(rewound, Failure):
                return rewound
            self._acknowledge(sent)
            last.acknowledged(rewound)
            return None
        rewards = [item for item in sent if isinstance(item, RewardItem)]
        close = last if isinstance(last, CloseItem) else None
        closing = "" if close is None else f',"close":{close.json}'
        body = f'{{"rewards":[{",".join(item.json for item in rewards)}]{closing}}}'
        answer = self._transport.ask(
            Request("POST", f"{self._path}/rewards", body),
            lambda body: _wire.rewards(len(rewards), close is not None, body),
            _TIMEOUT,
        )
        if isinstance(answer, Failure):
            return answer
        # Counted before they leave the queue: with nothing pending, the counts are complete.
        for item, result in zip(rewards, answer.results):
            item.acknowledged(result)
        self._acknowledge(sent)
        if close is not None and answer.cohort is not None:
            close.acknowledged(answer.cohort)
        return None

    def _reduce(self, failure: Failure, sent: int) -> bool:
        """Halves a refused batch, or drops its only item. False if the same batch is to be retried after a pause."""
        if not _is_final(failure):
            return False
        if sent > 1:
            self._size = sent // 2
            return True
        self._refusals += 1
        if not failure.refused and failure.status != 413 and self._refusals < _MAX_REFUSALS:
            return False
        self._refusals = 0
        with self._changed:
            dropped = self._remove(0)
        dropped.dropped(failure.reason)
        return True

    def _acknowledge(self, sent: list[Item]) -> None:
        with self._changed:
            for _ in sent:
                self._remove(0)
            self._sending = 0

    def _remove(self, index: int) -> Item:
        item = self._queue.pop(index)
        self._held -= len(item.json)
        return item


def _is_final(failure: Failure) -> bool:
    """Whether a retry of the same content would be refused again."""
    may_pass = (401, 403, 429) if failure.refused else (408, 425, 429)
    return 400 <= failure.status < 500 and failure.status not in may_pass
