"""Sends requests to the servers in turn, within a timeout."""

from __future__ import annotations

import http.client
import io
import json
import socket
import ssl
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future, TimeoutError
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, TypeVar, Union
from urllib.parse import SplitResult, urlsplit

from . import _wire

A = TypeVar("A")

#: Maximum size of an answer in bytes: a base, plus a size per instruction, up to a limit. No timeout interrupts parsing, so the size
#: has to bound its duration.
_MAX_SIZE, _PER_INSTRUCTION, _LIMIT = 2**21, 2**16, 2**24
#: Maximum number of concurrent requests, each in its own thread.
_MAX_UNANSWERED = 64
#: Maximum number of idle connections per server.
_MAX_IDLE = 8


@dataclass(frozen=True)
class Request:
    method: str
    path: str
    body: str | None = None
    #: number of instructions that the answer may contain
    instructions: int = 1


@dataclass(frozen=True)
class Failure:
    reason: str
    #: status of the answer, 0 without one
    status: int = 0
    #: whether inspo itself refused, not a proxy before it
    refused: bool = False
    #: seconds to wait before the next request
    retry_after: float = 0.0

    @property
    def final(self) -> bool:
        """Whether any inspo server would refuse the request again."""
        return self.refused and 400 <= self.status < 500 and self.status not in (408, 425, 429)


Result = Union[A, Failure]
Read = Callable[[object], Union[A, None]]


class Transport:
    """
    Starts with the server that answered last, and retries a broken connection once. Each server gets its share of the remaining
    time; if it is unreachable, too slow, fails, or does not answer as inspo does, the next one is tried.
    """

    def __init__(self, urls: Sequence[str], headers: Mapping[str, str], tls: ssl.SSLContext | None) -> None:
        self._urls = [urlsplit(url.rstrip("/")) for url in urls]
        self._headers = dict(headers)
        self._tls = tls
        #: number of requests sent twice because their connection broke
        self.repeated = 0
        self._first = 0
        self._idle: dict[SplitResult, list[http.client.HTTPConnection]] = {url: [] for url in self._urls}
        self._lock = threading.Lock()
        self._unanswered = threading.BoundedSemaphore(_MAX_UNANSWERED)

    def ask(
        self, request: Request, read: Read[A], timeout: float, late: Callable[[A], None] | None = None
    ) -> Result[A]:
        """`late` gets an answer that arrives after its time."""
        end = time.monotonic() + timeout
        last = Failure("no address")
        first = self._first
        for turn in range(len(self._urls)):
            index = (first + turn) % len(self._urls)
            if not self._unanswered.acquire(timeout=max(end - time.monotonic(), 0)):
                return Failure(f"{_MAX_UNANSWERED} requests are unanswered")
            slot = max(end - time.monotonic(), 0) / (len(self._urls) - turn)
            trying = in_thread(partial(self._attempt, self._urls[index], request, read, 10 * timeout))
            try:
                result = trying.result(slot)
            except TimeoutError:
                last = Failure(f"no answer within {slot:.3f} s", retry_after=last.retry_after)
                if late is not None:
                    trying.add_done_callback(_when_answered(late))
                continue
            if not isinstance(result, Failure):
                self._first = index
                return result
            # A pause that one server asked for applies whatever the next one answers.
            last = replace(result, retry_after=max(result.retry_after, last.retry_after))
            if last.final:
                return last
        return last

    def _attempt(self, url: SplitResult, request: Request, read: Read[A], timeout: float) -> Result[A]:
        try:
            status, retry_after, body = self._exchange(url, request, timeout)
            answer = _parse(body)
            value = read(answer) if 200 <= status < 300 else None
            if value is not None:
                return value
            problem = _wire.problem(answer) if status >= 400 else None
            return Failure(
                f"status {status}, {problem or 'not an inspo answer'}",
                status,
                problem is not None,
                min(max(float(retry_after), 0.0), 60.0) if _is_number(retry_after) else 0.0,
            )
        except Exception as error:  # A broken server must not fail the agent.
            return Failure(f"{type(error).__name__}: {error}")
        finally:
            self._unanswered.release()

    def _exchange(self, url: SplitResult, request: Request, timeout: float) -> tuple[int, str, bytes]:
        try:
            return self._send(self._connection(url, timeout), url, request, timeout)
        except ConnectionRefusedError:
            raise
        except (ConnectionError, http.client.HTTPException):
            # The server may have closed an idle connection.
            self.repeated += 1
            return self._send(self._connect(url, timeout), url, request, timeout)

    def _send(
        self, connection: http.client.HTTPConnection, url: SplitResult, request: Request, timeout: float
    ) -> tuple[int, str, bytes]:
        end = time.monotonic() + timeout
        try:
            if connection.sock is not None:
                connection.sock.settimeout(timeout)
            connection.response_class = partial(_Response, end=end)  # type: ignore[assignment]
            body = None if request.body is None else request.body.encode()
            is_whole = True
            try:
                connection.request(request.method, url.path + request.path, body, self._headers)
            except (BrokenPipeError, ConnectionResetError):
                # A server may refuse a long body and close the connection before it has read all of it.
                if connection.sock is None:
                    raise
                is_whole = False
            response = connection.getresponse()
            parts: list[bytes] = []
            length = 0
            longest = min(_MAX_SIZE + request.instructions * _PER_INSTRUCTION, _LIMIT)
            while part := response.read(16_384):
                parts.append(part)
                length += len(part)
                if length > longest:
                    raise ValueError("the answer is too long")
            if response.length:
                raise http.client.IncompleteRead(b"", response.length)
        except BaseException:
            connection.close()
            raise
        with self._lock:
            if is_whole and len(self._idle[url]) < _MAX_IDLE and connection.sock is not None:
                self._idle[url].append(connection)
            else:
                connection.close()
        return response.status, response.headers.get("retry-after", ""), b"".join(parts)

    def _connection(self, url: SplitResult, timeout: float) -> http.client.HTTPConnection:
        with self._lock:
            kept = self._idle[url].pop() if self._idle[url] else None
        return kept or self._connect(url, timeout)

    def _connect(self, url: SplitResult, timeout: float) -> http.client.HTTPConnection:
        if url.scheme == "https":
            tls = self._tls or ssl.create_default_context()
            return http.client.HTTPSConnection(url.hostname or "", url.port, timeout=timeout, context=tls)
        return http.client.HTTPConnection(url.hostname or "", url.port, timeout=timeout)


