"""The answer to a request for risk bounds: upper bounds, lower bounds and reference rates.

A statement with a hidden constant has a `scale`, the order in which its bound grows, and never a `value`: dividing one
scale by another says how far two statements are apart as orders, and nothing about numbers.
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
TRUST = Quantity(
    description="trust model of the lower bounds. local: clients trust nobody. shuffle: they trust a shuffler. "
    "central: they trust the server"
)
OBJECTIVE = Quantity(
    description="loss whose excess is bounded. population: expected loss. empirical: mean loss on the data at hand"
)


@dataclass(frozen=True, kw_only=True)
class RunAnswer:
    """The run whose risk is bounded."""

    noise_std: Annotated[
        float,
        Served(
            "standard deviation of the noise per coordinate, as in the request; the smallest if it varies over steps. "
            "With client groups its root mean square over clients"
        ),
    ]
    noise_source: Annotated[
        Literal["given", "certified"],
        Served(
            "given: the request has this noise and no guarantee is certified. certified: the run is certified "
            "to meet the target"
        ),
    ]
    batch_size: Annotated[
        int | None,
        Served(
            "number of records in a client's batch, or of clients in a step; absent where the algorithm has neither"
        ),
    ] = None
    rounds: int
    step_size: Annotated[
        float | None,
        Served(
            "step size of the request, or else the one that minimises the explicit upper bound; absent if "
            "there is neither"
        ),
    ] = None
    envelope_smoothness: Annotated[
        float | None,
        Served("smoothness constant of the Moreau envelope that replaces the loss; absent if the loss is smooth"),
    ] = None


@dataclass(frozen=True, kw_only=True)
class AggregatesAnswer:
    """Statistics of unequal clients in the theorems of Lowy and Razaviyayn, at the rounds of the run (Appendix E.1).

    M_r is the random number of participants of a round. ξ_i is the privacy cost of client i, from its ε, δ, number of
    records and the rounds. L is the Lipschitz constant.
    """

    participants: Annotated[float, Served("M = 1/E[1/M_r], the harmonic mean of the number of participants of a round")]
    rms_participants: Annotated[float, Served("M' = 1/√E[1/M_r²], an average of the number of participants of a round")]
    average_xi: Annotated[float, Served("Ξ: root mean square over M_r of the mean of the M_r largest ξ_i")]
    largest_xi: Annotated[float, Served("ξ_max: the largest ξ_i of a client")]
    average_psi: Annotated[float, Served("Ψ = L²Ξ, for the largest Lipschitz constant L of a client's weighted loss")]
    largest_psi: Annotated[
        float, Served("ψ_max = L²ξ_max, for the largest Lipschitz constant L of a client's weighted loss")
    ]
    branch: Annotated[
        Literal["average", "largest"],
        Served("average: Ξ/M' is the smaller one and is used in the bound. largest: ξ_max/M is"),
    ]


@dataclass(frozen=True, kw_only=True)
class UpperBound:
    """An upper bound on the risk of a run, or its order of growth if the theorem hides a constant.

    `theorem` is the id of the theorem, and `reading` says how its printed statement is interpreted. `terms` are the
    named terms of the bound, and `conditions` the checked conditions of the theorem.
    """

    theorem: str
    reading: Literal["informal", "complete", "statement", "corrected"]
    constant: Literal["explicit", "hidden"]
    status: Annotated[
        Status | None,
        Served("status of the theorem as it is printed. The reading `corrected` is without its known errors"),
    ] = None
    value: Annotated[
        Number | None, Served("value of the upper bound; absent if the theorem hides a constant", may_be_unbounded=True)
    ] = None
    scale: Annotated[
        float | None,
        Served(
            "order of growth of the bound, up to a hidden constant. Absent if all constants are given, or "
            "if the theorem states no order"
        ),
    ] = None
    vacuous: Annotated[bool | None, VACUOUS] = None
    terms: Mapping[str, float]
    conditions: tuple[ConditionAnswer, ...]


@dataclass(frozen=True, kw_only=True)
class LowerBound:
    """A lower bound on the excess risk of every algorithm with the same trust model, as an order of growth.

    `scale` is the order, up to a hidden constant factor. `terms` are its statistical and privacy terms. `problem` says
    whether the excess is of the population or of the empirical loss.
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
    """Orders of growth of the excess risk for comparison, up to constants and logarithms."""

    theorem: str
    non_private_scale: float
    one_record_scale: Annotated[float, Served("order of the cost of local privacy, if each client had only one record")]
    central_scale: Annotated[float, Served("order of the excess risk if the server is trusted")]
    free_privacy_epsilon: Annotated[
        float,
        Served(
            "√(d/n), for d coordinates of the model and n records of a client. For larger ε, local privacy "
            "costs no more than the sampling of the records, up to constants"
        ),
    ]
    free_privacy: ConditionAnswer


@dataclass(frozen=True, kw_only=True)
class RatioAnswer:
    """The ratio of an upper bound, or of its order, to the order of a lower bound."""

    upper: Annotated[str, Served("id of the theorem of the upper bound")]
    lower: Annotated[str, Served("id of the theorem of the lower bound")]
    value: Annotated[
        Number, Served("the upper bound or its order, divided by the order of the lower bound", may_be_unbounded=True)
    ]
    statement: Annotated[
        str, Served("which constants the ratio hides, and which conditions of the lower bound fail, in words")
    ]


@dataclass(frozen=True, kw_only=True)
class RiskBoundsAnswer(ShownInNotebooks):
    """Upper and lower bounds on the risk of a run, and orders of growth to compare with.

    A list is empty if no bound is known. Other parts that do not apply are absent.
    """

    algorithm: str
    measure: Annotated[
        Measure,
        Served(
            "quantity that is bounded. excess-risk: the objective minus its least value. gradient-norm: "
            "the norm of the objective's gradient. squared-error: the expected squared error of a released "
            "mean"
        ),
    ] = "excess-risk"
    objective: Annotated[AnsweredObjective | None, ANSWERED_OBJECTIVE] = None
    baseline: Annotated[Baseline | None, BASELINE] = None
    run: RunAnswer
    aggregates: Annotated[
        AggregatesAnswer | None,
        Served("averages over clients and participants that the theorems use; absent where they use none"),
    ] = None
    upper: tuple[UpperBound, ...]
    no_upper_bound: Annotated[
        str | None, Served("why no upper bound has a value for this run, in words; absent if one has")
    ] = None
    lower: tuple[LowerBound, ...]
    reference: Annotated[
        ReferenceAnswer | None,
        Served("orders of growth to compare with; absent for algorithms to which they do not apply"),
    ] = None
    ratios: tuple[RatioAnswer, ...]
    declared_conditions: tuple[DeclaredCondition, ...]
    warnings: tuple[Caution, ...]
    engine_version: str
