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
    """The reason why an algorithm does not apply; or, if it applies, an assumption that was made for it."""

    message: str
    pointer: Annotated[
        str | None,
        Served("JSON pointer to the field of the plan that the reason is about; absent if it is about no field"),
    ] = None
    allowed: Annotated[str | None, Served("values of this field with which the algorithm would apply")] = None
    condition: Annotated[ConditionAnswer | None, Served("condition that fails, with the values of both sides")] = None
    nearest: Annotated[
        Mapping[str, Number | str] | None,
        Served("closest values of the plan's fields with which the algorithm would apply"),
    ] = None

    @classmethod
    def of(cls, fault: Fault) -> Reason:
        """Make a reason from a fault that the algorithm's own request reports."""
        return cls(message=fault.message, pointer=fault.pointer, allowed=fault.allowed)


@dataclass(frozen=True, kw_only=True)
class GuaranteeKind:
    """The kind of a guarantee: trust model, protected unit, neighbouring relation and adversary."""

    definition: Trust
    unit: ProtectedUnit
    relation: Relation
    observer: Observer

    @classmethod
    def from_json(cls, members: JsonObject) -> GuaranteeKind:
        """Read the kind of a guarantee from the JSON form of a calibration's guarantee; other members are ignored."""
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
        """Read the upper bound on the excess risk from the JSON form of a calibration's risk.

        Args:
            members: JSON form of `Risk`, the bounds on the excess risk in the answer of a calibration.

        Returns:
            The bound; None if there is no upper bound.
        """
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
    """A value of the field that was tried, with its risk bound; `risk` is absent if the value has no answer."""

    value: float
    risk: Number | None = None


@dataclass(frozen=True, kw_only=True)
class Reached:
    """The smallest value found that reaches the target risk, and the next smaller value tried, which does not."""

    solve_for: Unknown
    value: float
    risk: Annotated[float, Served("certified upper bound on the excess risk at this value; at most the target risk")]
    below: Annotated[
        Tried | None,
        Served(
            "next smaller value that was tried, which misses the target risk. Absent if value is the lower "
            "limit of its range"
        ),
    ] = None
    minimal: Annotated[
        Literal["searched"],
        Served(
            "searched: the value was found by a search. No smaller value suffices if the risk decreases as "
            "the field grows; this is not proved"
        ),
    ] = "searched"

    @classmethod
    def from_json(cls, members: JsonObject) -> Reached:
        """Read a solved value from its JSON form, with the next smaller value that was tried, if there is one."""
        below = members.get("below")
        return cls(**{**members, "below": None if below is None else Tried(**below)})


@dataclass(frozen=True, kw_only=True)
class PlanEntry:
    """One algorithm, or one variant of it, as an answer to the plan: whether it applies, its noise and its risk."""

    algorithm: str
    variant: Annotated[str | None, Served("variant of the algorithm; absent if the algorithm has only one")] = None
    title: str
    applies: Annotated[
        Verdict,
        Served("whether the algorithm applies to the plan. undecidable: it was not answered within the deadline"),
    ]
    why: Annotated[
        tuple[Reason, ...],
        Served("reasons why the algorithm does not apply; if it applies, the assumptions that were made for it"),
    ]
    guarantee: GuaranteeKind
    objective: Annotated[Objective | None, OBJECTIVE] = None
    rank: Annotated[
        int | None,
        Served(
            "rank of the entry within its group; 1 is the best. Absent if the entry has no figure, exceeds "
            "a limit, or is not shown to improve on the initial model"
        ),
    ] = None
    noise_std: Annotated[
        float | None,
        Served("standard deviation per coordinate of the noise that is added to the quantity named in noise_added_to"),
    ] = None
    noise_added_to: Literal["gradients", "unit-updates", "shared-gradient", "mean-of-updates"]
    rounds: int | None = None
    bits: Annotated[int | None, Served("bits that all clients together send during the run")] = None
    bytes_per_client: Annotated[
        float | None,
        Served(
            "number of bytes that one client sends during the run; the expected number if clients are drawn at random"
        ),
    ] = None
    reports_per_client: Annotated[
        float | None,
        Served("number of rounds in which one client takes part; the expected number if clients are drawn at random"),
    ] = None
    noise_norm: Annotated[
        float | None,
        Served(
            "norm of the noise in the mean of one round: its standard deviation per coordinate, times the "
            "root of the number of coordinates"
        ),
    ] = None
    noise_to_signal: Annotated[
        float | None,
        Served(
            "noise_norm divided by a bound on the norm of the mean without noise. The bound is "
            "clipping_norm where messages are clipped, and otherwise lipschitz"
        ),
    ] = None
    remaining_share: Annotated[
        Number | None,
        Served(
            "share of the initial risk that remains. If basis is risk: bound on the risk, divided by its "
            "baseline. If basis is noise: √((1 + noise_to_signal²)/rounds), which is not a bound. A value "
            "of 1 or more shows no improvement by training",
            may_be_unbounded=True,
        ),
    ] = None
    basis: Annotated[
        Literal["risk", "noise"] | None,
        Served(
            "source of remaining_share. risk: a bound on the risk. noise: a measure of the noise, which is not a bound"
        ),
    ] = None
    exceeds: Annotated[
        tuple[str, ...],
        Served(
            "names of the plan's limits that the entry exceeds. An entry that exceeds one is neither "
            "ranked nor recommended"
        ),
    ] = ()
    risk: Annotated[PlannedRisk | None, Served("upper bound on the excess risk; absent if no theorem gives one")] = None
    vacuous: Annotated[
        bool | None,
        Served(
            "true: the bound on the risk or gradient norm is not below that of the initial model. Absent "
            "if there is no bound"
        ),
    ] = None
    reach: Annotated[
        Reached | None,
        Served(
            "smallest value of the field in reach with which the plan's target risk is reached; absent if "
            "the plan has no reach"
        ),
    ] = None
    unused: Annotated[tuple[str, ...], Served("names of the plan's fields that do not affect this algorithm's request")]
    request: Annotated[
        JsonObject | None,
        Served(
            "body of POST /v1/calibrations/{algorithm} that returns the calibration; absent if the "
            "algorithm does not apply"
        ),
    ] = None
    calibration: Annotated[
        Calibration | None, Served("complete answer to request; absent if the algorithm does not apply")
    ] = None


