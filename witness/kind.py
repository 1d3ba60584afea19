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
    """Estimated cost of a simulation before it starts.

    Attributes:
        blocks: number of blocks, that is, parts of the simulation that workers run independently.
        seconds: estimated time on one core of the machine of the published measurements, in seconds.
        bytes: estimated largest memory of one block, in bytes.
    """

    blocks: int
    seconds: float
    bytes: int


@dataclass(frozen=True)
class Prepared:
    """Request for a simulation that is ready to run: noise for a target is calibrated, and names are resolved.

    It can be pickled, so that other processes can run its blocks.

    Attributes:
        request: the request as the caller sent it.
        plan: estimated cost, with the number of blocks.
        resolved: the data that the blocks of this kind of simulation read, such as the runs with their noise.
    """

    request: object
    plan: SimulationPlan
    resolved: object


@dataclass(frozen=True, kw_only=True)
class SimulationKind(Generic[RequestT, ResolvedT, BlockT]):
    """Kind of simulation, such as an audit, given by the functions that plan, run and answer its requests.

    A simulation consists of blocks, which workers run independently. `plan` takes milliseconds, rarely a second. The
    other functions run in workers. All of them raise `InvalidInput` for a request that cannot be run, and `prepare`
    raises `NoCertificate` if no noise can be calibrated.

    Attributes:
        request: class of the kind's requests.
        plan: function that estimates the cost of a request.
        prepare: function from a request to its prepared form, the data that all blocks read.
        run_block: function that runs one block, from the prepared form and the index of the block, from 0. It returns
            plain data that can be pickled.
        assemble: function from the request, its prepared form and all blocks in order to the answer: a frozen dataclass
            that `as_json` renders.
        check_data: function that raises `InvalidInput`, before any work, for a request with data sets that have no
            folder on this machine; None if no request reads files.
        answer: dataclass of the answer; None if it is not declared.
        size: field of the request, a count, to which the work is proportional. An error about a request that is too
            large states the largest value that fits. None if there is no such field.
        example: example of a request that takes about a second.
    """

    request: type[RequestT]
    plan: Callable[[RequestT], SimulationPlan]
    prepare: Callable[[RequestT], ResolvedT]
    run_block: Callable[[ResolvedT, int], BlockT]
    assemble: Callable[[RequestT, ResolvedT, Sequence[BlockT]], object]
    check_data: Callable[[RequestT], None] | None = None
    answer: type | None = None
    size: str | None = None
    example: JsonObject = field(default_factory=dict)


def kind_of(request: object, kinds: Sequence[SimulationKind]) -> SimulationKind:
    """Return the first of several kinds of simulation with a class of requests that contains the request.

    Args:
        request: the request, an instance of the `request` class of at least one kind.
        kinds: the kinds to choose from.
    """
    return next(kind for kind in kinds if isinstance(request, kind.request))
