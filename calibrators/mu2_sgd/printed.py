"""Theorems 5.2 and F.2 as printed, at the ρ of Lemma 2.6 and at the exact ρ, with the true figures."""

from __future__ import annotations

from typing import TYPE_CHECKING

from epsilond.accountants.theorem import Status
from epsilond.accountants.theorems.papers.reshef_levy.conversions import exact_mu, lemma_mu
from epsilond.accountants.theorems.risk.reshef_levy.trusted_server import TRUSTED_RUN
from epsilond.accountants.theorems.risk.reshef_levy.untrusted_server import PROVED_HERE, STATED
from epsilond.accountants.verdict import Verdict
from epsilond.calibrators.envelope import TheoremAtInputs, claims, make_reading, true_figures
from epsilond.calibrators.mu2_sgd.family import ScheduleNoise, guarantee_at
from epsilond.calibrators.mu2_sgd.problem import READINGS, Mu2SgdProblem, Reading

if TYPE_CHECKING:
    from epsilond.accountants.target import Target
    from epsilond.calibrators.answer import PrintedReading


def printed_readings(problem: Mu2SgdProblem, target: Target, norm: float) -> tuple[PrintedReading, ...]:
    """Return the requested readings of the printed schedule.

    `statement` is at the ρ of Lemma 2.6, and `corrected` at the exact ρ. Both claim the printed risk. The parameter
    `certified_excess_risk` is the risk proved at the same noise and step. A target ρ is used unchanged.

    Args:
        problem: the request.
        target: the target (ε, δ).
        norm: bound on the norm of one contribution.
    """
    requested = READINGS if problem.readings is None else problem.readings
    return tuple(_reading(problem, target, norm, reading) for reading in READINGS if reading in requested)


def mu_of(problem: Mu2SgdProblem, target: Target, reading: Reading) -> float:
    """Return ρ for the target.

    Args:
        problem: the request.
        target: the target (ε, δ).
        reading: `statement` for Lemma 2.6, `corrected` for the exact conversion.
    """
    if problem.gaussian_dp_mu is not None:
        return problem.gaussian_dp_mu
    convert = lemma_mu if reading == "statement" else exact_mu
    return convert(epsilon=target.epsilon, log_delta=target.log_delta)


def _reading(problem: Mu2SgdProblem, target: Target, norm: float, reading: Reading) -> PrintedReading:
    untrusted = problem.server == "untrusted"
    mu = mu_of(problem, target, reading)
    question = TheoremAtInputs.of(
        STATED if untrusted else TRUSTED_RUN, problem, participants=problem.reporting, gaussian_dp_mu=mu
    )
    outputs = question.outputs
    std = outputs["base_std"] if untrusted else outputs["noise_std"]
    true_mu = ScheduleNoise(problem=problem, std=std).mu(problem.cap, relation="replace-one")
    proved = all(
        condition.holds == Verdict.YES for condition in question.conditions() if condition.id == PROVED_HERE.id
    )
    parameters = {
        "noise_std": std,
        "noise_multiplier": std / norm,
        "step_size": outputs["step_size"],
        "gaussian_dp_mu": mu,
        "true_gaussian_dp_mu": true_mu,
    }
    risk = None
    if problem.printed_participation:
        risk = outputs["excess_risk"]
        parameters["certified_excess_risk"] = outputs.get("certified_excess_risk", outputs["excess_risk_at_step_size"])
    return make_reading(
        question,
        reading=reading,
        status=Status.PROVED if proved else Status.UNPROVED,
        parameters=parameters,
        claims=claims(target, risk),
        true=true_figures(guarantee_at(problem, true_mu, relation="replace-one"), target),
    )
