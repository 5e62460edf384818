"""Instructions in SkyRL: a generator around the one that you have."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

from skyrl.train.generators.base import GeneratorInput, GeneratorInterface, GeneratorOutput

from .._inspo import LeaseRequest
from .._lease import Lease, Question
from ._run import TrainingRun
from ._texts import Prompt, instructed, question_text, transcript


def _instructed(prompt: Prompt, lease: Lease) -> Any:
    return instructed(prompt, lease.text)


class InstructedGenerator(GeneratorInterface):  # type: ignore[misc]
    """
    Has another generator answer prompts that hold a leased instruction, and tells the server its rewards. A cohort is a batch, so
    each global step asks once: dynamic sampling and the fully asynchronous trainer, which ask more often, are refused. The key of a
    group is its `instance_id`, and evaluation gets the incumbent. A trainer whose first step is not 1 goes on from a checkpoint.
    """

    def __init__(
        self,
        generator: GeneratorInterface,
        run: TrainingRun,
        *,
        prompt: Callable[[Prompt, Lease], Any] = _instructed,
        tokenizer: Any = None,
    ) -> None:
        """
        `prompt` makes the prompt; by default the instruction is the system message. `tokenizer`, by default that of the
        generator, makes the transcripts from which new instructions are written.
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
        is_training = metadata.training_phase == "train"
        if is_training:
            number = await asyncio.to_thread(self._run.step, metadata.global_step)
            given = await asyncio.to_thread(
                self._run.leases, number, requests, policy_version=str(metadata.global_step)
            )
        else:
            name = self._run.validation_name(metadata.global_step)
            given = await asyncio.to_thread(self._run.validation, name, requests)
        leases = {lease.key: lease for lease in given}
        asked = [self._prompt(prompt, leases[key]) for key, prompt in zip(keys, input_batch["prompts"])]
        output = await self._generator.generate({**input_batch, "prompts": asked}, **others)
        rewards = _of_trajectories(output, output["rewards"], len(trajectories))
        responses = _of_trajectories(output, output["response_ids"], len(trajectories))
        for trajectory, reward, response in zip(trajectories, rewards, responses):
            leases[trajectory.instance_id].reward(
                float(sum(reward) if isinstance(reward, list) else reward),  # of tokens, or of all of them
                sample=trajectory.repetition_id,
                transcript=transcript(self._tokenizer.decode(response, skip_special_tokens=True)),
            )
        if is_training:
            await asyncio.to_thread(self._run.close, number, len(leases))
        else:
            await asyncio.to_thread(self._run.close_validation, name, len(leases))
        return output


def _of_trajectories(output: GeneratorOutput, values: list[Any], count: int) -> list[Any]:
    """One for each trajectory: of one that was made in steps the last."""
    is_last = output.get("is_last_step")
    last = [one for one, is_it in zip(values, is_last) if is_it] if is_last else values
    if len(last) != count:
        raise ValueError(f"the generator answered {len(last)} trajectories; expected {count}")
    return last
