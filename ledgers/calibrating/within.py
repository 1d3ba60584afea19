"""Least noise with which an algorithm's run fits into the rest of a ledger, certified by the ledger's own rule.

Every calibrator maps a target to a noise, and the noise to the spec that is run: a smaller ε needs more noise. Here ε
is searched at the ledger's δ for the run that takes the rest. The search is first approximate, from privacy profiles at
a few points. Then the ledger's own reservation is tried on the resulting spec, with a slightly smaller ε until it is
made. So the calibrators do not depend on ledgers, and the guarantee of the answer is the calibrator's own.
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
from epsilond.accountants.target import ASSUMED_DELTA
from epsilond.accountants.verdict import Verdict
from epsilond.calibrators import CALIBRATORS
from epsilond.calibrators.answer import Calibration
from epsilond.calibrators.calibration import Calibrator
from epsilond.calibrators.parameter_search import crossing
from epsilond.ledgers.calibrating.by_noise import near_strictness
from epsilond.ledgers.calibrating.compartment import (
    UNKNOWN_EXCESS,
    ChargeTarget,
    Compartment,
    compartment_of,
    reserve_trial,
)
from epsilond.ledgers.calibrating.setting import request_fields, require_one, require_possible
from epsilond.ledgers.mathematics.checks.readiness import require_consistent
from epsilond.ledgers.mathematics.searches.noise_multipliers import map_noise
from epsilond.ledgers.mathematics.state import LedgerState, Reservation
from epsilond.reading import read
from epsilond.spelling import choose_by_name

WIDTH = 2e-5
"""Tolerance of log ε at which the search ends."""
CLOSE = 1e-4
"""Largest difference in log ε between the answer and a run that the ledger rejects."""
BACKS = 15
"""Largest number of steps back from a rejected run, each twice as long."""
SLACK = 1e-3
"""Share by which the noise is lowered to check that the ledger then rejects the run."""
REMEMBERED = 64
"""Largest number of runs whose results a search keeps."""
_EPSILONS = (-math.log(1e6), -math.log(1e-9))
"""Bounds of −log ε in the search."""


@dataclass(frozen=True, kw_only=True)
class Within:
    """A run of an algorithm with the least noise that the remaining privacy budget of a ledger allows.

    Attributes:
        algorithm: name of the algorithm.
        request: the calibrator's problem, with ε and δ, whose answer is the calibration.
        spec: the run as the ledger is charged for it.
        held: the reservation that the ledger would make for it; nothing was reserved.
        slack: a fraction: the ledger rejects the run if its noise is lowered by it. None if that is not known.
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
        given: fields of the calibration, without target and setting.
        charge_target: the part of the budget that pays: a slot, or an item of the ledger's plan.

    Raises:
        InvalidInput: there is no such algorithm, or a field is not valid or is determined by the ledger.
        ConditionViolated: the algorithm has no guarantee for the ledger's relation, unit and observer.
        LedgerExhausted: at no noise does the remaining budget pay for the run.
        RunDiffers: a run was observed to differ from the mechanism that the ledger paid for.
    """
    chosen = choose_by_name(
        algorithm, {calibrator.name: calibrator for calibrator in CALIBRATORS}, at="/algorithm", noun="algorithm"
    )
    fields = request_fields(chosen, given, state.setting)

    def problem(epsilon: float, log10_delta: float) -> object:
        return read(chosen.problem, {**fields, "epsilon": epsilon, "log10_delta": log10_delta})

    return within(state, chosen, problem, charge_target)


def calibrate_and_solve(
    state: LedgerState, algorithm: str, given: JsonObject, charge_target: ChargeTarget
) -> tuple[Within, Calibration]:
    """Find the least noise with which a run fits the remaining privacy budget of a ledger, with the whole calibration.

    Errors are those of `calibrate_within`.

    Args:
        state: the ledger.
        algorithm: name of the algorithm.
        given: fields of the calibration, without target and setting.
        charge_target: the part of the budget that pays: a slot, or an item of the ledger's plan.

    Returns:
        The result for the ledger, and the answer of the algorithm's calibrator to its request.
    """
    result = calibrate_within(state, algorithm, given, charge_target)
    chosen = choose_by_name(
        algorithm, {calibrator.name: calibrator for calibrator in CALIBRATORS}, at="/algorithm", noun="algorithm"
    )
    return result, chosen.solve(result.request)


def within(
    state: LedgerState, calibrator: Calibrator, problem: Callable[[float, float], object], charge_target: ChargeTarget
) -> Within:
    """Find the least noise with which a run fits the remaining budget of a ledger.

    Args:
        state: the ledger.
        calibrator: finds the least noise of one run for a given ε and δ.
        problem: returns the calibrator's problem at ε and log10 δ of that run.
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
    if state.target.epsilon == 0.0:  # δ at ε = 0 is no δ at which a run has a positive ε for every noise
        log_delta = min(log_delta, math.log(ASSUMED_DELTA))
    if calibrator.knob != "noise_multiplier":  # noise of bounded support, with its own δ
        log_delta = compartment.log_delta(log_delta)
    log10_delta = _short(log_delta / math.log(10.0))
    estimate = _clip(compartment.estimate_epsilon(log_delta))
    require_possible(calibrator.name, calibrator.definition(problem(estimate, log10_delta)), state.setting)
    runs = _CalibratedRuns(state, calibrator, problem, compartment, log10_delta)
    strictness, reservation = _find_strictness(runs, state, compartment, -math.log(estimate))
    run = runs.run_at(strictness)
    assert run is not None  # the reservation was made of it
    request, spec = run
    slack = SLACK if _is_rejected(state, spec, compartment.charge_target) else None
    return Within(algorithm=calibrator.name, request=request, spec=spec, held=reservation, slack=slack)


