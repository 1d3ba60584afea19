"""The life of a simulation, whoever runs it: planned, run block by block anywhere, put together, drawn.

A block is a set of repetitions (or samples) decided by the request alone. Any number of workers, in any order,
give the same result, bit by bit; progress is counted in blocks, and a cancelled job loses no more than one.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from epsilond.witness.one_thread import one_thread


@dataclass(frozen=True, kw_only=True)
class Plan:
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

    request: Any
    plan: Plan
    resolved: Any
    """What the kind of simulation has made of the request; its own blocks alone read it."""


@dataclass(frozen=True, kw_only=True)
class Kind:
    """One kind of simulation. The first takes milliseconds, rarely a second, and the others run in workers.

    All raise `InvalidInput` for what cannot be run, and `prepare` also `NoCertificate` where nothing can be calibrated.
    """

    request: type
    plan: Callable[[Any], Plan]
    prepare: Callable[[Any], Any]
    """What `Prepared.resolved` is to be."""
    run_block: Callable[[Any, int], Any]
    """Block `index` of a resolved request: plain data that pickles."""
    assemble: Callable[[Any, Any, Sequence[Any]], Any]
    """The answer, from request, resolved and all blocks in order: a frozen dataclass that `as_json` renders."""
    answer: type | None = None
    """The dataclass that `assemble` makes; None: not told, any object."""
    size: str | None = None
    """The field of the request, a count, that the work is proportional to. A request that is too large is told which
    value of it would fit. None: there is no such field."""
    example: Mapping[str, Any] = field(default_factory=dict)
    """A request to try, which takes a second or so."""


def kind_of(request: Any) -> Kind:
    """The kind that a request is of."""
    from epsilond.witness.kinds import KINDS  # noqa: PLC0415  the list imports this module

    return next(kind for kind in KINDS if isinstance(request, kind.request))


def plan(request: Any) -> Plan:
    """What it will cost: from the request alone, in the time that its problems take to build."""
    return kind_of(request).plan(request)


def prepare(request: Any) -> Prepared:
    """Make it ready to run; this may take as long as a calibration."""
    kind = kind_of(request)
    with one_thread():
        return Prepared(request, kind.plan(request), kind.prepare(request))


def run_block(prepared: Prepared, index: int) -> Any:
    """One block of it, 0 ≤ index < plan.blocks, in seconds rather than minutes."""
    # Sums of a threaded BLAS depend on the number of its threads.
    with one_thread():
        return kind_of(prepared.request).run_block(prepared.resolved, index)


def assemble(prepared: Prepared, blocks: Sequence[Any]) -> Any:
    """The answer, from all blocks in order; bounds and certificates are computed here, beside the measurements."""
    return kind_of(prepared.request).assemble(prepared.request, prepared.resolved, blocks)
