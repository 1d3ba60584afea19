"""Generalisation bound of PPSGD with all clients in every round: Theorem 4.5 of Bietti et al.

The bound depends on L_α‖z*‖²_α and σ²_α‖z*‖²_α only. Both stay finite at α = ∞ if the optimum is entirely shared. The
step size of the theorem, min{1/(4L_α), ‖z*‖/(√n σ)}, gives 4L_α‖z*‖²/n + 3σ‖z*‖/√n. With √(2n) in place of √n the
constant 3 becomes 2√2 (E-B11). At any step size η < 1/(2L_α) the bound is (‖z*‖²/n + 2η²σ²)/(2η(1 − 2ηL_α)).
"""

from __future__ import annotations

import math
from typing import Annotated, ClassVar, NamedTuple

from epsilond.accountants.errors import InvalidInput
from epsilond.accountants.formula import in_doubles
from epsilond.accountants.json_types import Fields
from epsilond.accountants.quantities import (
    ANY_SCALE,
    LIPSCHITZ,
    STEP_SIZE,
    Checks,
    Clients,
    Rounds,
    Smoothness,
    request,
)
from epsilond.accountants.quantities.algorithms import (
    FINITE_PERSONALIZATION,
    LOCAL_GRADIENT_STD,
    SHARED_GRADIENT_STD,
    SHARED_NOISE_STD,
    WEIGHTED_NORM,
    WEIGHTED_NORM_OLDER_NAME,
    SharedDimension,
)
from epsilond.accountants.theorem import Condition, Erratum, Grade, Outputs, Sides, Source, Status, Theorem
from epsilond.accountants.verdict import Verdict

_TESTS = "tests/theorems/risk/bietti/test_full_participation.py"


# Formulas -----------------------------------------------------------------------------------------------------------
class FullParticipationBound(NamedTuple):
    """A bound on the excess risk as its two summands: the optimisation error, and the cost of variance."""

    optimisation: float
    variance: float

    @property
    def total(self) -> float:
        """The sum of both parts."""
        return self.optimisation + self.variance


def theorem_bound(*, smooth: float, variance: float, rounds: int, factor: float = 3.0) -> FullParticipationBound:
    """Return the bound of Theorem 4.5 of Bietti et al. as its two summands.

    Args:
        smooth: L_α‖z*‖², the smoothness times the squared distance of the initial model from the minimiser z*.
        variance: σ²‖z*‖², the variance of a step times the same.
        rounds: number n of rounds.
        factor: constant of the variance term: 3 as printed, 2√2 with the shorter step size of erratum E-B11.
    """
    return FullParticipationBound(optimisation=4.0 * smooth / rounds, variance=factor * math.sqrt(variance / rounds))


def theorem_step(*, smoothness: float, norm: float, variance: float, rounds: int) -> float:
    """Return the step size of Theorem 4.5, min{1/(4L_α), ‖z*‖/(√n σ)}, or 1/(4L_α) if σ = 0.

    Args:
        smoothness: smoothness L_α.
        norm: distance ‖z*‖ of the initial model from the minimiser.
        variance: variance σ² of a step.
        rounds: number n of rounds.
    """
    largest = 0.25 / smoothness
    return largest if variance == 0.0 else min(largest, norm / math.sqrt(rounds * variance))


def bound_at_step(*, step: float, smoothness: float, squared_norm: float, variance: float, rounds: int) -> float:
    """Return the bound on the excess risk at any step size, (‖z*‖²/n + 2η²σ²)/(2η(1 − 2ηL_α)).

    Args:
        step: step size η > 0.
        smoothness: smoothness L_α.
        squared_norm: squared distance ‖z*‖² of the initial model from the minimiser.
        variance: variance σ² of a step.
        rounds: number n of rounds.

    Returns:
        The bound; infinite if η ≥ 1/(2L_α).
    """
    slack = 1.0 - 2.0 * step * smoothness
    if slack <= 0.0:
        return math.inf
    return (squared_norm / rounds + 2.0 * step * step * variance) / (2.0 * step * slack)


