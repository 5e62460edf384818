"""What the shared suite does not cover: forked processes, cancelled tasks, many threads."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import socket
import sys
import threading
import time
import unittest
from collections.abc import Callable, Mapping
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "src"))

from inspo_client import AsyncInspo, Inspo, LeaseRequest, Problem, Question, Reward


class Server:
    """
    Leases every request, and stores rewards, closings and rewinds. It can lose its first answers to rewards, or refuse its first requests.
    It refuses a body of more than `most` bytes without reading it.
    """

    def __init__(
        self,
        before: Callable[[str], None] = lambda _: None,
        lose: int = 0,
        refuse: tuple[int, Mapping[str, object]] | None = None,
        refusals: int = 1000,
        most: int = 2**22,
    ) -> None:
        self.rewards: list[dict[str, object]] = []
        #: the requests with a body, and their lengths
        self.bodies: list[dict[str, object]] = []
        self.sizes: list[int] = []
        bodies, sizes = self.bodies, self.sizes
        self.closed: list[str] = []
        self.rewinds: list[str] = []
        #: the cohort of each lease
        self.cohorts: dict[str, str] = {}
        rewards, closed, rewinds, cohorts, lost = self.rewards, self.closed, self.rewinds, self.cohorts, [None] * lose
        refused = [] if refuse is None else [refuse] * refusals

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"
            disable_nagle_algorithm = True

            def do_POST(self) -> None:
                length = int(self.headers["content-length"])
                if length > most:
                    self.close_connection = True
                    return self.send_error(413)
                sizes.append(length)
                body = json.loads(self.rfile.read(length))
                bodies.append(body)
                before(self.path)
                instruction = {"id": "i0", "text": "Be brief."}
                answer: dict[str, object]
                if self.path.endswith("/leases"):
                    lease = {"instruction": instruction, "probability": 1}
                    leases = [
                        {**lease, "lease": one["key"], "key": one["key"], "n": one.get("n", 1)}
                        for one in body["requests"]
                    ]
                    cohorts.update({one["key"]: body.get("cohort", "") for one in body["requests"]})
                    answer = {"cohort": "c1", "incumbent": "i0", "leases": leases}
                elif self.path.endswith("/rewind"):
                    rewinds.append(body["to"])
                    answer = {"branch": len(rewinds), "rewound": True}
                else:
                    known = [one in rewards for one in body["rewards"]]
                    rewards.extend(body["rewards"])
                    if lost:
                        lost.pop()
                        self.close_connection = True
                        return
                    answer = {"results": [{"outcome": "duplicate" if one else "accepted"} for one in known]}
                    if "close" in body:
                        closed.append(body["close"]["cohort"])
                        answer["cohort"] = {"cohort": body["close"]["cohort"], "state": "closed"}
                status = 200
                if refused:
                    status, problem = refused.pop()
                    answer = dict(problem)
                text = json.dumps(answer).encode()
                self.send_response(status)
                self.send_header("content-length", str(len(text)))
                self.end_headers()
                self.wfile.write(text)

            def do_GET(self) -> None:
                text = json.dumps([{"name": "support"}]).encode()
                self.send_response(200)
                self.send_header("content-length", str(len(text)))
                self.end_headers()
                self.wfile.write(text)

            def log_message(self, format: str, *args: object) -> None:
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server.daemon_threads = True
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        self.url = f"http://127.0.0.1:{self.server.server_port}"


class Client(unittest.TestCase):
    def test_forked(self) -> None:
        """A process that is forked while a reward is being sent sends its own rewards, and none of its parent's."""
        server = Server(lambda path: time.sleep(0.3) if path.endswith("/rewards") else None)
        inspo = Inspo([server.url], timeout=5)
        inspo.lease("support", key="parent").reward(1)
        child = os.fork()
        if child == 0:
            inspo.lease("support", key="child").reward(1)
            os._exit(inspo.flush(timeout=5) + inspo.counts.unleased)
        _, status = os.waitpid(child, 0)
        inspo.flush()
        self.assertEqual(os.waitstatus_to_exitcode(status), 0)
        self.assertEqual(sorted(str(one["lease"]) for one in server.rewards), ["child", "parent"])

    def test_cancelled(self) -> None:
        """The lease of a cancelled task is abandoned, unless its key is the caller's, so that other calls may use it."""
        arrived = threading.Event()

        def slow(path: str) -> None:
            if path.endswith("/leases"):
                arrived.set()
                time.sleep(0.1)

        server = Server(slow)

        async def cancel() -> None:
            async with AsyncInspo([server.url], timeout=5) as inspo:
                for call in (
                    lambda: inspo.lease("support"),
                    lambda: inspo.lease("support", key="k"),
                    lambda: inspo.leases("support", [LeaseRequest(), LeaseRequest()]),
                    lambda: inspo.leases(population="support", requests=[LeaseRequest("l")]),
                ):
                    arrived.clear()
                    task: asyncio.Task[object] = asyncio.create_task(call())
                    await asyncio.to_thread(arrived.wait)
                    task.cancel()
                    await asyncio.gather(task, return_exceptions=True)
                await asyncio.sleep(0.5)

        asyncio.run(cancel())
        self.assertEqual([one.get("abandoned") for one in server.rewards], [True, True, True])
        self.assertFalse({"k", "l"} & {one["lease"] for one in server.rewards})

    def test_too_long(self) -> None:
        """A reward that a server refuses before it has read it, or that no server takes, blocks no other."""
        for most, length in ((2**20, 3_500_000), (2**22, 5_000_000)):
            server = Server(most=most)
            problems: list[Problem] = []
            inspo = Inspo([server.url], timeout=10, retry_delay=0.05, on_problem=problems.append)
            inspo.reward("support", Reward("long", value=1, transcript="x" * length))
            inspo.reward("support", Reward("short", value=1))
            self.assertEqual(inspo.flush(timeout=10), 0)
            self.assertEqual((inspo.counts.accepted, inspo.counts.dropped), (1, 1))
            self.assertIn("dropped", [problem.kind for problem in problems])
            self.assertEqual([one["lease"] for one in server.rewards], ["short"])

    def test_texts(self) -> None:
        """A text takes the bytes of UTF-8, and every text arrives as it is, also halves of characters."""
        texts = ["a\"\\\n\x00", "问" * 1000, "😀", "\ud800", "\udc00x\ud83d", "\ud83d\ude00"]
        server = Server()
        with Inspo([server.url], timeout=10) as inspo:
            for text in texts:
                inspo.lease("support", question=Question("q", text))
                inspo.reward("support", Reward("l", value=1, feedback=text))
        asked = [one["requests"][0]["question"]["text"] for one in server.bodies if "requests" in one]  # type: ignore[index]
        # JSON has one form of a character that Python also has as its two halves.
        self.assertEqual(asked, [*texts[:-1], "😀"])
        self.assertEqual([one["feedback"] for one in server.rewards], asked)
        self.assertLess(server.sizes[1], 3500)

    def test_many_at_once(self) -> None:
        """Any number of concurrent calls get their leases from a server that answers in time; from others none waits longer."""
        server = Server(lambda path: time.sleep(0.3))

        async def lease(timeout: float) -> list[bool]:
            async with AsyncInspo([server.url], timeout=timeout) as inspo:
                leases = await asyncio.gather(*(inspo.lease("support", fallback="Be.") for _ in range(200)))
                return [lease.leased for lease in leases]

        self.assertEqual(asyncio.run(lease(20)), [True] * 200)
        server = Server(lambda path: time.sleep(3))
        began = time.monotonic()
        self.assertEqual(asyncio.run(lease(0.5)), [False] * 200)
        self.assertLess(time.monotonic() - began, 2.5)

    def test_populations(self) -> None:
        """The asyncio client has the calls for populations, too."""

        async def names() -> object:
            async with AsyncInspo([Server().url]) as inspo:
                return await inspo.populations.list()

        self.assertEqual(asyncio.run(names()), [{"name": "support"}])

    def test_comparison(self) -> None:
        """A comparison, or what has a float, is a reward."""

        class Scalar(int):
            def __float__(self) -> float:
                return 0.25

        server = Server()
        with Inspo([server.url], timeout=10) as inspo:
            for lease, value in (("k", True), ("l", False), ("m", Scalar())):
                inspo.reward("support", Reward(lease, value=value))
        sent = [(one["lease"], repr(one["value"])) for one in server.rewards]
        self.assertEqual(sent, [("k", "1.0"), ("l", "0.0"), ("m", "0.25")])

    def test_counted(self) -> None:
        """With nothing pending, every reward is counted."""
        server = Server()
        interval = sys.getswitchinterval()
        sys.setswitchinterval(1e-6)
        try:
            with Inspo([server.url], timeout=10) as inspo:
                for given in range(1, 101):
                    inspo.reward("support", Reward(f"k{given}", value=1))
                    while (counts := inspo.counts).pending > 0:
                        pass
                    self.assertEqual(counts.accepted, given)
        finally:
            sys.setswitchinterval(interval)

    def test_threads(self) -> None:
        """Many threads at once: every reward is sent once."""
        server = Server()
        with Inspo([server.url], timeout=10) as inspo:

            def work(number: int) -> None:
                for turn in range(25):
                    inspo.lease("support", key=f"{number}-{turn}").reward(1)

            threads = [threading.Thread(target=work, args=[number]) for number in range(8)]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
        self.assertEqual(len({str(one["lease"]) for one in server.rewards}), 200)
        self.assertEqual(len(server.rewards), 200)
        self.assertEqual((inspo.counts.accepted, inspo.counts.pending), (200, 0))

    def test_drip(self) -> None:
        """A server that sends its answer byte by byte, or endless answers, does not block a thread."""
        for begin, drop in ((b"HTTP/1.1 200 OK\r\nx: ", b"x"), (b"", b"HTTP/1.1 100 Continue\r\n\r\n")):
            listening = socket.create_server(("127.0.0.1", 0))

            def drip() -> None:
                while True:
                    connection, _ = listening.accept()
                    threading.Thread(target=one, args=[connection], daemon=True).start()

            def one(connection: socket.socket) -> None:
                with connection, contextlib.suppress(OSError):
                    connection.sendall(begin)
                    while True:
                        connection.sendall(drop)
                        time.sleep(0.01)

            threading.Thread(target=drip, daemon=True).start()
            inspo = Inspo([f"http://127.0.0.1:{listening.getsockname()[1]}"], timeout=0.05)
            for _ in range(3):
                self.assertFalse(inspo.lease("support", fallback="Be.").leased)
            time.sleep(1)
            self.assertEqual([one.name for one in threading.enumerate() if one.name == "inspo-client"], [])

    def test_callback(self) -> None:
        """An error in `on_problem` fails no call."""

        def fail(problem: Problem) -> None:
            raise RuntimeError(problem.message)

        inspo = Inspo(["http://127.0.0.1:1"], on_problem=fail)
        self.assertFalse(inspo.lease("support", fallback="Be.").leased)
        inspo.reward("support", Reward("l", value=float("nan")))
        self.assertEqual(inspo.counts.refused, 1)


if __name__ == "__main__":
    unittest.main()
