"""POST /v1/simulations: an algorithm to run, or a mechanism to attack. Simulations are always jobs."""

from __future__ import annotations

import hashlib
import pickle
from dataclasses import dataclass
from functools import cache, reduce
from operator import or_
from typing import Annotated

from typing_extensions import TypeAliasType

from epsilond.accountants.quantities import Tagged
from epsilond.app.jobs.limits import SimulationLimits, require_within
from epsilond.app.workers.work import render
from epsilond.calibrators.strict_json import parse
from epsilond.reading import read_body
from epsilond.witness.kind import SimulationKind, SimulationPlan


@dataclass(frozen=True)
class SimulationAsked:
    """A simulation that has been read and is within the limits of this service.

    Attributes:
        kind: kind of simulation, such as "risk".
        request: the request, pickled, so that processes that only pass it on need not unpickle it.
        rendered: the request as JSON, with its defaults.
        fingerprint: hash that is equal for equal requests.
        plan: number of blocks (groups of repetitions), with the estimated time and memory.
    """

    kind: str
    request: bytes
    rendered: bytes
    fingerprint: str
    plan: SimulationPlan


@cache
def request_type(requests: tuple[type, ...]) -> object:
    """Return a union of request classes, which the field `kind` distinguishes.

    Args:
        requests: request classes of the kinds of simulations, at least one.

    Returns:
        The type as which a body is read; the class itself if there is only one.
    """
    if len(requests) == 1:
        (only_request,) = requests
        return only_request
    union = reduce(or_, requests)
    return TypeAliasType("SimulationRequest", Annotated[union, Tagged("kind")])


def read_simulation(
    kinds: tuple[SimulationKind, ...], limits: SimulationLimits, body: bytes, *, runs_here: bool = True
) -> SimulationAsked:
    """Read a request for a simulation, and check that its estimated time and memory are within the limits.

    Args:
        kinds: the kinds of simulations that the service runs.
        limits: limits on the estimated time and memory of one simulation.
        body: the JSON text.
        runs_here: whether the simulation runs on this machine, which then needs the files that it reads.

    Returns:
        The pickled request with its kind, its JSON text with a hash of this text, and its plan.

    Raises:
        MalformedJson: the body is not JSON.
        InvalidInput: the simulation cannot be run, or a data set that it reads has no folder.
        BeyondBudget: an estimate exceeds its limit.
    """
    request_classes = tuple(kind.request for kind in kinds)
    request = read_body(request_type(request_classes), parse(body))
    kind = next(kind for kind in kinds if isinstance(request, kind.request))
    plan = kind.plan(request)
    require_within(limits, kind, request, plan)
    if runs_here and kind.check_data is not None:
        kind.check_data(request)
    # Equal requests have equal JSON texts, and therefore equal fingerprints.
    rendered = render(request)
    fingerprint = hashlib.sha256(rendered).hexdigest()
    return SimulationAsked(request.kind, pickle.dumps(request), rendered, fingerprint, plan)
