"""A plan's answer: an entry for every algorithm, or the reasons why it does not apply, and rankings of the entries.

Entries are ranked only among entries with the same kind of guarantee and with figures of the same quantity.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Literal

from epsilond.accountants.errors import Fault
from epsilond.accountants.json_types import JsonObject
from epsilond.accountants.quantities import Observer, ProtectedUnit, Relation
from epsilond.accountants.quantities.units import require_unit
from epsilond.accountants.verdict import Verdict
from epsilond.calibrators.answer import (
    BASELINE,
    OBJECTIVE,
    VACUOUS,
    Baseline,
    Calibration,
    ConditionAnswer,
    Number,
    Objective,
    Served,
    number_of,
)
from epsilond.calibrators.planning.problem import RankBy, Trust, Unknown


@dataclass(frozen=True, kw_only=True)
class Reason:
    """Why an algorithm does not apply, or what was taken for granted where it does."""

    message: str
    pointer: Annotated[str | None, Served("the field of the plan that the reason is about")] = None
    allowed: Annotated[str | None, Served("sufficient values")] = None
    condition: Annotated[ConditionAnswer | None, Served("the condition that fails, with both sides")] = None
    nearest: Annotated[Mapping[str, Number | str] | None, Served("the closest values that would do")] = None

    @classmethod
    def of(cls, fault: Fault) -> Reason:
        """Make a reason from a fault of the algorithm's own request."""
        return cls(message=fault.message, pointer=fault.pointer, allowed=fault.allowed)


@dataclass(frozen=True, kw_only=True)
class GuaranteeKind:
    """Who trusts whom, whose data is protected, what a neighbour is, and who sees what."""

    definition: Trust
    unit: ProtectedUnit
    relation: Relation
    observer: Observer

    @classmethod
    def from_json(cls, members: JsonObject) -> GuaranteeKind:
        """Read the kind from the JSON form of a calibration's guarantee, which has further members."""
        kind = {name: members[name] for name in cls.__dataclass_fields__}
        return cls(**{**kind, "unit": require_unit(members["unit"])})


@dataclass(frozen=True, kw_only=True)
class PlannedRisk:
    """An upper bound on the excess risk. An order with a hidden constant, and a vacuous bound, are never ranked."""

    value: Number
    constant: Literal["explicit", "hidden"]
    theorem: str
    objective: Annotated[Objective | None, OBJECTIVE] = None
    baseline: Annotated[Baseline | None, BASELINE] = None
    vacuous: Annotated[bool | None, VACUOUS] = None

    @classmethod
    def from_json(cls, members: JsonObject) -> PlannedRisk | None:
        """Read the upper bound from the JSON form of a calibration's risk; None if there is no upper bound."""
        upper, baseline = members.get("upper"), members.get("baseline")
        if upper is None:
            return None
        return cls(
            value=number_of(upper["value"]),
            constant=upper["constant"],
            theorem=upper["theorem"],
            objective=members.get("objective"),
            baseline=None if baseline is None else Baseline.from_json(baseline),
            vacuous=upper.get("vacuous"),
        )


@dataclass(frozen=True, kw_only=True)
class Tried:
    """A value that was tried, and the bound on the risk there; absent where nothing is certified there."""

    value: float
    risk: Number | None = None


@dataclass(frozen=True, kw_only=True)
class Reached:
    """The smallest value found that reaches the risk, and the next smaller one, which does not."""

    solve_for: Unknown
    value: float
    risk: Annotated[float, Served("the explicit bound at that value, certified; at most the target risk")]
    below: Annotated[
        Tried | None, Served("the next smaller value of the search; absent at the lower limit of its range")
    ] = None
    minimal: Annotated[
        Literal["searched"], Served("found by a search, which excludes smaller values only if the risk falls in it")
    ] = "searched"

    @classmethod
    def from_json(cls, members: JsonObject) -> Reached:
        """Read a solved value from its JSON form, with the next smaller value if there is one."""
        below = members.get("below")
        return cls(**{**members, "below": None if below is None else Tried(**below)})


