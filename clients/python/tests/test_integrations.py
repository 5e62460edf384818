"""The shared part of the adapters, with lost answers and refusals."""

from __future__ import annotations

import random
import sys
import time
import unittest
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "src"))
sys.path.insert(0, str(Path(__file__).parent))

from inspo_client import LeaseRequest
from inspo_client.integrations import Stopped, Stream, TrainingRun, instructed, question_text, transcript
from test_client import Server


class Training(unittest.TestCase):
    def test_answer_lost(self) -> None:
        """A reward that is resent after its answer was lost is not a second one."""
        run = TrainingRun([Server(lose=1).url], "policy", retry_budget=20)
        [lease] = run.leases(0, [LeaseRequest("k")])
        lease.reward(1)
        run.close(0, groups=1)
        lease.reward(1)
        with self.assertRaisesRegex(Stopped, r"not all accepted \(1 duplicate\)"):
            run.close(1, groups=1)

    def test_nobody_answers(self) -> None:
        """Without a server training stops with the reason."""
        run = TrainingRun(["http://127.0.0.1:1"], "policy", retry_budget=0.2)
        with self.assertRaisesRegex(Stopped, "got no leases of train/0 within 0.2 s: .+"):
            run.leases(0, [LeaseRequest("k")])

    def test_refused(self) -> None:
        """If a retry would be refused again, training stops at once, with the server's message."""
        refusals = {
            "no such population": (404, {"type": "urn:inspo:not-found", "detail": "no such population", "remedy": "Make it"}),
            "a cohort": (400, {"type": "urn:inspo:invalid-request", "expected": "a cohort", "remedy": "Name one"}),
        }
        for said, (status, problem) in refusals.items():
            run = TrainingRun([Server(refuse=(status, problem)).url], "policy", retry_budget=20)
            began = time.monotonic()
            with self.assertRaisesRegex(Stopped, f"got no leases of train/0: status {status}, .*{said}.*{problem['remedy']}"):
                run.leases(0, [LeaseRequest("k")])
            self.assertLess(time.monotonic() - began, 5)

    def test_busy(self) -> None:
        """If the server is busy, or a proxy refuses, training waits."""
        for status, problem in ((429, {"type": "urn:inspo:too-many-requests"}), (404, {"detail": "a gateway"})):
            run = TrainingRun([Server(refuse=(status, problem), refusals=2).url], "policy", retry_budget=20)
            [lease] = run.leases(0, [LeaseRequest("k")])
            self.assertTrue(lease.leased)

    def test_many_groups(self) -> None:
        """More leases than one request allows take several requests."""
        server = Server()
        asked = TrainingRun([server.url], "policy").leases(0, [LeaseRequest(str(one)) for one in range(1500)])
        self.assertEqual([lease.key for lease in asked], [str(one) for one in range(1500)])

    def test_validations(self) -> None:
        """Each validation after one step has its own name."""
        run = TrainingRun([Server().url], "policy")
        names = []
        for _ in range(2):
            run.validation(run.validation_name(12), [LeaseRequest("v")])
            names.append(run.validation_name(12))
            run.close_validation(names[-1])
        self.assertEqual(names, ["12.0", "12.1"])

    def test_keys(self) -> None:
        run = TrainingRun(["http://127.0.0.1:1"], "policy")
        with self.assertRaisesRegex(ValueError, "key is None"):
            run.leases(0, [LeaseRequest()])

    def test_texts(self) -> None:
        user = {"role": "user", "content": "Who?"}
        system = {"role": "system", "content": "Be brief."}
        self.assertEqual(instructed([user], "Be brief."), [system, user])
        self.assertEqual(instructed([{"role": "system", "content": "Be."}, user], "Be brief."), [system, user])
        self.assertEqual(instructed("Who?", "Be brief."), "Be brief.\n\nWho?")
        self.assertEqual(question_text([system, user]), "Who?")
        self.assertLessEqual(len(question_text("x" * 20_000)), 16_384)
        self.assertEqual(transcript([{"role": "assistant", "content": "I."}]), [{"role": "assistant", "content": "I."}])
        self.assertLessEqual(len(str(transcript("x" * 300_000))), 262_144)


