"""
tinker-cookbook's own training loop: cookbook.py URL ENGINE MODEL FOLDER LOG ATTEMPT WORKERS STEPS. After a kill, it resumes from its
last checkpoint. Rollouts are done in so many processes of their own, or, where WORKERS is 0, in this one.
"""

import asyncio
import multiprocessing
import os
import sys
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass

import chz
from tinker_cookbook import renderers
from tinker_cookbook.rl import train
from tinker_cookbook.rl.problem_env import ProblemEnv
from tinker_cookbook.rl.types import EnvGroupBuilder, RLDataset, RLDatasetBuilder
from tinker_cookbook.tokenizer_utils import get_tokenizer

from inspo_client.integrations.tinker_cookbook import LeasedDataset, LeasedGroup, Population

from world import RewardLog, reward

GROUPS, SAMPLES = 16, 2


class Question(ProblemEnv):
    """A question whose answer is as good as the instruction, whatever a tiny model says."""

    def __init__(self, renderer, record, sample):
        super().__init__(renderer)
        self.record, self.sample = record, sample

    def get_question(self):
        return f"Question {self.record}"

    def get_reference_answer(self):
        return str(self.record)

    def check_format(self, sample_str):
        return True

    def check_answer(self, sample_str):
        return False

    async def step(self, action, *, extra=None):
        result = await super().step(action, extra=extra)
        result.reward = reward(self.convo_prefix[0]["content"], self.record, self.sample)
        return result


@dataclass(frozen=True)
class Group(EnvGroupBuilder):
    renderer: renderers.Renderer
    record: int

    async def make_envs(self):
        return [Question(self.renderer, self.record, sample) for sample in range(SAMPLES)]


@dataclass(frozen=True)
class Questions(RLDataset):
    renderer: renderers.Renderer
    batches: int

    def get_batch(self, index):
        return [Group(self.renderer, index * GROUPS + place) for place in range(GROUPS)]

    def __len__(self):
        return self.batches


@dataclass
class LoggedGroup(EnvGroupBuilder):
    """Writes down the rewards that the trainer gets."""

    leased: LeasedGroup
    path: str
    attempt: str

    async def make_envs(self):
        return await self.leased.make_envs()

    async def compute_group_rewards(self, trajectory_group, env_group):
        lease = self.leased.lease
        log = RewardLog(self.path, os.getpid(), self.attempt)
        for sample, trajectory in enumerate(trajectory_group):
            total = sum(transition.reward for transition in trajectory.transitions)
            log.write(self.leased.cohort, lease.key, lease.id, sample, lease.text, total)
        return await self.leased.compute_group_rewards(trajectory_group, env_group)

    async def cleanup(self):
        await self.leased.cleanup()


@dataclass
class Logged(RLDataset):
    leased: LeasedDataset
    path: str
    attempt: str

    def get_batch(self, index):
        return [LoggedGroup(group, self.path, self.attempt) for group in self.leased.get_batch(index)]

    def __len__(self):
        return len(self.leased)


@chz.chz
class Builder(RLDatasetBuilder):
    url: str
    model: str
    path: str
    attempt: str
    steps: int

    async def __call__(self):
        renderer = renderers.get_renderer("role_colon", tokenizer=get_tokenizer(self.model))
        population = Population((self.url,), "policy", retry_budget=30)
        training = LeasedDataset(Questions(renderer, self.steps), population)
        held_out = LeasedDataset(Questions(renderer, 1), population, validation=True)
        return (
            Logged(training, self.path, self.attempt),
            Logged(held_out, f"{self.path}.validation", self.attempt),
        )


def main():
    url, engine, model, folder, path, attempt, workers, steps = sys.argv[1:]
    config = train.Config(
        base_url=engine,
        model_name=model,
        recipe_name="leased",
        renderer_name="role_colon",
        log_path=folder,
        dataset_builder=Builder(url=url, model=model, path=path, attempt=attempt, steps=int(steps)),
        learning_rate=1e-3,
        lora_rank=8,
        max_tokens=4,
        save_every=2,
        eval_every=5,
    )
    spawn = multiprocessing.get_context("spawn")
    executor = ProcessPoolExecutor(int(workers), mp_context=spawn) if workers != "0" else None
    asyncio.run(train.main(config, rollout_executor=executor))


if __name__ == "__main__":  # Processes of the executor import this file.
    main()
