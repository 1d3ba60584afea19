"""Many audits with one joint statement, and the audit that disproves a printed theorem."""

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
    """All audits of a family."""

    confidence: Annotated[float, Served("with which all lower bounds on ε hold together")]
    each: Annotated[float, Served("confidence of each by itself")]
    audits: tuple[AuditAnswer, ...]
    contradicted: Annotated[tuple[int, ...], Served("places of those whose lower bound exceeds what is certified")]


def jointly(asked: Sequence[AuditSimulation], confidence: float) -> tuple[AuditSimulation, ...]:
    """The same audits, each at the confidence at which all their bounds on ε hold together with `confidence`.

    Raises:
        InvalidInput: there are none.
    """
    if not asked:
        raise InvalidInput.at("/audits", "has too few entries", allowed="≥ 1")
    each = joint_confidence(len(asked), confidence)
    return tuple(replace(one, confidence=each) for one in asked)


def run_family(asked: Sequence[AuditSimulation], confidence: float) -> FamilyAnswer:
    """Runs them one after another; at 0.999, if all certificates are right, none is contradicted but once in 1000."""
    answers = tuple(run(one) for one in jointly(asked, confidence))
    return FamilyAnswer(
        confidence=confidence,
        each=joint_confidence(len(asked), confidence),
        audits=answers,
        contradicted=tuple(place for place, one in enumerate(answers) if one.verdict == "contradicted"),
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
    """The noise that Theorem 1 of Das et al. prescribes for ε, attacked at the δ = 2^−d that it claims.

    Raises:
        InvalidInput: the theorem prescribes nothing there.
    """
    inputs = PrintedInputs(
        epsilon=epsilon, dimension=dimension, l1_sensitivity=l1_sensitivity, linf_sensitivity=linf_sensitivity
    )
    printed = theorem_1(inputs)
    return AuditSimulation(
        spec=TruncatedDiscreteLaplace(
            noise_levels=int(float(printed["noise_levels"])),
            decay_rate=float(printed["decay_rate"]),
            dimension=dimension,
            l1_sensitivity=l1_sensitivity,
            linf_sensitivity=linf_sensitivity,
        ),
        relation="replace-one",
        unit="record",
        observer="server",
        log10_delta=float(printed["log10_claimed_delta"]),
        samples=samples,
        seed=seed,
        claim=AuditClaim(epsilon=epsilon),
    )
