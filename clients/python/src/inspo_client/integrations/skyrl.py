"""Instructions in SkyRL: a generator that wraps yours."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from typing import Any

from skyrl.train.config import SkyRLTrainConfig
from skyrl.train.generators.base import GeneratorInput, GeneratorInterface, GeneratorOutput, TrajectoryID

from .._lease import Lease, LeaseRequest, Question
from ._run import TrainingRun
from ._stream import Stream
from ._texts import Prompt, question_text, transcript, with_lease


class InstructedGenerator(GeneratorInterface):
    """
    Puts a leased instruction into each prompt, has another generator answer, and reports its rewards. A cohort has
    `trainer.train_batch_size` groups in the order in which the trainer requests them: the batch of a global step, or with the fully
    asynchronous trainer and dynamic sampling as many groups of any steps. The key of a group is its `instance_id`. Evaluation gets
    the incumbent. A trainer whose first step is not 1 resumes from a checkpoint.
    """

    def __init__(
        self,
        generator: GeneratorInterface,
        run: TrainingRun,
        config: SkyRLTrainConfig,
        *,
        prompt: Callable[[Prompt, Lease], Any] = with_lease,
        tokenizer: Any = None,
    ) -> None:
        """
        `prompt` builds the prompt; by default the instruction is the system message. `tokenizer`, by default the generator's,
        decodes the transcripts from which new instructions are written.
        """
        self._generator = generator
        self._tokenizer = tokenizer or generator.tokenizer
        self._run = run
        self._stream = Stream(run, groups=config.trainer.train_batch_size, ahead=_ahead(config))
        self._prompt = prompt

    async def generate(self, input_batch: GeneratorInput, **others: Any) -> GeneratorOutput:
        metadata, trajectories = input_batch["batch_metadata"], input_batch["trajectory_ids"]
        if metadata is None or trajectories is None:
            raise ValueError("batch_metadata or trajectory_ids is None; expected both, as prepare_generator_input makes them")
        keys = [one.instance_id for one in trajectories]
        prompts = dict(zip(keys, input_batch["prompts"]))
        requests = [
            LeaseRequest(key, keys.count(key), question=Question(key, question_text(prompt)))
            for key, prompt in prompts.items()
        ]

        async def answered(leases: Mapping[str, Lease]) -> GeneratorOutput:
            asked = [self._prompt(prompt, leases[key]) for key, prompt in zip(keys, input_batch["prompts"])]
            return await self._generator.generate({**input_batch, "prompts": asked}, **others)

        step = metadata.global_step
        if metadata.training_phase != "train":
            await asyncio.to_thread(self._stream.start, step)
            validation = await asyncio.to_thread(self._run.validate, step, requests)
            output = await answered(validation.leases)
            for trajectory, reward, answer in self._rewards(trajectories, output):
                validation.leases[trajectory.instance_id].reward(reward, sample=trajectory.repetition_id, transcript=answer)
            await asyncio.to_thread(validation.close)
            return output
        try:
            output = await answered(await asyncio.to_thread(self._stream.leases, step, requests))
        except asyncio.CancelledError:
            # The asynchronous trainer cancels the groups in progress when it ends.
            await asyncio.to_thread(self._stream.end)
            raise
        for trajectory, reward, answer in self._rewards(trajectories, output):
            await asyncio.to_thread(self._stream.reward, trajectory.instance_id, trajectory.repetition_id, reward, answer)
        return output

    def _rewards(self, trajectories: list[TrajectoryID], output: GeneratorOutput) -> list[tuple[TrajectoryID, float, Any]]:
        """The reward and transcript of each trajectory."""
        rewards = _of_trajectories(output, output["rewards"], len(trajectories))
        responses = _of_trajectories(output, output["response_ids"], len(trajectories))
        return [
            (
                trajectory,
                float(sum(reward) if isinstance(reward, list) else reward),  # per token, or one for all
                transcript(self._tokenizer.decode(response, skip_special_tokens=True)),
            )
            for trajectory, reward, response in zip(trajectories, rewards, responses)
        ]


def _ahead(config: SkyRLTrainConfig) -> int:
    """Cohorts that may begin while the samples of one are awaited."""
    fully_async = config.trainer.fully_async
    # A group may be requested that many steps before it is trained on, and take as many.
    return 2 * fully_async.max_staleness_steps + 2 if fully_async.enabled else 2


def _of_trajectories(output: GeneratorOutput, values: list[Any], count: int) -> list[Any]:
    """One value per trajectory: that of its last step."""
    is_last = output.get("is_last_step")
    last = [one for one, is_it in zip(values, is_last) if is_it] if is_last else values
    if len(last) != count:
        raise ValueError(f"the generator returned {len(last)} trajectories; expected {count}")
    return last
