"""One pass of projected gradient descent with its last model released: one use of a record, then contracting kernels.

Let Δ be the largest distance of two admissible gradients: 2L for replace-one, L for zero-out-one. A use of the record
at step t moves the mean by η_t Δ/m. The noise has standard deviation η_t σ_t/√m per coordinate, so the shift is
r_s(t) = Δ/(√m σ_t) standard deviations. A later step k maps the ball, by a map of Lipschitz constant c_k, into a set of
diameter D_k and adds its noise: r_c(k) = D_k √m/(η_k σ_k). The step size cancels in r_s but not in r_c.

A record that is used only at step j is protected by θ_ε(r_s(j)) there, and each later step k multiplies by θ_ε(r_c(k)).
If the place of the record is uniform and secret, the distributions are mixtures over it and the divergences average
(joint convexity). If it may be known, the worst place counts. A random release averages over its step. This is Theorem
2 of Asoodeh et al. 2021 with a bound on the diameter of each image, for arbitrary losses and step sizes.
"""

from __future__ import annotations

import math
from typing import Annotated, Any, ClassVar

import numpy as np

from epsilond.accountants.curve.enclosure import Interval
from epsilond.accountants.errors import InvalidInput
from epsilond.accountants.numerics.factor_sums import log_scheduled_sum
from epsilond.accountants.numerics.power_sums import geometric_sum, triangular_sum
from epsilond.accountants.numerics.special import UNIT_ROUNDOFF, FloatArray, log_theta_complement
from epsilond.accountants.numerics.thetas.many_shifts import ROUNDING, theta_with_error
from epsilond.accountants.quantities import (
    ANY_SCALE,
    CONVEXITY_WITHIN_SMOOTHNESS,
    NOISE_STD,
    SMOOTHNESS,
    STEP_SIZE,
    AtMost,
    Checks,
    Lipschitz,
    ParticipantFields,
    Quantity,
    StrongConvexity,
    delta_outputs,
    request,
)
from epsilond.accountants.quantities.algorithms import CONVEX, PrivacyLoss, Radius
from epsilond.accountants.schedules import Constant, Explicit, demand_length
from epsilond.accountants.theorem import Condition, Outputs, Sides, Source, Status, Theorem
from epsilond.accountants.theorems.hidden_states.projected_run import ProjectedRun

FIRST_STOP = Quantity(ge=1, description="release at a uniform step from this one on; absent: at the last")
STEP_SIZES = Quantity(symbol="η_t", unit="length²/loss", description="step sizes: one for all steps, or one for each")
NOISE_STDS = Quantity(
    symbol="σ_t", unit="gradient", description="one client's noise per coordinate: one for all steps, or one for each"
)


# Its bound ----------------------------------------------------------------------------------------------------------
def log_contraction_bound(epsilon: float, run: ProjectedRun, *, passes: float | None = None) -> Interval:
    """Enclose the log of an upper bound on δ(ε) of projected SGD that uses each record at most once.

    Only the released model is observed. The bound for a record that is used only at step j is:

        θ_ε(r_s(j)) Π_{k>j} θ_ε(r_c(k)),

    where θ_ε(r) is δ(ε) of N(r, 1) against N(0, 1). The first factor is for the use, with the sensitivity r_s of step
    j. Each later step k contracts δ: r_c(k) is the diameter of the possible models after this step without its noise.
    Both r are in standard deviations of the noise. The bound is averaged over the released step and, if the order of
    the batches is secret, over the step of the use.

    Args:
        epsilon: ε ≥ 0, in nats.
        run: the run, with T ≤ ⌊n/m⌋ steps for n clients and batches of m.
        passes: number T of steps as a real number, for the closed form of a run that is released at its end. Formulas
            of papers have n/m, which need not be an integer. None for the steps of the run.

    Returns:
        A lower and an upper value of the natural logarithm of the bound, which differ by the numerical error.

    Raises:
        BeyondBudget: if the run has too many steps of changing size or noise.

    Guarantees:
        Let every step's map and noise be as in `ProjectedRun`. Then e^upper is at least the hockey-stick divergence
        E_{e^ε} of the released models on any two neighbours, in both directions.
    """
    # The sum over the steps of the use and over the released steps. If the order is known, the worst use counts.
    if run.constant:
        steps = float(run.steps) if passes is None else passes
        bounds = _constant_bound(epsilon, run, steps)
    else:
        bounds = log_scheduled_sum(epsilon, run, run.first_stop, worst=run.known_order)

    # The mean: each released step is equally likely, and so is each batch of the record if the order is secret.
    log_batch_share = 0.0
    if not run.known_order:
        log_batch_share = math.log(run.participants) - math.log(run.clients)
    log_weight = -math.log(run.stops) + log_batch_share
    slack = 8 * UNIT_ROUNDOFF * (1.0 + abs(log_weight))  # exceeds the rounding errors of the weight and the sum
    return Interval(bounds.lower + log_weight - slack, min(bounds.upper + log_weight + slack, 0.0))


