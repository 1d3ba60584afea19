"""The least noise with which an algorithm's run fits into what is left of a ledger, certified by the ledger's own rule.

Every calibrator maps a target to a noise and the noise to the spec that is run: less ε, more noise. Here ε is searched,
at the ledger's δ, for the run that takes what is left; sloppily, by the profiles at a few points. Then the ledger's own
reservation is tried on the resulting spec, and with a little less ε until it is made. So the calibrators know nothing
of ledgers, and the guarantee of the answer is the calibrator's own.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from dataclasses import dataclass

from epsilond.accountants.attempts import ConditionResult
from epsilond.accountants.errors import (
    BeyondBudget,
    ConditionViolated,
    Infeasible,
    LedgerExhausted,
    NoCertificate,
    NotInPlan,
)
from epsilond.accountants.json_types import JsonObject
from epsilond.accountants.specs import Spec
from epsilond.accountants.verdict import Verdict
from epsilond.calibrators import CALIBRATORS
from epsilond.calibrators.answer import Calibration
from epsilond.calibrators.calibration import Calibrator
from epsilond.calibrators.search import crossing
from epsilond.ledgers.calibrating.by_noise import near_strictness
from epsilond.ledgers.calibrating.compartment import MISSES, ChargeTarget, compartment_of, reserved
from epsilond.ledgers.calibrating.setting import asked_within, require_one, require_possible
from epsilond.ledgers.mathematics.moves import require_consistent
from epsilond.ledgers.mathematics.nearest import map_noise
from epsilond.ledgers.mathematics.state import LedgerState, Reservation
from epsilond.reading import read
from epsilond.spelling import named

WIDTH = 2e-5
"""Of log ε: how closely the search ends."""
CLOSE = 1e-4
"""Of log ε: how far below an ε whose run the ledger refuses the answer may be."""
BACKS = 15
"""How often the search steps back from what the ledger refuses, twice as far each time."""
SLACK = 1e-3
"""A share of the noise: with so much less of it the ledger is asked again."""
_EPSILONS = (-math.log(1e6), -math.log(1e-9))
"""−log of the largest and the smallest ε that is tried."""


@dataclass(frozen=True, kw_only=True)
class Within:
    """A calibration within a ledger.

    Attributes:
        request: the calibrator's problem, with ε and δ: what it answers is the calibration.
        spec: what is run, as the ledger is charged for it.
        held: what a reservation would hold; nothing was reserved.
        slack: with a share of `slack` less noise the ledger refuses the run; None where that is not known.
    """

    algorithm: str
    request: object
    spec: Spec
    held: Reservation
    slack: float | None


def calibrated(state: LedgerState, algorithm: str, given: JsonObject, place: ChargeTarget) -> Within:
    """Find the least noise with which an algorithm's run fits the ledger.

    Args:
        state: the ledger.
        algorithm: name of the algorithm.
        given: fields of the calibration, without target and setting.
        place: the slot or item to charge.

    Raises:
        InvalidInput: there is no such algorithm; a field is at fault, or is the ledger's to say.
        ConditionViolated: the algorithm's guarantee is not one that the ledger can hold.
        LedgerExhausted: no noise makes the run fit.
        RunDiffers: an observation contradicts a run that was paid from the ledger.
    """
    chosen = named(algorithm, {each.name: each for each in CALIBRATORS}, at="/algorithm", noun="algorithm")
    fields = asked_within(chosen, given, state.setting)

    def problem(epsilon: float, log10_delta: float) -> object:
        return read(chosen.problem, {**fields, "epsilon": epsilon, "log10_delta": log10_delta})

    return within(state, chosen, problem, place)


def answered(state: LedgerState, algorithm: str, given: JsonObject, place: ChargeTarget) -> tuple[Within, Calibration]:
    """Find the least noise as `calibrated` does, and return it with the calibrator's whole answer."""
    found = calibrated(state, algorithm, given, place)
    chosen = named(algorithm, {each.name: each for each in CALIBRATORS}, at="/algorithm", noun="algorithm")
    return found, chosen.solve(found.request)


