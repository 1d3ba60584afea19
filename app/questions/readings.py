"""Functions that read the bodies of each kind of question. They can be called in any process of the service."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial

from epsilond.accountants.theorem import Theorem
from epsilond.app.questions import plans
from epsilond.app.questions.accounts import ACCOUNT
from epsilond.app.questions.calibrations import read_calibration, read_sweep
from epsilond.app.questions.evaluations import read_evaluation
from epsilond.app.questions.question import Posted, Reading
from epsilond.app.questions.reports import REPORT
from epsilond.app.questions.risk_bounds import read_risk_bounds
from epsilond.calibrators.calibration import Calibrator
from epsilond.calibrators.planning.planners import order_calibrators
from epsilond.calibrators.risk.bounder import RISK_BOUNDS

POSTED: tuple[Posted, ...] = (
    ACCOUNT,
    REPORT,
)
"""Kinds of question with a path of their own. The most frequent kind is first, so that its route is first too."""


class Readings:
    """The functions by which one service reads request bodies, by kind and name of the question.

    A question is a request for a computation. Its kind is "calibration", "plan", "account" and so on. Its name is, for
    example, that of the algorithm to calibrate.
    """

    def __init__(self, calibrators: tuple[Calibrator, ...], theorems: tuple[Theorem, ...], theorem_home: str) -> None:
        """Prepare the functions that read request bodies, for the algorithms and theorems of one service.

        Args:
            calibrators: the calibrators of the service.
            theorems: the theorems of the service; only those with a formula can be evaluated.
            theorem_home: name of the module with the list of theorems, from which workers import them.
        """
        # Modules from which workers import the calibrators, by name of the algorithm.
        self._homes: Mapping[str, str] = {calibrator.name: calibrator.home for calibrator in calibrators}
        self._planners = order_calibrators(calibrators)
        # Names of the served algorithms with risk bounds, and of the theorems with a formula.
        self._bounded = {bounder.name for bounder in RISK_BOUNDS} & self._homes.keys()
        self._theorems = {
            theorem.id for theorem in theorems if theorem.formula is not None and theorem.inputs is not None
        }
        self._theorem_home = theorem_home

    def __call__(self, kind: str, name: str) -> Reading | None:
        """Return the function that reads the bodies of questions of one kind and name.

        Stored jobs need it, because they have only the kind, the name and the body of their question.

        Args:
            kind: kind of the question, such as "calibration".
            name: name of the question among those of its kind.

        Returns:
            A function from a request body to its `Question`; None if the service does not answer such questions.
        """
        if kind == "calibration" and name in self._homes:
            return partial(read_calibration, self._homes[name], name)
        if kind == "sweep" and name in self._homes:
            return partial(read_sweep, self._homes[name], name)
        if kind == "risk-bounds" and name in self._bounded:
            return partial(read_risk_bounds, name)
        if kind == "evaluation" and name in self._theorems:
            return partial(read_evaluation, self._theorem_home, name)
        if kind == "plan" and self._planners:
            return partial(plans.read_plan, self._planners)
        return next((posted.read for posted in POSTED if posted.kind == kind), None)
