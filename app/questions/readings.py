"""How the body of each kind of question is read: by a partial that any process of ours can call."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial

from epsilond.accountants.theorem import Theorem
from epsilond.app.questions import accounts, plans, reports
from epsilond.app.questions.calibrations import of_calibrator, read_calibration
from epsilond.app.questions.evaluations import of_formula, read_evaluation
from epsilond.app.questions.question import Reading
from epsilond.app.questions.risk_bounds import of_bounder, read_risk_bounds
from epsilond.calibrators.calibration import Calibrator
from epsilond.calibrators.planning.planners import in_order
from epsilond.calibrators.risk.bounders import RISK_BOUNDS


class Readings:
    """Those of one service, over its lists."""

    def __init__(self, calibrators: tuple[Calibrator, ...], theorems: tuple[Theorem, ...], theorem_home: str) -> None:
        self._homes: Mapping[str, str] = {calibrator.name: calibrator.home for calibrator in calibrators}
        self._planners = in_order(calibrators)
        self._bounded = {bounder.name for bounder in RISK_BOUNDS} & self._homes.keys()
        self._theorems = {
            theorem.id for theorem in theorems if theorem.formula is not None and theorem.inputs is not None
        }
        self._theorem_home = theorem_home

    def prepare(self) -> None:
        """Make the validators of every kind now, so that nobody who asks has to wait for them."""
        validators = [accounts.VALIDATED, plans.VALIDATED, reports.VALIDATED]
        validators += [of_calibrator(home, name)[2] for name, home in self._homes.items()]
        validators += [of_bounder(name)[1] for name in sorted(self._bounded)]
        validators += [of_formula(self._theorem_home, name) for name in sorted(self._theorems)]
        for validator in validators:
            validator.prepare()

    def __call__(self, kind: str, name: str) -> Reading | None:
        """How a body of this kind and name is read; None where this service has no such questions."""
        if kind in ("calibration", "sweep") and name in self._homes:
            return partial(read_calibration, self._homes[name], name)
        if kind == "risk-bounds" and name in self._bounded:
            return partial(read_risk_bounds, name)
        if kind == "evaluation" and name in self._theorems:
            return partial(read_evaluation, self._theorem_home, name)
        if kind == "plan" and self._planners:
            return partial(plans.read_plan, self._planners)
        return {"account": accounts.read_account, "report": reports.read_report}.get(kind)