class Streams(unittest.TestCase):
    def test_any_order(self) -> None:
        """
        Whatever the order of requests, answers and failures: each cohort has its groups in the order of the requests, is closed
        once, before the cohort `ahead` places later goes on, and every sample is reported once.
        """
        for seed in range(12):
            draw = random.Random(seed)
            groups, ahead, n = draw.randint(1, 4), draw.randint(1, 3), draw.randint(1, 2)
            server = Server()
            stream = Stream(TrainingRun([server.url], "policy"), groups=groups, ahead=ahead)
            running: list[tuple[str, int]] = []
            asked = 0
            for _ in range(20):
                size = draw.randint(1, groups)
                keys = [str(asked + place) for place in range(size)]
                stream.leases(1 + asked // 4, [LeaseRequest(key, n) for key in keys])
                asked += size
                newest = (asked - 1) // groups
                self.assertLessEqual(set(server.closed), {f"train/{one}" for one in range(newest + 1)})
                self.assertGreaterEqual(set(server.closed), {f"train/{one}" for one in range(newest - ahead + 1)})
                running += [(key, sample) for key in keys for sample in range(n)]
                draw.shuffle(running)
                # The first sample of each group is rewarded at once, so that no cohort is without any.
                ended = [one for one in running if one[1] == 0 or draw.random() < 0.3]
                running = [one for one in running if one not in ended]
                for key, sample in ended:
                    stream.reward(key, sample, 1)
            stream.end()
            for key, sample in running:
                with self.assertLogs(level="WARNING"):
                    stream.reward(key, sample, 1)
            self.assertEqual(server.cohorts, {str(one): f"train/{one // groups}" for one in range(asked)})
            self.assertEqual(sorted(server.closed), sorted({f"train/{one // groups}" for one in range(asked)}))
            reported = [(one["lease"], one.get("sample", 0)) for one in server.rewards]
            self.assertEqual(sorted(reported), sorted((str(one), sample) for one in range(asked) for sample in range(n)))

    def test_threads(self) -> None:
        """Groups that are requested and rewarded by many threads are in one cohort each."""
        server = Server()
        stream = Stream(TrainingRun([server.url], "policy"), groups=5, ahead=10)

        def play(key: str) -> None:
            stream.leases(1, [LeaseRequest(key, 2)])
            for sample in range(2):
                stream.reward(key, sample, 1)

        with ThreadPoolExecutor(8) as pool:
            list(pool.map(play, map(str, range(50))))
        self.assertEqual(sorted(server.closed), sorted(f"train/{one}" for one in range(10)))
        self.assertEqual(sorted(Counter(server.cohorts.values()).values()), [5] * 10)

    def test_resumed(self) -> None:
        """A trainer that starts with a later step closes what it left open, and rewinds the population, once."""
        server = Server()
        run = TrainingRun([server.url], "policy")
        stream = Stream(run, groups=2, ahead=3)
        stream.leases(6, [LeaseRequest("a")])
        stream.leases(7, [LeaseRequest("b"), LeaseRequest("c")])
        self.assertEqual(server.closed, ["train/2", "train/3", "train/4"])
        self.assertEqual(server.rewinds, ["train/4"])
        self.assertEqual(server.cohorts, {"a": "train/5", "b": "train/5", "c": "train/6"})
        begun = Stream(TrainingRun([server.url], "policy"), groups=2, ahead=3)
        begun.leases(1, [LeaseRequest("d")])
        self.assertEqual([len(server.closed), len(server.rewinds)], [3, 1])

    def test_unreported(self) -> None:
        """A cohort without a single report stops training; so does a key that is in use."""
        stream = Stream(TrainingRun([Server().url], "policy"), groups=1, ahead=2)
        stream.leases(1, [LeaseRequest("a")])
        with self.assertRaisesRegex(ValueError, "key is a, which is being sampled; expected another one"):
            stream.leases(1, [LeaseRequest("a")])
        with self.assertRaisesRegex(Stopped, "policy: no sample of train/0 was reported"):
            stream.leases(1, [LeaseRequest("b"), LeaseRequest("c")])
        with self.assertRaisesRegex(ValueError, "ahead is 0; expected at least 1"):
            Stream(TrainingRun([Server().url], "policy"), groups=1, ahead=0)


if __name__ == "__main__":
    unittest.main()
