"""The routes. Each module adds its own to the application, from the lists if there are any."""

from __future__ import annotations

from fastapi import FastAPI

from epsilond.accountants.theorem import Theorem
from epsilond.app.questions.readings import POSTED
from epsilond.app.routes import api_keys, calibrations, health, plans, questions, risk_bounds, theorems
from epsilond.app.routes.jobs import jobs
from epsilond.app.routes.pages import docs, explorer, guide, problems
from epsilond.calibrators.calibration import Calibrator
from epsilond.calibrators.planning.planners import order_calibrators
from epsilond.ledgers.http import router as ledgers


def add(
    app: FastAPI,
    calibrators: tuple[Calibrator, ...],
    theorem_list: tuple[Theorem, ...],
    theorem_home: str,
) -> None:
    """Add the routes of the service, except the route of simulations and of their figures.

    Routes are matched in order, so those with the most requests come first.

    Args:
        app: the application, which is changed.
        calibrators: calibrators of the service.
        theorem_list: theorems of the service.
        theorem_home: module with the list of theorems, from which workers read them.
    """
    served = {calibrator.name for calibrator in calibrators}
    most_frequent, *less_frequent = POSTED
    # Questions about privacy and risk.
    calibrations.add(app, calibrators)
    questions.add(app, most_frequent)
    risk_bounds.add(app, served)
    plans.add(app, order_calibrators(calibrators))
    for posted in less_frequent:
        questions.add(app, posted)
    # Jobs, ledgers and the operation of the service.
    jobs.add(app)
    ledgers.add(app)
    health.add(app)
    api_keys.add(app)
    # Lists and pages to read.
    theorems.add(app, theorem_list, theorem_home)
    problems.add(app)
    docs.add(app)
    guide.add(app)
    explorer.add(app)
