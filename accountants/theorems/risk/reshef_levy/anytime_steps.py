"""Weights of Algorithm 1 of Reshef and Levy, and the lemmas of Appendix A on which its convergence rests.

With α_t = t the models are weighted means: x_{t+1} = (1 − γ_t)x_t + γ_t w_{t+1}, γ_t = α_{t+1}/α_{1:t+1} = 2/(t + 2).
Hence x_t = Σ_{τ≤t} α_τ w_τ/α_{1:t}. The momentum is β_t = 1 − α_{t−1}/α_t = 1/t. With it, the sum of the clients'
messages is α_t times the estimate of the gradient.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from typing import Annotated

from epsilond.accountants.errors import InvalidInput
from epsilond.accountants.formula import FormulaRequest, formula
from epsilond.accountants.quantities import ANY_SCALE, Diameter, Quantity, Rounds, StepSize
from epsilond.accountants.theorem import Condition, Outputs, Sides, Source, Status, Theorem
from epsilond.accountants.theorems.risk.reshef_levy.errata import EVERY_STEP, START_OUTSIDE

LONGEST = 10**6
"""Largest number of entries of a list; it bounds the time and memory of one evaluation."""
INNER_PRODUCTS = Quantity(
    symbol="⟨∇f(x_τ), w_τ − x*⟩",
    unit="loss",
    description="of the rounds 1, …, t in their order, each from −1e100 to 1e100",
)
WEIGHTS_OF_ROUNDS = Quantity(
    symbol="α_τ",
    description="weights of the rounds 1, …, t in their order, each above 0 and at most 1e100; absent: 1, …, t",
)
MOVEMENTS = Quantity(
    symbol="‖w_{τ+1} − w_τ‖", unit="length", description="of the rounds 1, …, t in their order, each from 0 to 1e100"
)
FEEDBACK = Quantity(symbol="h", ge=0, lt=1, description="the factor of the mean of all A_τ, 1/2 in the paper")
ADDED = Quantity(symbol="B", ge=0, description="the summand of every term other than that mean, or its largest value")


def check_list(name: str, values: Sequence[object], low: float) -> None:
    """Check the length of a list and the range of its entries.

    Args:
        name: name of the request's field that holds the list, for the error.
        values: entries of the list.
        low: smallest allowed entry; the largest is 1e100.

    Raises:
        InvalidInput: the list is empty or has more than `LONGEST` entries, or an entry is not a number from `low` to
            1e100.
    """
    if not 1 <= len(values) <= LONGEST:
        raise InvalidInput.at(f"/{name}", "has too few or too many entries", allowed=f"1 to {LONGEST}")
    for value in values:
        # `bool` is a subclass of `int`, but true is not a number.
        if isinstance(value, bool) or not isinstance(value, int | float) or not low <= value <= 1e100:
            raise InvalidInput.at(f"/{name}", "an entry is out of range", allowed=f"≥ {low:g} and ≤ 1e+100")


@formula(given="A round t.", bounded=False)
def weights(*, round: Rounds) -> Outputs:  # noqa: A002  the field's name
    """Return the weights with which the algorithm of Reshef and Levy averages the iterates w_t to models x_t.

    Args:
        round: index t ≥ 1 of the round.

    Returns:
        `weight`: weight α_t = t of the iterate w_t.
        `weight_sum`: sum t(t + 1)/2 of the weights up to round t.
        `momentum`: momentum β_t = 1/t.
        `share`: share γ_t = 2/(t + 2) of w_{t+1} in the next model x_{t+1} = (1 − γ_t)x_t + γ_t w_{t+1}.
    """
    return {
        "weight": round,
        "weight_sum": 0.5 * round * (round + 1.0),
        "momentum": 1.0 / round,
        "share": 2.0 / (round + 2.0),
    }


def _check_rounds(inputs: FormulaRequest) -> None:
    """Check the inner products and the weights of the rounds in a request.

    Args:
        inputs: the request, with the lists `inner_products` and `weights`; the weights may be None.

    Raises:
        InvalidInput: a list is empty or too long, an entry is out of range, or the lengths of the lists differ.
    """
    check_list("inner_products", inputs.inner_products, low=-1e100)
    if inputs.weights is None:
        return
    check_list("weights", inputs.weights, low=1e-100)  # positive, and far from the smallest doubles
    if len(inputs.weights) != len(inputs.inner_products):
        rounds = len(inputs.inner_products)
        raise InvalidInput.at("/weights", "needs one for each inner product", allowed=f"{rounds} entries")


def _round_weights(weights: tuple[float, ...] | None, rounds: int) -> tuple[float, ...]:
    """Return the weights α_1, …, α_t of the rounds, which are 1, …, t by default.

    Args:
        weights: weights of the request, or None.
        rounds: number t of rounds.

    Returns:
        The weights, in the order of the rounds.
    """
    if weights is not None:
        return weights
    return tuple(map(float, range(1, rounds + 1)))


@formula(given="The inner products of t rounds, and the weights of the mean.", checks=(_check_rounds,))
def anytime(
    *,
    inner_products: Annotated[tuple[float, ...], INNER_PRODUCTS],
    weights: Annotated[tuple[float, ...] | None, WEIGHTS_OF_ROUNDS] = None,
) -> Outputs:
    """Bound the excess risk of a weighted mean x_t of iterates w_τ by their weighted regret (anytime averaging).

    For a convex loss f with the minimiser x*:

        f(x_t) − f(x*) ≤ Σ α_τ⟨∇f(x_τ), w_τ − x*⟩ / Σ α_τ,

    where x_τ is the mean of w_1, …, w_τ with the weights α.

    Args:
        inner_products: ⟨∇f(x_τ), w_τ − x*⟩ of the rounds τ = 1, …, t.
        weights: weights α_1, …, α_t; if None 1, …, t, as in Algorithm 1 of Reshef and Levy.

    Returns:
        `weighted_regret`: the numerator.
        `excess_risk`: the bound.
    """
    alphas = _round_weights(weights, len(inner_products))
    products = (alpha * product for alpha, product in zip(alphas, inner_products, strict=True))
    weighted_regret = math.fsum(products)
    return {"weighted_regret": weighted_regret, "excess_risk": weighted_regret / math.fsum(alphas)}


def _least_prefix(*, inner_products: tuple[float, ...], weights: tuple[float, ...] | None) -> Sides:
    """Compare the least partial sum of the weighted regrets Σ α_τ⟨∇f(x_τ), w_τ − x*⟩ with 0.

    A negative sum is impossible, because it would bound an excess risk. The inputs then contradict each other.

    Args:
        inner_products: inner products ⟨∇f(x_τ), w_τ − x*⟩ of the rounds τ = 1, …, t. They are of the gradient at the
            model x_τ, and of the difference between the iterate w_τ and the minimiser x*.
        weights: positive weights α_τ of the rounds; if None, 1, …, t.

    Returns:
        The least partial sum and 0, as the two sides of the condition that every partial sum is at least 0.
    """
    alphas = _round_weights(weights, len(inner_products))
    products = (alpha * product for alpha, product in zip(alphas, inner_products, strict=True))
    least_partial_sum = min(itertools.accumulate(products))
    return Sides.at_least(least_partial_sum, 0.0)


@formula(
    given="Steps w_{t+1} = Π(w_t − ηq_t) within a domain of this diameter, and how far each one moved.",
    checks=(lambda inputs: check_list("movements", inputs.movements, 0.0),),
)
def regret(
    *,
    diameter: Diameter,
    step_size: Annotated[StepSize, ANY_SCALE],
    movements: Annotated[tuple[float, ...], MOVEMENTS],
) -> Outputs:
    """Bound the regret Σ ⟨q_τ, w_{τ+1} − x*⟩ of projected gradient steps w_{τ+1} = Π(w_τ − ηq_τ).

    Round τ has the iterate w_τ and the gradient estimate q_τ. Π projects on the domain, and x* is any point of it.

    Args:
        diameter: diameter D of the domain.
        step_size: step size η > 0.
        movements: distances ‖w_{τ+1} − w_τ‖ of the rounds τ = 1, 2, … in their order.

    Returns:
        `regret`: the bound (D² − Σ‖w_{τ+1} − w_τ‖²)/(2η).
        `plain_regret`: the larger bound D²/(2η), which does not use the movements.
    """
    squared_movement = math.fsum(movement * movement for movement in movements)
    return {
        "regret": 0.5 * (diameter * diameter - squared_movement) / step_size,
        "plain_regret": 0.5 * diameter * diameter / step_size,
    }


@formula(given="A sequence with A_t ≤ (h/T) Σ_τ A_τ + B, t = 1, …, T, with the sum over all T terms or over τ ≤ t.")
def recursion(*, added: Annotated[float, ADDED], feedback: Annotated[float, FEEDBACK] = 0.5, rounds: Rounds) -> Outputs:
    """Bound the terms of a sequence A_1, …, A_T, each of which is at most B plus h times their mean.

    Adding A_t ≤ (h/T) Σ_{τ≤T} A_τ + B over all t gives Σ A_τ ≤ TB/(1 − h), and hence A_t ≤ B/(1 − h). Appendix E.2 of
    Reshef and Levy uses the lemma with the sum over τ ≤ t only. A_T is then at most B(1 − h/T)^(−T).

    Args:
        added: B, or the largest B_t if B_t never falls.
        feedback: factor h in [0, 1).
        rounds: length T of the sequence.

    Returns:
        `bound`: B/(1 − h), the largest possible A_t if the sum is over all terms.
        `sharper_bound`: B(1 − h/T)^(−T), the largest possible A_T if the sum is over τ ≤ t and no A_τ is negative. It
        is at most e^(h/(1 − h/T)) B.
    """
    sharper_factor = math.exp(-rounds * math.log1p(-feedback / rounds))  # (1 − h/T)^(−T)
    return {"bound": added / (1.0 - feedback), "sharper_bound": added * sharper_factor}


WEIGHTS = Theorem(
    id="reshef.algorithm-1-weights",
    title="The weights of Algorithm 1",
    statement=(
        "The weight of round t is α_t = t, and the weights add up to α_{1:t} = t(t + 1)/2. The momentum is β_t = 1 − "
        "α_{t−1}/α_t = 1/t. The share of w_{t+1} in x_{t+1} is 2/(t + 2)"
    ),
    source=Source("reshef2025", "Algorithm 1"),
    status=Status.PROVED,
    formula=weights,
    examples=({"round": 7},),
)
ANYTIME = Theorem(
    id="reshef.appendix-a.anytime",
    title="From regret to the last mean model",
    statement=(
        "Let f be convex and x_t the mean of the w_τ with weights α_τ > 0, which add up to α_{1:t}. Then "
        "α_{1:t}(f(x_t) − f(x*)) ≤ Σ_{τ≤t} α_τ⟨∇f(x_τ), w_τ − x*⟩. For α_τ = τ, α_{1:t} is t(t + 1)/2"
    ),
    source=Source("reshef2025", "Theorem A.1, anytime online-to-batch conversion"),
    status=Status.PROVED,
    conditions=(
        Condition("convex", "the objective f is convex"),
        Condition(
            "mean-models",
            (
                "x_t is the mean of w_1, …, w_t with the weights α_1, …, α_t. For the weights 1, …, t the shares of "
                "Algorithm 1, 2/(t + 2), make it this mean"
            ),
        ),
        Condition(
            "possible",
            (
                "No partial sum Σ_{τ≤s} α_τ⟨∇f(x_τ), w_τ − x*⟩ is negative, because x* is a minimiser. The least "
                "partial sum is shown"
            ),
            _least_prefix,
        ),
    ),
    formula=anytime,
    examples=(
        {"inner_products": (2.0, 1.0, -0.25, 0.5)},
        {"inner_products": (2.0, 1.0, -0.25, 0.5), "weights": (1.0, 4.0, 9.0, 16.0)},
    ),
)
REGRET = Theorem(
    id="reshef.appendix-a.regret",
    title="Regret of projected steps, one step ahead",
    statement=(
        "For steps w_{τ+1} = Π(w_τ − ηq_τ), Σ_{τ≤t} ⟨q_τ, w_{τ+1} − x*⟩ ≤ D²/(2η) − (1/(2η)) Σ ‖w_{τ+1} − w_τ‖²"
    ),
    source=Source("reshef2025", "Lemma A.5"),
    status=Status.PROVED,
    conditions=(
        Condition(
            "domain",
            "The steps are projected on a convex domain of diameter D. The start w_1 and the point x* lie in it",
        ),
    ),
    errata=(START_OUTSIDE,),
    formula=regret,
    examples=({"diameter": 2.0, "step_size": 0.125, "movements": (0.5, 0.25, 0.125)},),
)
LEMMA_A_7 = Theorem(
    id="reshef.lemma-a.7",
    title="A sequence that feeds on its mean",
    statement=(
        "Let A_t ≤ (1/(2T)) Σ_{τ≤T} A_τ + B for every t ≤ T. Then A_t ≤ 2B for every t, which is attained. With h in "
        "the place of 1/2, A_t ≤ B/(1 − h). Let the sum be over τ ≤ t only, and no A_τ negative. B may then be the "
        "last of B_t that never fall, and A_T ≤ B(1 − h/T)^(−T). This is attained; it is 1.65 B for h = 1/2 and T large"
    ),
    source=Source("reshef2025", "Lemma A.7"),
    status=Status.PROVED,
    conditions=(
        Condition(
            "never-falling",
            (
                "for the sharper bound, the sum is over τ ≤ t, A_t is never negative, and B_t never falls (B_1 ≤ … ≤ "
                "B_T)"
            ),
        ),
    ),
    errata=(EVERY_STEP,),
    formula=recursion,
    examples=({"added": 3.0, "rounds": 1200}, {"added": 3.0, "feedback": 0.125, "rounds": 5}),
)

THEOREMS: tuple[Theorem, ...] = (WEIGHTS, ANYTIME, REGRET, LEMMA_A_7)
