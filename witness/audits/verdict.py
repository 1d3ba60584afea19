"""The answer of an audit from all its samples: three bounds, the verdict, and its meaning in words."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

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

    There are three lower bounds:

    - on ε, by the error rates of a test;
    - on the μ of Gaussian differential privacy, by the error rates of another test;
    - on ε, by escapes, that is, outputs that are impossible on the other data set. If they are more probable than δ, no
      ε holds.

    The first halves of both samples decide whether the first or the third bound counts as the evidence.

    Args:
        request: the audit, with its δ and its confidence level.
        certified: certified bounds on ε at the audit's δ.
        first: statistics of the runs on the first data set, in the order of the blocks. That of an escape is infinite.
        second: statistics of the runs on the second data set, in the same order.

    Returns:
        The answer. Its verdict is "contradicted" if the evidence exceeds the certified upper bound.
    """
    error = 1.0 - request.confidence
    halves = SplitStatistics.of(first, second)
    delta = math.exp(request.log_delta)

    test_bound = best(halves, epsilon_score(delta), error)
    escape = _escape_bound(halves, delta, error)
    evidence: Evidence = "test"
    lower = test_bound.value
    if escape_promises(halves, delta, error):
        evidence = "escape"
        lower = escape.epsilon_lower

    verdict: Consistency = "contradicted" if lower > certified.upper else "consistent"
    claim = None
    if request.claim is not None:
        claim = _judge_claim(request.claim.epsilon, lower, certified, halves, error)
    rates = [
        RocPoint(false_positive_rate=false_rate, true_positive_rate=true_rate)
        for false_rate, true_rate in roc(first, second)
    ]
    return AuditAnswer(
        relation=request.relation,
        unit=request.unit,
        observer=request.observer,
        attack=request.attack,
        delta=_stated_delta(request),
        log10_delta=request.log_delta / math.log(10.0),
        confidence=request.confidence,
        epsilon=EpsilonBound(lower=test_bound.value, test=_describe_test(test_bound)),
        gaussian=_gaussian_bound(halves, error, request.log_delta),
        escape=escape,
        evidence=evidence,
        certified=certified,
        verdict=verdict,
        ratio=_ratio(test_bound.value, certified.upper),
        claim=claim,
        meaning=_state_result(request, lower, certified, verdict),
        roc=tuple(rates),
        samples=request.samples,
        seed=request.seed,
        engine_version=ENGINE_VERSION,
    )


def _escape_bound(halves: SplitStatistics, delta: float, error: float) -> Escape:
    """Return the lower bound on ε from escapes, that is, outputs of one data set that are impossible on the other.

    If their probability certainly exceeds δ, no ε holds and the bound on ε is ∞. Otherwise it is 0.

    Args:
        halves: the attacker's statistics, split into two halves. The statistic of an escape is infinite.
        delta: δ of the audit, in [0, 1].
        error: probability that the bound fails.

    Returns:
        The lower bound on the probability of an escape, the bound on ε, and the number of escapes.
    """
    probability = escape_probability(halves, error)
    excludes_every_epsilon = probability > delta
    return Escape(
        probability_lower=probability,
        epsilon_lower=math.inf if excludes_every_epsilon else 0.0,
        observed=halves.count_escapes(),
    )


def _stated_delta(request: AuditSimulation) -> float | None:
    """Return the δ of an audit, as it was requested or from its logarithm; None if it is below every double."""
    if request.delta is not None:
        return request.delta
    return math.exp(request.log_delta) or None


def _ratio(lower: float, certified_upper: float) -> float | None:
    """Return the ratio of the sampled lower bound on ε to the certified upper bound; None if that is 0 or infinite."""
    if certified_upper == 0.0 or math.isinf(certified_upper):
        return None
    return lower / certified_upper


def _gaussian_bound(halves: SplitStatistics, error: float, log_delta: float) -> GaussianBound:
    """Return a lower bound on the parameter μ of Gaussian differential privacy, from the error rates of a test.

    Args:
        halves: the attacker's statistics, split into two halves.
        error: probability that the bound fails.
        log_delta: natural logarithm of the audit's δ.

    Returns:
        The bound on μ with its test, which holds for every mechanism, and the ε at δ of a Gaussian mechanism with that
        μ, which is a bound only for Gaussian mechanisms.
    """
    mu_bound = best(halves, mu_score, error)
    epsilon = gaussian_epsilon(mu_bound.value, log_delta)
    return GaussianBound(mu_lower=mu_bound.value, test=_describe_test(mu_bound), epsilon_if_gaussian=epsilon)


def _describe_test(bound: AttackBound) -> RuleAnswer:
    """Describe the attacker's test that gave a lower bound: its threshold, its positive side, and its counts.

    The test guesses one of two data sets by comparing a statistic of the output with a threshold.
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


def _judge_claim(claimed: float, lower: float, certified: Ends, halves: SplitStatistics, error: float) -> ClaimChecked:
    """Decide whether a mechanism violates a claimed ε at the audit's δ.

    It does if the lower bound from the samples exceeds the claim. It does not if the certified upper bound is at most
    the claim. If the claim is between both bounds, it is undecidable.

    Args:
        claimed: the claimed ε.
        lower: lower bound on ε from the samples.
        certified: certified bounds on ε.
        halves: the attacker's statistics, for a lower bound on δ at the claimed ε.
        error: probability that the bound on δ fails.

    Returns:
        The verdict, a lower bound on the true δ at the claimed ε, and the ratio of the lower bound on ε to the claim.
    """
    violated = Verdict.UNDECIDABLE
    if lower > claimed:
        violated = Verdict.YES
    elif certified.upper <= claimed:
        violated = Verdict.NO
    delta_bound = best(halves, delta_score(claimed), error)
    return ClaimChecked(
        epsilon=claimed,
        violated=violated,
        delta_lower=delta_bound.value,
        ratio=lower / claimed,
    )


def _state_result(request: AuditSimulation, lower: float, certified: Ends, verdict: Consistency) -> str:
    """Say in words which ε an audit disproves, and whether that contradicts the certificate or a claim.

    Args:
        request: the audit, with its confidence, its δ and the claimed ε.
        lower: lower bound on ε from the samples; infinite if no ε holds.
        certified: certified bounds on ε.
        verdict: whether the lower bound contradicts the certificate.

    Returns:
        Two sentences, or three if the claimed ε is disproved.
    """
    log10_delta = request.log_delta / math.log(10.0)
    disproved = "no ε at all holds"
    if math.isfinite(lower):
        disproved = f"no ε below {lower:.4g} holds"
    sentences = [
        f"With {request.confidence:.6g} confidence {disproved} at δ = 10^{log10_delta:.6g}.",
        _compare_with_certificate(certified.upper, verdict),
    ]
    if request.claim is not None and lower > request.claim.epsilon:
        sentences.append(f"The claimed ε = {request.claim.epsilon:.4g} is disproved.")
    return " ".join(sentences)


def _compare_with_certificate(upper: float, verdict: Consistency) -> str:
    """Say in one sentence whether the samples agree with the certified upper bound on ε.

    Args:
        upper: the certified upper bound.
        verdict: whether the lower bound from the samples contradicts it.

    Returns:
        The sentence.
    """
    if math.isinf(upper):
        return "No finite ε is certified at this δ."
    if verdict == "contradicted":
        return f"That contradicts the certified upper end, {upper:.4g}: one of the two is wrong."
    return f"That agrees with the certified upper end, {upper:.4g}."
