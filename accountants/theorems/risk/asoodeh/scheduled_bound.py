"""Excess risk of Algorithm 1 of Asoodeh et al. for any step sizes and noises, with explicit constants.

Step t is W_t = Π(W_{t−1} − η_t g_t). The mean g_t of m new gradients has noise of variance σ_t²/m per coordinate, so
E‖g_t‖² ≤ s_t² = L² + dσ_t²/m. F is the population risk with minimiser w* in the ball of radius ρ. It is λ-strongly
convex, λ ≥ 0. Let A_t = E‖W_t − w*‖² ≤ 4ρ². Strong convexity gives:

    A_t ≤ max{1 − 2λη_t, 0} A_{t−1} + η_t²s_t²,                                                               (a)
    2η_t E(F(W_{t−1}) − F*) ≤ (1 − λη_t) A_{t−1} − A_t + η_t²s_t².                                            (b)

The proof adds an imaginary step without noise after the last one, of size η_T. Let e_t = η_{t+1} and r_t = s_{t+1} for
t < T, e_T = η_T and r_T = L.

- Stop after a uniform step of the last k, the first of which is a. Dividing (b) by 2e_t and summing gives:
  (2ρ²/k)[(1/e_a − λ)⁺ + Σ_{a<t≤T} (1/e_t − 1/e_{t−1} − λ)⁺] + Σ_{a≤t≤T} e_t r_t²/(2k).
- Stop after the last step, e not increasing. Let S_k be the mean of e_t E(F(W_t) − F*) over the last k models. As
  e_{T−k} ≥ e_t, S_k − S_{k+1} is at most Σ_{t≥T−k} e_t E(F(W_t) − F(W_{T−k}))/(k(k + 1)). With W_{T−k} in place of w*,
  (b) bounds this sum by Σ_{t≥T−k} e_t²r_t²/2. The sum over k is F* + (1/e_T)[2ρ²/T + Σ_t e_t²r_t²/(2 max{1, T − t})].
- Stop after the last step, λ > 0. (a) from A_0 = 4ρ² bounds A_T, and E F(W_T) − F* ≤ L√A_T. It is at most βA_T/2 if F
  is β-smooth with ∇F(w*) = 0.
"""

from __future__ import annotations

import math

import numpy as np

from epsilond.accountants.formula import in_doubles
from epsilond.accountants.numerics.outward import raise_by_units
from epsilond.accountants.numerics.power_sums import harmonic
from epsilond.accountants.schedules import InverseTime
from epsilond.accountants.theorem import Condition, Outputs, Source, Status, Theorem
from epsilond.accountants.theorems.risk.asoodeh.convex_bound import CONVEX_STOPS
from epsilond.accountants.theorems.risk.asoodeh.scheduled_run import ScheduledRun, Window

MOST_STEPS = 10**6
"""Largest number of steps whose terms are added one by one; more steps are bounded in closed form."""
ROUNDING_UNITS = 4096.0
"""Bound of the relative rounding error of a bound, in units of roundoff."""
GROWTH = 1.0 + 2.0**-50
"""Factor that exceeds the rounding of one step of the recursion (a)."""


def stop_bound(run: ScheduledRun) -> float:
    """Bound the excess risk of the model after a uniformly random one of the last k of T steps of noisy projected SGD.

    These steps, the possible stops, are a, …, T. Let e_t be the size of the step after step t, and r_t² a bound on the
    mean squared norm of its gradient. A step after step T exists only in the proof. It has the size of step T and no
    noise. The bound is:

        (2ρ²/k)[(1/e_a − λ)⁺ + Σ_{a<t≤T} (1/e_t − 1/e_{t−1} − λ)⁺] + Σ_{a≤t≤T} e_t r_t²/(2k).

    For more than `MOST_STEPS` possible stops, an upper bound on it is returned.

    Args:
        run: the run of T steps, with the radius ρ of the domain and the strong convexity λ of the losses.

    Returns:
        The bound, in units of the loss.
    """
    stops, steps = run.possible_stops, run.steps
    first = steps - stops + 1
    if stops > MOST_STEPS:
        return _long_stop_bound(run, first)
    window = Window.of(run, first)

    inverse_sizes = 1.0 / window.sizes
    first_term = max(float(inverse_sizes[0]) - run.strong_convexity, 0.0)
    further_terms = np.maximum(np.diff(inverse_sizes) - run.strong_convexity, 0.0)
    distance_factor = first_term + float(np.sum(further_terms))

    gradient_sum = float(np.sum(window.sizes * window.moments))  # Σ e_t r_t²
    distance_part = 2.0 * run.radius**2 * distance_factor / stops
    gradient_part = 0.5 * gradient_sum / stops
    return distance_part + gradient_part


