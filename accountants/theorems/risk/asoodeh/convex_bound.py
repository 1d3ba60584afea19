"""Excess risk of Algorithm 1 of Asoodeh et al. for convex losses that are not strongly convex, with constants.

W_t = Π(W_{t−1} − η g_t). g_t is the mean of m gradients of records that no other step reads, plus noise of variance
σ²/m per coordinate. Hence E[g_t | W_{t−1}] = ∇F(W_{t−1}), where F is the mean loss over the population. Moreover,
E‖g_t‖² ≤ s² = L² + dσ²/m. Let u be w* or an earlier model. Expanding the squared distance to u gives:

    E‖W_{t+1} − u‖² ≤ E‖W_t − u‖² − 2η E(F(W_t) − F(u)) + η²s².                                              (a)

The proof adds an imaginary step after the last one. Then (a) applies to W_1, …, W_T, the models that may be released.
The distance of W_1 from w* is at most the diameter 2ρ of the domain.

- Stop after a uniform step of the last k: summing (a) from the first of them gives E F(W_τ) − F* ≤ 2ρ²/(ηk) + ηs²/2.
  With all T steps and η = 2ρ/(s√T) this is 2ρs/√T, the O(1/√T) of the paper.
- Stop after the last step. Let S_k be the mean of E F over the last k + 1 models. From (a) with u = W_{T−k}, S_k − E
  F(W_{T−k}) ≤ ηs²/2. As k S_{k−1} = (k + 1)S_k − E F(W_{T−k}), it follows that S_{k−1} ≤ S_k + ηs²/(2k). Hence E F(W_T)
  = S_0 ≤ S_{T−1} + (ηs²/2)H_{T−1}, with H the harmonic number. This gives E F(W_T) − F* ≤ 2ρ²/(ηT) + (ηs²/2)(1 +
  H_{T−1}), which is 2ρs√((1 + H_{T−1})/T) at the best η.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Annotated

from epsilond.accountants.errors import InvalidInput
from epsilond.accountants.formula import formula
from epsilond.accountants.numerics.outward import root_up
from epsilond.accountants.numerics.power_sums import PAD, harmonic
from epsilond.accountants.quantities import STEP_SIZE, Dimension, Lipschitz, ParticipantFields, Quantity
from epsilond.accountants.quantities.algorithms import Radius
from epsilond.accountants.theorem import Condition, Outputs, Source, Status, Theorem

RECORD_NOISE = Quantity(symbol="σ", ge=0, le=1e50, description="noise per coordinate of each record's gradient")
STOPS = Quantity(symbol="k", ge=1, description="the last steps among which the run stops; absent: all")


def _upper_double(value: Fraction) -> float:
    """Return a double at or above a nonnegative rational number, and at most two units in the last place above it."""
    return root_up(value * value)


@formula(given="One pass over n users, m in each step, of equal steps η; absent: the best for each release.")
def convex_stops(
    *,
    run: ParticipantFields,
    dimension: Dimension,
    lipschitz: Lipschitz,
    radius: Radius,
    noise_std: Annotated[float, RECORD_NOISE],
    step_size: Annotated[float | None, STEP_SIZE] = None,
    stops: Annotated[int | None, STOPS] = None,
) -> Outputs:
    """Bound the excess risk of noisy projected SGD on convex losses, after a random step and after the last step.

    Both bounds have the form:

        2ρ²/(ηk) + (ηs²/2) f,   s² = L² + dσ²/m.

    After a random one of the last k steps, f = 1. After the last of T steps, k = T and f = 1 + (1 + 1/2 + … +
    1/(T − 1)). All bounds are rounded up.

    Args:
        run: the users n and the users m of a step.
        dimension: number d of coordinates.
        lipschitz: Lipschitz constant L of the losses.
        radius: radius ρ of the domain.
        noise_std: noise σ per coordinate of each record's gradient.
        step_size: step size η; if absent, the best one for each release.
        stops: number k of last steps among which the run stops; if absent, all.

    Returns:
        The number of steps, the two bounds, and the step size at which each holds.

    Raises:
        InvalidInput: if `stops` exceeds the number of steps.
    """
    steps = run.clients // run.participants
    possible_stops = steps if stops is None else stops
    if possible_stops > steps:
        raise InvalidInput.at("/stops", "cannot exceed the steps of the pass", allowed=f"≤ {steps}")

    # Rational numbers, so that only the results are rounded. The harmonic number is a double, which is raised.
    squared_radius = Fraction(radius) ** 2
    noise_moment = dimension * Fraction(noise_std) ** 2 / run.participants
    moment = Fraction(lipschitz) ** 2 + noise_moment  # s²
    last_factor = 1 + Fraction(harmonic(steps - 1)) * (1 + Fraction(PAD))

    def bound_at_stop(count: int, factor: Fraction) -> tuple[float, float]:
        """Return the bound 2ρ²/(ηk) + (ηs²/2) f, and the step size η at which it holds.

        ρ is the radius of the domain, and s² bounds the mean squared norm of a noisy gradient. If η is not given, it is
        the best one, 2ρ/(s√(fk)), at which the bound is 2ρs√(f/k).

        Args:
            count: number k of steps.
            factor: f, which depends on how the released model is chosen.

        Returns:
            The bound in loss units, rounded up, and the step size.
        """
        if step_size is None:
            root = root_up(moment * factor * count)  # s√(fk)
            best_step_size = float(2 * Fraction(radius) / Fraction(root))
            least_bound = root_up(4 * squared_radius * moment * factor / count)
            return least_bound, best_step_size
        exact_step_size = Fraction(step_size)
        distance_part = 2 * squared_radius / (exact_step_size * count)
        gradient_part = exact_step_size * moment * factor / 2
        return _upper_double(distance_part + gradient_part), step_size

    random_stop, random_step_size = bound_at_stop(possible_stops, Fraction(1))
    final, final_step_size = bound_at_stop(steps, last_factor)
    return {
        "steps": steps,
        "excess_risk_at_random_stop": random_stop,
        "step_size_of_random_stop": random_step_size,
        "excess_risk_of_last": final,
        "step_size_of_last": final_step_size,
    }


CONVEX_STOPS = Theorem(
    id="epsilond.one-pass-convex-excess-risk",
    title="One pass where losses are not strongly convex: the risk, with constants",
    statement=(
        "A pass over n users in batches of m takes T = ⌊n/m⌋ steps of equal size η on a ball of radius ρ. Let "
        "s² = L² + dσ²/m, with the Lipschitz constant L and the noise σ per coordinate. After a uniform step "
        "of the last k, E F − F* ≤ 2ρ²/(ηk) + ηs²/2, at best 2ρs/√k. After the last step, the bound is "
        "2ρ²/(ηT) + (ηs²/2)(1 + H_{T−1}), with the harmonic number H. At best it is 2ρs√((1 + H_{T−1})/T)."
    ),
    source=Source("epsilond", "accountants/theorems/risk/asoodeh/convex_bound.py"),
    status=Status.PROVED,
    conditions=(
        Condition("loss", "every record's loss is convex and L-Lipschitz on the ball of radius ρ"),
        Condition("independent-records", "records are independent, of one population, and each is used once at most"),
        Condition("secret-stop", "the step after which the run stops is uniform, and independent of the records"),
    ),
    formula=convex_stops,
    examples=(
        {"clients": 1000, "participants": 10, "dimension": 5, "lipschitz": 1.0, "radius": 1.0, "noise_std": 0.5},
        {
            "clients": 1000,
            "participants": 10,
            "dimension": 5,
            "lipschitz": 1.0,
            "radius": 1.0,
            "noise_std": 0.5,
            "step_size": 0.1,
            "stops": 50,
        },
    ),
)

THEOREMS: tuple[Theorem, ...] = (CONVEX_STOPS,)
