"""
bm25s with numba over a corpus: beside.py CORPUS. Prints a line when its index is built, then for each line of questions on standard
input, a JSON array, the milliseconds that each took for its first three passages, of the clock and of the processor.
"""

import json
import resource
import sys
import time

import bm25s

with open(sys.argv[1]) as corpus:
    passages = [json.loads(row)["contents"] for row in corpus]
began = time.perf_counter()
tokens = bm25s.tokenize(passages, stopwords=None, show_progress=False)
del passages
index = bm25s.BM25(backend="numba", k1=1.2, b=0.75)
index.index(tokens, show_progress=False)
built = time.perf_counter() - began
index.activate_numba_scorer()
peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
print(json.dumps({"version": bm25s.__version__, "seconds": built, "megabytes": peak}), flush=True)


def search(question):
    wall, processor = time.perf_counter(), time.process_time()
    words = bm25s.tokenize([question], stopwords=None, show_progress=False, return_ids=False)
    index.retrieve(words, k=3, show_progress=False, n_threads=1)
    return [1000 * (time.perf_counter() - wall), 1000 * (time.process_time() - processor)]


for line in sys.stdin:
    print(json.dumps([search(question) for question in json.loads(line)]), flush=True)
