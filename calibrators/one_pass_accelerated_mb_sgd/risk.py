"""Risk bounds of one-pass-accelerated-mb-sgd, of the expected loss: explicit by stages, the order of Theorem 2.3."""

from __future__ import annotations

from dataclasses import replace

from epsilond.accountants.quantities import request
from epsilond.accountants.quantities.risks import PairTarget
from epsilond.accountants.theorems.risk.lowy_razaviyayn.accelerated_bound import ACCELERATED_RISK_BOUND
from epsilond.accountants.theorems.risk.lowy_razaviyayn.accelerated_unequal import FEDERATED_ACCELERATED_RISK
from epsilond.calibrators.accelerated_mb_sgd.risk import bounds_of
from epsilond.calibrators.mb_sgd.problem import Run
from epsilond.calibrators.mb_sgd.risk import noise_of
from epsilond.calibrators.one_pass_accelerated_mb_sgd.printed import printed_readings
from epsilond.calibrators.one_pass_accelerated_mb_sgd.problem import OnePassProblem
from epsilond.calibrators.one_pass_accelerated_mb_sgd.schedule import plan_of
from epsilond.calibrators.risk.mini_batch import MiniBatchRiskPart
from epsilond.calibrators.risk.part import Bounds
from epsilond.calibrators.risk.parts import RiskFields, check_run


@request
class OnePassRiskProblem(PairTarget, OnePassProblem, RiskFields):
    """A run of one-pass-accelerated-mb-sgd, and the lower bounds to compare with its upper ones."""

    def check(self) -> None:
        """Check the fields of the algorithm, and that a noise comes with a batch size and rounds."""
        super().check()
        check_run(self)


def bounds(problem: OnePassRiskProblem, run: Run, noise_std: float) -> Bounds:
    """Return upper bounds on the excess risk of a run: an explicit one, and those of the paper.

    The explicit bound divides the rounds into the stages that make it least. The bounds of Theorem 2.3 of Lowy and
    Razaviyayn hide constants.

    Args:
        problem: the request, with the constants of the losses and the clients.
        run: the batch size and the rounds.
        noise_std: σ per coordinate, root mean square over clients.

    Returns:
        The bounds, with the inputs of the lower bounds, the conditions and the warnings.
    """
    # A risk bound needs no certified ε and δ at the printed noise, so the certifying function returns None.
    printed = printed_readings(replace(problem, batch_size=run.batch_size), run, lambda _client, _noise: None)
    return bounds_of(problem, problem, plan=plan_of(problem, run, noise_std), printed=printed, objective="population")


RISK = MiniBatchRiskPart(
    title="Excess risk of one accelerated pass without a trusted server",
    summary=(
        "An explicit bound of the best stages at the run's noise, and Theorem 2.3's order. Lower bounds on the cost "
        "of privacy against everyone are given for comparison (Lowy and Razaviyayn, Theorems 2.3, 3.1, F.3, Section "
        "3)."
    ),
    problem=OnePassRiskProblem,
    bounds=bounds,
    noise_std=noise_of,
    quick=lambda _: False,
    theorems=("lowy.2.3", ACCELERATED_RISK_BOUND.id, FEDERATED_ACCELERATED_RISK.id),
    example_fields={"batch_size": 50, "rounds": 2000, "noise_std": 0.3},
)
