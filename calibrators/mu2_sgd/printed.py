"""Theorems 5.2 and F.2 as printed, at the ρ of Lemma 2.6 and at the exact ρ, with the true figures."""

from __future__ import annotations

from typing import TYPE_CHECKING

from epsilond.accountants.theorem import Status
from epsilond.accountants.theorems.papers.reshef_levy.conversions import exact_mu
from epsilond.accountants.theorems.papers.reshef_levy.zcdp_conversions import lemma_mu
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
    """Evaluate the noise that Reshef and Levy prescribe in Theorem 5.2 or F.2, with its true ε and δ.

    Both theorems start from the parameter ρ of Gaussian differential privacy. The text has two readings, that is,
    interpretations. `statement` converts the target to ρ by the paper's Lemma 2.6, and `corrected` converts it exactly.
    If the request's target is a risk, both use the ρ that is equivalent to it.

    Args:
        problem: the request, which may select readings.
        target: the target (ε, δ).
        norm: bound on the norm of one record's contribution, by which a noise multiplier is defined.

    Returns:
        The requested readings, at most two. Each has the excess risk that the theorem claims. Its parameter
        `certified_excess_risk` is the excess risk that is proved at the same noise and step size.
    """
    requested = READINGS if problem.readings is None else problem.readings
    return tuple(_evaluate_reading(problem, target, norm, reading) for reading in READINGS if reading in requested)


def mu_of(problem: Mu2SgdProblem, target: Target, reading: Reading) -> float:
    """Convert the target to the parameter μ of Gaussian differential privacy; Reshef and Levy call it ρ.

    Args:
        problem: the request. If its target is a risk, the μ that is equivalent to the risk is returned.
        target: the target (ε, δ).
        reading: `statement` for the conversion by the paper's Lemma 2.6, `corrected` for the exact conversion.

    Returns:
        The largest μ that implies the target by this conversion.
    """
    if problem.risk is not None:
        return problem.risk.gaussian_mu
    convert = lemma_mu if reading == "statement" else exact_mu
    return convert(epsilon=target.epsilon, log_delta=target.log_delta)


def _evaluate_reading(problem: Mu2SgdProblem, target: Target, norm: float, reading: Reading) -> PrintedReading:
    """Evaluate Theorem 5.2 (untrusted server) or F.2 (trusted server) of Reshef and Levy in one interpretation.

    Args:
        problem: the request, with the clients, their reports, and who adds the noise.
        target: the target (ε, δ).
        norm: bound on the norm of one record's contribution, by which the noise multiplier is defined.
        reading: conversion of the target to the μ of Gaussian differential privacy: `statement` as in the paper,
            `corrected` for the exact one.

    Returns:
        The noise and step size of the paper, the risk that it claims, and the certified ε and δ of this noise. The
        status is `proved` if the claimed risk is proved at these numbers.
    """
    is_untrusted = problem.server == "untrusted"
    theorem = STATED if is_untrusted else TRUSTED_RUN
    mu = mu_of(problem, target, reading)
    evaluation = TheoremAtInputs.of(theorem, problem, participants=problem.reporting, gaussian_dp_mu=mu)
    outputs = evaluation.outputs
    std = outputs["base_std"] if is_untrusted else outputs["noise_std"]

    # The paper's claim is for the relation replace-one, so the true privacy of its noise is compared for this relation.
    true_mu = ScheduleNoise(problem=problem, std=std).mu(problem.cap, relation="replace-one")

    # The paper's proof has an error. The printed risk is proved if the condition of the repaired proof holds.
    proof_conditions = [condition for condition in evaluation.conditions() if condition.id == PROVED_HERE.id]
    is_proved = all(condition.holds == Verdict.YES for condition in proof_conditions)

    parameters = {
        "noise_std": std,
        "noise_multiplier": std / norm,
        "step_size": outputs["step_size"],
        "gaussian_dp_mu": mu,
        "true_gaussian_dp_mu": true_mu,
    }
    risk = None
    if problem.printed_participation:  # the paper claims a risk only for its own participation of clients
        risk = outputs["excess_risk"]
        parameters["certified_excess_risk"] = outputs.get("certified_excess_risk", outputs["excess_risk_at_step_size"])
    return make_reading(
        evaluation,
        reading=reading,
        status=Status.PROVED if is_proved else Status.UNPROVED,
        parameters=parameters,
        claims=claims(target, risk),
        true=true_figures(guarantee_at(problem, true_mu, relation="replace-one"), target),
    )
