"""Leased instructions for tasks of verifiers, for prime-rl and for your own loop."""

from __future__ import annotations

import uuid
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from statistics import fmean
from typing import Any, cast

from .._lease import Lease, LeaseRequest, Question
from ._run import TrainingRun
from ._texts import question_text, transcript


@dataclass(frozen=True)
class _Group:
    lease: Lease
    #: None for a validation
    cohort: int | None
    validation: str


class LeasedTasks(Iterator[Any]):
    """
    Tasks (`Task`) whose system prompt is an instruction. Each drawn task is a group: it leases an instruction, and `observe` takes
    its episodes. A task is drawn several times in a row, each time under another instruction. The class has the methods of a task sampler of prime-rl. Not thread-safe.
    """

    def __init__(
        self,
        tasks: Iterator[Any],
        run: TrainingRun,
        *,
        samples: int,
        groups: int,
        instructions: int = 4,
        max_open: int = 8,
        reward: Callable[[Any], float] | None = None,
    ) -> None:
        """
        `tasks` may be a sampler itself. Each task gets `samples` episodes, and `groups` tasks form a generation batch: a cohort.
        A task is asked under up to `instructions` instructions.
        A group that is still open when the trainer is `max_open` cohorts further expires, since trainers cancel old groups.
        `reward` returns the reward of an episode, by default the mean over its trainable traces.
        """
        self._tasks = tasks
        self._run = run
        self._samples = samples
        self._groups = groups
        self._instructions = instructions
        self._max_open = max_open
        self._reward = reward or _mean_reward
        self._cohort = 0
        #: number of tasks drawn in the cohort
        self._drawn = 0
        #: the last task of `tasks`, with its leases that are not drawn yet
        self._waiting: list[tuple[Any, Lease]] = []
        self._expired = 0
        #: by hash of the task; tasks of one hash have the same question and instruction, so they are interchangeable
        self._open: dict[str, list[_Group]] = {}

    def __next__(self) -> Any:
        if not self._waiting:
            task = next(self._tasks)
            if self._drawn == self._groups:
                self._cohort += 1
                self._drawn = 0
                self._expire(self._cohort - self._max_open)
            most = min(self._instructions, self._groups - self._drawn)
            request = replace(self._request(task, self._drawn), instructions=most)
            self._waiting = [(task, lease) for lease in self._run.leases(self._cohort, [request])]
        task, lease = self._waiting.pop(0)
        self._drawn += 1
        return self._leased(task, _Group(lease, self._cohort, ""))

    def validation(self, tasks: Sequence[Any], name: str) -> list[Any]:
        """Tasks under the incumbent, for a validation called `name`, such as `12`; `observe` takes their episodes too."""
        requests = [self._request(task, place) for place, task in enumerate(tasks)]
        leases = self._run.validation(name, requests)
        return [self._leased(task, _Group(lease, None, name)) for task, lease in zip(tasks, leases)]

    def observe(self, group: Sequence[Any]) -> None:
        """Rewards the episodes (`Episode`) of one task; failed and missing ones are no evidence about its instruction."""
        same = self._open.get(group[0].task.hash, [])
        if same:
            one = same.pop(0)
            for sample, episode in enumerate(group):
                if episode.ok:
                    one.lease.reward(self._reward(episode), sample=sample, transcript=_transcript(episode))
                else:
                    one.lease.fail(sample=sample)
            self._end(one, len(group))
        if (inner := getattr(self._tasks, "observe", None)) is not None:
            inner(group)

    def state_dict(self) -> dict[str, Any]:
        """For a checkpoint: the last cohort that is complete, as all before it."""
        inner = getattr(self._tasks, "state_dict", None)
        drawn = self._cohort if self._drawn == self._groups else self._cohort - 1
        complete = [one.cohort - 1 for one in self._training()]
        return {"cohort": min([drawn, *complete]), "tasks": inner and inner()}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Resumes from a checkpoint: resets the population to it. Drawn tasks get new leases."""
        if state["tasks"] is not None:
            cast(Any, self._tasks).load_state_dict(state["tasks"])
        self._cohort, self._drawn, self._waiting = state["cohort"] + 1, 0, []
        if self._cohort > 0:
            self._run.resume(self._cohort, uuid.uuid4().hex)

    def metrics(self) -> dict[str, float]:
        return {"cohort": self._cohort, "open": len(self._training()), "expired": self._expired}

    def _request(self, task: Any, place: int) -> LeaseRequest:
        text = question_text(task.data.prompt_text)
        return LeaseRequest(str(place), self._samples, question=Question(task.key, text or None))

    def _leased(self, task: Any, group: _Group) -> Any:
        leased = task.with_data(system_prompt=group.lease.text)
        self._open.setdefault(leased.hash, []).append(group)
        return leased

    def _training(self) -> list[Any]:
        return [one for same in self._open.values() for one in same if one.cohort is not None]

    def _expire(self, before: int) -> None:
        for same in self._open.values():
            for one in [one for one in same if one.cohort is not None and one.cohort < before]:
                same.remove(one)
                self._expired += 1
                self._end(one, 0)

    def _end(self, one: _Group, rewarded: int) -> None:
        for sample in range(rewarded, self._samples):
            one.lease.fail(sample=sample)
        self._open = {hash: same for hash, same in self._open.items() if same}
        if one.cohort is not None:
            self._run.close(one.cohort, self._groups)
        elif all(other.validation != one.validation for same in self._open.values() for other in same):
            self._run.close_validation(one.validation)


def _mean_reward(episode: Any) -> float:
    return fmean(trace.reward for trace in episode.traces if trace.agent.trainable)


def _transcript(episode: Any) -> Any:
    trace = next(trace for trace in episode.traces if trace.agent.trainable)
    return transcript([message.model_dump() for message in trace.messages if message.role != "system"])
