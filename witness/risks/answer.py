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
    """The learning problem of a run, with the constants that hold by construction.

    Attributes:
        spec: the problem as requested.
        objective: `population` for the risk over all possible records, or `empirical` for that of the data at hand.
        clients: number of clients.
        samples_per_client: number of records of a client; None if every record is drawn anew.
        dimension: number of coordinates of a model.
        constants: constants of the losses, such as the smoothness, over all models in the domain and all possible
            records.
        facts: further facts about the problem, by name.
    """

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
    """Mean, minimum and maximum of one value over repetitions.

    Attributes:
        mean: the mean.
        least: the minimum.
        largest: the maximum; infinite if a repetition diverged.
    """

    mean: Number
    least: Number
    largest: Number


@dataclass(frozen=True, kw_only=True)
class Measured:
    """A mean over repetitions, with the bounds of its confidence interval. Excess risk is in the unit of the loss.

    Attributes:
        mean: the mean.
        lower: lower bound of the confidence interval.
        upper: upper bound of the confidence interval.
        standard_error: standard error of the mean.
    """

    mean: Number
    lower: Number
    upper: Number
    standard_error: Number


@dataclass(frozen=True, kw_only=True)
class SeriesAnswer:
    """Excess risk of one run after some of its rounds, over all repetitions, in the unit of the loss.

    Attributes:
        name: name of the run, such as `private` or `non-private`.
        title: short description of the run.
        role: role of the run in the comparison.
        algorithm: name of the algorithm.
        parameters: parameters of the run.
        rounds: measured numbers of rounds, ascending.
        mean: mean excess risk after each of them.
        lower: lower end of the confidence band.
        upper: upper end of the confidence band.
        standard_error: standard errors of the means.
        final: excess risk of the run's output.
        scores: scores of the output on held-out records, by name; None if there are none.
        diagnostics: further numbers of the run over repetitions, by name.
        model: weights that the first repetition returned, a row for each model; None unless requested and finite.
    """

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
    """A theorem's bound on a mean at the run's own parameters, and whether the measurement satisfies it.

    Attributes:
        theorem: name of the theorem.
        status: whether the theorem is proved.
        value: the bound, up to a factor if its constant is hidden.
        quantity: `excess` for the excess risk of the output, or the name of a diagnostic.
        constant: kind of the constant.
        conditions: conditions of the theorem, with whether each holds.
        compared: whether the bound is compared with the measurement.
        reason: the reason if it is not compared.
        ratio: bound over measured mean; None without a comparison, and if both are below the error of the minimum.
        holds: verdict of the comparison.
    """

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
    """The answer of a measurement of excess risk.

    Attributes:
        kind: kind of the simulation.
        algorithm: name of the algorithm.
        title: short description of the algorithm.
        parameters: parameters of the algorithm.
        guarantee: certified guarantee of calibrated noise; None if the noise was given.
        client_groups: parameters and guarantee of each group of clients; None for equal clients.
        problem: the learning problem with its constants.
        rounds: number of rounds.
        repetitions: number of independent repetitions.
        confidence: confidence level of the bands.
        band: construction and meaning of the bands.
        final_excess: excess risk of the private run's output.
        bounds: theorems' bounds, compared with the measurement.
        series: measurements of every run, the private one first.
        warnings: warnings about the measurement.
        seed: seed of all randomness.
        engine_version: version of the engine that answered.
    """

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
