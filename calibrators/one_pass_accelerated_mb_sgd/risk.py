"""Risk bounds of one-pass-accelerated-mb-sgd, of the expected loss: explicit by stages, the order of Theorem 2.3."""

from __future__ import annotations

from dataclasses import replace

from epsilond.accountants.quantities import request
from epsilond.accountants.theorems.risk.lowy_razaviyayn.accelerated_bound import ACCELERATED_RISK_BOUND
from epsilond.calibrators.accelerated.risk import risk_bounds
from epsilond.calibrators.calibration import CostClass
from epsilond.calibrators.mb_sgd.problem import Run
from epsilond.calibrators.one_pass_accelerated_mb_sgd import calibrator as one_pass
from epsilond.calibrators.one_pass_accelerated_mb_sgd.problem import OnePassProblem
from epsilond.calibrators.one_pass_accelerated_mb_sgd.schedule import plan_of
from epsilond.calibrators.risk.answer import RiskBounder, RiskBoundsAnswer
from epsilond.calibrators.risk.parts import BOUNDS, RiskFields, check_run


@request
class OnePassRiskProblem(OnePassProblem, RiskFields):
    """A run of one-pass-accelerated-mb-sgd, and which lower bounds to set beside its upper ones."""

    def check(self) -> None:
        """Those of one-pass-accelerated-mb-sgd; a given noise is that of a given run."""
        super().check()
        check_run(self)


def solve(asked: OnePassRiskProblem) -> RiskBoundsAnswer:
    """Every bound that applies to the run. Its noise is the one given, or else the smallest certified one.

    Raises:
        Infeasible: no noise that is offered meets the target.
    """
    run, noise_std = _run_and_noise(asked)
    return risk_bounds(
        one_pass.NAME,
        asked,
        asked,
        run,
        noise_std,
        plan=plan_of(asked, run, noise_std),
        printed=one_pass.printed_readings(replace(asked, batch_size=run.batch_size)),
        objective="population",
    )


def _run_and_noise(asked: OnePassRiskProblem) -> tuple[Run, float]:
    if asked.noise_std is not None and asked.batch_size is not None and asked.rounds is not None:
        return Run(batch_size=asked.batch_size, rounds=asked.rounds), asked.noise_std
    parameters = one_pass.solve(replace(asked, readings=())).parameters
    return Run(batch_size=parameters.batch_size, rounds=parameters.rounds), parameters.noise_std


def cost(asked: OnePassRiskProblem) -> CostClass:
    """The cut and the stages may have to be searched."""
    return one_pass.cost(asked)


RISK_BOUND = RiskBounder(
    name=one_pass.NAME,
    title="Excess risk of one accelerated pass for clients that trust nobody",
    summary=(
        "An explicit bound of the best stages at the run's noise and Theorem 2.3's order, beside the least that "
        "privacy against everyone costs (Lowy and Razaviyayn, Theorems 2.3, 3.1, F.3, Section 3)."
    ),
    problem=OnePassRiskProblem,
    solve=solve,
    cost=cost,
    theorems=("lowy.2.3", ACCELERATED_RISK_BOUND.id, *(bound.id for bound in BOUNDS)),
    example={**one_pass.CALIBRATOR.example, "batch_size": 50, "rounds": 2000, "noise_std": 0.3},
)
