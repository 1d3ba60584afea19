"""A claimed (ε, δ) of a run, and the verdict on it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from epsilond.accountants.guarantee import LOG_10, Guarantee
from epsilond.accountants.quantities import ANY_EPSILON, DELTA, LOG10_DELTA, request
from epsilond.accountants.target import Target, natural_log_delta
from epsilond.accountants.verdict import Verdict
from epsilond.calibrators.answer import Ends, Served


@request
class Claim:
    """A claimed (ε, δ) guarantee that a certified guarantee is compared with.

    It has either `delta` or its decimal logarithm `log10_delta`.
    """

    epsilon: Annotated[float, ANY_EPSILON]
    delta: Annotated[float | None, DELTA] = None
    log10_delta: Annotated[float | None, LOG10_DELTA] = None

    def check(self) -> None:
        """Check that exactly one of `delta` and `log10_delta` is present."""
        natural_log_delta(self.delta, self.log10_delta)


@dataclass(frozen=True, kw_only=True)
class ClaimAnswer:
    """Verdict on a claimed (ε, δ). It is `undecidable` if the claim is between the upper and the lower bound."""

    holds: Verdict
    epsilon: float
    delta: Annotated[float | None, Served("claimed δ; absent if it is too small for a double")] = None
    log10_delta: float
    margin_epsilon: Annotated[
        Ends,
        Served("bounds on the claimed ε minus the true ε at the claimed δ. If both are negative, the claim is false"),
    ]
    margin_log10_delta: Annotated[
        Ends,
        Served(
            "bounds on the claimed base-10 logarithm of δ minus the true one at the claimed ε. If both are "
            "negative, the claim is false"
        ),
    ]


def judge_claim(guarantee: Guarantee, claim: Claim) -> ClaimAnswer:
    """Decide whether a run has a claimed (ε, δ), and compute the margins of the claim.

    The claim is true if the upper bound on δ at the claimed ε, or on ε at the claimed δ, is at most the claimed value.
    It is false if the lower bound on δ exceeds the claimed δ. Otherwise it is undecidable.

    Args:
        guarantee: the guarantee of the run.
        claim: the claimed (ε, δ).

    Returns:
        The verdict, with enclosures of the claimed minus the true ε and log₁₀ δ.
    """
    target = Target.of(claim.epsilon, claim.delta, claim.log10_delta)
    log_delta = guarantee.curve.log_delta(claim.epsilon)
    epsilon = guarantee.curve.epsilon(target.log_delta)
    if log_delta.upper <= target.log_delta or epsilon.upper <= claim.epsilon:
        holds = Verdict.YES
    elif log_delta.lower > target.log_delta:
        holds = Verdict.NO
    else:
        holds = Verdict.UNDECIDABLE
    # Bounds on the claimed minus the true log10 δ. Division by ln 10 converts natural logarithms.
    least_margin = (target.log_delta - log_delta.upper) / LOG_10
    largest_margin = (target.log_delta - log_delta.lower) / LOG_10
    return ClaimAnswer(
        holds=holds,
        epsilon=claim.epsilon,
        delta=target.delta,
        log10_delta=target.log10_delta,
        margin_epsilon=Ends(claim.epsilon - epsilon.upper, claim.epsilon - epsilon.lower),
        margin_log10_delta=Ends(least_margin, largest_margin),
    )