def _long_stop_bound(run: ScheduledRun, first: int) -> float:
    """Bound the excess risk of noisy projected SGD after a random one of its last steps, in closed form.

    The result is at least that of `stop_bound`, which adds a term for each step. The step sizes must be constant or
    fall like 1/t, and the noise must not increase.

    Args:
        run: the run of T steps with its schedules.
        first: index of the first step after which the run may stop.

    Returns:
        The bound, in units of the loss.
    """
    stops, steps = run.possible_stops, run.steps
    # Of the steps after `first`, the next one has the largest noise.
    largest_moment = run.moments(first + 1, first + 1).item()

    schedule = run.step_schedule
    if isinstance(schedule, InverseTime):
        first_term = max((first + 1.0) / schedule.scale - run.strong_convexity, 0.0)
        further_term = max(1.0 / schedule.scale - run.strong_convexity, 0.0)
        distance_factor = first_term + (stops - 1.0) * further_term
        # The sum of 1/(t + 1) over first ≤ t < T is at most ln(T/first).
        sum_of_inverses = math.log1p((steps - first) / first) + 1.0 / steps
        sum_of_sizes = schedule.scale * sum_of_inverses
    else:
        step_size = schedule.least(1)
        distance_factor = max(1.0 / step_size - run.strong_convexity, 0.0)
        sum_of_sizes = stops * step_size

    distance_part = 2.0 * run.radius**2 * distance_factor / stops
    gradient_part = 0.5 * largest_moment * sum_of_sizes / stops
    return distance_part + gradient_part


def last_bound(run: ScheduledRun) -> float:
    """Bound the excess risk of the last model of noisy projected SGD, without the use of strong convexity.

    Let e_t be the size of the step after step t, and r_t² a bound on the mean squared norm of its gradient. A step
    after the last step T exists only in the proof. It has the size of step T and no noise. The bound is:

        (1/e_T)[2ρ²/T + Σ_t e_t²r_t²/(2 max{1, T − t})].

    It is infinite if step sizes increase. For more than `MOST_STEPS` steps, an upper bound on it is returned.

    Args:
        run: the run of T steps, with the radius ρ of the domain.

    Returns:
        The bound, in units of the loss.
    """
    steps = run.steps
    if steps > MOST_STEPS:
        return _long_last_bound(run)
    window = Window.of(run, 1)
    if np.any(np.diff(window.sizes) > 0.0):
        return math.inf

    last_size = float(window.sizes[-1])  # e_T
    ages = np.maximum(np.arange(steps - 1, -1, -1, dtype=np.float64), 1.0)  # max{1, T − t}
    gradient_terms = window.sizes * (window.sizes / last_size) * window.moments / ages
    distance_part = 2.0 * run.radius**2 / (last_size * steps)
    return distance_part + 0.5 * float(np.sum(gradient_terms))


