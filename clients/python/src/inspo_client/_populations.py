"""Populations of an instruction server: made, read and removed by those who have its administrator's key."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, cast

from . import _wire
from ._lease import given
from ._transport import Failure, Request, Transport
from ._wire import Wording


class Refused(Exception):
    """The server did not do what was asked; `status` is 0 where none answered."""

    def __init__(self, failure: Failure) -> None:
        super().__init__(failure.reason)
        self.status = failure.status


class Populations:
    """Each method waits for the server, and raises Refused where it does not do it."""

    def __init__(self, transport: Callable[[], Transport], path: Callable[[str], str], timeout: float) -> None:
        self._transport, self._path, self._timeout = transport, path, timeout

    def create(
        self,
        name: str,
        seed: Wording,
        *,
        profile: str | None = None,
        variants: Sequence[Wording] = (),
        settings: Mapping[str, Any] | None = None,
    ) -> Mapping[str, Any]:
        """Creates a population, and returns it; one that has the same seed, variants and settings stays as it is."""
        body = given(profile=profile, settings=settings)
        body.update(seed=seed, variants=[*variants])
        return cast("Mapping[str, Any]", self._ask("PUT", self._path(name), body))

    def list(self) -> Sequence[Mapping[str, Any]]:
        """All populations, in short."""
        return cast("Sequence[Mapping[str, Any]]", self._ask("GET", "/v1/populations"))

    def get(self, name: str) -> Mapping[str, Any]:
        """A population with its members, their evidence, its cohorts and its status."""
        return cast("Mapping[str, Any]", self._ask("GET", self._path(name)))

    def remove(self, name: str) -> None:
        """Removes a population with everything that it learned."""
        self._ask("DELETE", self._path(name))

    def _ask(self, method: str, path: str, body: object = None) -> object:
        request = Request(method, path, None if body is None else _wire.encoded(body), instructions=256)
        # An empty answer must not read as none.
        result = self._transport().ask(request, lambda answer: (answer,), self._timeout)
        if isinstance(result, Failure):
            raise Refused(result)
        return result[0]
