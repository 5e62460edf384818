"""What the programs of this folder share: calls are lines on standard input, and each answer is a line."""

import asyncio
import json
import sys

# Frameworks that show their progress write to standard output, not always by the line.
answers, sys.stdout = sys.stdout, sys.stderr


def found(query: str) -> str:
    """What the only page says."""
    return f"About {query}: Marlen Tovik was born in Ostrel Bay. <|im_end|>"


def serve(play):
    """Answers each call by what `play` returns for it; it is told the question, and whether to stream."""

    async def answer(line):
        call = json.loads(line)
        question = call["case"]["question"]
        try:
            reply = {"id": call["id"], "output": await play(call, question, "stream" in question)}
        except Exception as error:
            reply = {"id": call["id"], "error": f"{type(error).__name__}: {error}"}
        print(json.dumps(reply), file=answers, flush=True)

    async def read():
        tasks = []
        while line := await asyncio.to_thread(sys.stdin.readline):
            tasks.append(asyncio.create_task(answer(line)))
        await asyncio.gather(*tasks)

    asyncio.run(read())
