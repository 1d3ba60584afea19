"""The answer of an audit from all its samples: three bounds, the verdict, and its meaning in words."""

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


def make_answer(request: AuditSimulation, certified: Ends, first: Floats, second: Floats) -> AuditAnswer:
    """Compute lower bounds on ε from the attacker's statistics, and compare them with the certified ε.

    There are three lower bounds. The first is for any mechanism, by the error rates of a test. The second is for a
    Gaussian mechanism. The third comes from escapes: outputs that are impossible on the other data set. If they are
    more probable than δ, no ε holds. The first halves of both samples decide whether the third or the first bound
    counts as the evidence.

    Args:
        request: the audit, with its δ and its confidence level.
        certified: certified enclosure of ε at the audit's δ.
        first: statistics of the runs on the first data set, in the order of the blocks. An escape is infinite.
        second: statistics of the runs on the second data set, in the same order.

    Returns:
        The answer. Its verdict is "contradicted" if the evidence exceeds the certified upper bound.
    """
    error = 1.0 - request.confidence
    halves = SplitStatistics.of(first, second)
    delta = math.exp(request.log_delta)
    epsilon = best(halves, epsilon_score(delta), error)
    escape_lower = escape_probability(halves, error)
    escape_epsilon = math.inf if escape_lower > delta else 0.0
    evidence: Evidence = "escape" if escape_promises(halves, delta, error) else "test"
    lower = escape_epsilon if evidence == "escape" else epsilon.value
    verdict: Consistency = "contradicted" if lower > certified.upper else "consistent"
    is_comparable = 0.0 < certified.upper < math.inf
    claim = None
    if request.claim is not None:
        claim = _claim(request.claim.epsilon, lower, certified, halves, error)
    stated_delta = request.delta
    if stated_delta is None and delta > 0.0:
        stated_delta = delta
    return AuditAnswer(
        relation=request.relation,
        unit=request.unit,
        observer=request.observer,
        attack=request.attack,
        delta=stated_delta,
        log10_delta=request.log_delta / math.log(10.0),
        confidence=request.confidence,
        epsilon=EpsilonBound(lower=epsilon.value, test=_test(epsilon)),
        gaussian=_gaussian_bound(halves, error, request.log_delta),
        escape=Escape(
            probability_lower=escape_lower,
            epsilon_lower=escape_epsilon,
            observed=int(np.isinf(first).sum() + np.isinf(second).sum()),
        ),
        evidence=evidence,
        certified=certified,
        verdict=verdict,
        ratio=epsilon.value / certified.upper if is_comparable else None,
        claim=claim,
        meaning=_meaning(request, lower, certified, verdict),
        roc=tuple(RocPoint(false_positive_rate=false, true_positive_rate=true) for false, true in roc(first, second)),
        samples=request.samples,
        seed=request.seed,
        engine_version=ENGINE_VERSION,
    )


def _gaussian_bound(halves: SplitStatistics, error: float, log_delta: float) -> GaussianBound:
    """Return a lower bound on μ of Gaussian differential privacy, with the ε at δ of a Gaussian mechanism with that μ.

    Args:
        halves: the attacker's statistics.
        error: probability that the bound fails.
        log_delta: natural logarithm of the audit's δ.
    """
    mu = best(halves, mu_score, error)
    return GaussianBound(mu_lower=mu.value, test=_test(mu), epsilon_if_gaussian=gaussian_epsilon(mu.value, log_delta))


def _test(bound: AttackBound) -> RuleAnswer:
    """Return the attacker's threshold test behind a bound on ε, with its true and false positives, as it is served.

    Args:
        bound: a lower bound on ε, with the rule of its test.
    """
    rule = bound.rule
    return RuleAnswer(
        threshold=rule.threshold,
        says_yes="at-or-above" if rule.above else "at-or-below",
        positives="first" if rule.first_is_positive else "second",
        true_positives=rule.true_positives,
        false_positives=rule.false_positives,
        trials=rule.trials,
    )


def _claim(claimed: float, lower: float, certified: Ends, halves: SplitStatistics, error: float) -> ClaimChecked:
    """Decide whether a mechanism violates a claimed ε at the audit's δ.

    It does if the lower bound from the samples exceeds the claim. It does not if the certified upper bound is at most
    the claim. Otherwise the samples decide nothing.

    Args:
        claimed: the claimed ε.
        lower: lower bound on ε from the samples.
        certified: certified enclosure of ε.
        halves: the attacker's statistics, for a lower bound on δ at the claimed ε.
        error: probability that the bound on δ fails.
    """
    violated = Verdict.UNDECIDABLE
    if lower > claimed:
        violated = Verdict.YES
    elif certified.upper <= claimed:
        violated = Verdict.NO
    return ClaimChecked(
        epsilon=claimed,
        violated=violated,
        delta_lower=best(halves, delta_score(claimed), error).value,
        ratio=lower / claimed,
    )


def _meaning(request: AuditSimulation, lower: float, certified: Ends, verdict: Consistency) -> str:
    """Say in one to three sentences which ε are disproved, and whether that contradicts the certificate or a claim."""
    delta = f"10^{request.log_delta / math.log(10.0):.6g}"
    disproved = f"no ε below {lower:.4g} holds" if math.isfinite(lower) else "no ε at all holds"
    sentences = [f"With {request.confidence:.6g} confidence {disproved} at δ = {delta}."]
    upper = f"{certified.upper:.4g}" if math.isfinite(certified.upper) else "no finite ε"
    if verdict == "contradicted":
        sentences.append(f"That contradicts the certified upper end, {upper}: one of the two is wrong.")
    elif math.isfinite(certified.upper):
        sentences.append(f"That agrees with the certified upper end, {upper}.")
    else:
        sentences.append("No finite ε is certified at this δ.")
    if request.claim is not None and lower > request.claim.epsilon:
        sentences.append(f"The claimed ε = {request.claim.epsilon:.4g} is disproved.")
    return " ".join(sentences)
