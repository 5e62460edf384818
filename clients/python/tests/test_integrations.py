"""The shared part of the adapters, with lost answers and refusals."""

from __future__ import annotations

import sys
import time
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "src"))
sys.path.insert(0, str(Path(__file__).parent))

from inspo_client import LeaseRequest
from inspo_client.integrations import Stopped, TrainingRun, instructed, question_text, transcript
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

    def test_steps(self) -> None:
        """Each step is one cohort; a trainer that starts with a later step rewinds the population, once."""
        server = Server()
        begun, resumed, validating = (TrainingRun([server.url], "policy") for _ in range(3))
        self.assertEqual([begun.step(1), begun.step(2)], [0, 1])
        with self.assertRaisesRegex(ValueError, "step is 2 after 2"):
            begun.step(2)
        self.assertEqual(server.rewinds, [])
        self.assertEqual([resumed.step(4), resumed.step(5)], [3, 4])
        validating.start(7)
        self.assertEqual(validating.step(8), 7)
        self.assertEqual(server.rewinds, ["train/2", "train/6"])

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


if __name__ == "__main__":
    unittest.main()