def _find_strictness(
    runs: _CalibratedRuns, state: LedgerState, compartment: Compartment, start: float
) -> tuple[float, Reservation]:
    """Find nearly the largest target ε with which a calibrated run fits a ledger, as the strictness −log ε.

    The start of the search is estimated by noise (see `near_strictness`). If that fails, it is the strictness at which
    the run is estimated to take the whole rest of the budget.

    Args:
        runs: the runs by their strictness.
        state: the ledger.
        compartment: slot or item that pays.
        start: strictness at which the estimate starts.

    Returns:
        The strictness, and the reservation that the ledger would make.

    Raises:
        ConditionViolated: no charge is proved for the run in this ledger.
        LedgerExhausted: at no noise does the remaining budget pay for the run.
    """
    estimate = near_strictness(runs.spec_at, compartment.excess, _least, runs.reserve, start)
    if estimate is None:
        estimate = crossing(runs.excess_at, start, _EPSILONS, WIDTH)
    if estimate is None:
        raise _rejection(state, runs.run_at(_EPSILONS[1]), compartment.charge_target)
    best = _least(runs.reserve_at, estimate)
    if best is None:
        raise _rejection(state, runs.run_at(estimate), compartment.charge_target)
    return best


class _CalibratedRuns:
    """Runs of one algorithm, each with the least noise that meets a target (ε, δ).

    They are found by −log ε, the strictness. A stricter run has more noise, and takes less of the ledger's budget.

    Attributes:
        run_at: function that returns the problem and the mechanism at a strictness; None if no permitted noise meets
            the target.
        excess_at: function that estimates by how much the run at a strictness exceeds the free budget; at most 0 if it
            fits, or if there is no such run.
    """

    def __init__(
        self,
        state: LedgerState,
        calibrator: Calibrator,
        problem: Callable[[float, float], object],
        compartment: Compartment,
        log10_delta: float,
    ) -> None:
        """Prepare runs of an algorithm at different targets ε and one δ. Nothing is computed yet.

        Args:
            state: the ledger.
            calibrator: calibrator of the problems.
            problem: returns the calibrator's problem at (ε, log10 δ).
            compartment: part of the ledger's budget that pays.
            log10_delta: log10 δ of the target of all runs.
        """
        self._state = state
        self._calibrator = calibrator
        self._problem = problem
        self._compartment = compartment
        self._log10_delta = log10_delta
        self.run_at = functools.lru_cache(maxsize=REMEMBERED)(self._run_at)
        self.excess_at = functools.lru_cache(maxsize=REMEMBERED)(self._excess_at)

    def _run_at(self, strictness: float) -> tuple[object, Spec] | None:
        """Find the least noise that meets the target ε = e^−strictness. `run_at` keeps the results.

        Args:
            strictness: −log ε of the target of the run. A larger value requires more noise.

        Returns:
            The calibrator's problem and the mechanism. None if no permitted noise meets the target.
        """
        request = self._problem(math.exp(-strictness), self._log10_delta)
        try:
            certified = self._calibrator.certify(request)
            return request, require_one(self._calibrator.name, self._calibrator.specs(certified))
        except (Infeasible, BeyondBudget):
            return None

    def _excess_at(self, strictness: float) -> float:
        """Estimate by how much the run at a strictness exceeds the free budget. `excess_at` keeps the results."""
        spec = self.spec_at(strictness)
        return -UNKNOWN_EXCESS if spec is None else self._compartment.excess(spec)

    def spec_at(self, strictness: float) -> Spec | None:
        """Return the mechanism at a strictness; None if there is none."""
        result = self.run_at(strictness)
        return None if result is None else result[1]

    def reserve(self, spec: Spec) -> Reservation | None:
        """Return the reservation that the ledger would make for a run; None if it has no room for the run.

        The ledger is not changed.

        Args:
            spec: description of the run: a mechanism with its noise.

        Raises:
            NoCertificate: the ledger rejects the run for another reason, such as a mechanism without a proved charge.
        """
        try:
            return reserve_trial(self._state, spec, self._compartment.charge_target)
        except (LedgerExhausted, NotInPlan):
            return None

    def reserve_at(self, strictness: float) -> Reservation | None:
        """Return the reservation of the run at a strictness; None if there is no run, or no room for it."""
        spec = self.spec_at(strictness)
        return None if spec is None else self.reserve(spec)


