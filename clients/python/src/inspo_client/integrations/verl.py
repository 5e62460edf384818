"""Instructions in verl: the agent loop manager of its trainer."""

from __future__ import annotations

import asyncio
import math
import random
from collections.abc import Callable, Sequence
from typing import Any

import ray
from verl.trainer.ppo.v1 import AgentLoopManagerTQ
from verl.utils.config import omega_conf_to_dataclass
from verl.utils.tensordict_utils import assign_non_tensor_stack

from .._lease import Lease, LeaseRequest, Question
from ._run import TrainingRun, Validation
from ._stream import Stream, Unreported
from ._texts import Prompt, question_text, transcript, with_lease


class InstructedManager(AgentLoopManagerTQ):
    """
    Puts a leased instruction into each prompt, whichever agent loop gets it, and reports the rewards. Name a subclass that defines
    `training_run` as `actor_rollout_ref.rollout.agent.agent_loop_manager_class`. A cohort has `data.train_batch_size` groups in the
    order in which the trainer requests them: the batch of a global step, or with an asynchronous trainer, group filtering and refills
    as many groups of any steps. Validation gets the incumbent. A trainer whose first step is not 1 resumes from a checkpoint.
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
        if reward_loop_worker_handles is None:
            raise ValueError(
                "reward.reward_model.enable_resource_pool is False; expected True, since rewards are reported while samples are drawn"
            )
        rollout = config.actor_rollout_ref.rollout
        self._samples = {False: rollout.n, True: rollout.val_kwargs.n}
        # One process, in front of the workers that score, requests all leases and reports all rewards.
        self._instructions = ray.remote(_Instructions).remote(
            self.training_run,
            self.prompt,
            config.actor_rollout_ref.model,
            reward_loop_worker_handles,
            config.data.train_batch_size,
            _ahead(config),
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


def _ahead(config: Any) -> int:
    """Cohorts that may begin while the samples of one are awaited."""
    settings = config.trainer.v1
    filters = config.algorithm.get("filter_groups", None)
    if settings.trainer_mode != "sync":
        # Groups are sampled ahead by the warm-up, and dropped when they are too old.
        return math.ceil(settings[settings.trainer_mode].num_warmup_batches) + settings.sampler.max_off_policy_threshold + 2
    asks_again = settings.sampler.sync_refill_failed_groups or (filters is not None and filters.enable)
    return 2 if asks_again else 1


class _Instructions:
    """The actor that holds the training run. Agent loops use it as the worker that scores; it passes the work to another."""

    def __init__(
        self,
        make: Callable[[], TrainingRun],
        prompt: Callable[[Prompt, Lease], Any],
        model: Any,
        scorers: Sequence[Any],
        groups: int,
        ahead: int,
    ) -> None:
        self._run = make()
        self._stream = Stream(self._run, groups=groups, ahead=ahead)
        self._prompt = prompt
        self._tokenizer = omega_conf_to_dataclass(model).tokenizer
        self._scorers = scorers
        self._validation = Validation({}, lambda: None)
        #: keys and samples of the validation that are not scored
        self._unscored: set[tuple[str, int]] = set()
        self._problem: Exception | None = None

    async def begin(
        self, step: int, is_validation: bool, keys: list[str], counts: list[int], prompts: list[Prompt]
    ) -> list[Any]:
        """Returns the prompts of a batch with their instructions."""
        if self._problem is not None:
            raise self._problem
        requests = [
            LeaseRequest(key, count, question=Question(key, question_text(prompt)))
            for key, count, prompt in zip(keys, counts, prompts)
        ]
        if is_validation:
            await asyncio.to_thread(self._stream.start, step)
            await self._end_validation()
            self._validation = await asyncio.to_thread(self._run.validate, step, requests)
            self._unscored = {(key, sample) for key, count in zip(keys, counts) for sample in range(count)}
            leases = self._validation.leases
        else:
            try:
                leases = await asyncio.to_thread(self._stream.leases, step, requests)
            except Unreported as problem:
                raise ValueError(
                    "no sample was scored; expected agent loops that leave scoring to verl's reward workers"
                ) from problem
        return [self._prompt(prompt, leases[key]) for key, prompt in zip(keys, prompts)]

    async def compute_score(self, data: Any) -> dict[str, Any]:
        """Scores one trajectory, whose last row is the end, as verl's worker does, and reports the reward."""
        result: dict[str, Any] = await random.choice(self._scorers).compute_score.remote(data)
        key, sample = str(data.non_tensor_batch["uid"][-1]), int(data.non_tensor_batch["session_id"][-1])
        length = int(data.non_tensor_batch["response_len"][-1])
        answer = transcript(self._tokenizer.decode(data.batch["responses"][-1][:length], skip_special_tokens=True))
        reward = float(result["reward_score"])
        try:
            if (key, sample) not in self._unscored:
                await asyncio.to_thread(self._stream.reward, key, sample, reward, answer)
                return result
            self._validation.leases[key].reward(reward, sample=sample, transcript=answer)
            self._unscored.remove((key, sample))
            if not self._unscored:
                await self._end_validation()
        except Exception as problem:
            # Raised here, it would only fail an agent loop: the trainer stops at its next batch.
            self._problem = problem
            raise
        return result

    async def _end_validation(self) -> None:
        """Closes the validation, of which samples without a score have failed."""
        validation, self._validation = self._validation, Validation({}, lambda: None)
        for key, sample in self._unscored:
            validation.leases[key].fail(sample=sample)
        self._unscored = set()
        await asyncio.to_thread(validation.close)
