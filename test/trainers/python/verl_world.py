"""What verl's processes load by name in verl_run.py: an agent loop manager, a reward manager that notes what it scores, and an agent loop."""

import os
from pathlib import Path

from inspo_client.integrations import TrainingRun
from inspo_client.integrations.verl import InstructedManager
from verl.experimental.agent_loop.single_turn_agent_loop import SingleTurnAgentLoop
from verl.experimental.reward_loop.reward_manager.naive import NaiveRewardManager

from world import RewardLog, reward

folder = Path(os.environ["VERL_FOLDER"])


class Noted(TrainingRun):
    """Notes leases for the log, which another process writes."""

    def leases(self, number, requests, **others):
        return self._noted(number, super().leases(number, requests, **others))

    def validation(self, name, requests):
        return self._noted(-1, super().validation(name, requests))

    def _noted(self, number, given):
        (folder / "leases").mkdir(exist_ok=True)
        for lease in given:
            (folder / "leases" / lease.key).write_text(f"{number} {lease.id}")
        return given


class Manager(InstructedManager):
    @staticmethod
    def training_run():
        return Noted([os.environ["VERL_URL"]], os.environ["VERL_POPULATION"], retry_budget=120)


class Flawed(SingleTurnAgentLoop):
    """One sample of the first step fails, and all of the second are scored here."""

    async def run(self, sampling_params, **given):
        if given["global_steps"] == 1 and given["extra_info"]["index"] == 3 and given["session_id"] == 0:
            raise RuntimeError("the environment failed")
        output = await super().run(sampling_params, **given)
        if given["global_steps"] == 2:
            output.reward_score = 1.0
        return output


class World(NaiveRewardManager):
    """Rewards by the instruction that the policy repeats."""

    async def run_single(self, data):
        scored = await super().run_single(data)
        row = data[-1:][0].non_tensor_batch
        key, sample = row["uid"], int(row["session_id"])
        name = "validation" if row["extra_info"]["split"] == "validation" else "log"
        number, lease = (folder / "leases" / key).read_text().split()
        instruction = scored["reward_extra_info"]["instruction"]
        value = reward(instruction, row["extra_info"]["index"], sample)
        log = RewardLog(str(folder / f"{name}-0.jsonl"), 0, os.environ["VERL_ATTEMPT"])
        log.write(int(number), key, lease, sample, instruction, value)
        return {"reward_score": value, "reward_extra_info": {}}


def compute_score(data_source, solution_str, ground_truth, extra_info):
    """verl's reward function: the value is World's."""
    return {"score": 0.0, "instruction": solution_str}
