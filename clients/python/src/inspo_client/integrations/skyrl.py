"""Instructions in SkyRL: a generator that wraps yours."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

from skyrl.train.generators.base import GeneratorInput, GeneratorInterface, GeneratorOutput

from .._lease import Lease, LeaseRequest, Question
from ._run import TrainingRun
from ._texts import Prompt, question_text, transcript, with_lease


class InstructedGenerator(GeneratorInterface):  # type: ignore[misc]
    """
    Puts a leased instruction into each prompt, has another generator answer, and reports its rewards. A cohort is the batch of a
    global step, so each step may ask only once: dynamic sampling and the fully asynchronous trainer, which ask more often, are
    refused. The key of a group is its `instance_id`. Evaluation gets the incumbent. A trainer whose first step is not 1 resumes
    from a checkpoint.
    """

    def __init__(
        self,
        generator: GeneratorInterface,
        run: TrainingRun,
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
        validation = metadata.training_phase != "train"
        batch = await asyncio.to_thread(self._run.batch, metadata.global_step, requests, validation=validation)
        asked = [self._prompt(prompt, batch.leases[key]) for key, prompt in zip(keys, input_batch["prompts"])]
        output = await self._generator.generate({**input_batch, "prompts": asked}, **others)
        rewards = _of_trajectories(output, output["rewards"], len(trajectories))
        responses = _of_trajectories(output, output["response_ids"], len(trajectories))
        for trajectory, reward, response in zip(trajectories, rewards, responses):
            batch.leases[trajectory.instance_id].reward(
                float(sum(reward) if isinstance(reward, list) else reward),  # per token, or one for all
                sample=trajectory.repetition_id,
                transcript=transcript(self._tokenizer.decode(response, skip_special_tokens=True)),
            )
        await asyncio.to_thread(batch.close)
        return output


def _of_trajectories(output: GeneratorOutput, values: list[Any], count: int) -> list[Any]:
    """One value per trajectory: that of its last step."""
    is_last = output.get("is_last_step")
    last = [one for one, is_it in zip(values, is_last) if is_it] if is_last else values
    if len(last) != count:
        raise ValueError(f"the generator returned {len(last)} trajectories; expected {count}")
    return last
