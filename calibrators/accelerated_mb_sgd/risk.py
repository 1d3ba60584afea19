"""Risk bounds of accelerated-mb-sgd, of the data at hand: explicit by stages, the orders of Theorems E.1 and 2.4."""

from __future__ import annotations

from dataclasses import replace
from typing import Annotated

from epsilond.accountants.quantities import request
from epsilond.accountants.theorems.risk.lowy_razaviyayn.accelerated_bound import ACCELERATED_RISK_BOUND
from epsilond.calibrators.accelerated.problem import AcceleratedMbSgdProblem
from epsilond.calibrators.accelerated.risk import risk_bounds
from epsilond.calibrators.accelerated_mb_sgd import calibrator as accelerated_mb_sgd
from epsilond.calibrators.accelerated_mb_sgd.printed import printed_readings
from epsilond.calibrators.accelerated_mb_sgd.schedule import plan_of
from epsilond.calibrators.calibration import CostClass
from epsilond.calibrators.mb_sgd.problem import Run
from epsilond.calibrators.risk.answer import OBJECTIVE, Objective, RiskBounder, RiskBoundsAnswer
from epsilond.calibrators.risk.parts import BOUNDS, RiskFields, check_run


@request
class AcceleratedRiskProblem(AcceleratedMbSgdProblem, RiskFields):
    """A run of accelerated-mb-sgd, and which lower bounds to set beside its upper ones."""

    problem: Annotated[Objective, OBJECTIVE] = "empirical"

    def check(self) -> None:
        """Those of accelerated-mb-sgd; a given noise is that of a given run."""
        super().check()
        check_run(self)


def solve(asked: AcceleratedRiskProblem) -> RiskBoundsAnswer:
    """Every bound that applies to the run. Its noise is the one given, or else the smallest certified one.

    Raises:
        ConditionViolated: no theorem covers this sampling under this relation, and no noise was given.
        Infeasible: no noise that is offered meets the target.
    """
    run, noise_std = _run_and_noise(asked)
    return risk_bounds(
        accelerated_mb_sgd.NAME,
        asked,
        asked,
        run,
        noise_std,
        plan=plan_of(asked, run, noise_std),
        printed=printed_readings(replace(asked, rounds=run.rounds), run, lambda _run, _noise: None),
        objective="empirical",
    )


def _run_and_noise(asked: AcceleratedRiskProblem) -> tuple[Run, float]:
    if asked.noise_std is not None and asked.batch_size is not None and asked.rounds is not None:
        return Run(batch_size=asked.batch_size, rounds=asked.rounds), asked.noise_std
    parameters = accelerated_mb_sgd.solve(replace(asked, readings=())).parameters
    return Run(batch_size=parameters.batch_size, rounds=parameters.rounds), parameters.noise_std


def cost(asked: AcceleratedRiskProblem) -> CostClass:
    """The stages may have to be searched."""
    return "closed-form" if asked.noise_std is not None and asked.quick else accelerated_mb_sgd.cost(asked)


RISK_BOUND = RiskBounder(
    name=accelerated_mb_sgd.NAME,
    title="Excess risk of accelerated noisy SGD for clients that trust nobody",
    summary=(
        "An explicit bound of the best stages at the run's noise and the orders of Theorems E.1 and 2.4, beside the "
        "least that privacy against everyone costs (Lowy and Razaviyayn, Theorems E.1, 2.4, F.4, F.5, Section 3)."
    ),
    problem=AcceleratedRiskProblem,
    solve=solve,
    cost=cost,
    theorems=("lowy.e.1", "lowy.2.4", ACCELERATED_RISK_BOUND.id, *(bound.id for bound in BOUNDS)),
    example={**accelerated_mb_sgd.CALIBRATOR.example, "noise_std": 0.02},
)
