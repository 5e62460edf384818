"""A world in which instructions matter by a word in them, and the log that a trainer's own reward function writes."""

import json
import math

#: The mean reward under an instruction that has a word; the first that fits.
MEANS = {"sources": 0.9, "briefly": 0.6, "guess": 0.1}


def reward(instruction: str, record: int, sample: int) -> float:
    mean = next((mean for word, mean in MEANS.items() if word in instruction), 0.1)
    # Spread evenly, without randomness.
    noise = math.modf((record * 16 + sample) * 0.381_966)[0] - 0.5
    return round(mean + 0.2 * noise, 6)


class RewardLog:
    def __init__(self, path: str, rank: int, attempt: str) -> None:
        self._path = path
        self._own = {"rank": rank, "attempt": attempt}

    def write(self, cohort: int, key: str, lease: str | None, sample: int, instruction: str, value: float) -> None:
        with open(self._path, "a") as file:
            row = {**self._own, "cohort": cohort, "key": key, "lease": lease, "sample": sample}
            file.write(json.dumps({**row, "instruction": instruction, "value": value}) + "\n")
