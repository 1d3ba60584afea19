"""Weights of Algorithm 1 of Reshef and Levy, and the lemmas of Appendix A on which its convergence rests.

With α_t = t the models are weighted means: x_{t+1} = (1 − γ_t)x_t + γ_t w_{t+1}, γ_t = α_{t+1}/α_{1:t+1} = 2/(t + 2).
Hence x_t = Σ_{τ≤t} α_τ w_τ/α_{1:t}. The momentum is β_t = 1 − α_{t−1}/α_t = 1/t. With it, the sum of the clients'
messages is α_t times the estimate of the gradient.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Annotated

from epsilond.accountants.errors import InvalidInput
from epsilond.accountants.formula import formula
from epsilond.accountants.quantities import ANY_SCALE, Diameter, Quantity, Rounds, StepSize
from epsilond.accountants.theorem import Condition, Erratum, Grade, Outputs, Sides, Source, Status, Theorem

_TESTS = "tests/theorems/risk/reshef_levy/test_anytime_steps.py"
LONGEST = 10**6
"""Largest number of entries of a list; it bounds the time and memory of one evaluation."""
INNER_PRODUCTS = Quantity(
    symbol="⟨∇f(x_τ), w_τ − x*⟩",
    unit="loss",
    description="of the rounds 1, …, t in their order, each from −1e100 to 1e100",
)
MOVEMENTS = Quantity(
    symbol="‖w_{τ+1} − w_τ‖", unit="length", description="of the rounds 1, …, t in their order, each from 0 to 1e100"
)
FEEDBACK = Quantity(symbol="h", ge=0, lt=1, description="the factor of the mean of all A_τ, 1/2 in the paper")
ADDED = Quantity(symbol="B_T", ge=0, description="what the last A_T has beside that mean; the B_t never fall")


def _check_list(name: str, values: Sequence[object], low: float) -> None:
    """Reject a list with too few or too many entries, or with an entry out of range.

    Raises:
        InvalidInput: unless the list has 1 to `LONGEST` numbers, each from `low` to 1e100.
    """
    if not 1 <= len(values) <= LONGEST:
        raise InvalidInput.at(f"/{name}", "has too few or too many entries", allowed=f"1 to {LONGEST}")
    for value in values:
        if isinstance(value, int | float) and not isinstance(value, bool) and low <= value <= 1e100:
            continue
        raise InvalidInput.at(f"/{name}", "an entry is out of range", allowed=f"≥ {low:g} and ≤ 1e+100")


@formula(given="A round t.", bounded=False)
def weights(*, round: Rounds) -> Outputs:  # noqa: A002  the field's name
    """Return the weight α_t of round t, the sum α_{1:t}, the momentum β_t, and the share γ_t of w_{t+1} in x_{t+1}."""
    return {
        "weight": round,
        "weight_sum": 0.5 * round * (round + 1.0),
        "momentum": 1.0 / round,
        "share": 2.0 / (round + 2.0),
    }


@formula(
    given="The inner products of t rounds.",
    checks=(lambda inputs: _check_list("inner_products", inputs.inner_products, -1e100),),
)
def anytime(*, inner_products: Annotated[tuple[float, ...], INNER_PRODUCTS]) -> Outputs:
    """Return the weighted regret Σ τ⟨∇f(x_τ), w_τ − x*⟩, and the bound on the excess risk of x_t that follows.

    Args:
        inner_products: ⟨∇f(x_τ), w_τ − x*⟩ of the rounds τ = 1, …, t, with the minimiser x*.

    Returns:
        `weighted_regret`, and `excess_risk`, the regret divided by t(t + 1)/2.
    """
    rounds = len(inner_products)
    total = math.fsum(float(number) * value for number, value in enumerate(inner_products, start=1))
    return {"weighted_regret": total, "excess_risk": total / (0.5 * rounds * (rounds + 1.0))}


def _least_prefix(*, inner_products: tuple[float, ...]) -> Sides:
    """Check that no partial sum of τ⟨∇f(x_τ), w_τ − x*⟩ is negative; the least partial sum is the left side."""
    total = least = inner_products[0]
    for number, value in enumerate(inner_products[1:], start=2):
        total += number * value
        least = min(least, total)
    return Sides.at_least(least, 0.0)


@formula(
    given="Steps w_{t+1} = Π(w_t − ηq_t) within a domain of this diameter, and how far each one moved.",
    checks=(lambda inputs: _check_list("movements", inputs.movements, 0.0),),
)
def regret(
    *,
    diameter: Diameter,
    step_size: Annotated[StepSize, ANY_SCALE],
    movements: Annotated[tuple[float, ...], MOVEMENTS],
) -> Outputs:
    """Bound the regret of projected steps, Σ ⟨q_τ, w_{τ+1} − x*⟩.

    Args:
        diameter: diameter D of the domain.
        step_size: step size η.
        movements: distances ‖w_{τ+1} − w_τ‖ of the rounds.

    Returns:
        `regret`, (D² − Σ‖w_{τ+1} − w_τ‖²)/(2η), and `plain_regret`, D²/(2η).
    """
    squared_movement = math.fsum(movement * movement for movement in movements)
    return {
        "regret": 0.5 * (diameter * diameter - squared_movement) / step_size,
        "plain_regret": 0.5 * diameter * diameter / step_size,
    }


@formula(given="A sequence A_t ≥ 0 with A_t ≤ (h/T) Σ_{τ≤t} A_τ + B_t, t = 1, …, T.")
def recursion(*, added: Annotated[float, ADDED], feedback: Annotated[float, FEEDBACK] = 0.5, rounds: Rounds) -> Outputs:
    """Bound the last term A_T of a sequence with A_t ≤ (h/T) Σ_{τ≤t} A_τ + B_t.

    Args:
        added: B_T, the largest of the B_t.
        feedback: factor h in [0, 1).
        rounds: length T of the sequence.

    Returns:
        `bound`, B_T/(1 − h). `sharper_bound`, B_T (1 − h/T)^(−T), the largest possible A_T; it is at most
        e^(h/(1 − h/T)) B_T.
    """
    growth = math.exp(-rounds * math.log1p(-feedback / rounds))
    return {"bound": added / (1.0 - feedback), "sharper_bound": added * growth}


WEIGHTS = Theorem(
    id="reshef.algorithm-1-weights",
    title="The weights of Algorithm 1",
    statement=(
        "α_t = t, α_{1:t} = t(t + 1)/2, β_t = 1 − α_{t−1}/α_t = 1/t. The share of w_{t+1} in x_{t+1} is 2/(t + 2)"
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
        "Let f be convex and x_t the mean of the w_τ with weights τ. Then (t(t + 1)/2) (f(x_t) − f(x*)) ≤ Σ_{τ≤t} "
        "τ⟨∇f(x_τ), w_τ − x*⟩"
    ),
    source=Source("reshef2025", "Theorem A.1, anytime online-to-batch conversion"),
    status=Status.PROVED,
    conditions=(
        Condition("convex", "f is convex"),
        Condition("mean-models", "x_t = Σ τw_τ/(t(t + 1)/2), as the shares 2/(t + 2) make it"),
        Condition(
            "possible",
            "no partial sum Σ_{τ≤s} τ⟨∇f(x_τ), w_τ − x*⟩ is negative: none is at a minimiser (the least is shown)",
            _least_prefix,
        ),
    ),
    formula=anytime,
    examples=({"inner_products": (2.0, 1.0, -0.25, 0.5)},),
)
REGRET = Theorem(
    id="reshef.appendix-a.regret",
    title="Regret of projected steps, one step ahead",
    statement="Σ_{τ≤t} ⟨q_τ, w_{τ+1} − x*⟩ ≤ D²/(2η) − (1/(2η)) Σ ‖w_{τ+1} − w_τ‖² for w_{τ+1} = Π(w_τ − ηq_τ)",
    source=Source("reshef2025", "Lemma A.5"),
    status=Status.PROVED,
    conditions=(Condition("domain", "w_1 and x* lie in the domain that is projected on, convex and of diameter D"),),
    formula=regret,
    examples=({"diameter": 2.0, "step_size": 0.125, "movements": (0.5, 0.25, 0.125)},),
)
LEMMA_A_7 = Theorem(
    id="reshef.lemma-a.7",
    title="A sequence that feeds on its mean",
    statement=(
        "Let A_t ≤ (1/(2T)) Σ_{τ≤t} A_τ + B_t with A_t ≥ 0 and B_t never falling. Then A_T ≤ 2B_T. With h in "
        "the place of 1/2, A_T ≤ B_T/(1 − h). Sharper, A_T ≤ B_T (1 − h/T)^(−T), which is attained: 1.65 B_T "
        "for h = 1/2 and many rounds"
    ),
    source=Source("reshef2025", "Lemma A.7"),
    status=Status.PROVED,
    conditions=(Condition("never-falling", "A_t ≥ 0, and B_1 ≤ … ≤ B_T"),),
    errata=(
        Erratum(
            "E-R5",
            grade=Grade.REFINEMENT,
            printed="the factor 2, for every step size",
            truth="1/(1 − h) with h = 4ηLT for the step that is taken: 2 at η = 1/(8LT), nearly 1 for smaller steps",
            test=f"{_TESTS}::test_the_recursion_by_its_extremal_sequence",
        ),
    ),
    formula=recursion,
    examples=({"added": 3.0, "rounds": 1200}, {"added": 3.0, "feedback": 0.125, "rounds": 5}),
)

THEOREMS: tuple[Theorem, ...] = (WEIGHTS, ANYTIME, REGRET, LEMMA_A_7)