def _constant_bound(epsilon: float, run: ProjectedRun, steps: float) -> Interval:
    """Enclose the log of a sum of bounds on δ(ε) of projected SGD with constant step size and noise.

    There is one bound for each step in which the record may be used, and each step that may be released. The sum is
    θ_s Σ θ_c^k, where k is the number of steps after the use. θ_s is δ(ε) of the step that uses the record. θ_c < 1 is
    the factor by which each later step multiplies δ.

    Args:
        epsilon: ε ≥ 0, in nats.
        run: the run, with the same step size and noise at every step.
        steps: number of steps, which may be a real number.

    Returns:
        A lower and an upper value of the natural logarithm, which differ by the rounding errors.
    """
    sensitivity, contraction = run.shifts(1, 1)
    log_theta_use, error = theta_with_error(epsilon, sensitivity)
    log_complement = float(log_theta_complement(epsilon, contraction)[0])
    complement = math.exp(log_complement)  # u = 1 − θ_c
    log_sum = math.log(_sum_of_contractions(run, complement, steps))

    # `ROUNDING` times 1 + |log u| + ε bounds the error of log u. A relative error of u changes the log of the sum over
    # T steps by at most min(1, T u) times it. If log u is below −750, u is 0 as a double, and its size does not matter.
    error_of_log = 2.0 + min(abs(log_complement), 750.0) + epsilon
    log_change = min(1.0, steps * complement) * error_of_log
    slack = float(error[0]) + 2.0 * ROUNDING * log_change + 64 * UNIT_ROUNDOFF * (1.0 + abs(log_sum))
    log_bound = float(log_theta_use[0]) + log_sum
    return Interval(log_bound - slack, log_bound + slack)


def _sum_of_contractions(run: ProjectedRun, complement: float, steps: float) -> float:
    """Return the sum of powers of the contraction factor over the steps that may be released.

    The sum is Σ (1 − u)^k, where k is the number of steps between the record's use and the release. Each of these steps
    multiplies the divergence by the factor θ_c = 1 − u. If the order of the batches is secret, the sum is also over all
    steps at which the record may be used. Otherwise the use is at the worst step.

    Args:
        run: the run.
        complement: u = 1 − θ_c, between 0 and 1.
        steps: number of steps, which may be a real number.

    Returns:
        The sum, a number of at least 1.
    """
    if run.known_order:
        return geometric_sum(complement, run.stops)
    if run.stops == 1:
        return geometric_sum(complement, steps)
    steps_before_stops = run.first_stop - 1
    if steps_before_stops == 0:
        return triangular_sum(complement, run.steps)
    # Below k = `steps_before_stops`, every released step has a use k steps earlier. From there on the number of such
    # steps falls by one with each k.
    power = 0.0
    if complement < 1.0:
        power = float(np.exp(steps_before_stops * np.log1p(-complement)))  # (1 − u)^k at the first such k
    return run.stops * geometric_sum(complement, steps_before_stops) + power * triangular_sum(complement, run.stops)


# The theorem --------------------------------------------------------------------------------------------------------
def schedule(values: tuple[float, ...]) -> Constant | Explicit:
    """Return a schedule of step sizes or noises from the list of a request.

    Args:
        values: one value for all steps, or one for each step.

    Returns:
        A constant schedule for a single value, otherwise a schedule with one value per step.
    """
    if len(values) == 1:
        return Constant(value=values[0])
    return Explicit(values=values)


