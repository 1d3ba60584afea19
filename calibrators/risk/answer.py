"""The answer to a request for risk bounds: upper bounds, lower bounds and reference rates.

A statement whose constant is hidden has a `scale`, the order in which its bound grows, and never a `value`: dividing
one scale by another says how far two statements are apart as orders, and nothing about numbers.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Literal

from epsilond.accountants.quantities import Quantity
from epsilond.accountants.theorem import Status
from epsilond.calibrators.answer import (
    BASELINE,
    VACUOUS,
    Baseline,
    Caution,
    ConditionAnswer,
    DeclaredCondition,
    Number,
    Served,
)
from epsilond.calibrators.answer import OBJECTIVE as ANSWERED_OBJECTIVE
from epsilond.calibrators.answer import Objective as AnsweredObjective
from epsilond.calibrators.notebooks import ShownInNotebooks

Trust = Literal["local", "shuffle", "central"]
Objective = Literal["population", "empirical"]
Measure = Literal["excess-risk", "gradient-norm", "squared-error"]
"""Quantity that is bounded: F − F*, the norm of the gradient of F, or the squared error of a released mean."""
TRUST = Quantity(description="party that clients trust in the lower bounds: none, a shuffler, or the server")
OBJECTIVE = Quantity(description="objective of the excess: the expected loss, or the mean loss on the data at hand")


@dataclass(frozen=True, kw_only=True)
class RunAnswer:
    """The run that the bounds are about."""

    noise_std: Annotated[float, Served("σ per coordinate; with client groups the root mean square over clients")]
    noise_source: Annotated[
        Literal["given", "certified"], Served("the smallest certified noise, unless the request gave one")
    ]
    batch_size: Annotated[
        int | None, Served("records of a batch, or users of a step; absent where the algorithm has none")
    ] = None
    rounds: int
    step_size: Annotated[float | None, Served("given, or the one that minimises the explicit bound")] = None
    envelope_smoothness: Annotated[
        float | None, Served("smoothness of the Moreau envelope; absent for smooth losses")
    ] = None


@dataclass(frozen=True, kw_only=True)
class AggregatesAnswer:
    """Statistics of unequal clients in the theorems of Lowy and Razaviyayn, at the rounds of the run (Appendix E.1).

    M_r is the random number of participants of a round. ξ_i is the privacy cost of client i, from its ε, δ, number of
    records and the rounds. L is the Lipschitz constant.
    """

    participants: Annotated[float, Served("M = 1/E[1/M_r]")]
    rms_participants: Annotated[float, Served("M' = 1/√E[1/M_r²]")]
    average_xi: Annotated[float, Served("Ξ, the root mean square of the mean of the M_r largest ξ_i")]
    largest_xi: Annotated[float, Served("ξ_max")]
    average_psi: Annotated[float, Served("Ψ = L²Ξ")]
    largest_psi: Annotated[float, Served("ψ_max = L²ξ_max")]
    branch: Annotated[Literal["average", "largest"], Served("which of Ξ/M' and ξ_max/M is smaller; the bound uses it")]


@dataclass(frozen=True, kw_only=True)
class UpperBound:
    """A bound on the excess risk from above, or its order."""

    theorem: str
    reading: Literal["informal", "complete", "statement", "corrected"]
    constant: Literal["explicit", "hidden"]
    status: Annotated[
        Status | None,
        Served("status of the printed theorem; the reading `corrected` has its known errors repaired"),
    ] = None
    value: Annotated[Number | None, Served("the bound; absent where a constant is hidden", may_be_unbounded=True)] = (
        None
    )
    scale: Annotated[
        float | None, Served("the order; absent where every constant is given, or where the statement gives none")
    ] = None
    vacuous: Annotated[bool | None, VACUOUS] = None
    terms: Mapping[str, float]
    conditions: tuple[ConditionAnswer, ...]


@dataclass(frozen=True, kw_only=True)
class LowerBound:
    """A lower bound on the excess risk of every algorithm with the same trust model, as an order of growth.

    `scale` is the order, up to a hidden constant factor. `terms` are its statistical and privacy parts.
    """

    theorem: str
    trust: Trust
    problem: Objective
    constant: Literal["hidden"] = "hidden"
    scale: float
    terms: Mapping[str, float]
    conditions: tuple[ConditionAnswer, ...]


@dataclass(frozen=True, kw_only=True)
class ReferenceAnswer:
    """Orders to compare with, and from which ε on privacy against everyone costs no more than having few records."""

    theorem: str
    non_private_scale: float
    one_record_scale: Annotated[float, Served("local privacy with one record a person")]
    central_scale: Annotated[float, Served("a trusted server")]
    free_privacy_epsilon: Annotated[float, Served("√(d/n), a threshold up to constants")]
    free_privacy: ConditionAnswer


@dataclass(frozen=True, kw_only=True)
class RatioAnswer:
    """An upper bound, or its order, over the order of a lower bound."""

    upper: Annotated[str, Served("theorem of the upper bound")]
    lower: Annotated[str, Served("theorem of the lower bound")]
    value: Annotated[Number, Served("upper bound divided by lower bound", may_be_unbounded=True)]
    statement: Annotated[str, Served("the constants that the statement hides, in words")]


@dataclass(frozen=True, kw_only=True)
class RiskBoundsAnswer(ShownInNotebooks):
    """Bounds on the risk of a run, upper and lower, and reference rates. Parts that do not apply are absent."""

    algorithm: str
    measure: Annotated[
        Measure,
        Served(
            "bounded quantity: the excess of the objective over its least value, the norm of the objective's "
            "gradient, or the expected squared error of a released mean"
        ),
    ] = "excess-risk"
    objective: Annotated[AnsweredObjective | None, ANSWERED_OBJECTIVE] = None
    baseline: Annotated[Baseline | None, BASELINE] = None
    run: RunAnswer
    aggregates: Annotated[
        AggregatesAnswer | None, Served("averages over the clients that the statements use; absent where they use none")
    ] = None
    upper: tuple[UpperBound, ...]
    no_upper_bound: Annotated[
        str | None, Served("what the theorems leave open; absent if an upper bound of this run has a value")
    ] = None
    lower: tuple[LowerBound, ...]
    reference: Annotated[
        ReferenceAnswer | None, Served("rates to compare with; absent where they are not for this algorithm")
    ] = None
    ratios: tuple[RatioAnswer, ...]
    declared_conditions: tuple[DeclaredCondition, ...]
    warnings: tuple[Caution, ...]
    engine_version: str
