"""The kinds of simulation: each plans, prepares and runs a request in blocks, and assembles the answer."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, Generic

from typing_extensions import TypeVar

from epsilond.accountants.json_types import JsonObject

RequestT = TypeVar("RequestT", default=Any)
"""Class of a kind's requests."""
ResolvedT = TypeVar("ResolvedT", default=Any)
"""Class of a prepared request."""
BlockT = TypeVar("BlockT", default=Any)
"""Class of the plain data of one block."""


@dataclass(frozen=True, kw_only=True)
class SimulationPlan:
    """Estimated cost of a simulation, known before it starts."""

    blocks: int
    seconds: float
    """Estimated time on one core of the machine of the published measurements, in seconds."""
    bytes: int
    """Estimated largest memory of one block, in bytes."""


@dataclass(frozen=True)
class Prepared:
    """A request for a simulation that is ready to run: noise for a target is calibrated, and names are resolved.

    It can be pickled, so that blocks can run in other processes.
    """

    request: object
    plan: SimulationPlan
    resolved: object
    """The prepared form of the request. Only the blocks of its own kind read it."""


@dataclass(frozen=True, kw_only=True)
class SimulationKind(Generic[RequestT, ResolvedT, BlockT]):
    """One kind of simulation, such as an audit, as functions that plan, prepare, run and assemble a request.

    `plan` takes milliseconds, rarely a second. The other functions run in workers. All of them raise `InvalidInput` for
    a request that cannot be run, and `prepare` raises `NoCertificate` if no noise can be calibrated.
    """

    request: type[RequestT]
    plan: Callable[[RequestT], SimulationPlan]
    prepare: Callable[[RequestT], ResolvedT]
    """Function that makes `Prepared.resolved` of a request."""
    run_block: Callable[[ResolvedT, int], BlockT]
    """Function that runs block `index` of a prepared request and returns plain data that can be pickled."""
    assemble: Callable[[RequestT, ResolvedT, Sequence[BlockT]], object]
    """Function from the request, its prepared form and all blocks in order to the answer: a frozen dataclass that
    `as_json` renders."""
    check_data: Callable[[RequestT], None] | None = None
    """Function that raises `InvalidInput` for a request whose data sets have no folder on this machine, before any
    work; None if no request reads files."""
    answer: type | None = None
    """Dataclass of the answer, or None if it is not declared."""
    size: str | None = None
    """Field of the request, a count, that the work is proportional to; an error about a request that is too large names
    the largest value that fits. None if there is no such field."""
    example: JsonObject = field(default_factory=dict)
    """Example of a request that takes about a second."""


def kind_of(request: object, kinds: Sequence[SimulationKind]) -> SimulationKind:
    """Return the kind among `kinds` that the request belongs to."""
    return next(kind for kind in kinds if isinstance(request, kind.request))
