"""Theorems 5.2 and F.2 as printed, at the ρ of Lemma 2.6 and at the exact one, beside what is true there."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields
from typing import TYPE_CHECKING, Any

from epsilond.accountants.theorem import Status
from epsilond.accountants.theorems.papers.reshef_levy.conversions import exact_mu, lemma_mu
from epsilond.accountants.theorems.risk.reshef_levy.certified_bound import CancellationRun
from epsilond.accountants.theorems.risk.reshef_levy.trusted_server import TRUSTED_RUN, TrustedRunInputs
from epsilond.accountants.theorems.risk.reshef_levy.untrusted_server import PROVED_HERE, STATED, StatedInputs
from epsilond.calibrators.answer import PrintedReading, TrueFigures
from epsilond.calibrators.envelope import claims, condition_answers
from epsilond.calibrators.mu2_sgd.clients import Noise
from epsilond.calibrators.mu2_sgd.problem import READINGS, Mu2SgdProblem, Reading
from epsilond.calibrators.printed import Asked

if TYPE_CHECKING:
    from epsilond.calibrators.problem import Target

Truth = Callable[[float], TrueFigures]
"""ρ ↦ what is true of a record under replace-one."""


def printed_readings(problem: Mu2SgdProblem, target: Target, truth: Truth) -> tuple[PrintedReading, ...]:
    """`statement`: the printed schedule at the ρ that Lemma 2.6 gives; `corrected`: at the ρ that is exact.

    Of both, the risk claimed is the stated one, `certified_excess_risk` the one proved at the same noise and step.
    A target ρ is taken as it is.
    """
    asked = READINGS if problem.readings is None else problem.readings
    return tuple(_reading(problem, target, reading, truth) for reading in READINGS if reading in asked)


def mu_of(problem: Mu2SgdProblem, target: Target, reading: Reading) -> float:
    """ρ for the target."""
    if problem.gaussian_dp_mu is not None:
        return problem.gaussian_dp_mu
    convert = lemma_mu if reading == "statement" else exact_mu
    return convert(epsilon=target.epsilon, log_delta=target.log_delta)


def inputs_of(problem: Mu2SgdProblem) -> dict[str, Any]:
    """The run as the theorems are asked about it."""
    named = {field.name: getattr(problem, field.name) for field in fields(CancellationRun)}
    return named | {"participants": problem.reporting}


def _reading(problem: Mu2SgdProblem, target: Target, reading: Reading, truth: Truth) -> PrintedReading:
    mu = mu_of(problem, target, reading)
    given = {**inputs_of(problem), "gaussian_dp_mu": mu}
    norm = problem.federation.clipping_norm
    untrusted = problem.server == "untrusted"
    theorem = STATED if untrusted else TRUSTED_RUN
    asked: StatedInputs | TrustedRunInputs = StatedInputs(**given) if untrusted else TrustedRunInputs(**given)
    unit = norm if untrusted else norm / problem.reporting
    question = Asked(theorem, asked)
    found = question.outputs
    std = found["base_std"] if untrusted else found["noise_std"]
    true_mu = Noise(problem=problem, std=std).mu(problem.cap, relation="replace-one")
    conditions = [condition.at(asked) for condition in theorem.conditions if condition.checked]
    proved = all(one.holds is True for one in conditions if one.id == PROVED_HERE.id)
    at_step = {
        "certified_excess_risk": found.get("certified_excess_risk", found["excess_risk_at_step_size"]),
    }
    return PrintedReading(
        theorem=theorem.id,
        reading=reading,
        status=Status.PROVED if proved else Status.UNPROVED,
        parameters={
            "noise_std": std,
            "noise_multiplier": std / unit,
            "step_size": found["step_size"],
            "gaussian_dp_mu": mu,
            "true_gaussian_dp_mu": true_mu,
            **(at_step if problem.printed_participation else {}),
        },
        claims=claims(target, found["excess_risk"] if problem.printed_participation else None),
        true=truth(true_mu),
        conditions=condition_answers(conditions),
        evaluations=(question.served,),
    )
