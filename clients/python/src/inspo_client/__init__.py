"""Client of inspo: its instruction server, and searches for a better prompt. It needs only the standard library."""

from ._aio import AsyncInspo, AsyncLease
from ._inspo import Counts, Incumbent, Inspo, NoInstruction, Problem
from ._lease import Lease, LeaseRequest, Message, Question, Reward
from ._search import Ask, Result, Search, SearchFailed, evolve, evolve_async
from ._wire import CohortState, Rewound, Wording

__all__ = [
    "Ask",
    "AsyncInspo",
    "AsyncLease",
    "CohortState",
    "Counts",
    "Incumbent",
    "Inspo",
    "Lease",
    "LeaseRequest",
    "Message",
    "NoInstruction",
    "Problem",
    "Question",
    "Result",
    "Reward",
    "Rewound",
    "Search",
    "SearchFailed",
    "Wording",
    "evolve",
    "evolve_async",
]
