"""A kind of simulation: what it costs, how it is prepared, run block by block, and put together."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, Generic

from typing_extensions import TypeVar

from epsilond.accountants.json_types import JsonObject

RequestT = TypeVar("RequestT", default=Any)
"""The class of a kind's requests."""
ResolvedT = TypeVar("ResolvedT", default=Any)
"""The class of a request made ready to run."""
BlockT = TypeVar("BlockT", default=Any)
"""The class of the plain data of one block."""


@dataclass(frozen=True, kw_only=True)
class SimulationPlan:
    """What a simulation will cost, told before it starts."""

    blocks: int
    seconds: float
    """Estimate on one core of the machine that our figures were measured on."""
    bytes: int
    """Estimate of the largest memory of one block."""


@dataclass(frozen=True)
class Prepared:
    """A request made ready to run: noise asked for by (ε, δ) is calibrated, what a name stands for is in place.

    Pickles, so that blocks can run in other processes.
    """

    request: object
    plan: SimulationPlan
    resolved: object
    """What the kind of simulation has made of the request; its own blocks alone read it."""


@dataclass(frozen=True, kw_only=True)
class SimulationKind(Generic[RequestT, ResolvedT, BlockT]):
    """One kind of simulation. The first takes milliseconds, rarely a second, and the others run in workers.

    All raise `InvalidInput` for what cannot be run, and `prepare` also `NoCertificate` where nothing can be calibrated.
    """

    request: type[RequestT]
    plan: Callable[[RequestT], SimulationPlan]
    prepare: Callable[[RequestT], ResolvedT]
    """What `Prepared.resolved` is to be."""
    run_block: Callable[[ResolvedT, int], BlockT]
    """Block `index` of a resolved request: plain data that pickles."""
    assemble: Callable[[RequestT, ResolvedT, Sequence[BlockT]], object]
    """The answer, from request, resolved and all blocks in order: a frozen dataclass that `as_json` renders."""
    answer: type | None = None
    """The dataclass that `assemble` makes; None: not told, any object."""
    size: str | None = None
    """The field of the request, a count, that the work is proportional to. A request that is too large is told which
    value of it would fit. None: there is no such field."""
    example: JsonObject = field(default_factory=dict)
    """A request to try, which takes a second or so."""


def kind_of(request: object, kinds: Sequence[SimulationKind]) -> SimulationKind:
    """Return the kind among `kinds` that a request is of."""
    return next(kind for kind in kinds if isinstance(request, kind.request))
