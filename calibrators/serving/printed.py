"""Printed statements in an answer: one record per reading, and the entries that the service returns."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Literal

from epsilond.accountants.json_types import JsonObject
from epsilond.accountants.theorem import Reading as TheoremReading
from epsilond.accountants.theorem import Status
from epsilond.accountants.verdict import Verdict
from epsilond.calibrators.serving.values import (
    BASELINE,
    OBJECTIVE,
    VACUOUS,
    Baseline,
    Ends,
    Number,
    Objective,
    Served,
)

ReadingName = Literal[
    "informal",
    "complete",
    "statement",
    "proof",
    "corrected",
    "experimental",
    "lipschitz",
    "smooth",
    "strongly-convex",
]
"""Ways to read a printed statement; docs/answers.md describes each."""


@dataclass(frozen=True, kw_only=True)
class Claims:
    """The (ε, δ) and the excess risk that a printed theorem claims, in one interpretation and at its parameters.

    The fields from `excess_risk` on are present only where it claims a risk.
    """

    epsilon: float
    delta: Annotated[float | None, Served("absent where it is below every double")] = None
    log10_delta: float
    excess_risk: Annotated[float | None, Served("excess-risk bound the statement claims")] = None
    objective: Annotated[Objective | None, OBJECTIVE] = None
    baseline: Annotated[Baseline | None, BASELINE] = None
    vacuous: Annotated[bool | None, VACUOUS] = None


@dataclass(frozen=True, kw_only=True)
class TrueFigures:
    """The certified guarantee at the printed parameters."""

    epsilon: Ends
    delta: Ends
    log10_delta: Ends
    log10_one_minus_delta: Annotated[float | None, Served("log10(1 − δ), where δ is near 1")] = None


@dataclass(frozen=True, kw_only=True)
class ConditionAnswer:
    """A condition of a printed statement, at these inputs, with both sides."""

    id: str
    statement: Annotated[
        str | None,
        Served("the condition in words; absent if an earlier condition of the entry with the same id has it"),
    ] = None
    holds: Verdict
    left: Annotated[Number | None, Served("left side", may_be_unbounded=True)] = None
    right: Annotated[Number | None, Served("right side", may_be_unbounded=True)] = None


@dataclass(frozen=True, kw_only=True)
class EvaluationAsked:
    """The request to `POST /v1/theorems/{theorem}/evaluations` that returns the same figures."""

    theorem: str
    reading: TheoremReading
    inputs: JsonObject


@dataclass(frozen=True, kw_only=True)
class PrintedReading:
    """One reading (interpretation) of a printed theorem: the parameters that it prescribes, and what it claims.

    `true` is the certified privacy at these parameters. `reason` says why the status is not proved. `evaluations` are
    the requests that repeat the computation of its figures.
    """

    theorem: str
    reading: ReadingName
    status: Status
    parameters: Mapping[str, float]
    claims: Claims
    true: TrueFigures | None = None
    conditions: tuple[ConditionAnswer, ...]
    reason: str | None = None
    evaluations: tuple[EvaluationAsked, ...] = ()


@dataclass(frozen=True, kw_only=True)
class PrintedClaims:
    """The claims that all interpretations of a printed theorem in this entry share: ε, δ and the excess risk.

    Claims that the rest of the answer states are left out.
    """

    epsilon: Annotated[float | None, Served("absent where the statement claims the target")] = None
    delta: Annotated[
        float | None, Served("absent where the statement claims the target, or δ is below every double")
    ] = None
    log10_delta: Annotated[float | None, Served("absent where the statement claims the target")] = None
    excess_risk: Annotated[float | None, Served("excess-risk bound the statement claims")] = None
    vacuous: Annotated[bool | None, VACUOUS] = None
    objective: Annotated[Objective | None, Served("the same as in risk; absent where risk already has it")] = None
    baseline: Annotated[Baseline | None, Served("the same as in risk; absent where risk already has it")] = None


@dataclass(frozen=True, kw_only=True)
class TrueAtPrinted:
    """The certified guarantee at the printed parameters: ε at the target δ, and log10 δ at the target ε.

    Both are rounded outward to 6 significant digits.
    """

    epsilon: Ends
    log10_delta: Ends
    log10_one_minus_delta: Annotated[float | None, Served("log10(1 − δ), where δ is near 1")] = None


@dataclass(frozen=True, kw_only=True)
class ReadingDetails:
    """The part of an entry in which one of its readings differs from another."""

    reading: ReadingName
    parameters: Annotated[Mapping[str, float] | None, Served("orders of its excess risk, without constants")] = None
    leaves_open: Annotated[
        tuple[str, ...] | None, Served("parameters of the entry that this reading does not prescribe")
    ] = None
    excess_risk: Annotated[float | None, Served("excess-risk bound the statement claims")] = None
    vacuous: Annotated[bool | None, VACUOUS] = None
    conditions: Annotated[
        tuple[ConditionAnswer, ...] | None, Served("failing or undecidable conditions that not all readings share")
    ] = None


@dataclass(frozen=True, kw_only=True)
class PrintedEntry:
    """All readings of one theorem that prescribe the same parameters, with the certified guarantee there.

    The members of the entry hold for every reading in `readings`. `by_reading` has what differs between them.
    """

    theorem: str
    readings: Annotated[tuple[ReadingName, ...], Served("readings that prescribe these parameters")]
    status: Status
    reason: Annotated[str | None, Served("why the status is not proved, where it depends on the request")] = None
    parameters: Annotated[
        Mapping[str, float],
        Served(
            "parameters that these readings prescribe, except values that they take from the request. by_reading "
            "names the readings that leave one of them open"
        ),
    ]
    claims: Annotated[PrintedClaims | None, Served("claims of all these readings besides the target")] = None
    true: Annotated[
        TrueAtPrinted | None,
        Served(
            "certified guarantee at the printed parameters; absent if the statement prescribes nothing that can be run"
        ),
    ] = None
    conditions: Annotated[
        tuple[ConditionAnswer, ...] | None,
        Served(
            "conditions of all these readings that fail or are undecidable here, with both sides; those that hold are "
            "in POST /v1/theorems/{theorem}/evaluations"
        ),
    ] = None
    by_reading: Annotated[
        tuple[ReadingDetails, ...] | None, Served("differences between the readings; absent where there are none")
    ] = None