def _long_last_bound(run: ScheduledRun) -> float:
    """Bound the excess risk of the last model of noisy projected SGD after many steps, in closed form.

    The result is at least that of `last_bound`. The step sizes must be constant or c/t, and the noise must not
    increase.

    For step sizes c/t, the sum over t of 1/((t + 1)² max{1, T − t}) is needed. The terms with t < T/2 add up to at most
    2(π²/6 − 1)/T. The others add up to at most (4/T²)(1 + H_T), with the harmonic number H_T = 1 + 1/2 + … + 1/T.

    Args:
        run: the run of T steps.

    Returns:
        The bound, in units of the loss.
    """
    steps, schedule = run.steps, run.step_schedule
    # Of the steps after the first, the second one has the largest noise.
    largest_moment = run.moments(2, 2).item()

    if isinstance(schedule, InverseTime):
        early_terms = 2.0 * (math.pi**2 / 6.0 - 1.0)
        late_terms = 4.0 * (1.0 + harmonic(steps)) / steps
        gradient_part = schedule.scale * largest_moment * (early_terms + late_terms)
        return 2.0 * run.radius**2 / schedule.scale + 0.5 * gradient_part

    step_size = schedule.least(1)
    distance_part = 2.0 * run.radius**2 / (step_size * steps)
    return distance_part + 0.5 * step_size * largest_moment * (1.0 + harmonic(steps - 1))


def squared_distance(run: ScheduledRun) -> float:
    """Bound the mean squared distance E‖W_T − w*‖² of the last model of noisy projected SGD from the minimiser.

    The distance of the model after step t is at most A_t, where:

        A_t = max{1 − 2λη_t, 0} A_{t−1} + η_t²s_t².

    The recursion begins with the squared diameter 4ρ² of the domain, at most `MOST_STEPS` steps before the end. This
    start is valid at every step.

    Args:
        run: the run of T steps, with step sizes η_t, bounds s_t² on the mean squared norms of the gradients, strong
            convexity λ and radius ρ.

    Returns:
        The bound, at most 4ρ². It is rounded up, except for equal steps, where it is a rounded closed form.
    """
    has_one_noise = run.noise_schedule is None or run.noise_schedule.constant is not None
    step_size = run.step_schedule.constant
    if step_size is not None and has_one_noise:
        return _squared_distance_of_equal_steps(run, step_size)

    # Contractions and sums are rounded up: the factor 1 − 2^−50 lowers the subtracted number, and `GROWTH` raises each
    # sum.
    first = max(run.steps - MOST_STEPS, 0) + 1
    sizes = run.step_schedule.at(first, run.steps)
    moments = run.moments(first, run.steps)
    lowered_convexity = 2.0 * run.strong_convexity * sizes * (1.0 - 2.0**-50)
    contractions = np.maximum(1.0 - lowered_convexity, 0.0)
    additions = sizes * sizes * moments
    largest = 4.0 * run.radius**2
    bound = largest
    for contraction, addition in zip(contractions.tolist(), additions.tolist(), strict=True):
        bound = min((contraction * bound + addition) * GROWTH, largest)
    return bound


def _squared_distance_of_equal_steps(run: ScheduledRun, step_size: float) -> float:
    """Bound the mean squared distance of the last model from the minimiser, for equal steps of noisy projected SGD.

    The bound solves the recursion A_t = (1 − c) A_{t−1} + η²s² with A_0 = 4ρ² and c = 2λη. With at most 4ρ², it is:

        (1 − c)^T · 4ρ² + η²s² (1 − (1 − c)^T)/c.

    Args:
        run: the run of T steps, with strong convexity λ, bound s² on the mean squared norm of a gradient, and radius ρ
            of the domain.
        step_size: step size η > 0 of all steps.

    Returns:
        The smaller of this bound and 4ρ². If c ≥ 1, the bound after each step is η²s², for any distance before it.
    """
    largest = 4.0 * run.radius**2
    squared_gradient = run.moments(1, 1).item()  # s², the same in all steps
    addition = step_size * step_size * squared_gradient  # η²s²
    contraction_rate = 2.0 * run.strong_convexity * step_size  # c
    if contraction_rate >= 1.0:
        return min(largest, addition)

    # Logarithms keep the digits of a small c. For c = 0 the sum 1 + (1 − c) + … + (1 − c)^{T−1} is T.
    log_power = run.steps * math.log1p(-contraction_rate)  # log (1 − c)^T
    sum_of_powers = float(run.steps)
    if contraction_rate > 0.0:
        sum_of_powers = -math.expm1(log_power) / contraction_rate
    remaining_distance = math.exp(log_power) * largest
    return min(largest, remaining_distance + addition * sum_of_powers)


