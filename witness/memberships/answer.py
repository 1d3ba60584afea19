"""The answer of a membership inference: error rates and a lower bound for each attack, and the certificate."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any, Literal

from epsilond.accountants.quantities import Observer, Unit
from epsilond.calibrators.answer import Ends, Served
from epsilond.witness.audits.answer import Consistency, RocPoint
from epsilond.witness.memberships.request import MembershipAttack

Method = Literal["one-run", "counted-runs"]


@dataclass(frozen=True, kw_only=True)
class MembershipAttackAnswer:
    """One attack on trained models, with its success and the lower bound on ε that the success proves.

    An attack guesses which canaries were in the data of a training. A canary is a record or client that is inserted to
    be detected. The bound holds with the stated confidence, separately from those of other attacks. All fields except
    the name of the attack have a description of their own.
    """

    attack: MembershipAttack
    observer: Annotated[Observer, Served("view of the attacked trainings")]
    method: Annotated[
        Method,
        Served(
            "basis of its bound. one-run: Steinke, Nasr and Jagielski 2023, Theorem 5.2, on many canaries; "
            "counted-runs: Clopper and Pearson's intervals, on runs with and without one canary"
        ),
    ]
    epsilon_lower: Annotated[float, Served("lower bound on ε at this δ, in nats")]
    guesses: Annotated[int | None, Served("number of canaries guessed in or out. Only for one-run")] = None
    right: Annotated[int | None, Served("number of these guesses that are right. Only for one-run")] = None
    true_positives: Annotated[
        int | None, Served("runs with the canary that the test calls with it, of `trials`. Only for counted-runs")
    ] = None
    false_positives: Annotated[
        int | None, Served("runs without the canary that the test calls with it, of `trials`. Only for counted-runs")
    ] = None
    trials: Annotated[
        int | None,
        Served("number of runs with, and of runs without the canary that were counted. Only for counted-runs"),
    ] = None
    auc: Annotated[float, Served("area under the ROC curve as observed, without confidence: ½ is guessing")]
    true_positive_rate: Annotated[
        float, Served("true positive rate at a false positive rate of 0.01 as observed, without confidence")
    ]
    ratio: Annotated[float | None, Served("lower bound over certified upper end; absent where that is unbounded")] = (
        None
    )
    verdict: Annotated[Consistency, Served("whether the lower bound stays below the certified upper end")]
    roc: Annotated[tuple[RocPoint, ...], Served("over all canaries of all runs, for a figure")]


@dataclass(frozen=True, kw_only=True)
class MembershipAnswer:
    """The answer of a membership inference: attacks on trained models, with the certified ε of the training.

    Attributes:
        kind: kind of the simulation.
        training: the training that was attacked.
        relation: the data sets that count as neighbours.
        unit: the protected unit, a record or a client.
        members: ordinary members, which are in every run.
        canaries: number of records or clients that are inserted to be detected.
        runs: number of attacked trainings.
        references: number of further trainings, which calibrate the attacks by likelihood ratios.
        delta: δ of the bounds; None if it is below every double.
        log10_delta: base-10 logarithm of δ.
        confidence: confidence level of each lower bound.
        certified: certified bounds on ε against an observer of all models.
        attacks: the attacks with their lower bounds on ε.
        model: final model of the first run.
        meaning: the result in words.
        seed: seed of all randomness.
        engine_version: version of the engine that answered.
    """

    kind: Literal["membership"] = "membership"
    training: Annotated[Any, Served("the run")]
    relation: Literal["add-or-remove-one"] = "add-or-remove-one"
    unit: Unit
    members: Annotated[int, Served("ordinary members, which are in every run")]
    canaries: int
    runs: int
    references: int
    delta: Annotated[float | None, Served("absent where it is below every double")] = None
    log10_delta: float
    confidence: float
    certified: Annotated[
        Ends, Served("certified enclosure of ε at the same δ against an observer of all models, without any run")
    ]
    attacks: tuple[MembershipAttackAnswer, ...]
    model: Annotated[tuple[float, ...], Served("the final model of the first run")]
    meaning: str
    seed: int
    engine_version: str
