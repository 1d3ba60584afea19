"""The schedule of a shuffled-mb-sgd run. Runs are compared at estimated noise, as a certificate takes seconds."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from epsilond.accountants.numerics.root_search import bisect_reals
from epsilond.calibrators.frontier import Choice, Outlook, smallest_likely_run
from epsilond.calibrators.mb_sgd.problem import Run
from epsilond.calibrators.mb_sgd.schedule import paid_runs, risk_at
from epsilond.calibrators.shuffled_mb_sgd.problem import ShuffledMbSgdProblem

if TYPE_CHECKING:
    from epsilond.calibrators.certificates import Certificates

BISECTIONS = 60
USUAL_EXCESS = 0.8
"""Typical ratio of the certified noise to the normal estimate below, whose factor e^ε(c) is mostly too large."""


def contribution_norm(problem: ShuffledMbSgdProblem, run: Run) -> float:
    """Return the bound on the ℓ2 norm of one protected contribution to a report: L/K for a record, L for a client."""
    return problem.lipschitz / (run.batch_size if problem.unit == "record" else 1)


def likely_noise_multiplier(problem: ShuffledMbSgdProblem, run: Run) -> float:
    """Return an estimate of the noise multiplier z by normal approximation, which only compares runs.

    A report has the privacy loss ε(c) = c²/2 + c√(2 ln(M/δ)), at c = 2/z for a record or c = 2K/z for all K records.
    Among M reports s = 2 tanh(ε(2/z)/2) e^{ε(2K/z)/2}/√M remains, or 2/z if that is less. For the μ that the target
    allows, rate q and R rounds, the estimate solves q√(R(e^{s²} − 1)) = μ.
    """
    target, m = problem.target, problem.reporting
    root_log = math.sqrt(-2.0 * target.log_delta)
    allowed = math.sqrt(-2.0 * target.log_delta + 2.0 * target.epsilon) - root_log
    records = problem.unit == "record"
    share = run.batch_size / problem.samples_per_client if records else 1.0
    batch = float(run.batch_size) if records else 1.0
    drawn = m / problem.clients
    reach = math.sqrt(2.0 * (math.log(m) - target.log_delta))

    def privacy_loss(shift: float) -> float:
        return 0.5 * shift * shift + shift * reach

    def remaining_loss(rate: float, rounds: float, left: float) -> float:
        return rate * math.sqrt(rounds * math.expm1(min(left * left, 700.0)))

    def total(noise: float) -> float:
        crowd = math.exp(min(0.5 * privacy_loss(2.0 * batch / noise), 300.0)) / math.sqrt(m)
        hidden = 2.0 * math.tanh(0.5 * privacy_loss(2.0 * batch / noise)) * crowd
        own = 2.0 * math.tanh(0.5 * privacy_loss(2.0 / noise)) * crowd
        thinned = remaining_loss(share, run.rounds * drawn, min(own, 2.0 / noise))
        return min(thinned, remaining_loss(share * drawn, run.rounds, min(hidden, 2.0 * batch / noise)))

    def too_little(log_noise: float) -> bool:
        """Return whether the estimated loss at this noise is above the loss that the target allows."""
        return total(math.exp(log_noise)) > allowed

    _, enough = bisect_reals(too_little, math.log(1e-2), math.log(1e12), steps=BISECTIONS)
    return USUAL_EXCESS * math.exp(enough)


def choose_run(problem: ShuffledMbSgdProblem, certificates: Certificates[ShuffledMbSgdProblem, Run]) -> Choice[Run]:
    """Return the smallest run that is good enough and agrees with the request, and the frontier.

    The best run is not certified, which takes seconds, but predicted from the runs that are.

    Raises:
        InvalidInput: the budgets leave no run.
    """
    outlook = Outlook(
        likely_noise=certificates.likely_noise_std,
        certified_noise=certificates.noise_std,
        quick_risk=lambda run, noise_std: risk_at(problem, run, noise_std, quick=True),
        risk=lambda run, noise_std: risk_at(problem, run, noise_std),
    )
    return smallest_likely_run(paid_runs(problem), outlook, within=problem.within, traffic=problem.traffic)