class _Response(http.client.HTTPResponse):
    """A response, headers included, that must be read before `end`, however slowly the server sends it."""

    def __init__(self, sock: socket.socket, *given: Any, end: float, **options: Any) -> None:
        super().__init__(sock, *given, **options)
        self.fp.close()
        self.fp = io.BufferedReader(_Until(sock, end))


class _Until(io.RawIOBase):
    def __init__(self, sock: socket.socket, end: float) -> None:
        self._sock, self._end = sock, end
        self._raw = sock.makefile("rb", buffering=0)

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int | None:
        left = self._end - time.monotonic()
        if left <= 0:
            raise TimeoutError("the answer takes too long")
        self._sock.settimeout(left)
        return self._raw.readinto(buffer)

    def close(self) -> None:
        self._raw.close()
        super().close()


def in_thread(work: Callable[[], A]) -> Future[A]:
    """Runs `work` in a daemon thread."""
    future: Future[A] = Future()

    def run() -> None:
        try:
            future.set_result(work())
        except BaseException as error:
            future.set_exception(error)

    threading.Thread(target=run, name="inspo-client", daemon=True).start()
    return future


def _when_answered(late: Callable[[A], None]) -> Callable[[Future[Result[A]]], None]:
    def done(future: Future[Result[A]]) -> None:
        result = future.result()
        if not isinstance(result, Failure):
            late(result)

    return done


def _parse(body: bytes) -> object:
    try:
        answer: object = json.loads(body)
        return answer
    except (ValueError, RecursionError):
        return None


def _is_number(text: str) -> bool:
    return text.strip().isascii() and text.strip().isdigit()