def parts_at_step(
    *, step: float, smoothness: float, squared_norm: float, variance: float, rounds: int
) -> FullParticipationBound:
    """Return the two summands of `bound_at_step`: ‖z*‖²/(2ηn(1 − 2ηL_α)) and ησ²/(1 − 2ηL_α).

    They are those of the paper's inequality (22). For η ≤ 1/(4L_α) their sum is at most `simple_bound_at_step`.

    Args:
        step: step size η. It is 0 only if the initial model is a minimiser; the bound is then 0.
        smoothness: smoothness L_α.
        squared_norm: squared distance ‖z*‖² of the initial model from the minimiser.
        variance: variance σ² of a step.
        rounds: number n of rounds.

    Returns:
        Both summands; they are infinite if η ≥ 1/(2L_α).
    """
    if step == 0.0:
        return FullParticipationBound(optimisation=0.0, variance=0.0)
    slack = 1.0 - 2.0 * step * smoothness
    if slack <= 0.0:
        return FullParticipationBound(optimisation=math.inf, variance=math.inf)
    return FullParticipationBound(
        optimisation=0.5 * squared_norm / (step * rounds) / slack, variance=step * variance / slack
    )


def simple_bound_at_step(*, step: float, squared_norm: float, variance: float, rounds: int) -> float:
    """Return the bound ‖z*‖²/(ηn) + 2ησ², the paper's inequality (23), which holds for η ≤ 1/(4L_α).

    Args:
        step: step size η. It is 0 only if the initial model is a minimiser; the bound is then 0.
        squared_norm: squared distance ‖z*‖² of the initial model from the minimiser.
        variance: variance σ² of a step.
        rounds: number n of rounds.
    """
    if step == 0.0:
        return 0.0
    return squared_norm / (step * rounds) + 2.0 * step * variance


def bound_outputs(*, smoothness: float, norm: float, variance: float, rounds: int) -> Outputs:
    """Return the bound at the step size of Theorem 4.5, and at the shorter one of erratum E-B11.

    Args:
        smoothness: smoothness L_α.
        norm: distance ‖z*‖_α of the initial model from the minimiser.
        variance: variance σ² of a step.
        rounds: number n of rounds.

    Returns:
        L_α and σ². Then for each step size the step, the bound with its constant, and the sharper bound (23) of the
        paper at this step.
    """
    squared = norm * norm
    bound = theorem_bound(smooth=smoothness * squared, variance=variance * squared, rounds=rounds)
    refined = theorem_bound(
        smooth=smoothness * squared, variance=variance * squared, rounds=rounds, factor=2.0 * math.sqrt(2.0)
    )
    step = theorem_step(smoothness=smoothness, norm=norm, variance=variance, rounds=rounds)
    finer = theorem_step(smoothness=smoothness, norm=norm, variance=2.0 * variance, rounds=rounds)
    run: Fields = {"squared_norm": squared, "variance": variance, "rounds": rounds}
    return {
        "weighted_smoothness": smoothness,
        "variance": variance,
        "step_size": step,
        "optimisation_term": bound.optimisation,
        "variance_term": bound.variance,
        "excess_risk": bound.total,
        "excess_risk_at_step": simple_bound_at_step(step=step, **run),
        "refined_step_size": finer,
        "refined_excess_risk": refined.total,
        "excess_risk_at_refined_step": simple_bound_at_step(step=finer, **run),
    }