@in_doubles
def scheduled_risk(run: ScheduledRun) -> Outputs:
    """Bound the excess risk of noisy projected SGD with any schedules, after a random step and after the last step.

    Args:
        run: the run, with its schedules of step sizes and noise, and the constants of the losses.

    Returns:
        `steps`: number T of steps.
        `excess_risk_at_random_stop`: bound after a uniformly random one of the last k steps.
        `excess_risk_of_last`: least bound on the last model; infinite if the loss is not strongly convex and step sizes
        increase.
        `excess_risk_of_last_if_interior`: bound on the last model W_T if the gradient is 0 at the minimiser w*, for
        strongly convex risks of smoothness β. It is at most β/2 times the bound on E‖W_T − w*‖².
        All bounds are rounded up, in units of the loss.
    """
    last = last_bound(run)
    bounds: dict[str, float] = {}
    if run.strong_convexity > 0.0:
        squared = squared_distance(run)
        last = min(last, run.lipschitz * math.sqrt(squared))
        if run.smoothness is not None:
            bounds["excess_risk_of_last_if_interior"] = min(last, 0.5 * run.smoothness * squared)
    bounds["excess_risk_at_random_stop"] = stop_bound(run)
    bounds["excess_risk_of_last"] = last
    rounded_up = {name: raise_by_units(value, ROUNDING_UNITS) for name, value in bounds.items()}
    return {"steps": run.steps, **rounded_up}


INTERIOR = Condition(
    "interior-minimiser",
    "the gradient of the population risk is 0 at its minimiser over the ball; only the bound by smoothness needs this",
)
LOSS = Condition(
    "strongly-convex-loss", "every record's loss is convex and L-Lipschitz, and the population risk λ-strongly convex"
)
SCHEDULED_STOPS = Theorem(
    id="epsilond.one-pass-scheduled-excess-risk",
    title="One pass of noisy projected SGD with any schedules: the risk, with constants",
    statement=(
        "A pass over n users in batches of m takes T steps of sizes η_t with noises σ_t on a ball of radius ρ. Let e_t "
        "= η_{t+1} and r_t² = L² + dσ_{t+1}²/m for t < T, and e_T = η_T, r_T = L. After a uniform step of the last k, "
        "from a on, E F − F* is at most (2ρ²/k)[(1/e_a − λ)⁺ + Σ_{t>a} (1/e_t − 1/e_{t−1} − λ)⁺] + Σ_{t≥a} e_t "
        "r_t²/(2k). After the last step of a schedule that does not increase, it is at most (1/e_T)[2ρ²/T + Σ_t e_t² "
        "r_t²/(2 max{1, T − t})]. For λ > 0 it is also at most L√A_T with A_t = max{1 − 2λη_t, 0} A_{t−1} + η_t²(L² + "
        "dσ_t²/m) and A_0 = 4ρ²"
    ),
    source=Source("epsilond", "accountants/theorems/risk/asoodeh/scheduled_bound.py"),
    status=Status.PROVED,
    conditions=(LOSS, *CONVEX_STOPS.conditions[1:], INTERIOR),
    inputs=ScheduledRun,
    formula=scheduled_risk,
    examples=(
        {
            "clients": 1000,
            "participants": 10,
            "dimension": 5,
            "lipschitz": 1.0,
            "radius": 1.0,
            "strong_convexity": 0.5,
            "smoothness": 1.0,
            "step_schedule": {"kind": "inverse-time", "scale": 2.0},
            "noise_schedule": {"kind": "constant", "value": 0.5},
        },
    ),
)
THEOREMS: tuple[Theorem, ...] = (SCHEDULED_STOPS,)
