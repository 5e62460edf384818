"""Leased instructions for the groups of tinker-cookbook's reinforcement learning."""

from __future__ import annotations

import asyncio
import functools
import uuid
from collections.abc import Callable, Sequence
from dataclasses import astuple, dataclass, field
from typing import Any

from tinker_cookbook.renderers import get_text_content
from tinker_cookbook.rl.types import Env, EnvGroupBuilder, Metrics, RLDataset, Trajectory

from .._lease import Lease, LeaseRequest, Question
from ._run import TrainingRun
from ._texts import instructed, question_text, transcript


@dataclass(frozen=True)
class Population:
    """The arguments of `TrainingRun`, which the processes of a rollout executor get."""

    urls: tuple[str, ...]
    name: str
    run: str = "train"
    api_key: str | None = None
    retry_budget: float = 60.0


class LeasedDataset(RLDataset):
    """
    A dataset whose groups lease an instruction when their environments are created: batch i is the cohort `train/i`. A trainer
    that starts with a later batch resumes from a checkpoint, and the population is reset to it.
    """

    def __init__(
        self,
        dataset: RLDataset,
        population: Population,
        *,
        instruct: Callable[[Any, str], None] | None = None,
        validation: bool = False,
    ) -> None:
        """
        `instruct` puts an instruction into a new environment, by default before the `convo_prefix` of a `ProblemEnv`. With a
        rollout executor it has to be a function of a module. With `validation` all groups get the incumbent.
        """
        self._dataset = dataset
        self._population = population
        self._instruct = instruct or _instruct
        self._validation = validation
        self._next: int | None = None

    def __len__(self) -> int:
        return len(self._dataset)

    def get_batch(self, index: int) -> Sequence[EnvGroupBuilder]:
        if not self._validation:
            self._start(index)
        builders = self._dataset.get_batch(index)
        return [
            LeasedGroup(builder, self._population, self._instruct, self._validation, index, place, len(builders))
            for place, builder in enumerate(builders)
        ]

    def _start(self, index: int) -> None:
        if self._next is not None and index < self._next:
            raise ValueError(
                f"batch {index} comes after {self._next - 1}; expected a later one. For several epochs, wrap an "
                "EpochCycledRLDataset in the LeasedDataset instead of setting num_epochs"
            )
        if self._next is None and index > 0:
            _run(self._population).resume(index, uuid.uuid4().hex)
        self._next = index + 1


@dataclass
class LeasedGroup(EnvGroupBuilder):
    """A group of a LeasedDataset: leased with its environments and rewarded with its trajectories, or failed without them."""

    builder: EnvGroupBuilder
    population: Population
    instruct: Callable[[Any, str], None]
    validation: bool
    cohort: int
    place: int
    groups: int
    lease: Lease | None = field(default=None, init=False)
    _name: str = field(default="", init=False)

    async def make_envs(self) -> Sequence[Env]:
        envs = await self.builder.make_envs()
        if self.lease is None:
            self.lease = await asyncio.to_thread(self._leased, envs)
        for env in envs:
            self.instruct(env, self.lease.text)
        return envs

    async def compute_group_rewards(
        self, trajectory_group: list[Trajectory], env_group: Sequence[Env]
    ) -> list[tuple[float, Metrics]]:
        rewards = await self.builder.compute_group_rewards(trajectory_group, env_group)
        assert self.lease is not None
        for sample, (env, trajectory, (reward, _)) in enumerate(zip(env_group, trajectory_group, rewards)):
            total = sum(transition.reward for transition in trajectory.transitions) + reward
            self.lease.reward(total, sample=sample, transcript=_transcript(env, trajectory))
        await asyncio.to_thread(self._end, len(trajectory_group))
        return rewards

    async def cleanup(self) -> None:
        try:
            if self.lease is not None:  # The group failed.
                await asyncio.to_thread(self._end, 0)
        finally:
            await self.builder.cleanup()

    def logging_tags(self) -> list[str]:
        return self.builder.logging_tags()

    def _leased(self, envs: Sequence[Env]) -> Lease:
        run = _run(self.population)
        key = str(self.place)
        request = LeaseRequest(key, len(envs), question=_question(f"{self.cohort}/{key}", envs[0]))
        if self.validation:
            # The same group is validated repeatedly.
            self._name = uuid.uuid4().hex
            [lease] = run.validation(self._name, [request])
        else:
            [lease] = run.leases(self.cohort, [request])
        return lease

    def _end(self, rewarded: int) -> None:
        assert self.lease is not None
        lease, self.lease = self.lease, None
        for sample in range(rewarded, lease.n):
            lease.fail(sample=sample)
        if self.validation:
            _run(self.population).close_validation(self._name)
        else:
            _run(self.population).close(self.cohort, self.groups)


@functools.cache
def _run(population: Population) -> TrainingRun:
    """The training run of this process."""
    urls, name, run, api_key, retry_budget = astuple(population)
    return TrainingRun(urls, name, run=run, api_key=api_key, retry_budget=retry_budget)


def _instruct(env: Any, instruction: str) -> None:
    env.convo_prefix = instructed(env.convo_prefix, instruction)


def _question(id: str, env: Any) -> Question | None:
    """Only a `ProblemEnv` has one."""
    if not hasattr(env, "get_question"):
        return None
    return Question(id, question_text(env.get_question()), [env.get_reference_answer()])


def _transcript(env: Any, trajectory: Trajectory) -> Any:
    renderer = getattr(env, "renderer", None)
    if renderer is None:
        return None
    actions = (renderer.parse_response(transition.ac.tokens)[0] for transition in trajectory.transitions)
    return transcript([{"role": "assistant", "content": get_text_content(action)} for action in actions])
