"""Groups that return in part, failed, late or never, and groups of one task: cancelled.py URL POPULATION. Prints what checkpoints hold."""

import itertools
import json
import sys

import verifiers.v1 as vf

from inspo_client.integrations import TrainingRun
from inspo_client.integrations.verifiers import LeasedTasks

url, population = sys.argv[1:]
questions = (vf.Task(vf.TaskData(prompt=f"Question {number}")) for number in itertools.count())
tasks = LeasedTasks(questions, TrainingRun([url], population), samples=2, groups=2, max_open=1)


def episode(task: vf.Task) -> vf.Episode:
    """One that failed."""
    return vf.Episode(task={"type": "Task", "data": task.data, "hash": task.hash})


never, partly = next(tasks), next(tasks)
tasks.observe([episode(partly)])
before = tasks.state_dict()
for _ in range(2):
    task = next(tasks)
    tasks.observe([episode(task), episode(task)])
waiting = tasks.state_dict()
next(tasks)  # It is of the third cohort, so that the first is waited for no more.
tasks.observe([episode(never), episode(never)])
after = tasks.state_dict()
tasks.load_state_dict(after)
print(json.dumps([before["cohort"], waiting["cohort"], after["cohort"], tasks.metrics()["expired"]]))

same = LeasedTasks(itertools.repeat(never), TrainingRun([url], population, run="same"), samples=1, groups=8)
drawn = [next(same) for _ in range(8)]
for task in drawn:
    same.observe([episode(task)])
print(json.dumps([len({task.hash for task in drawn}) < 8, same.metrics()["open"], same.state_dict()["cohort"]]))
