"""
A training loop of nobody's framework, one rank of it: loop.py URL LOG RANK RANKS FIRST LAST ATTEMPT. It writes every reward to
its log, and resumes from the cohort FIRST as from a checkpoint.
"""

import sys
import time
from pathlib import Path

from inspo_client import LeaseRequest, Question
from inspo_client.integrations import TrainingRun

from world import RewardLog, reward

url, log, *numbers, attempt = sys.argv[1:]
rank, ranks, first, last = map(int, numbers)
groups, n = 16, 2


def wait_for_all(number):
    """As trainers do after each step: no rank begins a batch before all have ended the last one."""
    ended = [Path(log).with_name(f"{attempt}-{number}-{one}") for one in range(ranks)]
    ended[rank].touch()
    until = time.monotonic() + 60
    while not all(one.exists() for one in ended):
        if time.monotonic() > until:
            raise TimeoutError(f"another rank did not end batch {number}")
        time.sleep(0.001)


run = TrainingRun([url], "policy", retry_budget=120)
rewards = RewardLog(log, rank, attempt)
if first > 0:
    run.resume(first, attempt)
for number in range(first, last):
    records = range(number * groups, (number + 1) * groups)
    leases = run.leases(
        number,
        [LeaseRequest(str(record), n, question=Question(str(record), f"Question {record}")) for record in records],
        policy_version=str(number),
    )
    for record, lease in zip(records, leases):
        # Ranks share the samples of every group.
        for sample in range(rank, n, ranks):
            value = reward(lease.text, record, sample)
            rewards.write(number, lease.key, lease.id, sample, lease.text, value)
            lease.reward(value, sample=sample, transcript=f"Answer {record}.{sample}")
    run.close(number, groups)
    [incumbent] = run.validation(str(number), [LeaseRequest("v0")])
    incumbent.reward(0.5)
    run.close_validation(str(number), groups=1)
    wait_for_all(number)
