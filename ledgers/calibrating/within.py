"""Least noise with which an algorithm's run fits into the rest of a ledger, certified by the ledger's own rule.

Every calibrator maps a target to a noise, and the noise to the spec that is run: a smaller ε needs more noise. Here ε
is searched at the ledger's δ for the run that takes the rest. The search is first approximate, from privacy profiles at
a few points. Then the ledger's own reservation is tried on the resulting spec, with a slightly smaller ε until it is
made. So the calibrators do not depend on ledgers, and the guarantee of the answer is the calibrator's own.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

from epsilond.accountants.attempts import ConditionResult
from epsilond.accountants.errors import (
    ConditionViolated,
    LedgerExhausted,
    NoCertificate,
)
from epsilond.accountants.json_types import JsonObject
from epsilond.accountants.specs import Spec
from epsilond.accountants.target import ASSUMED_DELTA
from epsilond.accountants.verdict import Verdict
from epsilond.calibrators import CALIBRATORS
from epsilond.calibrators.answer import Calibration
from epsilond.calibrators.calibration import Calibrator
from epsilond.calibrators.parameter_search import crossing
from epsilond.ledgers.calibrating.by_noise import near_strictness
from epsilond.ledgers.calibrating.compartment import (
    ChargeTarget,
    Compartment,
    compartment_of,
    reserve_trial,
)
from epsilond.ledgers.calibrating.runs import CalibratedRuns, least_accepted
from epsilond.ledgers.calibrating.setting import request_fields, require_possible
from epsilond.ledgers.mathematics.checks.readiness import require_consistent
from epsilond.ledgers.mathematics.searches.noise_multipliers import map_noise
from epsilond.ledgers.mathematics.state import LedgerState, Reservation
from epsilond.reading import read
from epsilond.spelling import choose_by_name

WIDTH = 2e-5
"""Tolerance of log ε at which the search ends."""
SLACK = 1e-3
"""Share by which the noise is lowered to check that the ledger then rejects the run."""
_STRICTNESS_RANGE = (-math.log(1e6), -math.log(1e-9))
"""Bounds of −log ε in the search."""


@dataclass(frozen=True, kw_only=True)
class Within:
    """A run of an algorithm with the least noise that the remaining privacy budget of a ledger allows.

    Attributes:
        algorithm: name of the algorithm.
        request: request for the calibration of the run, with its ε and δ.
        spec: mechanism of the run, for which the ledger is charged.
        held: the reservation that the ledger would make for the run. Nothing was reserved.
        slack: fraction of the noise by which it cannot be lowered, because the ledger then rejects the run. None if
            this was not shown.
    """

    algorithm: str
    request: object
    spec: Spec
    held: Reservation
    slack: float | None


def calibrate_within(state: LedgerState, algorithm: str, given: JsonObject, charge_target: ChargeTarget) -> Within:
    """Find the least noise with which a run of an algorithm fits the remaining privacy budget of a ledger.

    The target ε of the run is varied until the ledger can just pay for the run. Nothing is reserved.

    Args:
        state: the ledger.
        algorithm: name of the algorithm.
        given: fields of the calibration, without the target and without relation, unit and observer.
        charge_target: the part of the budget that pays: a slot, or an item of the ledger's plan.

    Returns:
        The calibrated run, with its cost in the ledger.

    Raises:
        InvalidInput: there is no such algorithm, or a field is not valid or is determined by the ledger.
        ConditionViolated: the algorithm has no guarantee for the ledger's relation, unit and observer.
        LedgerExhausted: at no noise does the remaining budget pay for the run.
        RunDiffers: a run was observed to differ from the mechanism that the ledger paid for.
    """
    chosen = _choose_calibrator(algorithm)
    fields = request_fields(chosen, given, state.setting)

    def problem(epsilon: float, log10_delta: float) -> object:
        """Return the request for a calibration at the target (ε, log10 δ) of one run."""
        return read(chosen.problem, {**fields, "epsilon": epsilon, "log10_delta": log10_delta})

    return within(state, chosen, problem, charge_target)


def calibrate_and_solve(
    state: LedgerState, algorithm: str, given: JsonObject, charge_target: ChargeTarget
) -> tuple[Within, Calibration]:
    """Find the least noise with which a run fits the remaining budget of a ledger, and compute the full calibration.

    Errors are those of `calibrate_within`.

    Args:
        state: the ledger.
        algorithm: name of the algorithm.
        given: fields of the calibration, without the target and without relation, unit and observer.
        charge_target: the part of the budget that pays: a slot, or an item of the ledger's plan.

    Returns:
        The result for the ledger, and the answer of the algorithm's calibrator to its request.
    """
    result = calibrate_within(state, algorithm, given, charge_target)
    calibration = _choose_calibrator(algorithm).solve(result.request)
    return result, calibration


def _choose_calibrator(algorithm: str) -> Calibrator:
    """Return the calibrator of an algorithm. Raise `InvalidInput` if there is no algorithm of this name."""
    by_name = {calibrator.name: calibrator for calibrator in CALIBRATORS}
    return choose_by_name(algorithm, by_name, at="/algorithm", noun="algorithm")


def within(
    state: LedgerState, calibrator: Calibrator, problem: Callable[[float, float], object], charge_target: ChargeTarget
) -> Within:
    """Find the least noise with which a run fits the remaining budget of a ledger.

    A calibrator finds the least noise for a given ε. So ε is searched, at a fixed δ, until the ledger just accepts the
    run. A larger ε needs less noise and costs more of the budget.

    Args:
        state: the ledger.
        calibrator: finds the least noise of one run for a given ε and δ.
        problem: function of ε and log10 δ that returns the request for the calibration of a run.
        charge_target: the part of the budget that pays: a slot, or an item of the ledger's plan.

    Returns:
        The run with its request and the reservation that would be made. `slack` is None unless the ledger was found to
        reject slightly less noise.

    Raises:
        InvalidInput, ConditionViolated, LedgerExhausted, RunDiffers: see `calibrate_within`.
    """
    require_consistent(state)
    compartment = compartment_of(state, charge_target)

    log_delta = state.target.log_delta
    if state.target.epsilon == 0.0:
        # The δ of a target at ε = 0 may be so large that ε is 0 at much noise. A smaller δ makes ε a measure of noise.
        log_delta = min(log_delta, math.log(ASSUMED_DELTA))
    if calibrator.knob != "noise_multiplier":
        # The calibrator chooses noise of bounded support. It has a positive δ at every ε, which the run pays for.
        log_delta = compartment.log_delta(log_delta)
    log10_delta = _round_if_close(log_delta / math.log(10.0))

    # The kind of guarantee does not depend on ε, so an estimate is enough to check it.
    estimate = _limit_epsilon(compartment.estimate_epsilon(log_delta))
    definition = calibrator.definition(problem(estimate, log10_delta))
    require_possible(calibrator.name, definition, state.setting)

    runs = CalibratedRuns(state, calibrator, problem, compartment, log10_delta)
    strictness, reservation = _find_strictness(runs, state, compartment, -math.log(estimate))
    run = runs.run_at(strictness)
    assert run is not None  # the reservation is for this run
    request, spec = run
    slack = SLACK if _is_rejected(state, spec, compartment.charge_target) else None
    return Within(algorithm=calibrator.name, request=request, spec=spec, held=reservation, slack=slack)


def _find_strictness(
    runs: CalibratedRuns, state: LedgerState, compartment: Compartment, start: float
) -> tuple[float, Reservation]:
    """Find nearly the largest ε for which a calibrated run fits the remaining budget of a ledger.

    A calibrator maps a target ε to a run with the least noise for it. The search is over −log ε, the strictness of the
    run: a stricter run has more noise and costs less. An estimate comes first: `near_strictness` compares noises. If
    that fails, `crossing` finds where the run is estimated to take the whole remaining budget. Reservations on trial
    near the estimate then decide.

    Args:
        runs: the calibrated runs, which are computed for each strictness that is tried.
        state: the ledger.
        compartment: part of the budget that pays: an item of the plan, or a slot for other runs.
        start: strictness at which the estimate starts.

    Returns:
        A strictness −log ε, nearly the smallest that is accepted, and the reservation that the ledger would make for
        the run.

    Raises:
        ConditionViolated: no charge is proved for the run in this ledger.
        LedgerExhausted: at no noise does the remaining budget pay for the run.
    """
    estimate = near_strictness(runs.spec_at, compartment.excess, least_accepted, runs.reserve, start)
    if estimate is None:
        estimate = crossing(runs.excess_at, start, _STRICTNESS_RANGE, WIDTH)
    if estimate is None:
        _, largest_strictness = _STRICTNESS_RANGE
        raise _rejection_error(state, runs.run_at(largest_strictness), compartment.charge_target)
    best = least_accepted(runs.reserve_at, estimate)
    if best is None:
        raise _rejection_error(state, runs.run_at(estimate), compartment.charge_target)
    return best


def _round_if_close(log10_delta: float) -> float:
    """Round log10 δ to 9 decimal places if that changes it by no more than rounding errors.

    The run is calibrated for the rounded value, so it is certified. In the answer it is easier to read.

    Args:
        log10_delta: logarithm of δ to base 10.

    Returns:
        The rounded value if it is close enough; otherwise the given value.
    """
    rounded = round(log10_delta, 9)
    if math.isclose(log10_delta, rounded, rel_tol=1e-14):
        return rounded
    return log10_delta


def _limit_epsilon(epsilon: float) -> float:
    """Limit ε to the range in which noise is searched, from 10⁻⁹ to 10⁶; `_STRICTNESS_RANGE` has its −log ε.

    Args:
        epsilon: ε in nats, at least 0 or infinite.

    Returns:
        The nearest ε in this range.
    """
    least_strictness, largest_strictness = _STRICTNESS_RANGE
    smallest_epsilon = math.exp(-largest_strictness)
    largest_epsilon = math.exp(-least_strictness)
    return min(max(epsilon, smallest_epsilon), largest_epsilon)


def _is_rejected(state: LedgerState, spec: Spec, charge_target: ChargeTarget) -> bool:
    """Return whether a ledger rejects a run if its noise is lowered by the fraction `SLACK`.

    If it does, the noise of the run is within this fraction of the least noise that fits.

    Args:
        state: the ledger.
        spec: the run.
        charge_target: the slot (a budget) or planned item that would pay.

    Returns:
        True if the ledger rejects less noise. False also for a mechanism without a noise multiplier that can be
        lowered.
    """
    with_less_noise = map_noise(spec, lambda noise: noise * (1.0 - SLACK))
    if with_less_noise == spec:
        return False
    try:
        reserve_trial(state, with_less_noise, charge_target)
    except NoCertificate:
        return True
    return False


def _rejection_error(
    state: LedgerState, rejected_run: tuple[object, Spec] | None, charge_target: ChargeTarget
) -> NoCertificate:
    """Return the error for the case that a run fits the remaining budget of a ledger at no noise that was tried.

    A rejected run is tried once more, because the error of the ledger says which amount is too small.

    Args:
        state: the ledger.
        rejected_run: request and mechanism of a rejected run; None if no noise meets the target.
        charge_target: slot (a budget) or planned item that is charged.

    Returns:
        The error of the ledger if it rejects the run. Otherwise the error that no noise in the range fits.
    """
    if rejected_run is not None:
        _, spec = rejected_run
        try:
            reserve_trial(state, spec, charge_target)
        except ConditionViolated as error:
            return error
        except NoCertificate as error:
            return LedgerExhausted(error.message, error.condition, error.nearest)
    sides = ConditionResult("noise-offered", "the noise that is needed is offered", Verdict.NO)
    return LedgerExhausted("No noise in range makes the run fit into the remaining budget.", sides)
