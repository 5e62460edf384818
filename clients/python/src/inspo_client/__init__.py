"""inspo from Python: searches, comparisons, and the instruction server. It needs only the standard library."""

from ._aio import AsyncInspo, AsyncLease, AsyncPopulations
from ._asking import Ask, SearchFailed
from ._command import CommandMissing
from ._compare import Comparison, compare, compare_async
from ._inspo import Counts, Incumbent, Inspo, NoInstruction, Problem
from ._lease import Lease, LeaseRequest, Message, Question, Reward
from ._populations import Populations, Refused
from ._search import Result, Search, evolve, evolve_async
from ._wire import CohortState, Rewound, Wording

__all__ = [
    "Ask",
    "AsyncInspo",
    "AsyncLease",
    "AsyncPopulations",
    "CohortState",
    "CommandMissing",
    "Comparison",
    "Counts",
    "Incumbent",
    "Inspo",
    "Lease",
    "LeaseRequest",
    "Message",
    "NoInstruction",
    "Populations",
    "Problem",
    "Question",
    "Refused",
    "Result",
    "Reward",
    "Rewound",
    "Search",
    "SearchFailed",
    "Wording",
    "compare",
    "compare_async",
    "evolve",
    "evolve_async",
]
