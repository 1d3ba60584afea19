"""Families of audits with a joint confidence, and the audit that refutes a printed theorem."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Annotated

from epsilond.accountants.errors import InvalidInput
from epsilond.accountants.specs import TruncatedDiscreteLaplace
from epsilond.accountants.theorems.papers.das.truncated_noise import PrintedInputs, theorem_1
from epsilond.calibrators.answer import Served
from epsilond.simulators.audits.rates import joint_confidence
from epsilond.witness.audits.answer import AuditAnswer
from epsilond.witness.audits.audit import run
from epsilond.witness.audits.request import AuditClaim, AuditSimulation


@dataclass(frozen=True, kw_only=True)
class FamilyAnswer:
    """The answers of all audits of a family."""

    confidence: Annotated[float, Served("with which all lower bounds on ε hold together")]
    each: Annotated[float, Served("confidence of each by itself")]
    audits: tuple[AuditAnswer, ...]
    contradicted: Annotated[tuple[int, ...], Served("places of those with a lower bound above the certified ε")]


def with_joint_confidence(requests: Sequence[AuditSimulation], confidence: float) -> tuple[AuditSimulation, ...]:
    """Set the confidence level of each audit, so that all lower bounds on ε hold together with a joint confidence.

    By the Bonferroni inequality, this is so if each bound fails with an equal part of 1 − `confidence`.

    Args:
        requests: the audits.
        confidence: joint confidence level, between 0 and 1.

    Returns:
        The audits in the same order, with equal confidence levels.

    Raises:
        InvalidInput: there are no audits.
    """
    if not requests:
        raise InvalidInput.at("/audits", "has too few entries", allowed="≥ 1")
    confidence_of_each = joint_confidence(len(requests), confidence)
    return tuple(replace(request, confidence=confidence_of_each) for request in requests)


def run_family(requests: Sequence[AuditSimulation], confidence: float) -> FamilyAnswer:
    """Run several audits one after another, with a joint confidence for all their lower bounds on ε.

    If all certificates are right, any audit is contradicted with probability at most 1 − `confidence`.

    Args:
        requests: the audits, at least one.
        confidence: joint confidence level, between 0 and 1.

    Returns:
        All answers, and the indices of those with a lower bound above the certified ε.
    """
    adjusted_requests = with_joint_confidence(requests, confidence)
    answers = tuple(run(request) for request in adjusted_requests)
    contradicted = tuple(index for index, answer in enumerate(answers) if answer.verdict == "contradicted")
    return FamilyAnswer(
        confidence=confidence,
        each=joint_confidence(len(requests), confidence),
        audits=answers,
        contradicted=contradicted,
    )


def printed_truncated_discrete_laplace(
    *,
    epsilon: float = 1.0,
    dimension: int = 30,
    l1_sensitivity: float = 30.0,
    linf_sensitivity: float = 1.0,
    samples: int = 200_000,
    seed: int = 0,
) -> AuditSimulation:
    """Return an audit that refutes Theorem 1 of Das et al. on truncated discrete Laplace noise.

    The noise is that which the theorem prescribes for a vector with d coordinates. The audit is at the δ = 2^−d that
    the theorem claims, and compares the ε that an attack proves with the claimed ε.

    Args:
        epsilon: claimed ε.
        dimension: number d of coordinates.
        l1_sensitivity: sensitivity in the ℓ1 norm, in grid steps.
        linf_sensitivity: sensitivity in the ℓ∞ norm, in grid steps.
        samples: number of runs on each of two neighbouring data sets.
        seed: seed of all randomness.

    Returns:
        The request of the audit.

    Raises:
        InvalidInput: the theorem prescribes no noise for these inputs.
    """
    inputs = PrintedInputs(
        epsilon=epsilon, dimension=dimension, l1_sensitivity=l1_sensitivity, linf_sensitivity=linf_sensitivity
    )
    prescribed = theorem_1(inputs)
    noise = TruncatedDiscreteLaplace(
        noise_levels=int(float(prescribed["noise_levels"])),
        decay_rate=float(prescribed["decay_rate"]),
        dimension=dimension,
        l1_sensitivity=l1_sensitivity,
        linf_sensitivity=linf_sensitivity,
    )
    return AuditSimulation(
        spec=noise,
        relation="replace-one",
        unit="record",
        observer="server",
        log10_delta=float(prescribed["log10_claimed_delta"]),
        samples=samples,
        seed=seed,
        claim=AuditClaim(epsilon=epsilon),
    )
