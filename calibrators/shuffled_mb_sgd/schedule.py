"""The schedule of a shuffled-mb-sgd run. Runs are compared at estimated noise, as a certificate takes seconds."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from epsilond.accountants.numerics.root_search import bisect_reals
from epsilond.calibrators.frontier import Choice, smallest_likely_run
from epsilond.calibrators.mb_sgd.problem import Run
from epsilond.calibrators.mb_sgd.run_choice import paid_runs
from epsilond.calibrators.mb_sgd.run_predictions import RunFunctions
from epsilond.calibrators.mb_sgd.schedule import risk_at
from epsilond.calibrators.search import LEAST, MOST
from epsilond.calibrators.shuffled_mb_sgd.problem import ShuffledMbSgdProblem

if TYPE_CHECKING:
    from epsilond.calibrators.certificates import Certificates

BISECTIONS = 60
"""Steps of the bisection of an estimated noise, more than its accuracy needs."""
USUAL_EXCESS = 0.8
"""Typical ratio of the certified noise to the normal estimate below, whose factor e^ε(c) is mostly too large."""


def contribution_norm(problem: ShuffledMbSgdProblem, run: Run) -> float:
    """Return the bound on the ℓ2 norm of one protected contribution to a report.

    A report is the mean of K gradients with norms of at most the Lipschitz constant L. A record contributes at most
    L/K. If whole clients are protected, the contribution is the report itself, with norm at most L.

    Args:
        problem: the request, with L and the protected unit.
        run: the run, with the batch size K.

    Returns:
        The norm, in units of a gradient.
    """
    units_in_report = run.batch_size if problem.unit == "record" else 1
    return problem.lipschitz / units_in_report


def likely_noise_multiplier(problem: ShuffledMbSgdProblem, run: Run) -> float:
    """Estimate the noise multiplier z that meets the target, in order to compare runs.

    By a normal approximation, z is the root of:

        q√(R(e^{s²} − 1)) = √(2 ln(1/δ) + 2ε) − √(2 ln(1/δ)).

    On the left is the Gaussian parameter μ of the run, for the sampling rate q, the number of rounds R, and the privacy
    loss s of one round. This loss depends on z. On the right is the μ that the target (ε, δ) allows.

    Args:
        problem: the request, with the target and the clients.
        run: the batch size and the number of rounds.

    Returns:
        The noise multiplier: the standard deviation of the noise over the bound on the norm of one contribution.
    """
    target = problem.target
    log_inverse_delta = -target.log_delta
    target_mu = math.sqrt(2.0 * log_inverse_delta + 2.0 * target.epsilon) - math.sqrt(2.0 * log_inverse_delta)
    loss = _ShuffledLoss(problem, run)

    def exceeds_target(log_noise: float) -> bool:
        """Decide whether the estimated privacy loss of the run is above μ, at a noise given by its logarithm."""
        return loss.of_run(math.exp(log_noise)) > target_mu

    _, log_noise = bisect_reals(exceeds_target, math.log(LEAST), math.log(MOST), steps=BISECTIONS)
    return USUAL_EXCESS * math.exp(log_noise)


class _ShuffledLoss:
    """An estimate of the privacy loss of a shuffled run, as a function of its noise multiplier z.

    In each round, M clients send a report of K records each to a shuffler. The change c of a report between two
    neighbours is measured in standard deviations of its noise. It is 2/z if one record changes, and 2K/z if all do. If
    whole clients are protected, K counts as 1.

    A report that is not shuffled has the loss ε(c), and shuffling reduces the loss of a round with the change c to s:

        ε(c) = c²/2 + c√(2 ln(M/δ)),    s = min{2 tanh(ε(c)/2) e^{ε(2K/z)/2}/√M, c}.
    """

    def __init__(self, problem: ShuffledMbSgdProblem, run: Run) -> None:
        """Compute the quantities that do not depend on the noise.

        Args:
            problem: the request, with the clients, the protected unit and the target.
            run: the batch size and the number of rounds.
        """
        is_record = problem.unit == "record"
        self._rounds = run.rounds
        self._participants = problem.reporting
        # Probabilities that a client takes part in a round, and that a record of a participant is in its batch.
        self._client_rate = problem.reporting / problem.clients
        self._record_rate = run.batch_size / problem.samples_per_client if is_record else 1.0
        # Number of protected contributions in a report.
        self._units_in_report = float(run.batch_size) if is_record else 1.0
        # √(2 ln(M/δ)), the factor of the linear term of a report's loss.
        self._tail = math.sqrt(2.0 * (math.log(problem.reporting) - problem.target.log_delta))

    def of_run(self, noise: float) -> float:
        """Estimate the privacy loss of the run, as the smaller one of two estimates.

        In the first, the observer sees which clients are drawn. One record then changes, in the expected number of
        rounds of its client. The second counts the draw of clients as subsampling, and a whole report changes.

        Args:
            noise: noise multiplier z, above 0.

        Returns:
            The privacy loss of the whole run, in the scale of the Gaussian parameter μ.
        """
        record_shift = 2.0 / noise
        report_shift = 2.0 * self._units_in_report / noise

        # The reports of the other clients reduce the loss by this factor. The limit on the exponent keeps it finite.
        largest_exponent = 300.0
        exponent = min(0.5 * self._loss_of_report(report_shift), largest_exponent)
        crowd_factor = math.exp(exponent) / math.sqrt(self._participants)

        record_loss = min(2.0 * math.tanh(0.5 * self._loss_of_report(record_shift)) * crowd_factor, record_shift)
        report_loss = min(2.0 * math.tanh(0.5 * self._loss_of_report(report_shift)) * crowd_factor, report_shift)

        seen_draws = _composed_loss(record_loss, self._record_rate, self._rounds * self._client_rate)
        unseen_draws = _composed_loss(report_loss, self._record_rate * self._client_rate, self._rounds)
        return min(seen_draws, unseen_draws)

    def _loss_of_report(self, shift: float) -> float:
        """Return the privacy loss ε(c) = c²/2 + c√(2 ln(M/δ)) of a report that is not shuffled, for M participants.

        Args:
            shift: change c of the report between two neighbours, in standard deviations of its noise.
        """
        return 0.5 * shift * shift + shift * self._tail


def _composed_loss(loss: float, rate: float, rounds: float) -> float:
    """Estimate the privacy loss of all rounds of a run by the central limit theorem: q√(R(e^{s²} − 1)).

    Args:
        loss: privacy loss s of one round.
        rate: probability q that the protected unit is used in a round.
        rounds: number R of rounds, or its expectation.

    Returns:
        The privacy loss of the run, in the scale of the Gaussian parameter μ.
    """
    largest_exponent = 700.0  # the exponential of a larger one is not a double
    return rate * math.sqrt(rounds * math.expm1(min(loss * loss, largest_exponent)))


def choose_run(problem: ShuffledMbSgdProblem, certificates: Certificates[ShuffledMbSgdProblem, Run]) -> Choice[Run]:
    """Choose the batch size and the rounds: a small run with nearly the least bound on the excess risk.

    Its bound is at most 1 + `within` times the least one, for the tolerance `within` of the request. Certifying a run
    takes seconds, so the least bound is predicted from a few certified runs.

    Args:
        problem: the request. Its budgets of gradients and traffic limit the runs.
        certificates: the certified noise of each run, computed when it is first used.

    Returns:
        The chosen run, with the runs that it was compared with.

    Raises:
        InvalidInput: the budgets leave no run.
    """
    outlook = RunFunctions(
        likely_noise=certificates.likely_noise_std,
        certified_noise=certificates.noise_std,
        quick_risk=lambda run, noise_std: risk_at(problem, run, noise_std, quick=True),
        risk=lambda run, noise_std: risk_at(problem, run, noise_std),
    )
    return smallest_likely_run(paid_runs(problem), outlook, within=problem.within, traffic=problem.traffic)
