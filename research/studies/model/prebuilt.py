"""Serves a GGUF model with the llama.cpp of xllamacpp: the same HTTP API as llama-server, without a compiler."""

import signal
import sys

import xllamacpp

model, port, parallel, context, threads = sys.argv[1], *map(int, sys.argv[2:])
params = xllamacpp.CommonParams()
params.model.path = model
params.model_alias = {"SmolLM2-135M-Instruct"}
params.port = port
params.n_parallel = parallel
params.n_ctx = parallel * context
params.cpuparams.n_threads = threads
server = xllamacpp.Server(params)
print(f"listening on {server.listening_address}", flush=True)
try:
    signal.pause()
except KeyboardInterrupt:
    pass
