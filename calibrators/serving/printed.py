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
    delta: Annotated[float | None, Served("δ that the statement claims; absent if it is too small for a double")] = None
    log10_delta: float
    excess_risk: Annotated[
        float | None, Served("bound on the excess risk that the statement claims; absent if it claims none")
    ] = None
    objective: Annotated[Objective | None, OBJECTIVE] = None
    baseline: Annotated[Baseline | None, BASELINE] = None
    vacuous: Annotated[bool | None, VACUOUS] = None


@dataclass(frozen=True, kw_only=True)
class TrueFigures:
    """The certified guarantee at the printed parameters."""

    epsilon: Ends
    delta: Ends
    log10_delta: Ends
    log10_one_minus_delta: Annotated[float | None, Served("base-10 logarithm of 1 − δ; absent unless δ is near 1")] = (
        None
    )


@dataclass(frozen=True, kw_only=True)
class ConditionAnswer:
    """A condition of a theorem at the values of this request, with the values of both sides if it has any."""

    id: str
    statement: Annotated[
        str | None,
        Served("the condition in words. Absent if an earlier condition in this entry has the same id and states it"),
    ] = None
    holds: Verdict
    left: Annotated[
        Number | None,
        Served("value of the left side of the condition; absent if it has no numbers", may_be_unbounded=True),
    ] = None
    right: Annotated[
        Number | None,
        Served("value of the right side of the condition; absent if it has no numbers", may_be_unbounded=True),
    ] = None


@dataclass(frozen=True, kw_only=True)
class EvaluationAsked:
    """The request to `POST /v1/theorems/{theorem}/evaluations` that returns the same figures."""

    theorem: str
    reading: TheoremReading
    inputs: JsonObject


@dataclass(frozen=True, kw_only=True)
class PrintedReading:
    """One reading (interpretation) of a printed theorem: the parameters that it prescribes, and its claims for them.

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
    """What a printed theorem claims in all readings (interpretations) of this entry: ε, δ and the excess risk.

    Claims that repeat the rest of the answer are left out.
    """

    epsilon: Annotated[float | None, Served("ε that the statement claims; absent where it claims the target")] = None
    delta: Annotated[
        float | None,
        Served("δ that the statement claims; absent where it claims the target, or if δ is too small for a double"),
    ] = None
    log10_delta: Annotated[
        float | None, Served("base-10 logarithm of the δ that the statement claims; absent where it claims the target")
    ] = None
    excess_risk: Annotated[
        float | None, Served("bound on the excess risk that the statement claims; absent if it claims none")
    ] = None
    vacuous: Annotated[bool | None, VACUOUS] = None
    objective: Annotated[Objective | None, Served("objective of the claimed risk; absent where it is that of risk")] = (
        None
    )
    baseline: Annotated[
        Baseline | None,
        Served("bound on the risk before training, to compare with the claimed risk; absent where it is that of risk"),
    ] = None


@dataclass(frozen=True, kw_only=True)
class TrueAtPrinted:
    """The certified guarantee at the printed parameters: ε at the target δ, and log10 δ at the target ε.

    Both are rounded outward to 6 significant digits.
    """

    epsilon: Ends
    log10_delta: Ends
    log10_one_minus_delta: Annotated[float | None, Served("base-10 logarithm of 1 − δ; absent unless δ is near 1")] = (
        None
    )


@dataclass(frozen=True, kw_only=True)
class ReadingDetails:
    """What differs between one reading (interpretation) of an entry and the others."""

    reading: ReadingName
    parameters: Annotated[
        Mapping[str, float] | None,
        Served(
            "orders of growth of the excess risk by this reading, without constant factors. Absent if there are none"
        ),
    ] = None
    leaves_open: Annotated[
        tuple[str, ...] | None, Served("names of the entry's parameters that this reading does not prescribe")
    ] = None
    excess_risk: Annotated[
        float | None, Served("bound on the excess risk that the statement claims; absent if it claims none")
    ] = None
    vacuous: Annotated[bool | None, VACUOUS] = None
    conditions: Annotated[
        tuple[ConditionAnswer, ...] | None,
        Served(
            "conditions of this reading that fail or cannot be decided, and that other readings of the "
            "entry do not share"
        ),
    ] = None


@dataclass(frozen=True, kw_only=True)
class PrintedEntry:
    """All readings (interpretations) of a theorem that prescribe the same parameters, and the guarantee there.

    The members of the entry hold for every reading in `readings`. `by_reading` has the differences between the
    readings.
    """

    theorem: str
    readings: Annotated[
        tuple[ReadingName, ...], Served("interpretations (readings) of the theorem that prescribe these parameters")
    ]
    status: Status
    reason: Annotated[
        str | None,
        Served("why the statement is not proved for this request; absent if status does not depend on the request"),
    ] = None
    parameters: Annotated[
        Mapping[str, float],
        Served(
            "parameters that these readings prescribe, without values that they take from the request. "
            "by_reading names the readings that do not prescribe one of them"
        ),
    ]
    claims: Annotated[
        PrintedClaims | None, Served("what all these readings claim, except for the target of the request")
    ] = None
    true: Annotated[
        TrueAtPrinted | None,
        Served(
            "certified guarantee at the printed parameters; absent if the statement prescribes nothing that can be run"
        ),
    ] = None
    conditions: Annotated[
        tuple[ConditionAnswer, ...] | None,
        Served(
            "conditions of all these readings that fail or cannot be decided at this request. POST "
            "/v1/theorems/{theorem}/evaluations also returns those that hold"
        ),
    ] = None
    by_reading: Annotated[
        tuple[ReadingDetails, ...] | None, Served("differences between the readings; absent where there are none")
    ] = None
