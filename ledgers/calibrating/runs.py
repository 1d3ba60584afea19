"""Runs of an algorithm that were calibrated to a target, and the least strict target that a ledger accepts."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable

from epsilond.accountants.errors import BeyondBudget, Infeasible, LedgerExhausted, NotInPlan
from epsilond.accountants.specs import Spec
from epsilond.calibrators.calibration import Calibrator
from epsilond.ledgers.calibrating.compartment import UNKNOWN_EXCESS, Compartment, reserve_trial
from epsilond.ledgers.calibrating.setting import require_one
from epsilond.ledgers.mathematics.state import LedgerState, Reservation

CLOSE = 1e-4
"""Largest difference in log ε between the answer and a run that the ledger rejects."""
BACKS = 15
"""Largest number of steps back from a rejected run, each twice as long."""
REMEMBERED = 64
"""Largest number of runs whose results a search keeps."""


class CalibratedRuns:
    """Runs of one algorithm, each with the least noise that meets a target (ε, δ).

    A run is identified by the strictness of its target, −log ε. A stricter run has more noise, and takes less of the
    ledger's budget.

    Attributes:
        run_at: function that returns the problem and the mechanism at a strictness; None if no permitted noise meets
            the target.
        excess_at: function that estimates by how much the run at a strictness exceeds the free budget. Its value is at
            most 0 if the run fits, or if there is none.
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
            compartment: the slot or the planned item, a part of the ledger's budget, that pays.
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
        """Find the least noise that meets the target ε = e^−strictness. `run_at` caches the results.

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
        """Estimate by how much a run that is calibrated for a target ε exceeds the budget that is left.

        `excess_at` stores the results.

        Args:
            strictness: −log ε, which increases with the noise of the run.

        Returns:
            A number above 0 if the run does not fit. At most 0 if it fits, or if no permitted noise meets the target.
        """
        spec = self.spec_at(strictness)
        if spec is None:  # the target is too strict, so a larger ε is tried
            return -UNKNOWN_EXCESS
        return self._compartment.excess(spec)

    def spec_at(self, strictness: float) -> Spec | None:
        """Return the mechanism of the run at a strictness.

        Args:
            strictness: −log ε of the target of the run.

        Returns:
            The description of the mechanism; None if no permitted noise meets the target.
        """
        result = self.run_at(strictness)
        if result is None:
            return None
        _, spec = result
        return spec

    def reserve(self, spec: Spec) -> Reservation | None:
        """Return the reservation that the ledger would make for a run, without changing the ledger.

        Args:
            spec: description of the run: a mechanism with its noise.

        Returns:
            The reservation; None if the ledger has no room for the run.

        Raises:
            NoCertificate: the ledger rejects the run for another reason, such as a mechanism without a proved charge.
        """
        try:
            return reserve_trial(self._state, spec, self._compartment.charge_target)
        except (LedgerExhausted, NotInPlan):
            return None

    def reserve_at(self, strictness: float) -> Reservation | None:
        """Return the reservation that the ledger would make for the run that is calibrated for a target ε.

        Args:
            strictness: −log ε, which increases with the noise of the run.

        Returns:
            The reservation; None if no noise meets the target, or if the budget that is left does not pay for the run.
        """
        spec = self.spec_at(strictness)
        if spec is None:
            return None
        return self.reserve(spec)


def least_accepted(reserve_at: Callable[[float], Reservation | None], start: float) -> tuple[float, Reservation] | None:
    """Find nearly the least strictness, −log ε of the target, at which a ledger accepts a calibrated run.

    It is raised in growing steps until a run is accepted, and then bisected to within `CLOSE`.

    Args:
        reserve_at: returns the reservation at a strictness, or None if it is rejected.
        start: smallest strictness that is tried.

    Returns:
        The strictness and its reservation. None if no strictness that was tried has one.
    """
    reservation = reserve_at(start)
    if reservation is not None:
        return start, reservation
    bracket = _first_accepted(reserve_at, start)
    if bracket is None:
        return None
    rejected, accepted, reservation_at_accepted = bracket
    while accepted - rejected > CLOSE:
        middle = 0.5 * (rejected + accepted)
        reservation = reserve_at(middle)
        if reservation is None:
            rejected = middle
        else:
            accepted = middle
            reservation_at_accepted = reservation
    return accepted, reservation_at_accepted


def _first_accepted(
    reserve_at: Callable[[float], Reservation | None], start: float
) -> tuple[float, float, Reservation] | None:
    """Raise the strictness, −log ε of the target, in growing steps until a ledger accepts the calibrated run.

    The step is doubled after each of at most `BACKS` rejections.

    Args:
        reserve_at: returns the reservation at a strictness, or None if it is rejected.
        start: strictness that is rejected.

    Returns:
        The last rejected strictness, the first accepted one, and its reservation. None if all steps are rejected.
    """
    rejected = start
    step = CLOSE
    for _ in range(BACKS):
        reservation = reserve_at(rejected + step)
        if reservation is not None:
            return rejected, rejected + step, reservation
        rejected = rejected + step
        step = 2.0 * step
    return None
