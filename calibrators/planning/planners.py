"""The calibrators that take part in plans. The slowest are last, so that a deadline cuts off few."""

from __future__ import annotations

from collections.abc import Iterable

from epsilond.calibrators import CALIBRATORS
from epsilond.calibrators.calibration import Calibrator


def order_calibrators(calibrators: Iterable[Calibrator]) -> tuple[Calibrator, ...]:
    """Return the calibrators that have an adapter, in the order in which a plan starts them."""
    planners = [calibrator for calibrator in calibrators if calibrator.plans]
    return tuple(sorted(planners, key=lambda calibrator: calibrator.plan_place))


PLANNERS = order_calibrators(CALIBRATORS)