# Requests -----------------------------------------------------------------------------------------------------------
@request
class WeightedOptimum:
    """‖z*‖_α of any minimiser, under its own name or the older one, which elsewhere means ‖v̄‖."""

    weighted_optimum_norm: Annotated[float | None, WEIGHTED_NORM] = None
    optimum_norm: Annotated[float | None, WEIGHTED_NORM_OLDER_NAME] = None

    checks: ClassVar[Checks] = (lambda record: record.demand_one_name(),)

    def demand_one_name(self) -> None:
        """Reject a request with both names or with neither.

        Raises:
            InvalidInput: unless exactly one of the names is used.
        """
        if (self.weighted_optimum_norm is None) == (self.optimum_norm is None):
            message = "is needed: exactly one of weighted_optimum_norm and its older name optimum_norm"
            raise InvalidInput.at("/weighted_optimum_norm", message, allowed=WEIGHTED_NORM.allowed)

    @property
    def norm(self) -> float:
        """‖z*‖_α, from the name that the request uses."""
        return (self.weighted_optimum_norm if self.optimum_norm is None else self.optimum_norm) or 0.0


@request
class BoundInputs(WeightedOptimum):
    """A run with all clients in every round, at a finite α."""

    clients: Clients
    rounds: Rounds
    smoothness: Smoothness
    personalization: Annotated[float, FINITE_PERSONALIZATION]
    shared_gradient_std: Annotated[float, SHARED_GRADIENT_STD]
    local_gradient_std: Annotated[float, LOCAL_GRADIENT_STD]
    shared_dimension: SharedDimension
    noise_std: Annotated[float, SHARED_NOISE_STD]
    lipschitz: Annotated[float | None, LIPSCHITZ, ANY_SCALE] = None
    clipping_norm: Annotated[float | None, LIPSCHITZ, ANY_SCALE] = None


@in_doubles
def generalisation(inputs: BoundInputs) -> Outputs:
    """Return the bound of Theorem 4.5, with the smoothness L_α, the variance σ²_{tot,α} and the step size."""
    alpha, clients = inputs.personalization, inputs.clients
    sampled = (alpha * inputs.shared_gradient_std**2 + inputs.local_gradient_std**2) / clients
    return bound_outputs(
        smoothness=inputs.smoothness * max(alpha, 1.0 / clients),
        norm=inputs.norm,
        variance=sampled + alpha * inputs.shared_dimension * inputs.noise_std**2,
        rounds=inputs.rounds,
    )


@request
class AnyStepInputs(WeightedOptimum):
    """A step size and the constants of the weighted problem: L_α, ‖z*‖_α and σ_{tot,α}."""

    rounds: Rounds
    step_size: Annotated[float, STEP_SIZE]
    smoothness: Smoothness
    gradient_std: Annotated[float, SHARED_GRADIENT_STD]


@in_doubles
def any_step(inputs: AnyStepInputs) -> Outputs:
    """Return two bounds at the given step size η: one for η < 1/(2L_α), and a simpler one for η ≤ 1/(4L_α)."""
    squared, variance = inputs.norm**2, inputs.gradient_std**2
    return {
        "excess_risk": bound_at_step(
            step=inputs.step_size,
            smoothness=inputs.smoothness,
            squared_norm=squared,
            variance=variance,
            rounds=inputs.rounds,
        ),
        "simple_excess_risk": simple_bound_at_step(
            step=inputs.step_size, squared_norm=squared, variance=variance, rounds=inputs.rounds
        ),
    }


# Theorems -----------------------------------------------------------------------------------------------------------
CONVEX_SMOOTH = Condition(
    "convex-and-smooth", "every record's loss is jointly convex and L-smooth in (w, θ_i) on the whole space"
)
FRESH = Condition("fresh-records", "clients are independent, and every round has fresh records")
ADDITIVE = Condition("additive-model", "the loss of client i depends on w + θ_i only")
UNCLIPPED = Condition("nothing-is-clipped", "no message was changed by clipping, as for squared losses it may be")


def _no_clipping(inputs: BoundInputs) -> Sides:
    """Check that gradients are at most the clipping norm; undecidable if either bound is absent."""
    if inputs.lipschitz is None or inputs.clipping_norm is None:
        return Sides(Verdict.UNDECIDABLE, inputs.lipschitz or math.inf, inputs.clipping_norm or math.inf)
    return Sides.at_most(inputs.lipschitz, inputs.clipping_norm)