@dataclass(frozen=True, kw_only=True)
class PlanGroup:
    """Entries that can be compared, because they have the same kind of guarantee and figures of the same quantity."""

    guarantee: GuaranteeKind
    compares: Annotated[str, Served("quantity by which the entries are compared, in words")]
    ranked: Annotated[tuple[str, ...], Served("names of entries, the best first; algorithm or algorithm (variant)")]
    unranked: Annotated[
        tuple[str, ...],
        Served(
            "names of entries that are not ranked. First are those that exceed a limit or are not shown to "
            "improve on the initial model, by increasing figure. Those without a figure follow"
        ),
    ]


@dataclass(frozen=True, kw_only=True)
class PlanChoice:
    """A number of rounds that the recommended algorithm could take instead."""

    rounds: int
    batch_size: Annotated[
        int | None,
        Served("number of records that a client uses in one round; absent if the algorithm does not choose it"),
    ] = None
    remaining_share: Annotated[
        Number,
        Served(
            "bound on the risk, or measure of the noise, with this number of rounds, as remaining_share of an entry",
            may_be_unbounded=True,
        ),
    ]
    noise_to_signal: Annotated[
        float | None,
        Served(
            "norm of the noise in the mean of one round, divided by a bound on the norm of the mean; "
            "absent if it is not known"
        ),
    ] = None
    bytes_per_client: Annotated[
        float,
        Served(
            "number of bytes that one client sends during the run; the expected number if clients are drawn at random"
        ),
    ]
    total_bits: Annotated[int, Served("number of bits that all clients together send during the run")]
    certified: Annotated[
        bool, Served("true: the noise of this run is certified to meet the target. false: it is an estimate")
    ]
    chosen: Annotated[bool, Served("whether this is the run of the recommended entry")]


@dataclass(frozen=True, kw_only=True)
class TrustPrice:
    """The best entry of a plan under one kind of trust, and its risk relative to the best kind (`price`)."""

    definition: Trust
    in_words: Annotated[str, Served("who is trusted, and with what, in words")]
    best: Annotated[
        str | None,
        Served(
            "name of the best entry under this kind of trust. Absent if no entry keeps to the limits and "
            "is shown to improve on the initial model"
        ),
    ] = None
    guarantee: Annotated[
        GuaranteeKind | None, Served("kind of guarantee of the best entry; absent if there is no best entry")
    ] = None
    remaining_share: Annotated[
        float | None, Served("remaining_share of the best entry; absent if there is no best entry")
    ] = None
    basis: Annotated[
        Literal["risk", "noise"] | None,
        Served("basis of the best entry's remaining_share; absent if there is no best entry"),
    ] = None
    price: Annotated[
        float | None,
        Served(
            "remaining_share of the best entry, divided by the smallest remaining_share over all kinds of "
            "trust; 1 is the best"
        ),
    ] = None


@dataclass(frozen=True, kw_only=True)
class Recommendation:
    """The recommended entry: its remaining share is the smallest, or hardly larger with less trust or fewer rounds."""

    entry: Annotated[
        str | None,
        Served(
            "name of the recommended entry. Absent if no entry keeps to the limits and is shown to improve "
            "on the initial model"
        ),
    ] = None
    why: Annotated[str, Served("why this entry is recommended, in words; without an entry, why none is")]
    choices: Annotated[
        tuple[PlanChoice, ...] | None,
        Served(
            "runs with other numbers of rounds, and the recommended one. Absent unless the algorithm chose "
            "the number of rounds"
        ),
    ] = None


@dataclass(frozen=True, kw_only=True)
class PlanAnswer:
    """Every algorithm as an answer to a plan: rankings of comparable entries, and a recommendation.

    In `entries`, those that apply are first, group by group, with the ranked ones first. Undecided entries follow.
    Entries that do not apply are last.
    """

    rank_by: RankBy
    recommended: Recommendation
    trusts: Annotated[
        tuple[TrustPrice, ...],
        Served("best entry under each kind of trust that the plan accepts, the least trust first"),
    ]
    groups: tuple[PlanGroup, ...]
    entries: tuple[PlanEntry, ...]
    engine_version: str
