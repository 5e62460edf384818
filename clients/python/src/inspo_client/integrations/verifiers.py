"""Tasks of verifiers under leased instructions, for prime-rl and for loops of one's own."""

from __future__ import annotations

import uuid
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import Any

from .._inspo import LeaseRequest
from .._lease import Lease, Question
from ._run import TrainingRun
from ._texts import question_text, transcript


@dataclass(frozen=True)
class _Group:
    lease: Lease
    #: None where it is of a validation
    cohort: int | None
    validation: str


class LeasedTasks(Iterator[Any]):
    """
    Tasks (`Task`) whose system prompt is an instruction. Each that is drawn is a group: its instruction is leased then, and
    `observe` takes the episodes that came of it. With these methods it is a task sampler of prime-rl. For one thread.
    """

    def __init__(
        self,
        tasks: Iterator[Any],
        run: TrainingRun,
        *,
        samples: int,
        groups: int,
        most_open: int = 8,
        reward: Callable[[Any], float] | None = None,
    ) -> None:
        """
        `tasks` may be a sampler itself. Each gets `samples` episodes, and `groups` of them are a generation batch: a cohort. A group
        that is still out when the trainer is `most_open` cohorts further is given up, since trainers cancel those that are too
        old. `reward` is that of an episode, by default the mean over its trainable traces.
        """
        self._tasks = tasks
        self._run = run
        self._samples = samples
        self._groups = groups
        self._most_open = most_open
        self._reward = reward or _mean_reward
        self._cohort = 0
        #: drawn of the cohort
        self._drawn = 0
        self._given_up = 0
        #: By hash of the task; those of one hash have the same question and instruction, so that it is no matter which is which.
        self._out: dict[str, list[_Group]] = {}

    def __next__(self) -> Any:
        task = next(self._tasks)
        if self._drawn == self._groups:
            self._cohort += 1
            self._drawn = 0
            self._give_up(self._cohort - self._most_open)
        [lease] = self._run.leases(self._cohort, [self._request(task, self._drawn)])
        self._drawn += 1
        return self._leased(task, _Group(lease, self._cohort, ""))

    def validation(self, tasks: Sequence[Any], name: str) -> list[Any]:
        """Tasks under the incumbent, to be observed as the others are. `name` names the validation, such as `12`."""
        requests = [self._request(task, place) for place, task in enumerate(tasks)]
        leases = self._run.validation(name, requests)
        return [self._leased(task, _Group(lease, None, name)) for task, lease in zip(tasks, leases)]

    def observe(self, group: Sequence[Any]) -> None:
        """Rewards the episodes (`Episode`) of one task; those that failed or are missing say nothing of its instruction."""
        same = self._out.get(group[0].task.hash, [])
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
        """For a checkpoint: the last cohort of which, as of all before it, each group is back."""
        inner = getattr(self._tasks, "state_dict", None)
        drawn = self._cohort if self._drawn == self._groups else self._cohort - 1
        back = [one.cohort - 1 for one in self._training()]
        return {"cohort": min([drawn, *back]), "tasks": inner and inner()}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Goes on from a checkpoint: the population goes back with it, and what is drawn is leased anew."""
        if state["tasks"] is not None:
            self._tasks.load_state_dict(state["tasks"])
        self._cohort = state["cohort"] + 1
        if self._cohort > 0:
            self._run.resume(self._cohort, uuid.uuid4().hex)

    def metrics(self) -> dict[str, float]:
        return {"cohort": self._cohort, "out": len(self._training()), "given_up": self._given_up}

    def _request(self, task: Any, place: int) -> LeaseRequest:
        text = question_text(task.data.prompt_text)
        return LeaseRequest(str(place), self._samples, question=Question(task.key, text or None))

    def _leased(self, task: Any, group: _Group) -> Any:
        leased = task.with_data(system_prompt=group.lease.text)
        self._out.setdefault(leased.hash, []).append(group)
        return leased

    def _training(self) -> list[Any]:
        return [one for same in self._out.values() for one in same if one.cohort is not None]

    def _give_up(self, before: int) -> None:
        for same in self._out.values():
            for one in [one for one in same if one.cohort is not None and one.cohort < before]:
                same.remove(one)
                self._given_up += 1
                self._end(one, 0)

    def _end(self, one: _Group, rewarded: int) -> None:
        for sample in range(rewarded, self._samples):
            one.lease.fail(sample=sample)
        self._out = {hash: same for hash, same in self._out.items() if same}
        if one.cohort is not None:
            self._run.close(one.cohort, self._groups)
        elif all(other.validation != one.validation for same in self._out.values() for other in same):
            self._run.close_validation(one.validation)


def _mean_reward(episode: Any) -> float:
    return fmean(trace.reward for trace in episode.traces if trace.agent.trainable)


def _transcript(episode: Any) -> Any:
    trace = next(trace for trace in episode.traces if trace.agent.trainable)
    return transcript([message.model_dump() for message in trace.messages if message.role != "system"])
