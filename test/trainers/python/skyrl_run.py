"""
SkyRL's own trainer over the instruction server: skyrl_run.py URL FOLDER ATTEMPT STEPS POPULATION [async]. What needs a GPU is left
out: its engine answers the same whatever it is asked, and no gradient is taken. The loop, its batches, environments, evaluation and
advantages are its own.
"""

import asyncio
import os
import random
import sys
import time

import skyrl_gym
from inspo_client.integrations import TrainingRun
from inspo_client.integrations.skyrl import InstructedGenerator
from skyrl.train.config import SkyRLTrainConfig
from skyrl.train.fully_async_trainer import FullyAsyncRayPPOTrainer
from skyrl.train.generators.skyrl_gym_generator import SkyRLGymGenerator
from skyrl.train.trainer import RayPPOTrainer
from skyrl_gym.envs.base_text_env import BaseTextEnv, BaseTextEnvStepOutput

import tiny_model
from world import RewardLog, reward

url, folder, attempt, steps, population, *mode = sys.argv[1:]
is_async = mode == ["async"]
rewards = RewardLog(f"{folder}/log-0.jsonl", 0, attempt)
validated = RewardLog(f"{folder}/validation-0.jsonl", 0, attempt)
checkpoint = f"{folder}/checkpoint"
tokens = tiny_model.tokenizer()


class Noted(TrainingRun):
    """Notes leases for the log."""

    known = {}

    def leases(self, number, requests, **others):
        given = super().leases(number, requests, **others)
        self.known.update({lease.key: (rewards, number, lease) for lease in given})
        return given

    def validation(self, name, requests):
        given = super().validation(name, requests)
        self.known.update({lease.key: (validated, -1, lease) for lease in given})
        return given


class World(BaseTextEnv):
    """Rewards by a word of the instruction."""

    def __init__(self, env_config=None, extras=None):
        super().__init__()
        self.trajectory = extras["trajectory"]

    def init(self, prompt):
        self.instruction = prompt[0]["content"]
        return prompt, {}

    def step(self, action):
        key, sample = self.trajectory.instance_id, self.trajectory.repetition_id
        value = reward(self.instruction, int(key.removeprefix("v")), sample)
        log, number, lease = run.known[key]
        assert lease.text == self.instruction
        log.write(number, key, lease.id, sample, self.instruction, value)
        return BaseTextEnvStepOutput(observations=[], reward=value, done=True, metadata={})


class Generator(SkyRLGymGenerator):
    def _setup_env_extras(self, env_class, env_extras, sampling_params, trajectory):
        return {**env_extras, "trajectory": trajectory}


class Engine:
    async def generate(self, input_batch, model=None):
        if is_async:
            await asyncio.sleep(random.uniform(0, 0.4))  # Groups end in another order than they begin.
        answer = tokens.encode("42")
        count = len(input_batch["prompt_token_ids"])
        return {
            "responses": ["42"] * count,
            "response_ids": [list(answer)] * count,
            "stop_reasons": ["stop"] * count,
            "response_logprobs": [[-1.0] * len(answer)] * count,
        }

    async def finish_session(self, session):
        pass


class Workers:
    async def save_weights_for_sampler(self):
        pass

    def get_lcm_dp_size(self):
        return 1

    def get_timing_metrics(self):
        return {}

    def finalize_pending_saves(self, name):
        pass


class WithoutWorkers(RayPPOTrainer):
    def init_weight_sync_state(self):
        self.dispatch = Workers()

    def fwd_logprobs_values_reward(self, training_input):
        training_input["values"] = None
        return training_input

    def train_critic_and_policy(self, training_input):
        assert training_input["advantages"].isfinite().all()
        time.sleep(0.3)  # A step that took no time would leave none for a proposal to be written in.
        return {}

    def save_checkpoints(self):
        os.makedirs(f"{checkpoint}-{self.global_step}", exist_ok=True)
        return f"{checkpoint}-{self.global_step}"

    def load_checkpoints(self):
        if not os.path.exists(checkpoint):
            return 0, None
        with open(checkpoint) as file:
            step = int(file.read())
        return step, f"{checkpoint}-{step}"


class Trainer(*([FullyAsyncRayPPOTrainer] if is_async else []), WithoutWorkers):
    def save_checkpoints(self):
        path = super().save_checkpoints()
        with open(f"{checkpoint}.new", "w") as file:
            file.write(str(self.global_step))
        os.replace(f"{checkpoint}.new", checkpoint)
        return path


class Rows(list):
    def __init__(self, count, prefix=""):
        messages = [[{"role": "user", "content": f"Question {index}?"}] for index in range(count)]
        super().__init__(
            {"prompt": one, "env_class": "world", "env_extras": {}, "uid": f"{prefix}{index}"} for index, one in enumerate(messages)
        )

    def collate_fn(self, rows):
        return rows


class Tracker:
    def log(self, *_, **__):
        pass

    def finish(self):
        pass


skyrl_gym.register(id="world", entry_point=World)
config = SkyRLTrainConfig()
config.data.dataloader.num_workers = 0
config.trainer.train_batch_size = config.trainer.policy_mini_batch_size = 16
config.trainer.eval_batch_size = 3
config.trainer.epochs = 100
config.trainer.max_training_steps = int(steps)
config.trainer.ckpt_interval = 3
config.trainer.hf_save_interval = 0
config.trainer.eval_interval = 12
config.trainer.eval_before_train = False
config.trainer.resume_mode = "latest"
config.trainer.placement.colocate_all = False
config.generator.n_samples_per_prompt = 2
config.generator.eval_n_samples_per_prompt = 2
config.trainer.enable_ray_gpu_monitor = False
config.generator.inference_engine.enable_ray_prometheus_stats = False
config.environment.env_class = "world"
if is_async:
    config.trainer.fully_async.enabled = True
    config.trainer.fully_async.max_staleness_steps = 2
    config.trainer.fully_async.num_parallel_generation_workers = 48
    config.trainer.algorithm.policy_loss_type = "rollout_is"
    config.generator.batched = False
generator = Generator(config.generator, config.environment.skyrl_gym, Engine(), tokens)
run = Noted([url], population, retry_budget=120)
instructed = InstructedGenerator(generator, run, config)
trainer = Trainer(config, Tracker(), tokens, Rows(48), Engine(), instructed, eval_dataset=Rows(5, "v"))
asyncio.run(trainer.train())
