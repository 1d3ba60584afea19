"""Generalisation bound of PPSGD with all clients in every round: Theorem 4.5 of Bietti et al.

The bound depends on L_α‖z*‖²_α and σ²_α‖z*‖²_α only. Both stay finite at α = ∞ if the optimum is entirely shared. The
step size of the theorem, min{1/(4L_α), ‖z*‖/(√n σ)}, gives 4L_α‖z*‖²/n + 3σ‖z*‖/√n. With √(2n) in place of √n the
constant 3 becomes 2√2 (E-B11). At any step size η < 1/(2L_α) the bound is (‖z*‖²/n + 2η²σ²)/(2η(1 − 2ηL_α)).
"""

from __future__ import annotations

import math
from typing import Annotated, ClassVar

from epsilond.accountants.errors import InvalidInput
from epsilond.accountants.formula import in_doubles
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
from epsilond.accountants.theorem import Condition, Outputs, Sides, Source, Status, Theorem
from epsilond.accountants.theorems.risk.bietti.errata import MISSING_ROOTS, SMALLER_CONSTANT, SQUARED_LOSS
from epsilond.accountants.theorems.risk.bietti.step_bounds import (
    bound_at_step,
    simple_bound_at_step,
    theorem_bound,
    theorem_step,
)
from epsilond.accountants.verdict import Verdict

# Formulas -----------------------------------------------------------------------------------------------------------


def bound_outputs(*, smoothness: float, norm: float, variance: float, rounds: int) -> Outputs:
    """Return the bound of Theorem 4.5 of Bietti et al. on the excess risk, and a smaller one at a shorter step size.

    The step size and the bound of the theorem are:

        η = min{1/(4L_α), ‖z*‖/(√n σ)},   4L_α‖z*‖²/n + 3σ‖z*‖/√n.

    With √(2n) in place of √n in η, the constant 3 is replaced by 2√2 (erratum E-B11).

    Args:
        smoothness: smoothness L_α of the loss.
        norm: distance ‖z*‖_α of the initial model from the minimiser.
        variance: variance σ² of a step.
        rounds: number n of rounds.

    Returns:
        `weighted_smoothness`, `variance`: L_α and σ².
        `step_size`: the step size of the theorem.
        `excess_risk`: the bound, the sum of `optimisation_term` and `variance_term`.
        `excess_risk_at_step`: the sharper bound (23) of the paper at this step size.
        `refined_step_size`, `refined_excess_risk`, `excess_risk_at_refined_step`: the same for the shorter step size.
    """
    squared_norm = norm * norm
    smooth = smoothness * squared_norm
    scaled_variance = variance * squared_norm
    proved_constant = 2.0 * math.sqrt(2.0)
    bound = theorem_bound(smooth=smooth, variance=scaled_variance, rounds=rounds)
    refined = theorem_bound(smooth=smooth, variance=scaled_variance, rounds=rounds, factor=proved_constant)

    # Twice the variance gives the step size with √(2n) in place of √n.
    step = theorem_step(smoothness=smoothness, norm=norm, variance=variance, rounds=rounds)
    shorter_step = theorem_step(smoothness=smoothness, norm=norm, variance=2.0 * variance, rounds=rounds)

    def bound_23(step: float) -> float:
        """Return the bound ‖z*‖²/(ηn) + 2ησ² of inequality (23) at a step size η."""
        return simple_bound_at_step(step=step, squared_norm=squared_norm, variance=variance, rounds=rounds)

    return {
        "weighted_smoothness": smoothness,
        "variance": variance,
        "step_size": step,
        "optimisation_term": bound.optimisation,
        "variance_term": bound.variance,
        "excess_risk": bound.total,
        "excess_risk_at_step": bound_23(step),
        "refined_step_size": shorter_step,
        "refined_excess_risk": refined.total,
        "excess_risk_at_refined_step": bound_23(shorter_step),
    }


