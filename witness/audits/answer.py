"""The answer of an audit: lower bounds on ε from samples, and the certified interval from theorems."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Literal

from epsilond.accountants.quantities import Observer, ProtectedUnit, Relation
from epsilond.accountants.verdict import Verdict
from epsilond.calibrators.answer import Ends, Number, Served
from epsilond.simulators.audits.worlds import Attack

Consistency = Literal["consistent", "contradicted"]
Evidence = Literal["test", "escape"]


@dataclass(frozen=True, kw_only=True)
class RuleAnswer:
    """The test that gave a bound. One half of the samples chose it, and the counts are those of the other half.

    Attributes:
        threshold: threshold of the attacker's statistic.
        says_yes: side of the threshold on which the test is positive.
        positives: the data set that true positives are counted on; false ones are counted on the other.
        true_positives: number of true positives.
        false_positives: number of false positives.
        trials: runs on each data set that were counted.
    """

    threshold: Annotated[Number, Served("of the attacker's statistic", may_be_unbounded=True)]
    says_yes: Annotated[
        Literal["at-or-above", "at-or-below"], Served("side of the threshold on which the test is positive")
    ]
    positives: Annotated[
        Literal["first", "second"], Served("the data set that true positives are counted on; false ones on the other")
    ]
    true_positives: int
    false_positives: int
    trials: Annotated[int, Served("runs on each data set that were counted")]


@dataclass(frozen=True, kw_only=True)
class EpsilonBound:
    """A lower bound on ε at the audit's δ, valid without assumptions on the mechanism.

    Attributes:
        lower: the bound, in nats.
        test: the attacker's test that gave it.
    """

    lower: float
    test: RuleAnswer


@dataclass(frozen=True, kw_only=True)
class GaussianBound:
    """A lower bound on μ of Gaussian differential privacy, valid without assumptions on the mechanism.

    Attributes:
        mu_lower: the bound.
        test: the attacker's test that gave it.
        epsilon_if_gaussian: ε at the audit's δ of a Gaussian mechanism with that μ. It is a bound only if the mechanism
            is Gaussian.
    """

    mu_lower: float
    test: RuleAnswer
    epsilon_if_gaussian: Annotated[
        float,
        Served("ε at the audit's δ of a Gaussian mechanism with that μ: a bound only where the mechanism is Gaussian"),
    ]


@dataclass(frozen=True, kw_only=True)
class Escape:
    """Outputs that are impossible on the other data set, because the drawn noise has bounded support.

    Attributes:
        probability_lower: lower bound on their probability, and so on δ at every ε.
        observed: number of such outputs among all runs on both data sets.
        epsilon_lower: lower bound on ε: infinite if the probability exceeds δ, and 0 otherwise.
    """

    probability_lower: Annotated[float, Served("lower bound on their probability: δ is at least that at every ε")]
    observed: Annotated[int, Served("among all runs on both data sets")]
    epsilon_lower: Annotated[
        Number,
        Served("unbounded where that probability is above δ, so that no ε holds; otherwise 0", may_be_unbounded=True),
    ]


@dataclass(frozen=True, kw_only=True)
class ClaimChecked:
    """A claimed ε at the audit's δ, compared with the samples and with the certificate.

    Attributes:
        epsilon: the claimed ε.
        violated: YES if the samples disprove the claim, NO if it is certified, and otherwise UNDECIDABLE.
        delta_lower: lower bound on the true δ at the claimed ε, from the samples.
        ratio: lower bound on ε over the claimed ε; above 1 is a violation.
    """

    epsilon: float
    violated: Annotated[Verdict, Served("yes: the samples disprove it; no: it is certified; undecidable: neither")]
    delta_lower: Annotated[float, Served("lower bound on the true δ at the claimed ε, from the samples")]
    ratio: Annotated[
        float, Served("lower bound on ε over the claimed ε: above 1 is a violation", may_be_unbounded=True)
    ]


@dataclass(frozen=True, kw_only=True)
class RocPoint:
    """Error rates of a test at one threshold.

    Attributes:
        false_positive_rate: share of the runs on one data set that the test calls positive.
        true_positive_rate: the same share on the other data set.
    """

    false_positive_rate: float
    true_positive_rate: float


@dataclass(frozen=True, kw_only=True)
class AuditAnswer:
    """The answer of an audit: lower bounds on ε that attacks prove, and the certified bounds on ε.

    An audit runs a mechanism on two neighbouring data sets. The error rates of an attacker who tells the outputs apart
    prove a lower bound on ε. Every lower bound holds with the stated confidence, separately. Fields with a description
    of their own are not repeated here.

    Attributes:
        kind: kind of the simulation.
        relation: the data sets that count as neighbours.
        unit: the protected unit.
        observer: the adversary, named after the messages or models that it sees.
        attack: the program that was attacked.
        log10_delta: base-10 logarithm of δ.
        confidence: confidence level of each lower bound.
        epsilon: lower bound on ε by the error rates of a test.
        gaussian: lower bound on the μ of Gaussian differential privacy.
        escape: outputs that are impossible on the other data set.
        meaning: the result in words.
        seed: seed of all randomness.
        engine_version: version of the engine that answered.
    """

    kind: Literal["audit"] = "audit"
    relation: Relation
    unit: ProtectedUnit
    observer: Observer
    attack: Attack
    delta: Annotated[float | None, Served("absent where it is below every double")] = None
    log10_delta: float
    confidence: float
    epsilon: EpsilonBound
    gaussian: GaussianBound
    escape: Escape
    evidence: Annotated[
        Evidence,
        Served(
            "basis of the verdicts: the test, or impossible outputs. It is chosen on samples that are not used "
            "for either"
        ),
    ]
    certified: Annotated[Ends, Served("certified enclosure of ε at the same δ, without samples")]
    verdict: Annotated[Consistency, Served("whether the lower bound stays below the certified upper end")]
    ratio: Annotated[
        float | None, Served("lower bound over certified upper end; absent where that is unbounded or 0")
    ] = None
    claim: Annotated[ClaimChecked | None, Served("verdict on the claimed ε; absent unless the request has a claim")] = (
        None
    )
    meaning: str
    roc: Annotated[tuple[RocPoint, ...], Served("of the attacker's statistic over all samples, for a figure")]
    samples: Annotated[int, Served("runs on each data set")]
    seed: int
    engine_version: str
