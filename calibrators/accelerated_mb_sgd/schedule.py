"""The pace of an accelerated run on re-used records: batch size, rounds, envelope and stages."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING

from epsilond.accountants.theorems.risk.lowy_razaviyayn.accelerated_bound import (
    AcceleratedProblem,
    best_envelope_smoothness,
)
from epsilond.calibrators.accelerated.answer import plan_at
from epsilond.calibrators.accelerated.schedule import likely_risk, problem_of, risk_of
from epsilond.calibrators.frontier import Choice, Outlook, smallest_run
from epsilond.calibrators.mb_sgd.members import likely_mean_noise_std, mean_noise_std
from epsilond.calibrators.mb_sgd.problem import Run
from epsilond.calibrators.mb_sgd.schedule import paid_runs, rarity_of

if TYPE_CHECKING:
    from epsilond.calibrators.accelerated.answer import AcceleratedPlan
    from epsilond.calibrators.accelerated.problem import AcceleratedMbSgdProblem
    from epsilond.calibrators.certificates import Certificates
    from epsilond.calibrators.mb_sgd.members import Member


def risk_problem(problem: AcceleratedMbSgdProblem, run: Run) -> AcceleratedProblem | None:
    """The problem as the risk bound sees it, before an envelope is chosen; None where that bound does not apply.

    The bound is for the mean loss on the data at hand, and needs batches drawn without replacement. The request's
    heterogeneity is of the populations and does not bound that of the data, which is taken at its largest.
    """
    if problem.sampling not in ("without-replacement", "full"):
        return None
    return problem_of(
        problem, run, objective="empirical", gradient_std=problem.empirical_gradient_std, heterogeneity=None
    )


def enveloped(
    problem: AcceleratedMbSgdProblem, seen: AcceleratedProblem, *, noise_std: float, rounds: int
) -> AcceleratedProblem:
    """The same with an envelope of nearly the best smoothness, where the loss is not smooth itself."""
    if problem.smoothness is not None:
        return seen
    best = best_envelope_smoothness(seen, noise_std=noise_std, rounds=rounds)
    return replace(seen, envelope_smoothness=best)


def plan_of(problem: AcceleratedMbSgdProblem, run: Run, noise_std: float) -> AcceleratedPlan | None:
    """Envelope, stages and risk bound of a run at its certified noise; None where no bound applies."""
    seen = risk_problem(problem, run)
    if seen is None:
        return None
    seen = enveloped(problem, seen, noise_std=noise_std, rounds=run.rounds)
    return plan_at(seen, noise_std=noise_std, rounds=run.rounds)


def choose_run(
    problem: AcceleratedMbSgdProblem, certificates: Certificates[AcceleratedMbSgdProblem, Member]
) -> Choice[Run]:
    """The run to calibrate: as the request says, the rest the smallest run that is good enough, and the frontier.

    Without a bound the largest batch is taken, and rounds as near as may be to those that pay.

    Raises:
        InvalidInput: the budgets leave no run.
    """
    if problem.batch_size is not None and problem.rounds is not None:
        return Choice(Run(batch_size=problem.batch_size, rounds=problem.rounds))
    runs = paid_runs(problem)
    if risk_problem(problem, runs[0]) is None:
        return Choice(max(runs, key=lambda run: (run.batch_size, _closeness(problem, run))))

    def quick_risk(run: Run, noise_std: float) -> float:
        seen = risk_problem(problem, run)
        return likely_risk(seen, noise_std=noise_std, rounds=run.rounds) if seen else math.inf

    outlook = Outlook(
        likely_noise=lambda run: likely_mean_noise_std(certificates, run),
        certified_noise=lambda run: mean_noise_std(certificates, run),
        quick_risk=quick_risk,
        risk=risk_of(lambda run, noise_std: plan_of(problem, run, noise_std)),
        rarity=lambda run: rarity_of(problem, run),
        reference=Run(batch_size=problem.samples_per_client, rounds=1),
        cheap=lambda run: rarity_of(problem, run) == 0.0,
    )
    return smallest_run(runs, outlook, within=problem.within, traffic=problem.traffic)


def _closeness(problem: AcceleratedMbSgdProblem, run: Run) -> float:
    """Rounds near √M εn/√(d ln(1/δ)), which Theorem 2.4 prescribes (F-41)."""
    private = problem.dimension * -problem.target.log_delta
    wanted = math.sqrt(problem.reporting / private) * problem.epsilon * problem.samples_per_client
    return -abs(math.log(run.rounds / max(1.0, wanted)))
