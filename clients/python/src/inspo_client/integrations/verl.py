"""Instructions in verl: the agent loop manager of its trainer."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Callable, Sequence
from typing import Any

import ray
from verl.trainer.ppo.v1 import AgentLoopManagerTQ
from verl.utils.config import omega_conf_to_dataclass
from verl.utils.tensordict_utils import assign_non_tensor_stack

from .._lease import Lease, LeaseRequest, Question
from ._run import Batch, TrainingRun
from ._texts import Prompt, question_text, transcript, with_lease


class InstructedManager(AgentLoopManagerTQ):  # type: ignore[misc]
    """
    Puts a leased instruction into each prompt, whichever agent loop gets it, and reports the rewards. Name a subclass that defines
    `training_run` as `actor_rollout_ref.rollout.agent.agent_loop_manager_class`. A cohort is the batch of a global step, so each
    step may ask only once: the asynchronous trainers, group filtering and refills, which ask more often, are refused. Validation
    gets the incumbent. A trainer whose first step is not 1 resumes from a checkpoint.
    """

    @staticmethod
    def training_run() -> TrainingRun:
        """Creates the training run, in the Ray process that holds it."""
        raise NotImplementedError("training_run is missing; expected a subclass of InstructedManager that defines it")

    @staticmethod
    def prompt(prompt: Prompt, lease: Lease) -> Any:
        """Builds the prompt, by default with the instruction as the system message."""
        return with_lease(prompt, lease)

    def __init__(
        self, config: Any, llm_client: Any, teacher_client: Any = None, reward_loop_worker_handles: Any = None
    ) -> None:
        mode = config.trainer.v1.trainer_mode
        if mode != "sync":
            raise ValueError(f"trainer.v1.trainer_mode is {mode}; expected sync, which samples one batch for each step")
        if reward_loop_worker_handles is None:
            raise ValueError(
                "reward.reward_model.enable_resource_pool is False; expected True, since rewards are reported while samples are drawn"
            )
        rollout = config.actor_rollout_ref.rollout
        self._samples = {False: rollout.n, True: rollout.val_kwargs.n}
        # One process, in front of the workers that score, requests all leases and reports all rewards.
        self._instructions = ray.remote(_Instructions).remote(
            self.training_run, self.prompt, config.actor_rollout_ref.model, reward_loop_worker_handles
        )
        super().__init__(config, llm_client, teacher_client, [self._instructions])

    def generate_sequences(self, prompts: Any) -> None:
        step, keys = int(prompts["global_steps"]), [str(uid) for uid in prompts["uid"]]
        is_validation = "validate" in prompts and bool(prompts["validate"])
        counts = (
            [int(n) for n in prompts["__rollout_n__"]]
            if "__rollout_n__" in prompts
            else [self._samples[is_validation]] * len(keys)
        )
        messages = [list(one) for one in prompts["raw_prompt"]]
        asked = ray.get(self._instructions.begin.remote(step, is_validation, keys, counts, messages))
        assign_non_tensor_stack(prompts, "raw_prompt", asked)
        super().generate_sequences(prompts)


class _Instructions:
    """The actor that holds the training run. Agent loops use it as the worker that scores; it passes the work to another."""

    def __init__(
        self,
        make: Callable[[], TrainingRun],
        prompt: Callable[[Prompt, Lease], Any],
        model: Any,
        scorers: Sequence[Any],
    ) -> None:
        self._run = make()
        self._prompt = prompt
        self._tokenizer = omega_conf_to_dataclass(model).tokenizer
        self._scorers = scorers
        self._batch: Batch | None = None
        #: keys and samples of the batch
        self._reported: set[tuple[str, int]] = set()
        self._problem: Exception | None = None

    async def begin(
        self, step: int, is_validation: bool, keys: list[str], counts: list[int], prompts: list[Prompt]
    ) -> list[Any]:
        """Ends the previous batch, and returns the prompts of the next one with their instructions."""
        await self._end()
        if self._problem is not None:
            raise self._problem
        requests = [
            LeaseRequest(key, count, question=Question(key, question_text(prompt)))
            for key, count, prompt in zip(keys, counts, prompts)
        ]
        batch = await asyncio.to_thread(self._run.batch, step, requests, validation=is_validation)
        self._batch, self._reported = batch, set()
        return [self._prompt(prompt, batch.leases[key]) for key, prompt in zip(keys, prompts)]

    async def compute_score(self, data: Any) -> dict[str, Any]:
        """Scores one trajectory, whose last row is the end, as verl's worker does, and reports the reward."""
        result: dict[str, Any] = await random.choice(self._scorers).compute_score.remote(data)
        key, sample = str(data.non_tensor_batch["uid"][-1]), int(data.non_tensor_batch["session_id"][-1])
        batch = self._batch
        if batch is None or key not in batch.leases or (key, sample) in self._reported:
            raise ValueError(f"sample {sample} of {key} was scored; expected samples of the batch, each once")
        length = int(data.non_tensor_batch["response_len"][-1])
        answer = self._tokenizer.decode(data.batch["responses"][-1][:length], skip_special_tokens=True)
        batch.leases[key].reward(float(result["reward_score"]), sample=sample, transcript=transcript(answer))
        self._reported.add((key, sample))
        if len(self._reported) == sum(lease.n for lease in batch.leases.values()):
            await self._end()
        return result

    async def _end(self) -> None:
        """Closes the batch. A problem stops the trainer at its next batch: raised here, it would only fail an agent loop."""
        batch, self._batch = self._batch, None
        if batch is None:
            return
        try:
            if not self._reported:
                raise ValueError("no sample was scored; expected agent loops that leave scoring to verl's reward workers")
            for key, lease in batch.leases.items():
                for sample in range(lease.n):
                    if (key, sample) not in self._reported:
                        lease.fail(sample=sample)
            await asyncio.to_thread(batch.close)
        except Exception as problem:
            self._problem = problem
            raise
