"""Groups whose environments break, in tinker-cookbook's own rollouts: broken.py URL POPULATION. Prints the results."""

import asyncio
import json
import sys
from dataclasses import dataclass, field

import tinker
from tinker_cookbook.completers import TokenCompleter, TokensWithLogprobs
from tinker_cookbook.rl.rollout_strategy import RetryOnFailure
from tinker_cookbook.rl.rollouts import do_group_rollout
from tinker_cookbook.rl.types import Env, EnvGroupBuilder, RLDataset, StepResult

from inspo_client.integrations.tinker_cookbook import LeasedDataset, Population

url, name = sys.argv[1:]


class Policy(TokenCompleter):
    async def __call__(self, model_input, stop, *args, **options):
        return TokensWithLogprobs(tokens=[1], maybe_logprobs=[0.0])


@dataclass
class Fragile(Env):
    breaks: bool
    convo_prefix: list = field(default_factory=list)

    async def initial_observation(self):
        return tinker.ModelInput.from_ints([1]), []

    async def step(self, action, *, extra=None):
        if self.breaks:
            raise RuntimeError("the sandbox is gone")
        return StepResult(1.0, True, tinker.ModelInput.empty(), [])


@dataclass
class Group(EnvGroupBuilder):
    """Two environments, the first of which breaks `times` times."""

    times: int

    async def make_envs(self):
        self.times -= 1
        return [Fragile(self.times >= 0), Fragile(False)]


class Groups(RLDataset):
    def get_batch(self, index):
        return [Group(0), Group(1), Group(9)]

    def __len__(self):
        return 1


async def outcome(builder):
    try:
        group = await do_group_rollout(builder, Policy(), strategy=RetryOnFailure(max_retries=1))
        return group.get_total_rewards()
    except RuntimeError as error:
        return str(error)


dataset = LeasedDataset(Groups(), Population((url,), name, retry_budget=30))


async def main():
    print(json.dumps([await outcome(builder) for builder in dataset.get_batch(0)]))


asyncio.run(main())
try:
    dataset.get_batch(0)
except ValueError as error:
    print(error)