BELOW_CLIPPING = Condition(
    "gradients-below-clipping", "‖∇_w f_i‖ ≤ G ≤ C everywhere (undecidable where G or C is absent)", _no_clipping
)
MISSING_ROOTS = Erratum(
    "E-B7",
    grade=Grade.MISPRINT,
    printed="η = …/√(nσ_tot) and σ̄_θ for σ̄_θ² in the proof",
    truth="√(nσ²_tot) = √n σ_tot, as the theorem has it: doubling units doubles η σ²/‖z*‖ on both sides only so",
    test=f"{_TESTS}::test_the_step_scales_as_the_theorem_says",
)
SMALLER_CONSTANT = Erratum(
    "E-B11",
    grade=Grade.REFINEMENT,
    printed="the constant 3 of the variance term",
    truth="2√2, with the step min{1/(4L_α), ‖z*‖/(√(2n)σ)}",
    test=f"{_TESTS}::test_a_shorter_step_has_a_smaller_constant",
)
SQUARED_LOSS = Erratum(
    "E-B13",
    grade=Grade.UNCLEAR,
    printed="Assumption 4.4 next to the squared loss of the examples",
    truth="the squared loss has no bounded gradient: the bound then holds only where nothing was clipped",
    test=f"{_TESTS}::test_clipping_is_a_condition",
)

THEOREM_4_5 = Theorem(
    id="bietti.4.5",
    title="Generalisation of PPSGD, all clients in every round",
    statement=(
        "E f(z̄_n) − f* ≤ 4L_α‖z*‖²_α/n + 3σ_tot‖z*‖_α/√n. Here L_α = L max(α, 1/N) and σ²_tot = (ασ̄_w² + "
        "σ̄_θ²)/N + αd_wσ_ζ²"
    ),
    source=Source("bietti2022", "Theorem 4.5, (6) and (7)"),
    status=Status.PROVED,
    conditions=(CONVEX_SMOOTH, FRESH, BELOW_CLIPPING),
    errata=(MISSING_ROOTS, SMALLER_CONSTANT, SQUARED_LOSS),
    inputs=BoundInputs,
    formula=generalisation,
    examples=(
        {
            "clients": 100,
            "rounds": 2000,
            "smoothness": 2.0,
            "personalization": 0.01,
            "weighted_optimum_norm": 2.0,
            "shared_gradient_std": 1.0,
            "local_gradient_std": 1.0,
            "shared_dimension": 20,
            "noise_std": 0.05,
            "lipschitz": 1.0,
            "clipping_norm": 1.0,
        },
    ),
)
ANY_STEP = Theorem(
    id="bietti.4.5.any-step",
    title="Generalisation of PPSGD at any step size",
    statement="E f(z̄_n) − f* ≤ (‖z*‖²/n + 2η²σ²)/(2η(1 − 2ηL_α)), at most ‖z*‖²/(ηn) + 2ησ² where η ≤ 1/(4L_α)",
    source=Source("bietti2022", "Appendix B.2, (22) and (23)"),
    status=Status.PROVED,
    conditions=(
        Condition(
            "step-below-half",
            "η L_α < 1/2, for either bound",
            lambda inputs: Sides.below(inputs.step_size * inputs.smoothness, 0.5),
        ),
        Condition(
            "step-below-quarter",
            "η L_α ≤ 1/4, for (23)",
            lambda inputs: Sides.at_most(inputs.step_size * inputs.smoothness, 0.25),
        ),
        CONVEX_SMOOTH,
        FRESH,
    ),
    inputs=AnyStepInputs,
    formula=any_step,
    examples=(
        {"rounds": 100, "step_size": 0.05, "smoothness": 2.0, "weighted_optimum_norm": 2.0, "gradient_std": 1.0},
    ),
)
THEOREMS: tuple[Theorem, ...] = (THEOREM_4_5, ANY_STEP)