def check_length(values: tuple[float, ...], steps: int, *, at: str) -> None:
    """Check that a list of step sizes or noises has one entry for all steps, or one for each.

    Args:
        values: entries of the list, which must be positive.
        steps: number of steps of the run.
        at: JSON pointer of the list in the request, for the error.

    Raises:
        InvalidInput: if the list has another length, or an entry that is not positive.
    """
    try:
        # An empty list is rejected by the schedule.
        demand_length(schedule(values), steps, at="")
    except InvalidInput as error:
        # The pointer of this fault is into a schedule, and the request has a list in its place.
        fault = error.faults[0]
        raise InvalidInput.at(at, fault.message, allowed=f"1 or {steps} entries > 0") from None


@request
class BatchesOnce(ParticipantFields):
    """One pass of projected SGD over n = `clients` clients in ⌊n/m⌋ batches of m = `participants`, under replace-one.

    Two gradients differ by at most 2L, with L = `lipschitz` the bound on their norm. `radius` is that of the ball of
    the models.
    """

    scale: ClassVar = ANY_SCALE  # the formula is valid for lengths of any size

    lipschitz: Lipschitz
    radius: Radius

    @property
    def steps(self) -> int:
        """The number ⌊n/m⌋ of steps, for n clients and batches of m."""
        return self.clients // self.participants

    def run_of(self, **changes: Any) -> ProjectedRun:
        """Return the single pass of projected SGD that the request describes, released after its last step.

        The defaults are losses that are convex and not strongly convex, and the sensitivity 2L of replacing a record. L
        is the Lipschitz constant, which bounds the norm of a gradient.

        Args:
            changes: further fields of `ProjectedRun`, by name; they replace the defaults.

        Returns:
            The run for replace-one neighbours.
        """
        fields: dict[str, Any] = {
            "steps": self.steps,
            "first_stop": self.steps,
            "sensitivity": 2.0 * self.lipschitz,
            "strong_convexity": 0.0,
            "convex": True,
            "lipschitz": self.lipschitz,
            "radius": self.radius,
        }
        return ProjectedRun(clients=self.clients, participants=self.participants, **(fields | changes))


@request
class ScheduledPass(BatchesOnce):
    """One pass over the clients, with one step size and one noise for all steps, or one for each."""

    step_sizes: Annotated[tuple[Annotated[float, STEP_SIZE], ...], STEP_SIZES]
    noise_stds: Annotated[tuple[Annotated[float, NOISE_STD], ...], NOISE_STDS]

    checks: ClassVar[Checks] = (
        lambda inputs: check_length(inputs.step_sizes, inputs.steps, at="/step_sizes"),
        lambda inputs: check_length(inputs.noise_stds, inputs.steps, at="/noise_stds"),
    )

    def run_of(self, **changes: object) -> ProjectedRun:
        """Return the pass with its schedules."""
        schedules = {"step_schedule": schedule(self.step_sizes), "noise_schedule": schedule(self.noise_stds)}
        return super().run_of(**schedules, **changes)


@request
class AnyOnePass(ScheduledPass):
    """One pass of projected SGD over the clients, for losses that may be neither convex nor smooth; replace-one.

    If `smoothness` is absent, the gradient has no Lipschitz constant, and `strong_convexity` has no effect. If
    `first_stop` is present, the released step is uniform between it and the last step. Otherwise the last is released.
    """

    epsilon: PrivacyLoss
    smoothness: Annotated[float | None, SMOOTHNESS] = None
    strong_convexity: StrongConvexity = 0.0
    convex: Annotated[bool, CONVEX] = True
    first_stop: Annotated[int | None, FIRST_STOP] = None

    checks: ClassVar[Checks] = (CONVEXITY_WITHIN_SMOOTHNESS, AtMost("first_stop", "steps", "exceeds the steps"))

    def check(self) -> None:
        """Check that losses with strong convexity are convex.

        Raises:
            InvalidInput: they are not.
        """
        if self.strong_convexity > 0 and not self.convex:
            raise InvalidInput.at("/strong_convexity", "a strongly convex loss is convex", allowed="0")

    @property
    def run(self) -> ProjectedRun:
        """The pass, released at its end or at a uniform step from `first_stop` on."""
        return self.run_of(
            first_stop=self.first_stop or self.steps,
            smoothness=self.smoothness,
            strong_convexity=self.strong_convexity,
            convex=self.convex,
        )


