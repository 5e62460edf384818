"""A taskset of verifiers in which instructions matter, and a harness that asks once, without a process for each rollout."""

import json
import urllib.request
from asyncio import to_thread

import verifiers.v1 as vf

from world import reward

__all__ = ["Questions", "Once"]


class Question(vf.Task[vf.TaskData, vf.State, vf.TaskConfig]):
    @vf.reward
    async def quality(self, trace: vf.Trace) -> float:
        """The instruction that the policy repeats decides."""
        return reward(trace.last_message.content, self.data.idx, int(trace.id, 16) % 16)


class Questions(vf.Taskset[Question, vf.TasksetConfig]):
    def load(self):
        return [Question(vf.TaskData(prompt=f"Question {record}"), self.config.task) for record in range(32)]


class Once(vf.Harness[vf.HarnessConfig]):
    APPENDS_SYSTEM_PROMPT = True
    EXECUTES_CODE = False
    NEEDS_CONTAINER = False

    async def launch(self, ctx, trace, runtime, endpoint, secret, mcp_urls, data):
        system, prompt = self.resolve_prompt(data)
        messages = [{"role": "system", "content": system}, {"role": "user", "content": prompt}]
        request = urllib.request.Request(
            f"{endpoint}/chat/completions",
            json.dumps({"model": ctx.model, "messages": messages}).encode(),
            {"authorization": f"Bearer {secret}", "content-type": "application/json"},
        )
        await to_thread(lambda: urllib.request.urlopen(request).read())
        return vf.ProgramResult(exit_code=0, stdout="", stderr="")
