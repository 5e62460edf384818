"""Tasks of Ray that play the episodes of a run: workers.py RETRIEVER GATEWAY, beside docs/how-to/train-your-agent.md's search_agent.py."""

import os
import sys
import time

import ray
from search_agent import play, post


# A task whose worker or machine is lost begins again elsewhere, and the run gives its episode to another task.
@ray.remote(max_retries=-1, num_cpus=0.5)
def work(retriever, gateway):
    sys.argv = ["", retriever]  # which the agent reads
    print(f"plays episodes in process {os.getpid()}", flush=True)
    while True:
        try:
            call = post(gateway + "/episodes/next", {})
            if call:
                post(call["rewardUrl"], {"output": play(call)})
        except OSError:  # The run is not there, or is over.
            time.sleep(0.2)


if __name__ == "__main__":
    # On a cluster: ray.init(address="auto", …), and as many tasks as it has places for.
    names = {"PYTHONPATH": os.getcwd(), "INSPO_GATEWAY_KEY": os.environ.get("INSPO_GATEWAY_KEY", "")}
    ray.init(num_cpus=2, include_dashboard=False, runtime_env={"env_vars": names})
    ray.get([work.remote(*sys.argv[1:]) for _ in range(4)])
