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
        request: the request, pickled, so that processes that pass it on never have to unpickle it.
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
    """Make the union of request classes, which the field `kind` distinguishes.

    Args:
        requests: request classes of the kinds of simulations, at least one.

    Returns:
        The type to read a body with: the class itself if there is only one.
    """
    if len(requests) == 1:
        (only_request,) = requests
        return only_request
    union = reduce(or_, requests)
    return TypeAliasType("SimulationRequest", Annotated[union, Tagged("kind")])


def read_simulation(
    kinds: tuple[SimulationKind, ...], limits: SimulationLimits, body: bytes, *, runs_here: bool = True
) -> SimulationAsked:
    """Read a request for a simulation, and check its estimated time and memory.

    Only requests within the limits become jobs.

    Args:
        kinds: the kinds of simulations that the service runs.
        limits: limits on the estimated time and memory of one simulation.
        body: the JSON text.
        runs_here: whether the simulation runs on this machine, which then needs the files that it reads.

    Returns:
        The pickled request with its kind, its JSON text with the digest of this text, and its plan.

    Raises:
        MalformedJson: the body is not JSON.
        InvalidInput: the simulation cannot be run, or a data set that it reads has no folder.
        BeyondBudget: an estimate exceeds its limit.
    """
    request_classes = tuple(kind.request for kind in kinds)
    request = read_body(request_type(request_classes), parse(body))
    # The class of the request identifies the kind of simulation.
    kind = next(kind for kind in kinds if isinstance(request, kind.request))
    plan = kind.plan(request)
    # The estimates are checked before anything is run or stored.
    require_within(limits, kind, request, plan)
    if runs_here and kind.check_data is not None:
        kind.check_data(request)
    # Equal requests have equal JSON texts, and therefore equal fingerprints.
    rendered = render(request)
    fingerprint = hashlib.sha256(rendered).hexdigest()
    return SimulationAsked(request.kind, pickle.dumps(request), rendered, fingerprint, plan)
