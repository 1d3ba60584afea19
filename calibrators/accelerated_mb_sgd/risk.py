"""Risk bounds of accelerated-mb-sgd, of the data at hand: explicit by stages, the orders of Theorems E.1 and 2.4."""

from __future__ import annotations

from dataclasses import replace
from typing import Annotated

from epsilond.accountants.quantities import request
from epsilond.accountants.theorems.risk.lowy_razaviyayn.accelerated_bound import ACCELERATED_RISK_BOUND
from epsilond.accountants.theorems.risk.lowy_razaviyayn.accelerated_unequal import FEDERATED_ACCELERATED_RISK
from epsilond.calibrators.accelerated.problem import AcceleratedMbSgdProblem
from epsilond.calibrators.accelerated.risk import bounds_of
from epsilond.calibrators.accelerated_mb_sgd.printed import printed_readings
from epsilond.calibrators.accelerated_mb_sgd.schedule import plan_of
from epsilond.calibrators.mb_sgd.problem import Run
from epsilond.calibrators.mb_sgd.risk import noise_of
from epsilond.calibrators.risk.answer import OBJECTIVE, Objective
from epsilond.calibrators.risk.part import Bounds, RiskPart
from epsilond.calibrators.risk.parts import RiskFields, check_run


@request
class AcceleratedRiskProblem(AcceleratedMbSgdProblem, RiskFields):
    """A run of accelerated-mb-sgd, and which lower bounds to set beside its upper ones."""

    problem: Annotated[Objective, OBJECTIVE] = "empirical"

    def check(self) -> None:
        """Those of accelerated-mb-sgd; a given noise is that of a given run."""
        super().check()
        check_run(self)


def bounds(asked: AcceleratedRiskProblem, run: Run, noise_std: float) -> Bounds:
    """The explicit bound of the best stages, and the printed orders."""
    return bounds_of(
        asked,
        asked,
        plan=plan_of(asked, run, noise_std),
        printed=printed_readings(replace(asked, rounds=run.rounds), run, lambda _run, _noise: None),
        objective="empirical",
    )


RISK = RiskPart(
    title="Excess risk of accelerated noisy SGD for clients that trust nobody",
    summary=(
        "An explicit bound of the best stages at the run's noise and the orders of Theorems E.1 and 2.4, beside the "
        "least that privacy against everyone costs (Lowy and Razaviyayn, Theorems E.1, 2.4, F.4, F.5, Section 3)."
    ),
    problem=AcceleratedRiskProblem,
    bounds=bounds,
    noise_std=noise_of,
    quick=lambda asked: asked.noise_std is not None and asked.quick,
    theorems=("lowy.e.1", "lowy.2.4", ACCELERATED_RISK_BOUND.id, FEDERATED_ACCELERATED_RISK.id),
    given={"noise_std": 0.02},
)
