"""Decoders of the server's answers. They return None for an answer that does not match."""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TypeGuard, Union

#: One text, or several named texts that are used together.
Wording = Union[str, Mapping[str, str]]


@dataclass(frozen=True)
class Instruction:
    #: None for the caller's fallback
    id: str | None
    wording: Wording


@dataclass(frozen=True)
class LeaseAnswer:
    #: None without an answer
    lease: str | None
    key: str
    n: int
    instruction: Instruction
    probability: float | None = None
    replaces: str | None = None
    closes_at: str | None = None


@dataclass(frozen=True)
class LeasesAnswer:
    cohort: str
    incumbent: str | None
    leases: Sequence[LeaseAnswer]


@dataclass(frozen=True)
class CohortState:
    """A sealed cohort issues no new leases; the rewards of a closed one are part of the evidence."""

    cohort: str
    #: `open`, `sealed` or `closed`
    state: str
    #: number of leases; None, as `reported`, if the cohort was closed before
    leases: int | None
    #: number of leases with all samples reported
    reported: int | None


@dataclass(frozen=True)
class Rewound:
    """`rewound` is False if an earlier call had the same request id."""

    branch: int
    rewound: bool


@dataclass(frozen=True)
class RewardResult:
    outcome: str
    refusal: object


@dataclass(frozen=True)
class RewardsAnswer:
    results: Sequence[RewardResult]
    cohort: CohortState | None


def leases(asked: Sequence[tuple[str, int, int]], full_batch: bool, body: object) -> LeasesAnswer | None:
    """
    The leases of the requested keys with their numbers of samples and instructions, in order: at most that many of each, and any
    number of them in a full batch.
    """
    if not isinstance(body, dict) or not _is_text(cohort := body.get("cohort")):
        return None
    given = body.get("leases")
    if not isinstance(given, list):
        return None
    samples = {key: n for key, n, _ in asked}
    places = {key: place for place, (key, _, _) in enumerate(asked)}
    read: list[LeaseAnswer] = []
    by_place: dict[int, list[str]] = {}
    for one in given:
        lease = _lease(one, samples)
        if lease is None:
            return None
        place = places[lease.key if lease.key in places else lease.key.rpartition("#")[0]]
        if place < max(by_place, default=0):
            return None
        by_place.setdefault(place, []).append(lease.key)
        read.append(lease)
    for place, (key, _, instructions) in enumerate(asked):
        keys = by_place.get(place, [])
        if not full_batch and (not keys or keys[0] != key or len(keys) > instructions):
            return None
    incumbent = body.get("incumbent")
    return LeasesAnswer(str(cohort), str(incumbent) if _is_text(incumbent) else None, read)


def incumbent(body: object) -> Instruction | None:
    return _instruction(body.get("instruction")) if isinstance(body, dict) else None


def rewards(count: int, closes: bool, body: object) -> RewardsAnswer | None:
    """The results of `count` rewards, with the state of the cohort if the request closes one."""
    given = body.get("results") if isinstance(body, dict) else None
    if not isinstance(body, dict) or not isinstance(given, list) or len(given) != count:
        return None
    results = [
        RewardResult(one["outcome"], one.get("refusal"))
        for one in given
        if isinstance(one, dict) and _is_text(one.get("outcome"))
    ]
    cohort = _cohort(body.get("cohort"))
    return RewardsAnswer(results, cohort) if len(results) == count and (cohort or not closes) else None


def rewound(body: object) -> Rewound | None:
    if not isinstance(body, dict):
        return None
    branch, done = body.get("branch"), body.get("rewound")
    return Rewound(branch, done) if type(branch) is int and isinstance(done, bool) else None


def problem(body: object) -> str | None:
    """The text and fields of the server's refusal; None if a proxy refused."""
    if not isinstance(body, dict) or not str(body.get("type")).startswith("urn:inspo:"):
        return None
    detail = body.get("detail", body.get("title", body["type"]))
    others = [f"{name}: {_text(one)}" for name, one in body.items() if name not in ("type", "title", "detail", "status")]
    return "; ".join([_text(detail), *others])


def encoded(value: object, *, allow_nan: bool = True) -> str:
    """JSON that escapes only lone surrogates, which UTF-8 cannot encode: escapes take twice the bytes of most other texts."""
    text = json.dumps(value, ensure_ascii=False, allow_nan=allow_nan)
    return re.sub("[\ud800-\udfff]", lambda found: f"\\u{ord(found[0]):x}", text)


def _text(value: object) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def printable(text: str) -> str:
    """A server's text for a terminal or log: shortened, without control characters."""
    return re.sub(" +", " ", "".join(" " if unicodedata.category(one)[0] in "CZ" else one for one in text[:1000]))


def _lease(one: object, samples: Mapping[str, int]) -> LeaseAnswer | None:
    if not isinstance(one, dict) or not _is_text(lease := one.get("lease")) or not _is_text(key := one.get("key")):
        return None
    given, probability, n = _instruction(one.get("instruction")), one.get("probability"), one.get("n")
    if given is None or not _is_number(probability) or not 0 < probability <= 1:
        return None
    # The key of a further lease on a question starts with that of its request.
    if type(n) is not int or n != samples.get(str(key), samples.get(str(key).rpartition("#")[0])):
        return None
    replaces, closes_at = (str(text) if _is_text(text) else None for text in (one.get("replaces"), one.get("closesAt")))
    return LeaseAnswer(str(lease), str(key), n, given, float(probability), replaces, closes_at)


def _is_number(value: object) -> TypeGuard[float]:
    return type(value) in (int, float)


def _instruction(given: object) -> Instruction | None:
    if not isinstance(given, dict) or not _is_text(id := given.get("id")):
        return None
    text, texts = given.get("text"), given.get("texts")
    if _is_text(text):
        return Instruction(str(id), str(text))
    if isinstance(texts, dict) and texts and all(_is_text(one) for one in texts.values()):
        return Instruction(str(id), texts)
    return None


def _cohort(given: object) -> CohortState | None:
    if not isinstance(given, dict) or not _is_text(given.get("cohort")) or not _is_text(given.get("state")):
        return None
    leases, reported = given.get("leases"), given.get("reported")
    if not isinstance(leases, (int, type(None))) or not isinstance(reported, (int, type(None))):
        return None
    return CohortState(given["cohort"], given["state"], leases, reported)


def _is_text(value: object) -> bool:
    return isinstance(value, str) and value != ""
