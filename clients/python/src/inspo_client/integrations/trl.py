"""Instructions in TRL's `GRPOTrainer`: training rows whose prompts have a leased instruction, and reward functions that report."""

from __future__ import annotations

import asyncio
import functools
import inspect
import itertools
import uuid
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from accelerate import PartialState
from accelerate.utils import broadcast_object_list
from datasets import IterableDataset
from transformers import TrainerCallback
from trl import GRPOConfig

from .._lease import Lease, LeaseRequest, Question, Reward
from ._run import TrainingRun
from ._texts import question_text, transcript, with_lease

Row = Mapping[str, Any]

#: The most rows of a batch that are assigned together.
_FULL_BATCH = 1024
#: Number of validation rows per request.
_VALIDATED = 256


def _instructed(row: Row, lease: Lease) -> Any:
    return with_lease(row["prompt"], lease)


def _asked(name: str, row: Row) -> Question:
    return Question(name, question_text(row["prompt"]))


def _repeated(rows: Iterable[Row]) -> Iterator[Row]:
    while True:
        is_empty = True
        for row in rows:
            is_empty = False
            yield row
        if is_empty:
            raise ValueError("rows is empty; expected rows that can be iterated repeatedly, such as a list")


def _log(log_metric: Callable[[str, float], None], values: list[float | None], lease: list[dict[str, Any]]) -> None:
    """Logs the same names in every process, since TRL averages them over the processes."""
    instructions = [one["instruction"] for one in lease]
    log_metric("instructions/cohort", float(lease[0]["cohort"]))
    log_metric("instructions/distinct", float(len(set(instructions))))
    log_metric("instructions/newest", float(max(int(one[1:]) for one in instructions)))
    log_metric("instructions/failed", sum(value is None for value in values) / len(values))