def within(
    state: LedgerState, calibrator: Calibrator, problem: Callable[[float, float], object], place: ChargeTarget
) -> Within:
    """Find the least noise with which a run fits the ledger, in a family of problems.

    Args:
        state: the ledger.
        calibrator: calibrator of the problems.
        problem: returns the problem at (ε, log10 δ).
        place: the slot or item to charge.

    Raises:
        InvalidInput, ConditionViolated, LedgerExhausted, RunDiffers: as `calibrated` does.
    """
    require_consistent(state)
    compartment = compartment_of(state, place)
    log_delta = state.target.log_delta
    if calibrator.knob != "noise_multiplier":  # noise of bounded support: what escapes it is a δ of its own
        log_delta = compartment.log_delta(log_delta)
    log10_delta = _short(log_delta / math.log(10.0))
    likely = compartment.likely_epsilon(log_delta)
    require_possible(calibrator.name, calibrator.definition(problem(_bounded(likely), log10_delta)), state.setting)

    @functools.lru_cache(maxsize=64)
    def run(strictness: float) -> tuple[object, Spec] | None:
        """Return the problem and its mechanism; None if no noise that is offered meets the target."""
        asked = problem(math.exp(-strictness), log10_delta)
        try:
            return asked, require_one(calibrator.name, calibrator.specs(calibrator.certify(asked)))
        except (Infeasible, BeyondBudget):
            return None

    @functools.lru_cache(maxsize=64)
    def missed(strictness: float) -> float:
        found = run(strictness)
        return -MISSES if found is None else compartment.missed(found[1])

    def reserve(spec: Spec) -> Reservation | None:
        """Return the reservation of a run as the ledger certifies it; None if the ledger has no room for it."""
        try:
            return reserved(state, spec, compartment.place)
        except (LedgerExhausted, NotInPlan):
            return None

    def made(strictness: float) -> Reservation | None:
        found = run(strictness)
        return None if found is None else reserve(found[1])

    start = -math.log(_bounded(likely))
    strictness = near_strictness(lambda at: (run(at) or (None, None))[1], compartment.missed, _least, reserve, start)
    if strictness is None:
        strictness = crossing(missed, start, _EPSILONS, WIDTH)
    if strictness is None:
        raise _exhausted(state, run(_EPSILONS[1]), compartment.place)
    best = _least(made, strictness)
    if best is None:
        raise _exhausted(state, run(strictness), compartment.place)
    chosen = run(best[0])
    assert chosen is not None, "a reservation was made of it"
    request, spec = chosen
    slack = SLACK if _refused(state, spec, compartment.place) else None
    return Within(algorithm=calibrator.name, request=request, spec=spec, held=best[1], slack=slack)


def _least(made: Callable[[float], Reservation | None], start: float) -> tuple[float, Reservation] | None:
    """Find nearly the least strictness from a start on at which a reservation is made; None if none is near."""
    held = made(start)
    if held is not None:
        return start, held
    refused, step = start, CLOSE
    for _ in range(BACKS):
        passing = refused + step
        held = made(passing)
        if held is not None:
            break
        refused, step = passing, 2.0 * step
    else:
        return None
    while passing - refused > CLOSE:
        middle = 0.5 * (refused + passing)
        found = made(middle)
        refused, passing, held = (middle, passing, held) if found is None else (refused, middle, found)
    return passing, held


def _short(log10_delta: float) -> float:
    """Round log10 δ to a short number if it equals it up to rounding. The certificate does not depend on it."""
    short = round(log10_delta, 9)
    return short if math.isclose(log10_delta, short, rel_tol=1e-14) else log10_delta


def _bounded(epsilon: float) -> float:
    """Clip ε to the range of the search."""
    return min(max(epsilon, math.exp(-_EPSILONS[1])), math.exp(-_EPSILONS[0]))


def _refused(state: LedgerState, spec: Spec, place: ChargeTarget) -> bool:
    """Return whether the ledger rejects the same run with slightly less noise."""
    less = map_noise(spec, lambda noise: noise * (1.0 - SLACK))
    if less == spec:
        return False
    try:
        reserved(state, less, place)
    except NoCertificate:
        return True
    return False


def _exhausted(state: LedgerState, last: tuple[object, Spec] | None, place: ChargeTarget) -> NoCertificate:
    """Return the ledger's own error for the largest noise that was tried."""
    if last is not None:
        try:
            reserved(state, last[1], place)
        except ConditionViolated as refused:
            return refused
        except NoCertificate as refused:
            return LedgerExhausted(refused.message, refused.condition, refused.nearest)
    sides = ConditionResult("noise-offered", "the noise that is needed is offered", Verdict.NO)
    return LedgerExhausted("No noise that is offered makes the run fit into what is left.", sides)
