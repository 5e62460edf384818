"""Searches through the real command line, which INSPO_COMMAND starts."""

from __future__ import annotations

import asyncio
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest
from collections import Counter
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1] / "src"))

import inspo_client as inspo

CASES = [{"country": f"Country-{n}", "expected": "yes", "n": n} for n in range(24)]
SENTENCES = ["Be polite.", "Answer in one word."]


def agent(prompt: str, case: dict[str, Any]) -> str:
    return "yes" if case["n"] % 3 == 0 or "one word" in prompt else "It is yes."


def score(output: str, case: dict[str, Any]) -> tuple[float, str]:
    return float(output == case["expected"]), "Too long."


PROGRAM = f"""
import sys
sys.path[:0] = [{str(Path(__file__).parent)!r}]
from test_search import CASES, SENTENCES, agent, inspo
with inspo.Search("Name it.", CASES, proposer=SENTENCES, budget=60, out=sys.argv[1]) as search:
    print(search._child.pid, flush=True)
    while asks := search.ask(8):
        for ask in asks:
            print(ask.id, flush=True)
            search.tell(ask, float(agent(ask.prompt, ask.case) == "yes"))
    print(search.result.verdict, search.result.calls, search.result.document["lost"]["calls"], flush=True)
"""


@unittest.skipUnless(os.environ.get("INSPO_COMMAND") or shutil.which("inspo"), "the command line of inspo is not there")
class Searches(unittest.TestCase):
    def test_evolve_with_functions(self) -> None:
        found = inspo.evolve("Name it.", CASES, agent, score, SENTENCES, 60)
        self.assertEqual(found.verdict, "better")
        self.assertIn("one word", found.prompt)
        self.assertLessEqual(found.calls, 60)
        self.assertIn("A better prompt", found.report)

    def test_evolve_with_coroutines_and_a_proposer(self) -> None:
        requests: list[str] = []

        async def answer(prompt: str, case: dict[str, Any]) -> str:
            await asyncio.sleep(0.001)
            return agent(prompt, case)

        async def propose(request: str) -> str:
            requests.append(request)
            return "<ins_1>Name it. Answer in one word.</ins_1><ins_2>Name it. Be polite.</ins_2>"

        found = asyncio.run(inspo.evolve_async("Name it.", CASES, answer, score, propose, {"calls": 60}))
        self.assertEqual((found.verdict, found.prompt), ("better", "Name it. Answer in one word."))
        self.assertIn("Too long.", requests[0])

    def test_a_score_that_raises_ends_the_search_and_an_agent_that_raises_loses_its_call(self) -> None:
        with self.assertRaises(ZeroDivisionError):
            inspo.evolve("Name it.", CASES, agent, lambda output, case: 1 / 0, SENTENCES, 60)

        def failing(prompt: str, case: dict[str, Any]) -> str:
            if case["n"] == 1:
                raise OSError("down")
            return agent(prompt, case)

        found = inspo.evolve("Name it.", CASES, failing, score, SENTENCES, 60)
        self.assertIn("one word", found.prompt)

    def test_cases_and_outputs_that_json_writes_in_several_ways(self) -> None:
        big = 12345678901234567890
        for cases in ([{"n": float(n)} for n in range(12)], [{"n": big + n} for n in range(12)]):
            seen: Counter[Any] = Counter()

            def scored(output: str, case: dict[str, Any], seen: Counter[Any] = seen) -> tuple[float, str]:
                seen[case["n"]] += 1
                return 1.0, output

            found = inspo.compare(["P", "Q"], cases, lambda prompt, case: "\ud83d", scored)
            self.assertEqual((found.calls, len(seen), found.document["candidates"][0]["missing"]), (24, 12, 0))
            self.assertTrue(all(case["n"] in seen for case in cases))

    def test_no_answer_is_lost_where_a_score_raises(self) -> None:
        asked: Counter[str] = Counter()

        def answer(prompt: str, case: dict[str, Any]) -> str:
            asked[f"{prompt} {case['n']}"] += 1
            time.sleep(0.02)
            return agent(prompt, case)

        def failing(output: str, case: dict[str, Any]) -> float:
            if case["n"] == 5:
                raise RuntimeError("no judge")
            return score(output, case)[0]

        with tempfile.TemporaryDirectory() as folder:
            out = os.path.join(folder, "kept")
            for scored in (failing, failing, score):
                try:
                    found = inspo.compare(["Name it.", "Name it in one word."], CASES, answer, scored, out=out)
                except RuntimeError:
                    continue
            self.assertEqual(max(asked.values()), 1)
            self.assertEqual(found.verdicts, ["better"])
        with self.assertRaisesRegex(inspo.SearchFailed, "Its answers are lost; give `out`"):
            inspo.compare(["P", "Q"], CASES, lambda prompt, case: 1 / 0, score)

    def test_compare_prompts(self) -> None:
        found = inspo.compare(["Name it.", "Name it. Answer in one word.", "Name it. Be polite."], CASES, agent, score)
        self.assertEqual(found.verdicts[0], "better")
        self.assertNotEqual(found.verdicts[1], "better")
        with self.assertRaises(ValueError):
            inspo.compare(["Name it."], CASES, agent, score)

    def test_a_search_that_cannot_begin_says_why(self) -> None:
        with self.assertRaisesRegex(inspo.SearchFailed, "--calls is 3"):
            inspo.evolve("Name it.", CASES, agent, score, SENTENCES, 3)
        with self.assertRaisesRegex(inspo.SearchFailed, "cannot be run"):
            inspo.evolve("Name it.", CASES, agent, score, SENTENCES, 60, command=["no-such-program"])

    def test_a_killed_child_is_replaced_and_no_answer_is_asked_for_twice(self) -> None:
        asked: Counter[str] = Counter()
        with inspo.Search("Name it.", CASES, proposer=SENTENCES, budget=60, concurrency=16) as search:
            while asks := search.ask(16):
                for ask in asks:
                    asked[ask.id] += 1
                    if asked.total() in (7, 20):
                        assert search._child is not None
                        os.kill(search._child.pid, signal.SIGKILL)
                    search.tell(ask, float(agent(ask.prompt, ask.case) == "yes"))
        self.assertEqual(max(asked.values()), 1)
        self.assertLessEqual(search.result.calls, 60)

    def test_a_killed_program_continues_and_its_child_ends(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            out, told = os.path.join(folder, "search"), 0
            for lines in (12, 30):
                program = subprocess.Popen(
                    [sys.executable, "-c", PROGRAM, out], stdout=subprocess.PIPE, text=True, stderr=subprocess.DEVNULL
                )
                assert program.stdout is not None
                child = int(program.stdout.readline())
                for _ in range(lines):
                    program.stdout.readline()
                program.kill()
                program.wait()
                program.stdout.close()
                told += lines - 1
                until = time.monotonic() + 20
                while _is_alive(child) and time.monotonic() < until:
                    time.sleep(0.05)
                self.assertFalse(_is_alive(child))
            last = subprocess.run([sys.executable, "-c", PROGRAM, out], stdout=subprocess.PIPE, text=True, check=True)
            *asked, end = last.stdout.splitlines()[1:]
            verdict, calls, lost = end.split()
            self.assertEqual(verdict, "better")
            self.assertLessEqual(int(calls), 60)
            # What was in flight is asked again; what was kept is not.
            self.assertLessEqual(len(asked), int(calls) - int(lost) - told + 2 * 8)


def _is_alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    try:
        return Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] != "Z"
    except OSError:
        return True


if __name__ == "__main__":
    unittest.main()