class Instructions(TrainerCallback):
    """
    The instructions of one `GRPOTrainer`: `train` and `validation` make its datasets, `reward` wraps the reward function that the
    population learns from, and the object itself is a callback of the trainer. A cohort is a generation batch. A lease covers a
    prompt with its generations; its key is the number of the row. The server asks some rows of a batch under several
    instructions (`sampler.instructionsPerQuestion`), and as many others not at all: they wait for the next pass over the rows.
    """

    def __init__(
        self,
        run: TrainingRun,
        args: GRPOConfig,
        *,
        prompt: Callable[[Row, Lease], Any] = _instructed,
        question: Callable[[str, Row], Question] = _asked,
    ) -> None:
        """
        `args` are the trainer's. `prompt` builds the prompt of a row; by default the instruction is the system message, or
        precedes a prompt that is a text. `question` returns the question of a row, for reflection.
        """
        if args.shuffle_dataset:
            raise ValueError("shuffle_dataset is True; expected False, since its buffer would lease far ahead. Shuffle the rows instead")
        if args.remove_unused_columns:
            raise ValueError("remove_unused_columns is True; expected False, since the column `lease` is needed")
        self._run = run
        self._n = args.num_generations
        self._n_validation = args.num_generations_eval or args.num_generations
        self._groups = args.generation_batch_size // args.num_generations
        self._prompt = prompt
        self._question = question
        #: row and cohort at which leasing starts
        self._skipped = 0
        self._first = 0
        self._step = 0
        #: number of rows of the current validation
        self._validated = 0
        #: the cohort leased last, if none of its rewards is reported yet
        self._ahead: tuple[int, list[Lease]] | None = None

    def train(self, rows: Iterable[Row]) -> IterableDataset:
        """The rows, repeated, with a column `lease` and the instruction in `prompt`. Set `max_steps`."""
        # A list in `gen_kwargs` would be split among the processes.
        return IterableDataset.from_generator(functools.partial(self._stream, rows))

    def validation(self, rows: Iterable[Row]) -> IterableDataset:
        """The rows once, all under the incumbent."""
        return IterableDataset.from_generator(functools.partial(self._validating, rows))

    def reward(self, function: Callable[..., Any]) -> Callable[..., Any]:
        """The reward function, whose values are reported; None means that the environment failed."""
        if inspect.iscoroutinefunction(function):

            @functools.wraps(function)
            async def awaited(**given: Any) -> Any:
                values = await function(**given)
                await asyncio.to_thread(self._report, values, **given)
                return values

            return awaited

        @functools.wraps(function)
        def reported(**given: Any) -> Any:
            values = function(**given)
            self._report(values, **given)
            return values

        return reported

    def on_train_begin(self, args: Any, state: Any, control: Any, **others: Any) -> None:
        self._step = state.global_step
        batches = state.global_step * args.gradient_accumulation_steps
        self._first = batches // (args.steps_per_generation * args.num_iterations)
        self._skipped = 0 if args.ignore_data_skip else self._first * self._groups
        if self._first > 0:
            [attempt] = broadcast_object_list([uuid.uuid4().hex])
            self._run.resume(self._first, attempt)

    def on_step_end(self, args: Any, state: Any, control: Any, **others: Any) -> None:
        self._step = state.global_step

    def on_train_end(self, args: Any, state: Any, control: Any, **others: Any) -> None:
        # The batch read ahead is not trained on.
        if self._ahead is not None and PartialState().is_main_process:
            number, leases = self._ahead
            for lease in leases:
                lease.abandon()
            self._run.close(number, self._groups)

    def on_evaluate(self, args: Any, state: Any, control: Any, **others: Any) -> None:
        if self._validated > 0:
            self._run.close_validation(self._run.validation_name(self._step), self._validated)

    def _stream(self, rows: Iterable[Row]) -> Iterator[dict[str, Any]]:
        numbered = enumerate(_repeated(rows))
        # A resumed trainer skips the rows it was trained on.
        for _, row in itertools.islice(numbered, self._skipped):
            yield {**row, "lease": None}
        for number in itertools.count(self._first):
            batch = list(itertools.islice(numbered, self._groups))
            requests = [self._request(record, row, self._n) for record, row in batch]
            leases = self._run.leases(
                number, requests, policy_version=str(self._step), full_batch=len(requests) <= _FULL_BATCH
            )
            self._ahead = (number, leases)
            by_key = {str(record): row for record, row in batch}
            for lease in leases:
                yield self._leased(by_key[lease.key.partition("#")[0]], lease, {"cohort": number})

    def _validating(self, rows: Iterable[Row]) -> Iterator[dict[str, Any]]:
        name, numbered = self._run.validation_name(self._step), enumerate(rows)
        self._validated = 0
        while batch := list(itertools.islice(numbered, _VALIDATED)):
            self._validated += len(batch)
            requests = [self._request(record, row, self._n_validation) for record, row in batch]
            for (_, row), lease in zip(batch, self._run.validation(name, requests)):
                yield self._leased(row, lease, {"validation": name})

    def _request(self, record: int, row: Row, n: int) -> LeaseRequest:
        return LeaseRequest(str(record), n, question=self._question(str(record), row))

    def _leased(self, row: Row, lease: Lease, where: Mapping[str, Any]) -> dict[str, Any]:
        column = {"id": lease.id, "instruction": lease.instruction, "key": lease.key, "n": lease.n, **where}
        return {**row, "prompt": self._prompt(row, lease), "lease": column}

    def _report(
        self,
        values: list[float | None],
        *,
        lease: list[dict[str, Any]],
        completions: Any,
        log_metric: Callable[[str, float], None] | None = None,
        **_: Any,
    ) -> None:
        # Each process has a slice of the batch, in the order of the processes.
        before = PartialState().process_index * len(lease)
        for place, (one, value, completion) in enumerate(zip(lease, values, completions)):
            reward = Reward(
                one["id"],
                None if value is None else float(value),
                failed=value is None,
                sample=(before + place) % one["n"],
                transcript=transcript(completion),
            )
            self._run.reward(reward, validation="validation" in one)
        if "cohort" in lease[0]:
            if log_metric is not None:
                _log(log_metric, values, lease)
            self._run.close(lease[0]["cohort"], self._groups)
            if self._ahead is not None and self._ahead[0] == lease[0]["cohort"]:
                self._ahead = None
