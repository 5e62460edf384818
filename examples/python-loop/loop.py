"""A training loop of your own: it leases instructions for a step, runs them, reports rewards, and closes the step.

    pip install ./clients/python && python examples/python-loop/loop.py
"""

import json
import os
import random
from urllib.request import Request, urlopen

from inspo_client import Inspo, LeaseRequest

URL = os.environ.get("INSPO_URL", "http://127.0.0.1:8700")
STEPS, GROUPS, SAMPLES = 30, 8, 4
SEED = "Answer the question."
VARIANTS = ["Answer at once, without looking anything up.", "Search first, then answer the question."]


def play(instruction: str, luck: random.Random) -> float:
    """Replace it by your environment: returns the reward of one rollout under an instruction."""
    chance = 0.8 if "Search" in instruction else 0.2 if "at once" in instruction else 0.4
    return float(luck.random() < chance)


def main() -> None:
    settings = {"schedule": {"evolveEvery": 0}}
    population = {"profile": "trainer", "seed": SEED, "variants": VARIANTS, "settings": settings}
    body = json.dumps(population).encode()
    headers = {"content-type": "application/json"}
    urlopen(Request(f"{URL}/v1/populations/loop", body, headers, method="PUT")).close()
    luck = random.Random(1)
    with Inspo([URL], timeout=10) as inspo:
        for step in range(1, STEPS + 1):
            requests = [LeaseRequest(f"q{index}", n=SAMPLES) for index in range(GROUPS)]
            groups = inspo.leases("loop", requests, cohort=f"train/{step}", fallback=SEED)
            rewards = [[play(group.text, luck) for _ in range(SAMPLES)] for group in groups]
            for group, samples in zip(groups, rewards):
                for sample, value in enumerate(samples):
                    group.reward(value, sample=sample)
            inspo.close("loop", f"train/{step}", groups=GROUPS)
            print(f"step {step}: mean reward {sum(map(sum, rewards)) / (GROUPS * SAMPLES):.2f}")
        print(f"best: {inspo.incumbent('loop', fallback=SEED).wording}")


if __name__ == "__main__":
    main()
