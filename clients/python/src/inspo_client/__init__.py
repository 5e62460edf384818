"""Client of inspo's instruction server. It needs only the standard library."""

from ._aio import AsyncInspo, AsyncLease
from ._inspo import Counts, Incumbent, Inspo, NoInstruction, Problem
from ._lease import Lease, LeaseRequest, Message, Question, Reward
from ._wire import CohortState, Rewound, Wording

__all__ = [
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
    "Reward",
    "Rewound",
    "Wording",
]
