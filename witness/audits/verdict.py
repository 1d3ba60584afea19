"""From all samples of an audit to its answer: three bounds, the verdict, and what it means in words."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from epsilond.accountants import ENGINE_VERSION
from epsilond.accountants.verdict import Verdict
from epsilond.simulators.audits.attack import (
    AttackBound,
    SplitStatistics,
    best,
    delta_score,
    epsilon_score,
    escape_probability,
    escape_promises,
    gaussian_epsilon,
    mu_score,
    roc,
)
from epsilond.witness.audits.answer import (
    AuditAnswer,
    ClaimChecked,
    Consistency,
    EpsilonBound,
    Escape,
    Evidence,
    GaussianBound,
    RocPoint,
    RuleAnswer,
)

if TYPE_CHECKING:
    from epsilond.calibrators.answer import Ends
    from epsilond.simulators.audits.worlds import Floats
    from epsilond.witness.audits.request import AuditSimulation


def audited(asked: AuditSimulation, certified: Ends, first: Floats, second: Floats) -> AuditAnswer:
    """The answer from the statistics of all runs on either data set, in the order of their blocks."""
    error = 1.0 - asked.confidence
    halves = SplitStatistics.of(first, second)
    delta = math.exp(asked.log_delta)
    epsilon = best(halves, epsilon_score(delta), error)
    mu = best(halves, mu_score, error)
    escaping = escape_probability(halves, error)
    impossible = math.inf if escaping > delta else 0.0
    evidence: Evidence = "escape" if escape_promises(halves, delta, error) else "test"
    lower = impossible if evidence == "escape" else epsilon.value
    contradicted = lower > certified.upper
    verdict: Consistency = "contradicted" if contradicted else "consistent"
    comparable = 0.0 < certified.upper < math.inf
    return AuditAnswer(
        relation=asked.relation,
        unit=asked.unit,
        observer=asked.observer,
        attack=asked.attack,
        delta=asked.delta if asked.delta is not None else (delta if delta > 0.0 else None),
        log10_delta=asked.log_delta / math.log(10.0),
        confidence=asked.confidence,
        epsilon=EpsilonBound(lower=epsilon.value, test=_test(epsilon)),
        gaussian=GaussianBound(
            mu_lower=mu.value, test=_test(mu), epsilon_if_gaussian=gaussian_epsilon(mu.value, asked.log_delta)
        ),
        escape=Escape(
            probability_lower=escaping,
            epsilon_lower=impossible,
            observed=int(np.isinf(first).sum() + np.isinf(second).sum()),
        ),
        evidence=evidence,
        certified=certified,
        verdict=verdict,
        ratio=epsilon.value / certified.upper if comparable else None,
        claim=_claim(asked.claim.epsilon, lower, certified, halves, error) if asked.claim else None,
        meaning=_meaning(asked, lower, certified, verdict),
        roc=tuple(RocPoint(false_positive_rate=false, true_positive_rate=true) for false, true in roc(first, second)),
        samples=asked.samples,
        seed=asked.seed,
        engine_version=ENGINE_VERSION,
    )


def _test(bounded: AttackBound) -> RuleAnswer:
    rule = bounded.rule
    return RuleAnswer(
        threshold=rule.threshold,
        says_yes="at-or-above" if rule.above else "at-or-below",
        positives="first" if rule.first_is_positive else "second",
        true_positives=rule.true_positives,
        false_positives=rule.false_positives,
        trials=rule.trials,
    )


def _claim(claimed: float, lower: float, certified: Ends, halves: SplitStatistics, error: float) -> ClaimChecked:
    """Disproved by the samples, proved by the certificate, or neither."""
    certain = Verdict.NO if certified.upper <= claimed else Verdict.UNDECIDABLE
    violated = Verdict.YES if lower > claimed else certain
    return ClaimChecked(
        epsilon=claimed,
        violated=violated,
        delta_lower=best(halves, delta_score(claimed), error).value,
        ratio=lower / claimed,
    )


def _meaning(asked: AuditSimulation, lower: float, certified: Ends, verdict: Consistency) -> str:
    """The bounds in a sentence or three."""
    delta = f"10^{asked.log_delta / math.log(10.0):.6g}"
    disproved = f"no ε below {lower:.4g} holds" if math.isfinite(lower) else "no ε at all holds"
    sentences = [f"With {asked.confidence:.6g} confidence {disproved} at δ = {delta}."]
    upper = f"{certified.upper:.4g}" if math.isfinite(certified.upper) else "no finite ε"
    if verdict == "contradicted":
        sentences.append(f"That contradicts the certified upper end, {upper}: one of the two is wrong.")
    elif math.isfinite(certified.upper):
        sentences.append(f"That agrees with the certified upper end, {upper}.")
    else:
        sentences.append("No finite ε is certified at this δ.")
    if asked.claim is not None and lower > asked.claim.epsilon:
        sentences.append(f"The claimed ε = {asked.claim.epsilon:.4g} is disproved.")
    return " ".join(sentences)
