"""Cautions for a caller of mu2-sgd to read before relying on the answer."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from epsilond.accountants.theorem import Status
from epsilond.calibrators.answer import Caution
from epsilond.calibrators.cautions import printed_cautions
from epsilond.calibrators.mu2_sgd.problem import ASSUMED_DELTA, SPREADS
from epsilond.calibrators.search import LEAST

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from epsilond.calibrators.answer import PrintedReading
    from epsilond.calibrators.mu2_sgd.family import ClientReport, ScheduleNoise
    from epsilond.calibrators.mu2_sgd.problem import Mu2SgdProblem
    from epsilond.calibrators.search import Certified


def cautions_of(
    problem: Mu2SgdProblem,
    certified: Certified,
    noise: ScheduleNoise,
    reports: Sequence[ClientReport],
    printed: tuple[PrintedReading, ...],
) -> Iterator[Caution]:
    """Yield every caution that applies, in a fixed order.

    Args:
        problem: the request.
        certified: the smallest certified noise.
        noise: the noise of the schedule.
        reports: the protection of each kind of client.
        printed: the readings of the printed theorems.
    """
    yield from _guarantee_cautions(problem, certified)
    yield from _participation_cautions(problem, reports)
    yield from printed_cautions(printed, (noise.std,))
    for reading in printed:
        if reading.status is Status.UNPROVED:
            yield Caution(
                code="stated-bound-unproved",
                message=f"at these parameters the risk stated in {reading.theorem} ({reading.reading}) is not proved "
                "(erratum E-R1); certified_excess_risk is proved",
            )
    assumed = [name for name in SPREADS if getattr(problem, name) is None]
    if assumed and problem.printed_participation:
        values = ", ".join(f"{name} = {SPREADS[name]}" for name in assumed)
        message = f"You did not give these values; the worst case was assumed: {values}"
        yield Caution(code="assumed-spreads", message=message)


def _guarantee_cautions(problem: Mu2SgdProblem, certified: Certified) -> Iterator[Caution]:
    if certified.noise == LEAST:
        yield Caution(
            code="least-noise-offered", message=f"the target is met at the least noise offered, {LEAST:g} contributions"
        )
    if problem.gaussian_dp_mu is not None:
        yield Caution(
            code="gaussian-dp-mu-is-not-zcdp-rho",
            message="gaussian_dp_mu is √(2ρ) of ρ-zCDP; the larger it is, the less is protected",
        )
        if problem.delta is None and problem.log10_delta is None:
            yield Caution(
                code="assumed-delta", message=f"ε is read off at δ = {ASSUMED_DELTA:g}, which was not requested"
            )
    if problem.relation != "replace-one":
        yield Caution(
            code="printed-truth-is-for-replace-one",
            message="the printed theorem and the true figures given with it are for replace-one, not for this relation",
        )
    if not problem.sees_all:
        yield Caution(
            code="observer-sees-less",
            message="the figures are for an observer of all releases. This observer sees a function of them, so the "
            "figures hold and may be pessimistic",
        )


def _participation_cautions(problem: Mu2SgdProblem, reports: Sequence[ClientReport]) -> Iterator[Caution]:
    if problem.cap < problem.rounds:
        yield Caution(
            code="participations-are-capped",
            message=f"the noise is enough for {problem.cap} reports of a client: it must not report more often",
        )
    average = problem.rounds * (problem.reporting / problem.clients)
    if problem.server == "untrusted" and average <= 2.0 * (1.0 + math.log(problem.rounds)):
        yield Caution(
            code="cancellation-does-not-pay",
            message=f"a client reports {average:.3g} times on average, not above 2(1 + ln T). Fresh noise for each "
            "report, never cancelled, is as private, and its risk bound is no worse "
            "(epsilond.independent-noise-excess-risk)",
        )
    gone = [report for report in reports if (report.uncancelled_rounds or 0) > 0]
    if gone:
        clients, longest = (
            sum(report.clients for report in gone),
            max(report.uncancelled_rounds or 0 for report in gone),
        )
        yield Caution(
            code="noise-is-never-cancelled",
            message=f"{clients} clients report no more before the last round, up to {longest} rounds: their last noise "
            "stays in the sum. Their records are as protected as before; the model's accuracy is not",
        )
    if not problem.printed_participation:
        yield Caution(
            code="no-risk-for-this-participation",
            message="the risk bounds are proved for m of M clients drawn uniformly in every round, without a cap; the "
            "noise is certified",
        )
