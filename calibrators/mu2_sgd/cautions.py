"""Cautions for a caller of mu2-sgd to read before relying on the answer."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from epsilond.accountants.theorem import Status
from epsilond.calibrators.answer import Caution
from epsilond.calibrators.cautions import printed_cautions
from epsilond.calibrators.mu2_sgd.problem import SPREADS
from epsilond.calibrators.search import LEAST

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from epsilond.calibrators.answer import PrintedReading
    from epsilond.calibrators.mu2_sgd.client_reports import ClientReport
    from epsilond.calibrators.mu2_sgd.family import ScheduleNoise
    from epsilond.calibrators.mu2_sgd.problem import Mu2SgdProblem
    from epsilond.calibrators.search import Certified


def cautions_of(
    problem: Mu2SgdProblem,
    certified: Certified,
    noise: ScheduleNoise,
    reports: Sequence[ClientReport],
    printed: tuple[PrintedReading, ...],
) -> Iterator[Caution]:
    """Yield every caution of μ²-SGD that applies, in a fixed order.

    Args:
        problem: the request, with the clients, their reports and the observer.
        certified: the smallest certified noise.
        noise: the noise of the run.
        reports: the protection of each kind of client.
        printed: the evaluated interpretations of the paper's theorems.

    Yields:
        The warnings, each with a code and a message.
    """
    yield from _guarantee_cautions(problem, certified)
    yield from _participation_cautions(problem, reports)
    yield from printed_cautions(printed, (noise.std,))
    yield from _risk_cautions(problem, printed)


def _risk_cautions(problem: Mu2SgdProblem, printed: tuple[PrintedReading, ...]) -> Iterator[Caution]:
    """Warn if the paper's risk bound is not proved, and if worst-case values replace fields that were not given.

    Args:
        problem: the request, in which bounds on gradients may be absent.
        printed: the evaluated interpretations of the paper's theorems.

    Yields:
        The warnings that apply.
    """
    for reading in printed:
        if reading.status is Status.UNPROVED:
            yield Caution(
                code="stated-bound-unproved",
                message=f"at these parameters the risk stated in {reading.theorem} ({reading.reading}) is not proved "
                "(erratum E-R1). The figure certified_excess_risk is proved",
            )

    assumed = [name for name in SPREADS if getattr(problem, name) is None]
    if assumed and problem.printed_participation:
        values = ", ".join(f"{name} = {SPREADS[name]}" for name in assumed)
        message = f"these values were not given, so their worst case is assumed: {values}"
        yield Caution(code="assumed-spreads", message=message)


def _guarantee_cautions(problem: Mu2SgdProblem, certified: Certified) -> Iterator[Caution]:
    """Yield the cautions on the privacy guarantee: its noise, its target, the neighbouring relation and the observer.

    Args:
        problem: the request, with the target, the neighbouring relation and the observer.
        certified: the smallest certified noise, with its guarantee.

    Yields:
        Up to four warnings, in this order.
    """
    if certified.noise == LEAST:
        yield Caution(
            code="least-noise-offered",
            message=f"the target is met at the least noise offered, {LEAST:g} times the norm of one contribution",
        )
    if problem.gaussian_dp_mu is not None:
        yield Caution(
            code="gaussian-dp-mu-is-not-zcdp-rho",
            message="the parameter μ of Gaussian differential privacy, gaussian_dp_mu, is √(2ρ) for the ρ of zCDP. A "
            "larger gaussian_dp_mu protects less",
        )

    # The paper has the relation replace-one and an observer that sees all releases.
    if problem.relation != "replace-one":
        yield Caution(
            code="printed-truth-is-for-replace-one",
            message="the printed theorem and the true figures given with it are for the relation replace-one, not for "
            f"{problem.relation}",
        )
    if not problem.sees_all:
        yield Caution(
            code="observer-sees-less",
            message="the figures hold against an observer of all releases. The requested observer sees a function of "
            "these releases. The figures hold against this observer too, and may be pessimistic",
        )


def _participation_cautions(problem: Mu2SgdProblem, reports: Sequence[ClientReport]) -> Iterator[Caution]:
    """Yield the cautions on how often clients report, on clients that stop early, and on a missing risk bound.

    In this algorithm each report of a client cancels the noise of its previous report.

    Args:
        problem: the request, with the clients, the rounds and the limit on reports.
        reports: the protection of each kind of client, with the rounds in which its last noise is not cancelled.

    Yields:
        Up to four warnings, in this order.
    """
    if problem.cap < problem.rounds:
        yield Caution(
            code="participations-are-capped",
            message=f"the noise is enough for {problem.cap} reports of a client, so no client may report more often",
        )
    average = problem.rounds * (problem.reporting / problem.clients)
    # Cancellation needs noise of a larger variance, by the factor 1 + 1/2 + … + 1/T ≤ 1 + ln T at most. So it helps
    # only if clients report often.
    cancellation_pays = average > 2.0 * (1.0 + math.log(problem.rounds))
    if problem.server == "untrusted" and not cancellation_pays:
        yield Caution(
            code="cancellation-does-not-pay",
            message=f"a client reports {average:.3g} times on average, which is not above 2(1 + ln T) for T rounds. "
            "Fresh noise for each report, without cancellation, is as private as noise that is cancelled. Its risk "
            "bound is no worse (epsilond.independent-noise-excess-risk)",
        )
    stopped_early = [report for report in reports if (report.uncancelled_rounds or 0) > 0]
    if stopped_early:
        clients = sum(report.clients for report in stopped_early)
        longest = max(report.uncancelled_rounds or 0 for report in stopped_early)
        yield Caution(
            code="noise-is-never-cancelled",
            message=f"{clients} clients report no more before the last round, up to {longest} rounds before it. Their "
            "last noise is never cancelled and stays in the sum. Their records are as protected as before, but the "
            "model may be less accurate",
        )
    if not problem.printed_participation:
        yield Caution(
            code="no-risk-for-this-participation",
            message="the risk bounds are proved for m of M clients drawn uniformly in every round, without a cap on "
            "reports. The noise is certified for the requested participation",
        )
