"""POST /v1/simulations: an algorithm to run, or a mechanism to attack. Always a job: nothing is computed here."""

from __future__ import annotations

import hashlib
import pickle
from dataclasses import dataclass
from functools import cache, reduce
from operator import or_
from typing import Annotated

from typing_extensions import TypeAliasType

from epsilond.accountants.errors import EpsilondError
from epsilond.accountants.quantities import Tagged
from epsilond.app.jobs.limits import SimulationLimits, require_within
from epsilond.app.workers.work import RenderedAnswer, render
from epsilond.calibrators.strict_json import MalformedJson, parse
from epsilond.reading import read_body
from epsilond.witness.kind import SimulationKind, SimulationPlan


@dataclass(frozen=True)
class SimulationAsked:
    """A simulation that has been read, and is within the limits of this service."""

    kind: str
    request: bytes
    """The request itself, pickled: whoever passes it on never has to open it."""
    rendered: bytes
    """The request as JSON, with its defaults."""
    fingerprint: str
    """Equal for equal requests."""
    plan: SimulationPlan


def read_simulation(kinds: tuple[SimulationKind, ...], limits: SimulationLimits, body: bytes) -> RenderedAnswer:
    """The simulation that a body asks for, or the refusal to take it, pickled. It takes as long as its plan."""
    try:
        read: SimulationAsked | Exception = _read(kinds, limits, body)
    except (MalformedJson, EpsilondError) as refusal:
        read = refusal
    return RenderedAnswer(pickle.dumps(read, pickle.HIGHEST_PROTOCOL))


def opened_simulation(read: RenderedAnswer) -> SimulationAsked:
    """What `read_simulation` answered.

    Raises:
        MalformedJson: the body is not JSON.
        InvalidInput: what cannot be run.
        BeyondBudget: its estimate is beyond the limits.
    """
    asked: SimulationAsked | Exception = pickle.loads(read.body)  # noqa: S301 (made by a worker of our own)
    if isinstance(asked, Exception):
        raise asked
    return asked


@cache
def request_type(requests: tuple[type, ...]) -> object:
    """A request of any of these classes, told apart by `kind`."""
    if len(requests) == 1:
        return requests[0]
    return TypeAliasType("SimulationRequest", Annotated[reduce(or_, requests), Tagged("kind")])


def _read(kinds: tuple[SimulationKind, ...], limits: SimulationLimits, body: bytes) -> SimulationAsked:
    request = read_body(request_type(tuple(kind.request for kind in kinds)), parse(body))
    kind = next(kind for kind in kinds if isinstance(request, kind.request))
    plan = kind.plan(request)
    require_within(limits, kind, request, plan)
    rendered = render(request)
    fingerprint = hashlib.sha256(rendered).hexdigest()
    return SimulationAsked(request.kind, pickle.dumps(request), rendered, fingerprint, plan)
