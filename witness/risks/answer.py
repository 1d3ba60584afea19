"""The answer of a measurement of excess risk: the run, the problem, the curves, and the bounds."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Literal

from epsilond.accountants.attempts import ConditionResult
from epsilond.accountants.theorem import Status
from epsilond.accountants.verdict import Verdict
from epsilond.calibrators.answer import Caution, GuaranteeAnswer, Number, Served
from epsilond.calibrators.mb_sgd.solution import GroupParameters
from epsilond.simulators.problems.personalized_problem import PersonalizedConstants
from epsilond.simulators.problems.problem import Constants
from epsilond.witness.risks.measure import BAND

Role = Literal["private", "non-private", "alternative"]


@dataclass(frozen=True, kw_only=True)
class ProblemAnswer:
    """The problem of the run, with the constants that hold by construction."""

    spec: Annotated[object, Served("as requested")]
    objective: Literal["population", "empirical"]
    clients: int
    samples_per_client: Annotated[int | None, Served("absent where every record is drawn anew")] = None
    dimension: int
    constants: Annotated[
        Constants | PersonalizedConstants, Served("over all models in the domain and all possible records")
    ]
    facts: Mapping[str, float | int | str]


@dataclass(frozen=True, kw_only=True)
class Spread:
    """Mean, minimum and maximum of one value over repetitions."""

    mean: Number
    least: Number
    largest: Number


@dataclass(frozen=True, kw_only=True)
class Measured:
    """A mean over repetitions, with the bounds of its confidence interval. Excess is in the unit of the loss."""

    mean: Number
    lower: Number
    upper: Number
    standard_error: Number


@dataclass(frozen=True, kw_only=True)
class SeriesAnswer:
    """Excess risk of one run after some of its rounds, over all repetitions, in the unit of the loss."""

    name: str
    title: Annotated[str, Served("short description of the run")]
    role: Role
    algorithm: str
    parameters: Annotated[object, Served("parameters of the run")]
    rounds: tuple[int, ...]
    mean: tuple[Number, ...]
    lower: Annotated[tuple[Number, ...], Served("lower end of the confidence band")]
    upper: Annotated[tuple[Number, ...], Served("upper end of the confidence band")]
    standard_error: tuple[Number, ...]
    final: Annotated[Measured, Served("of the run's output")]
    scores: Annotated[
        Mapping[str, Measured] | None, Served("of the run's output, on records held out; absent if there are none")
    ] = None
    diagnostics: Annotated[Mapping[str, Spread], Served("over repetitions")]
    model: Annotated[
        tuple[tuple[float, ...], ...] | None,
        Served("weights returned by the first repetition, a row for each model; absent unless requested and finite"),
    ] = None


@dataclass(frozen=True, kw_only=True)
class BoundAnswer:
    """A theorem's bound on a mean at the run's own parameters, and whether the measurement satisfies it."""

    theorem: str
    status: Status
    value: Annotated[Number, Served("the bound, up to a factor if its constant is hidden", may_be_unbounded=True)]
    quantity: Annotated[
        str, Served("quantity whose mean is bounded: excess (risk of the output) or a diagnostic's name")
    ]
    constant: Literal["explicit", "hidden"]
    conditions: tuple[ConditionResult, ...]
    compared: bool
    reason: Annotated[str | None, Served("why it is not compared")] = None
    ratio: Annotated[
        Number | None,
        Served(
            "bound over measured mean; absent where nothing is compared, and where both are below optimum_gap",
            may_be_unbounded=True,
        ),
    ] = None
    holds: Annotated[
        Verdict | None,
        Served("yes: the whole band is at most the bound; no: it is all above; undecidable: the bound is in the band"),
    ] = None


@dataclass(frozen=True, kw_only=True)
class RiskAnswer:
    """The answer of a measurement of excess risk."""

    kind: Literal["risk"] = "risk"
    algorithm: str
    title: str
    parameters: Annotated[object, Served("parameters of the algorithm")]
    guarantee: Annotated[GuaranteeAnswer | None, Served("certified, where noise was calibrated")] = None
    client_groups: Annotated[
        tuple[GroupParameters, ...] | None,
        Served("for clients that differ: parameters of each group, and its certified guarantee"),
    ] = None
    problem: ProblemAnswer
    rounds: int
    repetitions: int
    confidence: float
    band: Annotated[str, Served("construction and meaning of the band")] = BAND
    final_excess: Annotated[Measured, Served("of the private run's output")]
    bounds: tuple[BoundAnswer, ...]
    series: tuple[SeriesAnswer, ...]
    warnings: tuple[Caution, ...]
    seed: int
    engine_version: str
