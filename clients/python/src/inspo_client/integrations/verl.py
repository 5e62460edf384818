"""Instructions in verl: the agent loop manager of its trainer."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import ray
from verl.trainer.ppo.v1 import AgentLoopManagerTQ
from verl.utils.config import omega_conf_to_dataclass
from verl.utils.tensordict_utils import assign_non_tensor_stack

from .._inspo import LeaseRequest
from .._lease import Lease, Question
from ._run import TrainingRun
from ._texts import Prompt, instructed, question_text, transcript


class InstructedManager(AgentLoopManagerTQ):  # type: ignore[misc]
    """
    Puts a leased instruction into each prompt before agent loops get it, whichever they are, and tells the server their rewards.
    Name a subclass, which makes the `training_run`, as `actor_rollout_ref.rollout.agent.agent_loop_manager_class`. A cohort is the
    batch of a global step, so each step asks once: the asynchronous trainers, group filtering and refills, which ask more often,
    are refused. Validation gets the incumbent. A trainer whose first step is not 1 goes on from a checkpoint.
    """

    @staticmethod
    def training_run() -> TrainingRun:
        """Makes the training run, in the one process of Ray that holds it."""
        raise NotImplementedError("training_run is not there; expected a subclass of InstructedManager that makes it")

    @staticmethod
    def prompt(prompt: Prompt, lease: Lease) -> Any:
        """Makes the prompt, by default with the instruction as the system message."""
        return instructed(prompt, lease.text)

    def __init__(
        self, config: Any, llm_client: Any, teacher_client: Any = None, reward_loop_worker_handles: Any = None
    ) -> None:
        mode = config.trainer.v1.trainer_mode
        if mode != "sync":
            raise ValueError(f"trainer.v1.trainer_mode is {mode}; expected sync, which samples one batch for each step")
        if reward_loop_worker_handles is None:
            raise ValueError(
                "reward.reward_model.enable_resource_pool is False; expected True, since rewards are told while they are sampled"
            )
        rollout = config.actor_rollout_ref.rollout
        self._samples = {False: rollout.n, True: rollout.val_kwargs.n}
        # One process asks and tells, so that it knows what became of each: it stands before the workers that score.
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


@dataclass
class _Batch:
    """The groups that are sampled at once."""

    #: of the cohort; None where it is a validation
    number: int | None
    name: str
    leases: dict[str, Lease]
    told: set[tuple[str, int]] = field(default_factory=set)

    @cached_property
    def samples(self) -> set[tuple[str, int]]:
        return {(key, sample) for key, lease in self.leases.items() for sample in range(lease.n)}


class _Instructions:
    """The actor that holds the training run. For agent loops it is the worker that scores, and has another one do so."""

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
        self._batch: _Batch | None = None
        self._problem: Exception | None = None

    async def begin(
        self, step: int, is_validation: bool, keys: list[str], counts: list[int], prompts: list[Prompt]
    ) -> list[Any]:
        """The prompts of a batch with their instructions. What was sampled before is over then."""
        number = None if is_validation else await asyncio.to_thread(self._run.step, step)
        await self._end()
        if self._problem is not None:
            raise self._problem
        requests = [
            LeaseRequest(key, count, question=Question(key, question_text(prompt)))
            for key, count, prompt in zip(keys, counts, prompts)
        ]
        name = self._run.validation_name(step)
        if number is None:
            await asyncio.to_thread(self._run.go_on, step)
            leases = await asyncio.to_thread(self._run.validation, name, requests)
        else:
            leases = await asyncio.to_thread(self._run.leases, number, requests, policy_version=str(step))
        self._batch = _Batch(number, name, dict(zip(keys, leases)))
        return [self._prompt(prompt, lease) for prompt, lease in zip(prompts, leases)]

    async def compute_score(self, data: Any) -> dict[str, Any]:
        """As verl's worker: the score of one trajectory, of which the last row is the end."""
        result: dict[str, Any] = await random.choice(self._scorers).compute_score.remote(data)
        key, sample = str(data.non_tensor_batch["uid"][-1]), int(data.non_tensor_batch["session_id"][-1])
        batch = self._batch
        if batch is None or key not in batch.leases or (key, sample) in batch.told:
            raise ValueError(f"sample {sample} of {key} was scored; expected one of the batch, and each once")
        length = int(data.non_tensor_batch["response_len"][-1])
        answer = self._tokenizer.decode(data.batch["responses"][-1][:length], skip_special_tokens=True)
        batch.leases[key].reward(float(result["reward_score"]), sample=sample, transcript=transcript(answer))
        batch.told.add((key, sample))
        if len(batch.told) == len(batch.samples):
            await self._end()
        return result

    async def _end(self) -> None:
        """Closes the batch. A problem stops the trainer when it begins the next: agent loops would only fail of it."""
        batch, self._batch = self._batch, None
        if batch is None:
            return
        try:
            if not batch.told:
                raise ValueError("no sample was scored; expected agent loops that leave it to verl's reward workers")
            for key, sample in batch.samples - batch.told:
                batch.leases[key].fail(sample=sample)
            if batch.number is None:
                await asyncio.to_thread(self._run.close_validation, batch.name, len(batch.leases))
            else:
                await asyncio.to_thread(self._run.close, batch.number, len(batch.leases))
        except Exception as problem:
            self._problem = problem
            raise