def bound_outputs(epsilon: float, run: ProjectedRun, *, passes: float | None = None) -> Outputs:
    """Return an upper bound on δ(ε) of the released model and the number of steps, by name.

    Let θ_ε(r) be the δ(ε) of N(r, 1) against N(0, 1). For constant step size and noise, the step that uses the record
    has `sensitivity_theta` = θ_ε(r₁), and each later step multiplies it by at most `contraction_theta` = θ_ε(r₂).

    Args:
        epsilon: ε ≥ 0, in nats.
        run: the run, which releases one model.
        passes: number of steps as a real number, for papers that use n/m without rounding; None for the run's steps.

    Returns:
        `delta` and its decimal logarithm, `steps`, and both values of θ_ε if step size and noise are constant.
    """
    log_delta = log_contraction_bound(epsilon, run, passes=passes).upper
    steps = run.steps if passes is None else passes
    outputs = delta_outputs(log_delta) | {"steps": steps}
    if not run.constant:
        return outputs
    sensitivity, contraction = run.shifts(1, 1)  # all steps are equal
    return outputs | {
        "sensitivity_theta": _theta(epsilon, sensitivity),
        "contraction_theta": _theta(epsilon, contraction),
    }


def _theta(epsilon: float, shift: FloatArray) -> float:
    """Compute θ_ε(r), the δ(ε) of N(r, 1) against N(0, 1), for a single shift r.

    Args:
        epsilon: ε ≥ 0, in nats.
        shift: array with the one entry r ≥ 0.

    Returns:
        A number in [0, 1].
    """
    (log_theta,), _ = theta_with_error(epsilon, shift)
    return math.exp(float(log_theta))


def any_losses(inputs: AnyOnePass) -> Outputs:
    """Compute δ(ε) of the released model, by a bound on the diameter of the image of each step.

    Args:
        inputs: one pass of projected SGD, and ε.

    Returns:
        `delta` and its decimal logarithm, the number of `steps`, and two factors of δ for constant schedules; see
        `bound_outputs`.
    """
    return bound_outputs(inputs.epsilon, inputs.run)


def check_step_sizes(run: ProjectedRun) -> Sides:
    """Compare the largest step size with 2/β, for the smoothness β of the losses.

    Up to this size a gradient step moves two models no further apart, if losses are convex.

    Args:
        run: the run of projected SGD.

    Returns:
        The step size, the limit, and whether the step size is at most the limit. The limit is infinite if the run
        states no smoothness.
    """
    largest_allowed = math.inf
    if run.smoothness is not None:
        largest_allowed = 2.0 / run.smoothness
    return Sides.at_most(run.largest_step, largest_allowed)


LIPSCHITZ_LOSSES = Condition(
    "lipschitz-losses", "every record's loss is L-Lipschitz on the ball, and no gradient is clipped"
)
CONVEX_LOSSES = Condition("convex-losses", "every record's loss is convex on the ball")
SMOOTH_LOSSES = Condition("smooth-losses", "every record's loss is β-smooth on the ball")
PROJECTED = Condition("projected", "every step ends with the projection onto the ball of radius ρ")
FRESH_NOISE = Condition("fresh-noise", "every step adds fresh Gaussian noise, and none of the noise is left out")
SECRET_ORDER = Condition(
    "secret-order", "the partition into batches is uniform and secret, and only one model is observed"
)
ANY_LOSSES = Theorem(
    id="epsilond.projected-contraction",
    title="One pass of projected SGD, for any losses and step sizes",
    statement=(
        "The bound of Theorem 2 of Asoodeh et al. holds with 2ρ replaced by the diameter of the image of the ball of "
        "radius ρ. For any losses the diameter is at most 2(ρ + η_j L). For convex or smooth ones it is at most 2 "
        "min(c ρ, ρ + η_j L). Here c = max(|1 − η_j λ|, |1 − η_j β|) for convex losses, and c = 1 + η_j β for smooth "
        "ones"
    ),
    source=Source("epsilond", "the proof of Theorem 2 of Asoodeh et al., with bounds on the diameters"),
    status=Status.PROVED,
    conditions=(LIPSCHITZ_LOSSES, PROJECTED, FRESH_NOISE, SECRET_ORDER),
    inputs=AnyOnePass,
    formula=any_losses,
    examples=(
        {
            "epsilon": 0.5,
            "clients": 100,
            "participants": 10,
            "lipschitz": 1.0,
            "radius": 1.0,
            "smoothness": 1.0,
            "strong_convexity": 0.5,
            "step_sizes": (0.5,),
            "noise_stds": (1.5,),
        },
    ),
)

THEOREMS: tuple[Theorem, ...] = (ANY_LOSSES,)
