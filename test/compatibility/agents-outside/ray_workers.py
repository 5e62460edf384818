"""Tasks of Ray that play the episodes of a run: ray_workers.py RETRIEVER GATEWAY. The first one ends as a machine that is lost."""

import os
import sys
import time

import ray
from search_agent import play, post


@ray.remote(max_retries=-1, num_cpus=0.1)
def work(retriever, gateway, mark):
    sys.argv = ["", retriever]  # which the program of the page reads
    while True:
        try:
            call = post(gateway + "/episodes/next", {})
            if call is None:
                continue
            try:
                os.close(os.open(mark, os.O_CREAT | os.O_EXCL))
            except FileExistsError:
                post(call["rewardUrl"], {"output": play(call)})
            else:
                os._exit(1)
        except OSError:  # the run is not there, or is over
            time.sleep(0.2)


ray.init(num_cpus=2, include_dashboard=False, runtime_env={"env_vars": {"PYTHONPATH": os.getcwd()}})
ray.get([work.remote(*sys.argv[1:3], os.path.abspath("lost.mark")) for _ in range(4)])
