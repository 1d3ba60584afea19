"""Lemma E.10 of Lowy and Razaviyayn: the Moreau envelope, a smooth approximation of a loss that is not smooth.

f_b(w) = min over v in W of f(v) + b|w − v|²/2, where f is convex and L-Lipschitz on the closed convex W, and b > 0.

1. It is b-smooth, and ∇f_b(w) = b(w − v) at the minimising v. It is the infimal convolution of b|·|²/2 with f on W.
2. f_b ≤ f ≤ f_b + L²/(2b) on W: f(w) − f(v) − b|w − v|²/2 ≤ L|w − v| − b|w − v|²/2, at most L²/(2b).
3. |∇f_b(w)| ≤ L for w in W (the paper has 2L): v minimises over the segment from v to w, which is in W. Hence b|w − v|²
   is at most the slope of f along it times its length, L|w − v|. Outside W the gradient grows without bound.
4. If f is μ-strongly convex, f_b is μb/(μ + b)-strongly convex, not μ: f = μ|·|²/2 on a large ball attains it.

Hence the noise of the smooth theorems, calibrated to L, is valid for f_b if its gradients are evaluated in W.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Annotated

from epsilond.accountants.formula import formula
from epsilond.accountants.numerics.minimum import golden_section
from epsilond.accountants.quantities import ENVELOPE_SMOOTHNESS, Lipschitz, StrongConvexity
from epsilond.accountants.theorem import Condition, Erratum, Grade, Outputs, Reading, Source, Status, Theorem
from epsilond.accountants.theorems.risk.lowy_razaviyayn.runs.sgd_bound import (
    ExcessRisk,
    ExcessRiskProblem,
    balanced_step_size,
    excess_risk,
)

_TESTS = "tests/theorems/risk/lowy_razaviyayn/test_envelope.py"


def envelope_gap(*, lipschitz: float, envelope_smoothness: float) -> float:
    """Return the largest difference L²/(2b) between a loss f and its Moreau envelope f_b, in loss units.

    The envelope is a smooth function that is nowhere above the loss. A bound on the excess risk of f_b plus this
    difference is a bound for f.

    Args:
        lipschitz: Lipschitz constant L of the loss.
        envelope_smoothness: smoothness b > 0 of the envelope.

    Returns:
        The upper bound L²/(2b) on f − f_b over the domain.
    """
    return lipschitz * lipschitz / (2.0 * envelope_smoothness)


def envelope_lipschitz(*, lipschitz: float, reading: Reading = "corrected") -> float:
    """Return the Lipschitz constant on the domain of a loss's Moreau envelope, a smooth approximation of the loss.

    Args:
        lipschitz: Lipschitz constant L of the loss.
        reading: "corrected" has L, "printed" has 2L as Lemma E.10 (erratum E-17).

    Returns:
        The constant, in loss units per unit of distance.
    """
    if reading == "printed":
        return 2.0 * lipschitz
    return lipschitz


def envelope_strong_convexity(*, strong_convexity: float, envelope_smoothness: float) -> float:
    """Return the strong convexity μb/(μ + b) of a Moreau envelope, a smooth approximation of a loss.

    Args:
        strong_convexity: strong convexity μ ≥ 0 of the loss.
        envelope_smoothness: smoothness b > 0 of the envelope.
    """
    return strong_convexity * (envelope_smoothness / (strong_convexity + envelope_smoothness))


# The explicit bound on the envelope, derived in `unequal_clients.py` -------------------------------------------------
def on_envelope(problem: ExcessRiskProblem, envelope_smoothness: float) -> ExcessRiskProblem:
    """Return the problem of minimising the Moreau envelope of the loss instead of the loss itself.

    The envelope is a b-smooth function that is at most the loss. It is less strongly convex. Its Lipschitz constant on
    the domain is at most that of the loss, so the latter is kept.

    Args:
        problem: the clients and the loss, which need not be smooth.
        envelope_smoothness: smoothness b > 0 of the envelope.

    Returns:
        The problem with the constants of the envelope.
    """
    convexity = envelope_strong_convexity(
        strong_convexity=problem.strong_convexity, envelope_smoothness=envelope_smoothness
    )
    return replace(problem, smoothness=envelope_smoothness, strong_convexity=convexity, steepest=None)


def enveloped_excess_risk(
    problem: ExcessRiskProblem, *, envelope_smoothness: float, noise_std: float, rounds: int, step_size: float
) -> ExcessRisk:
    """Bound the expected excess risk of noisy SGD on the Moreau envelope of a loss that need not be smooth.

    The envelope is a smooth function f_b with f_b ≤ f ≤ f_b + L²/(2b). The bound for f_b therefore bounds the risk of f
    after adding the gap L²/(2b).

    Args:
        problem: the clients and the loss f.
        envelope_smoothness: smoothness b > 0 of the envelope.
        noise_std: standard deviation σ of a message's noise per coordinate, at least 0.
        rounds: number R of rounds, at least 1.
        step_size: step size η > 0 of the descent.

    Returns:
        The bound as the sum of its terms in loss units; `smoothing` is the gap.

    Guarantees:
        The excess risk of the loss itself is at most `total`, in loss units, if proximal points are exact.
    """
    enveloped = on_envelope(problem, envelope_smoothness)
    risk = excess_risk(enveloped, noise_std=noise_std, rounds=rounds, step_size=step_size)
    gap = problem.squared_lipschitz / (2.0 * envelope_smoothness)
    return ExcessRisk({**risk.terms, "smoothing": gap})


@dataclass(frozen=True, kw_only=True)
class EnvelopeChoice:
    """The Moreau envelope of a loss on which a run descends, and its step size.

    Attributes:
        envelope_smoothness: smoothness b of the envelope, a smooth function below the loss.
        step_size: step size η of the descent.
    """

    envelope_smoothness: float
    step_size: float


def best_envelope(problem: ExcessRiskProblem, *, noise_std: float, rounds: int, quick: bool = False) -> EnvelopeChoice:
    """Return a smoothness b of the Moreau envelope and a step size η at which the bound on the excess risk is small.

    Every choice is valid. The search is over η and the product x = ηb. It starts at x = L/(L + V), the best x for
    strong convexity μ = 0. L is the root mean square of the Lipschitz constants, and V² the variance of a round's
    gradient. If μ = 0, only η is searched. If μ > 0, b also determines the strong convexity of the envelope, so x is
    searched too.

    Args:
        problem: the clients and the loss.
        noise_std: standard deviation σ of a message's noise per coordinate.
        rounds: number R of rounds.
        quick: if true, the closed forms are returned without a search.

    Returns:
        The smoothness b and the step size η.
    """
    lipschitz = math.sqrt(problem.squared_lipschitz)
    gradient_std = math.sqrt(problem.variance(noise_std).total)

    # The proof requires a product below 1; without noise and sampling, the closed form is 1.
    start_product = min(lipschitz / (lipschitz + gradient_std), 1.0 - 1e-6)
    start_step = balanced_step_size(problem, variance=(lipschitz + gradient_std) ** 2, rounds=rounds)
    if quick:
        return EnvelopeChoice(envelope_smoothness=start_product / start_step, step_size=start_step)

    # Candidates are pairs of the product x and log η.
    start_log_step = math.log(start_step)
    search = _EnvelopeSearch(problem, noise_std=noise_std, rounds=rounds, start_log_step=start_log_step)
    candidates = [(start_product, start_log_step), (start_product, search.best_log_step(start_product))]
    if problem.strong_convexity > 0.0:
        best_product = search.best_product(start_product)
        candidates.append((best_product, search.best_log_step(best_product)))

    product, log_step = min(candidates, key=lambda candidate: search.bound(*candidate))
    step = math.exp(log_step)
    return EnvelopeChoice(envelope_smoothness=product / step, step_size=step)


@dataclass(frozen=True)
class _EnvelopeSearch:
    """A search for the step size η and the smoothness b of a Moreau envelope at which the risk bound is least.

    The search is over η and the product x = ηb.

    Attributes:
        problem: the clients and the loss, which need not be smooth.
        noise_std: standard deviation σ of the noise per coordinate of a client's message.
        rounds: number R of rounds.
        start_log_step: ln η at the centre of the search for the step size.
    """

    problem: ExcessRiskProblem
    noise_std: float
    rounds: int
    start_log_step: float

    def bound(self, product: float, log_step: float) -> float:
        """Return the bound on the excess risk at a step size η and a smoothness b of the envelope, in loss units.

        The search varies ln η and the product ηb in place of η and b.

        Args:
            product: product ηb > 0, which gives b for the step size.
            log_step: natural logarithm of the step size η.

        Returns:
            The bound on the excess risk of the loss itself, which includes the gap between loss and envelope.
        """
        step = math.exp(log_step)
        risk = enveloped_excess_risk(
            self.problem,
            envelope_smoothness=product / step,
            noise_std=self.noise_std,
            rounds=self.rounds,
            step_size=step,
        )
        return risk.total

    def best_log_step(self, product: float) -> float:
        """Return the log η that minimises the risk bound, if the product ηb of step size and smoothness is fixed.

        The search covers a factor of e⁴ in η on either side of the start value.

        Args:
            product: product ηb of the step size and the smoothness of the envelope, in (0, 1).

        Returns:
            The natural logarithm of the step size.
        """

        def bound_at(log_step: float) -> float:
            """Return the bound at a log η."""
            return self.bound(product, log_step)

        start = self.start_log_step
        return _approximate_minimiser(bound_at, start - 4.0, start + 4.0)

    def best_product(self, start_product: float) -> float:
        """Return the product x = ηb in (0, 1) that minimises the risk bound if η is the best step size for x.

        η is the step size and b the smoothness of the envelope. The search is over the logit ln(x/(1 − x)), from 6
        below that of the start value to 3 above it. It may miss a minimum outside this range, but the bound is valid
        for every x.

        Args:
            start_product: start value of the product x, in (0, 1).

        Returns:
            The approximate minimiser.
        """

        def bound_at_logit(logit: float) -> float:
            """Return the bound at the best η for the product ηb with this logit."""
            product = _logistic(logit)
            return self.bound(product, self.best_log_step(product))

        start_logit = math.log(start_product / (1.0 - start_product))
        best_logit = _approximate_minimiser(bound_at_logit, start_logit - 6.0, start_logit + 3.0)
        return _logistic(best_logit)


def _approximate_minimiser(cost: Callable[[float], float], low: float, high: float) -> float:
    """Return an approximate minimiser of a function on an interval, to about 1e-5 of the interval's length.

    The golden-section search shortens the interval by the factor 0.618 in each of its 24 steps.

    Args:
        cost: the function, which should have only one local minimum in the interval.
        low: lower limit of the interval.
        high: upper limit of the interval.

    Returns:
        A point of the interval near the minimiser.
    """
    return golden_section(cost, low, high, width=0.0, most=24)  # 0.618^24 is about 1e-5


def _logistic(logit: float) -> float:
    """Return the logistic function 1/(1 + e^(−x)), which maps the search variable x to the product ηb in (0, 1)."""
    return 1.0 / (1.0 + math.exp(-logit))


# Lemma E.10 ---------------------------------------------------------------------------------------------------------
@formula(given="A loss and the smoothness of its envelope.")
def envelope(
    *,
    lipschitz: Lipschitz,
    envelope_smoothness: Annotated[float, ENVELOPE_SMOOTHNESS],
    strong_convexity: StrongConvexity = 0.0,
    reading: Reading = "printed",
) -> Outputs:
    """Return the constants of the Moreau envelope f_b of a loss f on the domain W.

    The envelope is f_b(w) = min_v f(v) + (b/2)|v − w|², which is b-smooth and at most f.

    Args:
        lipschitz: Lipschitz constant L of the loss.
        envelope_smoothness: smoothness b of the envelope.
        strong_convexity: strong convexity μ of the loss.
        reading: "printed" has the Lipschitz constant 2L and strong convexity μ of Lowy and Razaviyayn. "corrected" has
            L and μb/(μ + b) (erratum E-17).

    Returns:
        `smoothing_gap`, the largest excess L²/(2b) of f over f_b; and `lipschitz` on W, `smoothness` and
        `strong_convexity` of f_b.
    """
    convexity = strong_convexity
    if reading == "corrected":
        convexity = envelope_strong_convexity(
            strong_convexity=strong_convexity, envelope_smoothness=envelope_smoothness
        )
    return {
        "smoothing_gap": envelope_gap(lipschitz=lipschitz, envelope_smoothness=envelope_smoothness),
        "lipschitz": envelope_lipschitz(lipschitz=lipschitz, reading=reading),
        "smoothness": envelope_smoothness,
        "strong_convexity": convexity,
    }


ENVELOPE_LIPSCHITZ = Erratum(
    "E-17",
    grade=Grade.UNCLEAR,
    printed=(
        "Lemma E.10 states that the Moreau envelope f_b of an L-Lipschitz loss f is 2L-Lipschitz. Theorems 2.2 and "
        "2.4 compute the noise σ from L. They apply to f_b theorems for μ-strongly convex losses, where μ is the "
        "strong convexity of f. Here b is the smoothness of the envelope."
    ),
    truth=(
        "The gradient of f_b has norm at most L on the domain. The noise σ from L is therefore right where "
        "gradients are evaluated in the domain. The envelope f_b is μb/(μ + b)-strongly convex."
    ),
    test=f"{_TESTS}::test_the_envelope_is_as_lipschitz_as_the_loss_and_less_strongly_convex",
    place=(
        "Lemma E.10, part 1, and its uses in the proofs of Theorem 2.2 (Appendix E.4) and Theorem 2.4 (Appendix E.5.2)"
    ),
    charitable=(
        "On the domain, 2L is also a bound. If μ of the theorems is read as the strong convexity of f_b, their "
        "orders hold where b ≥ μ. There μb/(μ + b) ≥ μ/2."
    ),
)

LEMMA_E10 = Theorem(
    id="lowy.lemma-e.10",
    title="The Moreau envelope of a Lipschitz loss",
    statement=(
        "The Moreau envelope f_b(w) = min_{v in W} f(v) + b|w − v|²/2 of an L-Lipschitz convex loss f is convex and "
        "b-smooth. It satisfies f_b ≤ f ≤ f_b + L²/(2b). Its gradient has norm at most L on the domain W (2L as "
        "printed)"
    ),
    source=Source("lowy2023", "Lemma E.10"),
    status=Status.PROVED,
    conditions=(
        Condition("loss", "the loss f is convex and L-Lipschitz on the domain, which is closed and convex"),
        Condition("inside-domain", "the envelope and its gradients are evaluated inside the domain"),
    ),
    errata=(ENVELOPE_LIPSCHITZ,),
    formula=envelope,
    examples=({"lipschitz": 1.0, "envelope_smoothness": 50.0, "strong_convexity": 0.5},),
)

THEOREMS: tuple[Theorem, ...] = (LEMMA_E10,)