@dataclass(frozen=True, kw_only=True)
class PlanEntry:
    """One algorithm, or one variant of it, as an answer to the plan: whether it applies, its noise and its risk."""

    algorithm: str
    variant: Annotated[str | None, Served("variant of the algorithm; absent if the algorithm has only one")] = None
    title: str
    applies: Annotated[Verdict, Served("undecidable: not answered within the deadline")]
    why: Annotated[
        tuple[Reason, ...],
        Served("why the algorithm does not apply; if it applies, the values that the plan assumed for it"),
    ]
    guarantee: GuaranteeKind
    objective: Annotated[Objective | None, OBJECTIVE] = None
    rank: Annotated[
        int | None,
        Served("within its group, from 1; absent where there is nothing to rank by, or its risk is vacuous"),
    ] = None
    noise_std: Annotated[float | None, Served("standard deviation of the noise per coordinate")] = None
    noise_added_to: Literal["gradients", "unit-updates", "shared-gradient", "mean-of-updates"]
    rounds: int | None = None
    bits: Annotated[int | None, Served("bits that all clients together send over the run")] = None
    bytes_per_client: Annotated[
        float | None, Served("bytes that one client sends; their expectation if clients are drawn at random")
    ] = None
    reports_per_client: Annotated[
        float | None,
        Served("number of rounds in which one client reports; its expectation if clients are drawn at random"),
    ] = None
    noise_norm: Annotated[float | None, Served("norm of the noise in the mean of one round")] = None
    noise_to_signal: Annotated[
        float | None, Served("noise_norm over the bound on the mean's norm: clipping_norm, or lipschitz")
    ] = None
    remaining_share: Annotated[
        Number | None,
        Served(
            "bound on the risk, divided by the baseline, which is a bound on the risk of the start. For ranking by "
            "noise: √((1 + noise_to_signal²)/rounds). A value of 1 or more does not show an improvement on the start",
            may_be_unbounded=True,
        ),
    ] = None
    basis: Annotated[
        Literal["risk", "noise"] | None,
        Served("source of remaining_share; a value from noise is a measure and not a bound"),
    ] = None
    exceeds: Annotated[
        tuple[str, ...],
        Served("limits of the plan that the entry exceeds; it is then neither ranked nor recommended"),
    ] = ()
    risk: Annotated[PlannedRisk | None, Served("bound on the excess risk; absent if no theorem proves one")] = None
    vacuous: Annotated[
        bool | None, Served("whether the proved bound is no better than the start; absent where no bound is proved")
    ] = None
    reach: Annotated[
        Reached | None, Served("what is needed to reach the plan's target risk; absent unless the plan has one")
    ] = None
    unused: Annotated[tuple[str, ...], Served("fields of the plan that this algorithm takes no account of")]
    request: Annotated[
        JsonObject | None, Served("body of POST /v1/calibrations/{algorithm} that gives the calibration")
    ] = None
    calibration: Annotated[Calibration | None, Served("the complete answer to the request")] = None


@dataclass(frozen=True, kw_only=True)
class PlanGroup:
    """Entries that can be compared: one kind of guarantee, figures of one thing."""

    guarantee: GuaranteeKind
    compares: Annotated[str, Served("description of the compared figure")]
    ranked: Annotated[tuple[str, ...], Served("names of entries, the best first; algorithm or algorithm (variant)")]
    unranked: Annotated[
        tuple[str, ...],
        Served(
            "names of entries that are not ranked. Those beyond the limits or not shown to be better than the start "
            "come first, by increasing figure. Those without a figure or with a hidden constant follow"
        ),
    ]


@dataclass(frozen=True, kw_only=True)
class PlanChoice:
    """A number of rounds that the recommended algorithm could take instead."""

    rounds: int
    batch_size: Annotated[int | None, Served("records of one client per round, where the algorithm chooses them")] = (
        None
    )
    remaining_share: Annotated[Number, Served("the same field as in `entries`", may_be_unbounded=True)]
    noise_to_signal: Annotated[
        float | None, Served("the same field as in `entries`; absent if the frontier has none")
    ] = None
    bytes_per_client: Annotated[float, Served("the same field as in `entries`")]
    total_bits: Annotated[int, Served("bits that all clients together send")]
    certified: Annotated[bool, Served("whether the noise there is certified, or estimated")]
    chosen: Annotated[bool, Served("whether this choice is the run of the entry")]


@dataclass(frozen=True, kw_only=True)
class TrustPrice:
    """The best entry of a plan under one kind of trust, and its risk relative to the best kind (`price`)."""

    definition: Trust
    in_words: Annotated[str, Served("the trusted party and its part")]
    best: Annotated[str | None, Served("name of an entry; absent where none within limits improves on the start")] = (
        None
    )
    guarantee: Annotated[GuaranteeKind | None, Served("guarantee of the best entry")] = None
    remaining_share: Annotated[float | None, Served("the same field as in `entries`, of the best entry")] = None
    basis: Annotated[Literal["risk", "noise"] | None, Served("the same field as in `entries`, of the best entry")] = (
        None
    )
    price: Annotated[
        float | None,
        Served("remaining_share divided by the smallest remaining_share over all kinds of trust; 1 is the best"),
    ] = None


@dataclass(frozen=True, kw_only=True)
class Recommendation:
    """The recommended entry: the smallest remaining share, or one hardly larger that needs less trust."""

    entry: Annotated[str | None, Served("name of an entry; absent where none within limits improves on the start")] = (
        None
    )
    why: Annotated[str, Served("the reasons why the request was refused, in words")]
    choices: Annotated[
        tuple[PlanChoice, ...] | None,
        Served("other possible numbers of rounds; absent unless the algorithm chose the number"),
    ] = None


@dataclass(frozen=True, kw_only=True)
class PlanAnswer:
    """Every algorithm: ranked ones first, group by group, then those without a figure, undecided, not applicable."""

    rank_by: RankBy
    recommended: Recommendation
    trusts: Annotated[
        tuple[TrustPrice, ...], Served("every kind of trust that the plan accepts, the least trust first")
    ]
    groups: tuple[PlanGroup, ...]
    entries: tuple[PlanEntry, ...]
    engine_version: str