def _least(reserve_at: Callable[[float], Reservation | None], start: float) -> tuple[float, Reservation] | None:
    """Find nearly the least strictness at which a ledger accepts a calibrated run.

    The strictness is −log ε of its target. It is raised in steps from the start until a run is accepted, and then
    bisected to within `CLOSE`.

    Args:
        reserve_at: returns the reservation at a strictness, or None if it is rejected.
        start: smallest strictness that is tried.

    Returns:
        The strictness and its reservation. None if no strictness that was tried has one.
    """
    reservation = reserve_at(start)
    if reservation is not None:
        return start, reservation
    first = _first_accepted(reserve_at, start)
    if first is None:
        return None
    # Bisect between a rejected and an accepted strictness, and keep the reservation of the accepted one.
    rejected, accepted, best = first
    while accepted - rejected > CLOSE:
        middle = 0.5 * (rejected + accepted)
        reservation = reserve_at(middle)
        if reservation is None:
            rejected = middle
        else:
            accepted, best = middle, reservation
    return accepted, best


def _first_accepted(
    reserve_at: Callable[[float], Reservation | None], start: float
) -> tuple[float, float, Reservation] | None:
    """Raise the strictness −log ε of a calibrated run until a ledger accepts it, in at most `BACKS` steps that double.

    Args:
        reserve_at: returns the reservation at a strictness, or None if it is rejected.
        start: strictness that is rejected.

    Returns:
        The last rejected strictness, the first accepted one, and its reservation. None if no step is accepted.
    """
    rejected, step = start, CLOSE
    for _ in range(BACKS):
        reservation = reserve_at(rejected + step)
        if reservation is not None:
            return rejected, rejected + step, reservation
        rejected, step = rejected + step, 2.0 * step
    return None


def _short(log10_delta: float) -> float:
    """Round log10 δ to 9 digits if that changes it by no more than rounding errors.

    The run is calibrated for this δ, so the certificate holds for either value. A round value reads better in the
    answer.
    """
    short = round(log10_delta, 9)
    return short if math.isclose(log10_delta, short, rel_tol=1e-14) else log10_delta


def _clip(epsilon: float) -> float:
    """Limit ε to the range in which the search for the noise takes place."""
    return min(max(epsilon, math.exp(-_EPSILONS[1])), math.exp(-_EPSILONS[0]))


def _is_rejected(state: LedgerState, spec: Spec, charge_target: ChargeTarget) -> bool:
    """Check that a run is tight: return whether the ledger rejects it with its noise lowered by the share `SLACK`.

    The result is False for a spec without noise, because nothing can be lowered.

    If it does, the noise of the run is within that share of the least noise that fits.

    Args:
        state: the ledger.
        spec: the run.
        charge_target: the slot or item that would pay.
    """
    with_less_noise = map_noise(spec, lambda noise: noise * (1.0 - SLACK))
    if with_less_noise == spec:
        return False
    try:
        reserve_trial(state, with_less_noise, charge_target)
    except NoCertificate:
        return True
    return False


def _rejection(state: LedgerState, last: tuple[object, Spec] | None, charge_target: ChargeTarget) -> NoCertificate:
    """Return the error to raise if no noise that was tried makes a run fit the ledger.

    The rejected run is tried once more, because the error of the ledger says which amount is too small.

    Args:
        state: the ledger.
        last: problem and mechanism of a rejected run, whose error is reported; None if no noise meets the target.
        charge_target: slot or item that is charged.
    """
    if last is not None:
        try:
            reserve_trial(state, last[1], charge_target)
        except ConditionViolated as error:
            return error
        except NoCertificate as error:
            return LedgerExhausted(error.message, error.condition, error.nearest)
    sides = ConditionResult("noise-offered", "the noise that is needed is offered", Verdict.NO)
    return LedgerExhausted("No noise in range makes the run fit into the remaining budget.", sides)