# Requests -----------------------------------------------------------------------------------------------------------
@request
class WeightedOptimum:
    """The distance ‖z*‖_α of the initial model from a minimiser z* of the objective, in the α-norm.

    A model z has a shared part w and a part θ_i of each client i. Its α-norm is ‖z‖²_α = ‖w‖²/α + Σ‖θ_i‖², where α is
    the weight of the shared part. The bounds hold for every minimiser, so the closest one may be used. `optimum_norm`
    is an older name of `weighted_optimum_norm`. Exactly one of the names is required.
    """

    weighted_optimum_norm: Annotated[float | None, WEIGHTED_NORM] = None
    optimum_norm: Annotated[float | None, WEIGHTED_NORM_OLDER_NAME] = None

    checks: ClassVar[Checks] = (lambda record: record.demand_one_name(),)

    def demand_one_name(self) -> None:
        """Require exactly one of `weighted_optimum_norm` and its older name `optimum_norm`.

        Raises:
            InvalidInput: both or neither of them are given.
        """
        has_both_or_neither = (self.weighted_optimum_norm is None) == (self.optimum_norm is None)
        if has_both_or_neither:
            message = "is needed: exactly one of weighted_optimum_norm and its older name optimum_norm"
            raise InvalidInput.at("/weighted_optimum_norm", message, allowed=WEIGHTED_NORM.allowed)

    @property
    def norm(self) -> float:
        """‖z*‖_α, from the name that the request uses."""
        norm = self.weighted_optimum_norm if self.optimum_norm is None else self.optimum_norm
        assert norm is not None  # `demand_one_name` has made sure of this
        return norm


