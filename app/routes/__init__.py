"""The routes. Each module adds its own to the application, from the lists where there is one."""

from __future__ import annotations

from fastapi import FastAPI

from epsilond.accountants.theorem import Theorem
from epsilond.app.routes import (
    accounts,
    api_keys,
    calibrations,
    docs,
    explorer,
    guide,
    health,
    jobs,
    ledgers,
    log,
    plans,
    problems,
    reports,
    reservations,
    risk_bounds,
    theorems,
)
from epsilond.calibrators.calibration import Calibrator
from epsilond.calibrators.planning.planners import in_order


def add(
    app: FastAPI,
    calibrators: tuple[Calibrator, ...],
    theorem_list: tuple[Theorem, ...],
) -> None:
    """Add every route; those asked most come first, for they are matched in order."""
    served = {calibrator.name for calibrator in calibrators}
    calibrations.add(app, calibrators)
    accounts.add(app)
    risk_bounds.add(app, served)
    plans.add(app, in_order(calibrators))
    reports.add(app)
    jobs.add(app)
    ledgers.add(app)
    reservations.add(app)
    log.add(app)
    health.add(app)
    api_keys.add(app)
    theorems.add(app, theorem_list)
    problems.add(app)
    docs.add(app)
    guide.add(app)
    explorer.add(app)
