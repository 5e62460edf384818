"""
verl's own trainer over the instruction server: verl_run.py URL FOLDER ATTEMPT STEPS POPULATION MODE [AGENT_LOOP]. What needs a GPU is left
out: its policy repeats its instruction, and no gradient is taken. The loop, its data loader, queue, agent loops, reward workers,
validation, advantages and checkpoints are its own.
"""

import asyncio
import json
import os
import random
import sys
import time
from pathlib import Path

url, folder, attempt, steps, population, mode, *loops = sys.argv[1:]
os.environ.update(VERL_URL=url, VERL_FOLDER=folder, VERL_ATTEMPT=attempt, VERL_POPULATION=population)

import datasets
import ray
import tiny_model
import transfer_queue
import verl
from hydra import compose, initialize_config_dir
from verl.experimental.reward_loop import RewardLoopManager
from verl.trainer.ppo.v1 import get_trainer_cls
from verl.utils.import_utils import load_class_from_fqn
from verl.workers.rollout.replica import TokenOutput

import verl_world

tiny_model.save(f"{folder}/model")
named = [{"name": one, "_target_": f"verl_world.{one}"} for one in loops]
Path(f"{folder}/loops.yaml").write_text(json.dumps(named))


def rows(count, split):
    return datasets.Dataset.from_list(
        [
            {
                "prompt": [{"role": "user", "content": f"Question {index}?"}],
                "data_source": "world",
                "reward_model": {"ground_truth": ""},
                "extra_info": {"index": index, "split": split},
            }
            for index in range(count)
        ]
    )


rows(48, "train").to_parquet(f"{folder}/train.parquet")
rows(5, "validation").to_parquet(f"{folder}/validation.parquet")


class Engine:
    async def generate(self, request_id, *, prompt_ids, **_):
        if mode != "sync":
            await asyncio.sleep(random.uniform(0, 0.8))  # Groups end in another order than they begin.
        tokens = tiny_model.tokenizer()
        instruction = tokens.decode(prompt_ids).split("<|system|>")[1].split("<|end|>")[0]
        answer = [*tokens.encode(instruction), tokens.eos_token_id]
        return TokenOutput(token_ids=answer, log_probs=[-1.0] * len(answer), stop_reason="completed")


class Workers:
    """In the place of those that sample and train."""

    _dispatch_info = {"actor": [0]}

    def save_checkpoint(self, *_, **__):
        pass

    def load_checkpoint(self, *_, **__):
        pass

    def update_weights(self, *_):
        pass

    def sleep_replicas(self):
        pass

    def abort_replicas(self):
        pass

    def resume_generation_replicas(self):
        pass

    def get_client(self, **_):
        return Engine()


class Trainer(get_trainer_cls(mode)):
    def _setup(self):
        self._init_tokenizer()
        self._init_dataloader()
        self._init_dump_executor()
        self.actor_rollout_wg = self.llm_server_manager = self.checkpoint_manager = Workers()
        self.teacher_model_manager = None
        self.reward_loop_manager = RewardLoopManager(self.config)
        self.replay_buffer.poll_interval = 0.1
        self._load_checkpoint()

    def _update_actor(self, batch, metrics):
        data = transfer_queue.kv_batch_get(
            keys=batch.keys, partition_id=batch.partition_id, select_fields=["advantages"]
        )
        assert all(one.isfinite().all() for one in data["advantages"])
        time.sleep(0.3)  # A step that took no time would leave none for a proposal to be written in.
        return batch

    def _compute_metrics(self, *_, **__):
        pass


with initialize_config_dir(os.path.join(os.path.dirname(verl.__file__), "trainer/config"), version_base=None):
    config = compose(
        "ppo_trainer",
        [
            f"actor_rollout_ref.model.path={folder}/model",
            "+actor_rollout_ref.rollout.agent.agent_loop_manager_class=verl_world.Manager",
            f"actor_rollout_ref.rollout.agent.agent_loop_config_path={folder}/loops.yaml",
            f"actor_rollout_ref.rollout.agent.default_agent_loop={[*loops, 'single_turn_agent'][0]}",
            "actor_rollout_ref.rollout.agent.num_workers=2",
            "actor_rollout_ref.rollout.name=vllm",
            "actor_rollout_ref.rollout.n=2",
            "actor_rollout_ref.rollout.val_kwargs.n=2",
            "actor_rollout_ref.rollout.calculate_log_probs=True",
            "algorithm.adv_estimator=grpo",
            "algorithm.rollout_correction.bypass_mode=True",
            "data.dataloader_num_workers=0",
            "data.shuffle=False",
            "data.max_response_length=64",
            "data.train_batch_size=16",
            f"data.train_files={folder}/train.parquet",
            f"data.val_files={folder}/validation.parquet",
            "reward.num_workers=1",
            f"reward.custom_reward_function.path={verl_world.__file__}",
            "reward.reward_manager.name=World",
            f"reward.reward_manager.module.path={verl_world.__file__}",
            "reward.reward_manager.source=importlib",
            f"trainer.default_local_dir={folder}/checkpoints",
            "trainer.device=cpu",
            f"trainer.v1.trainer_mode={mode}",
            "trainer.v1.sampler.max_off_policy_threshold=2",
            "trainer.logger=[]",
            "trainer.save_freq=3",
            "trainer.test_freq=16",
            "trainer.total_epochs=100",
            f"trainer.total_training_steps={steps}",
            "trainer.val_before_train=False",
            "transfer_queue.backend.SimpleStorage.num_data_storage_units=1",
            "transfer_queue.enable=True",
        ],
    )
ray.init(num_cpus=16, include_dashboard=False, configure_logging=False, log_to_driver=True)
transfer_queue.init(config.transfer_queue)
trainer = Trainer(config)
trainer.init()
manager = load_class_from_fqn(config.actor_rollout_ref.rollout.agent.agent_loop_manager_class).create(
    config=config,
    llm_client=trainer.get_llm_client(),
    teacher_client=trainer.get_teacher_client(),
    reward_loop_worker_handles=trainer.get_reward_handles(),
)
trainer.fit(manager)
transfer_queue.close()
ray.shutdown()