@request
class BoundInputs(WeightedOptimum):
    """A run with all clients in every round, at a finite weight α of the shared part (`personalization`).

    Optional are `lipschitz`, the bound G on the norm of every shared gradient, and `clipping_norm`, the norm C to which
    messages are clipped. They only decide the condition that nothing is clipped, G ≤ C.
    """

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
    """Return the bound of Theorem 4.5 of Bietti et al. on the excess risk, if all clients take part in every round.

    A model has a part w that all clients share, with the weight α, and an own part θ_i of each client i. The norm of a
    model z = (w, θ_1, …, θ_N) is ‖z‖² = ‖w‖²/α + Σ‖θ_i‖². In this norm, smoothness and variance are:

        L_α = L max{α, 1/N}    and    σ² = (ασ_w² + σ_θ²)/N + αd_wσ_ζ².

    Args:
        inputs: N clients, the rounds, the weight α, and losses of smoothness L. σ_w and σ_θ are the standard deviations
            of the shared and the local gradient, and σ_ζ is the noise in each of the d_w shared coordinates.

    Returns:
        The outputs of `bound_outputs`: smoothness, variance, step size, and the bound with its terms.
    """
    alpha, clients = inputs.personalization, inputs.clients
    weighted_smoothness = inputs.smoothness * max(alpha, 1.0 / clients)
    sampling_variance = (alpha * inputs.shared_gradient_std**2 + inputs.local_gradient_std**2) / clients
    noise_variance = alpha * inputs.shared_dimension * inputs.noise_std**2
    return bound_outputs(
        smoothness=weighted_smoothness,
        norm=inputs.norm,
        variance=sampling_variance + noise_variance,
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
    """Return two bounds on the excess risk of SGD after n rounds at a step size η.

    They are:

        (‖z*‖²/n + 2η²σ²)/(2η(1 − 2ηL_α)) for η < 1/(2L_α),
        ‖z*‖²/(ηn) + 2ησ² for η ≤ 1/(4L_α).

    Args:
        inputs: the rounds n, the step size η, the distance ‖z*‖ of the initial model from the minimiser, the smoothness
            L_α, and the standard deviation σ of a step.

    Returns:
        `excess_risk`: the first bound, in units of the loss; infinite for larger η.
        `simple_excess_risk`: the value of the second formula, also for larger η, where it is no bound.
    """
    squared_norm = inputs.norm**2
    variance = inputs.gradient_std**2
    bound = bound_at_step(
        step=inputs.step_size,
        smoothness=inputs.smoothness,
        squared_norm=squared_norm,
        variance=variance,
        rounds=inputs.rounds,
    )
    simple_bound = simple_bound_at_step(
        step=inputs.step_size, squared_norm=squared_norm, variance=variance, rounds=inputs.rounds
    )
    return {"excess_risk": bound, "simple_excess_risk": simple_bound}


# Theorems -----------------------------------------------------------------------------------------------------------
CONVEX_SMOOTH = Condition(
    "convex-and-smooth",
    (
        "every record's loss is jointly convex and L-smooth in the shared part w and the own part θ_i, on the whole "
        "space"
    ),
)
FRESH = Condition(
    "fresh-records", "the records of different clients are independent, and every round uses fresh records"
)
ADDITIVE = Condition(
    "additive-model", "the loss of client i depends only on the sum w + θ_i of the shared part and its own part"
)
UNCLIPPED = Condition(
    "nothing-is-clipped", "Clipping changed no message of the run. For squared losses it may change some"
)


def _compare_with_clipping(inputs: BoundInputs) -> Sides:
    """Evaluate the condition G ≤ C, under which clipping changes no message.

    G is the bound on the norm of gradients, and C the norm to which messages are clipped.

    Args:
        inputs: request of the bound. G is its `lipschitz` and C its `clipping_norm`, both optional.

    Returns:
        Both sides, and whether the condition holds. It is undecidable if one of them is absent, which is shown as ∞.
    """
    gradient_bound, clipping_norm = inputs.lipschitz, inputs.clipping_norm
    if gradient_bound is None or clipping_norm is None:
        return Sides(Verdict.UNDECIDABLE, gradient_bound or math.inf, clipping_norm or math.inf)
    return Sides.at_most(gradient_bound, clipping_norm)


BELOW_CLIPPING = Condition(
    "gradients-below-clipping",
    (
        "Every shared gradient ∇_w f_i has a norm of at most G, and G is at most the clipping norm C. The condition is "
        "undecidable if G or C is absent"
    ),
    _compare_with_clipping,
)

THEOREM_4_5 = Theorem(
    id="bietti.4.5",
    title="Generalisation of PPSGD, all clients in every round",
    statement=(
        "E f(z̄_n) − f* ≤ 4L_α‖z*‖²_α/n + 3σ_tot‖z*‖_α/√n for the mean model z̄_n of n rounds and the minimiser z*. "
        "Here L_α = L max(α, 1/N) and σ²_tot = (ασ̄_w² + σ̄_θ²)/N + αd_wσ_ζ² for N clients and the weight α of the "
        "shared part"
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
    statement=(
        "At the step size η, E f(z̄_n) − f* ≤ (‖z*‖²/n + 2η²σ²)/(2η(1 − 2ηL_α)) after n rounds. For η ≤ 1/(4L_α) the "
        "right side is at most ‖z*‖²/(ηn) + 2ησ². Here z* is the minimiser, σ² the variance of a step, and L_α the "
        "smoothness. For drawn clients the same holds by (33), with their smoothness L_{m,α} and variance σ²_{m,α}"
    ),
    source=Source("bietti2022", "Appendix B.2, (22) and (23), and Appendix B.5, (33)"),
    status=Status.PROVED,
    conditions=(
        Condition(
            "step-below-half",
            "ηL_α < 1/2 holds for the step size η and the smoothness L_α, as both bounds need",
            lambda inputs: Sides.below(inputs.step_size * inputs.smoothness, 0.5),
        ),
        Condition(
            "step-below-quarter",
            "ηL_α ≤ 1/4 holds for the step size η and the smoothness L_α, as the bound (23) needs",
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
