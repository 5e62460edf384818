"""
A trainer's orchestrator over verifiers' environment server, as prime-rl does it: tasks.py URL MODEL LOG CHECKPOINT ATTEMPT STEPS. Where there
is a checkpoint, it resumes from it.
"""

import asyncio
import itertools
import json
import multiprocessing
import os
import sys
from pathlib import Path

import verifiers.v1 as vf
from verifiers.v1.serve import EnvClient, env_config_data, serve_env

from inspo_client.integrations import TrainingRun
from inspo_client.integrations.verifiers import LeasedTasks

from world import RewardLog

GROUPS, SAMPLES = 16, 2


async def main():
    url, model, log, checkpoint, attempt, steps = sys.argv[1:]
    config = vf.SingleAgentEnvConfig.model_validate(
        {"taskset": {"id": "questions"}, "agent": {"runtime": {"type": "subprocess"}}}
    )
    taskset = vf.load_environment(config).taskset
    spawn = multiprocessing.get_context("spawn")
    address, (death, _alive) = spawn.Queue(), spawn.Pipe(duplex=False)
    options = dict(max_workers=1, address="tcp://127.0.0.1:0", address_queue=address, death_pipe=death)
    server = spawn.Process(target=serve_env, kwargs={**options, "config_data": env_config_data(config)}, daemon=True)
    server.start()
    client = EnvClient(address.get())

    async def episodes(task):
        endpoint = vf.EvalClientConfig(base_url=model, api_key_var="NONE")
        data = task.data.model_dump(mode="json")
        runs = (client.run(endpoint, "m", vf.SamplingConfig(), data) for _ in range(SAMPLES))
        return await asyncio.gather(*runs)

    run = TrainingRun([url], "policy", retry_budget=30)
    sampler = LeasedTasks(itertools.cycle(taskset), run, samples=SAMPLES, groups=GROUPS)

    async def work(step, tasks, rewards):
        for group in await asyncio.gather(*map(episodes, tasks)):
            assert all(episode.ok for episode in group), group[0].errors
            lease = sampler._open[group[0].task.hash][0].lease
            for sample, episode in enumerate(group):
                [trace] = episode.traces
                rewards.write(step, lease.key, lease.id, sample, trace.messages[0].content, trace.reward)
            sampler.observe(group)

    training, validation = (RewardLog(path, os.getpid(), attempt) for path in (log, f"{log}.validation"))
    first = 0
    if Path(checkpoint).exists():
        kept = json.loads(Path(checkpoint).read_text())
        first = kept["step"]
        sampler.load_state_dict(kept["sampler"])
    for step in range(first, int(steps)):
        await work(step, [next(sampler) for _ in range(GROUPS)], training)
        if step % 2 == 1:
            state = json.dumps({"step": step + 1, "sampler": sampler.state_dict()})
            Path(f"{checkpoint}.new").write_text(state)
            Path(f"{checkpoint}.new").rename(checkpoint)
            await work(step, sampler.validation(list(taskset)[:2], f"{attempt}-{step}"), validation)
    await client.close()
    server.terminate()
    server.join()


if __name__ == "__main__":
    asyncio.run(main())
