"""What is to be told to a server about one population, in order, until it is acknowledged."""

from __future__ import annotations

import random
import threading
from collections.abc import Callable
from dataclasses import dataclass
from typing import Union

from . import _wire
from ._transport import Answered, Failure, Request, Result, Transport, in_thread

#: The most rewards in one request, as the server allows, and the characters after which no further one is put in.
_MOST_REWARDS = 1024
_MANY_CHARACTERS = 2**20
#: How long rewards are gathered that come faster than they are answered, in seconds.
_GATHERING = 0.01
#: How long one request may take, in seconds.
_PATIENCE = 10.0
#: After so many refusals by something before the server a reward is dropped, so that it keeps up no others.
_MOST_REFUSALS = 8


@dataclass(frozen=True)
class RewardItem:
    json: str
    told: Callable[[_wire.RewardResult], None]
    dropped: Callable[[str], None]


@dataclass(frozen=True)
class CloseItem:
    json: str
    told: Callable[[_wire.CohortState], None]
    dropped: Callable[[str], None]


@dataclass(frozen=True)
class RewindItem:
    json: str
    told: Callable[[_wire.Rewound], None]
    dropped: Callable[[str], None]


#: A reward, or a control that has its place among them: what is sent, who is told what the server said, or why it is not sent.
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
        self._size = _MOST_REWARDS
        self._failures = 0
        self._refusals = 0
        self._woken = False
        self._running = False

    def push(self, item: Item) -> None:
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
        """Tries again now."""
        with self._changed:
            self._failures = 0
            self._woken = True
            self._changed.notify_all()

    def pending(self) -> int:
        return len(self._queue)

    def wait(self, timeout: float) -> None:
        """Returns as soon as nothing is pending, or the time is over."""
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
                self._size = min(2 * self._size, _MOST_REWARDS)
                # Where more came meanwhile, yet more will: a request costs as much as many rewards.
                with self._changed:
                    if self._queue and isinstance(self._queue[-1], RewardItem) and len(self._queue) < self._size:
                        self._pause(_GATHERING)
                continue
            self._on_failure(failure)
            gives_way = self._gives_way(failure, len(sent))
            self._sending = 0
            if gives_way:
                continue
            self._failures += 1
            # Doubled up to 30 s, and shortened by up to a half, so that clients do not come all at once.
            backoff = min(self._retry_delay * 2.0 ** min(self._failures - 1, 16), 30.0)
            with self._changed:
                self._pause(backoff * (1 - random.random() / 2), failure.retry_after)

    def _pause(self, own: float, asked: float = 0.0) -> None:
        """As long as the server asked for; else it can be cut short."""
        self._woken = False
        self._changed.wait_for(lambda: self._woken and asked == 0, max(own, asked))

    def _batch(self) -> list[Item]:
        """The first rewards, with what closes their cohort if that comes next; or a rewind."""
        count = length = 0
        queue = self._queue
        while (
            count < min(self._size, len(queue))
            and isinstance(queue[count], RewardItem)
            and (count == 0 or length < _MANY_CHARACTERS)
        ):
            length += len(queue[count].json)
            count += 1
        closes = 0 < count < min(self._size, len(queue)) and isinstance(queue[count], CloseItem)
        return queue[: count + 1 if count == 0 or closes else count]

    def _send(self, sent: list[Item]) -> Failure | None:
        last = sent[-1]
        if isinstance(last, RewindItem):
            request = Request("POST", f"{self._path}/rewind", last.json)
            rewound = self._transport.ask(request, _wire.rewound, _PATIENCE)
            if isinstance(rewound, Failure):
                return rewound
            self._acknowledge(sent)
            last.told(rewound.value)
            return None
        rewards = [item for item in sent if isinstance(item, RewardItem)]
        close = last if isinstance(last, CloseItem) else None
        closing = "" if close is None else f',"close":{close.json}'
        body = f'{{"rewards":[{",".join(item.json for item in rewards)}]{closing}}}'
        request = Request("POST", f"{self._path}/rewards", body)
        told: Result[_wire.RewardsAnswer] = self._transport.ask(
            request, lambda answer: _wire.rewards(len(rewards), close is not None, answer), _PATIENCE
        )
        if not isinstance(told, Answered):
            return told
        self._acknowledge(sent)
        for item, result in zip(rewards, told.value.results):
            item.told(result)
        if close is not None and told.value.cohort is not None:
            close.told(told.value.cohort)
        return None

    def _gives_way(self, failure: Failure, sent: int) -> bool:
        """Whether what was sent is not to be sent again as it was: one that is refused keeps back no others."""
        if not _is_final(failure):
            return False
        if sent > 1:  # Halves find it.
            self._size = sent // 2
            return True
        self._refusals += 1
        if not failure.refused and failure.status != 413 and self._refusals < _MOST_REFUSALS:
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
    """Whether the same request would be refused again, by its content."""
    may_pass = (401, 403, 429) if failure.refused else (408, 425, 429)
    return 400 <= failure.status < 500 and failure.status not in may_pass
