"""Execution plans of jax_privacy as specs, once their parts agree with their event."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

from epsilond.accountants.errors import InvalidInput, Observation, RunDiffers
from epsilond.accountants.quantities import Relation
from epsilond.accountants.specs import Gaussian, Repeated, Spec, Subsampled
from epsilond.integrations.dp_accounting.events import parts_of
from epsilond.integrations.dp_accounting.placed import name_of
from epsilond.integrations.jax_privacy.samplers import SamplerDraws, read_sampler
from epsilond.integrations.jax_privacy.strategy_matrix import NoiseReading, read_noise
from epsilond.runs.premises import CORRELATION, EVENT, NOISE

if TYPE_CHECKING:
    from dp_accounting import DpEvent
    from jax_privacy.experimental.execution_plan import DPExecutionPlan

_PARTS: Final = ("dp_event", "batch_selection_strategy", "noise_addition_transform", "clipped_grad")
_ROUNDING: Final = 1e-5
"""Relative tolerance of the recomputed noise multiplier: the strategy matrix has single precision."""


@dataclass(frozen=True, kw_only=True)
class PlannedSteps:
    """The mechanism of an execution plan, and how often it is run.

    One run may take several iterations of the training loop. With a strategy matrix of b bands, the noise of b
    consecutive iterations is correlated. These are one run, in which a record takes part once.

    Attributes:
        mechanism: spec (description) of one run.
        times: number of runs.
        steps_each: number of iterations per run.
        iterations: number of iterations of the plan.
    """

    mechanism: Spec
    times: int
    steps_each: int
    iterations: int

    @property
    def spec(self) -> Spec:
        """Composition of all runs of the mechanism."""
        if self.times == 1:
            return self.mechanism
        return Repeated(times=self.times, mechanism=self.mechanism)

    def after(self, iterations: int) -> Spec:
        """Return the spec (description) of a number of iterations. A run that has begun counts as a whole.

        Args:
            iterations: number of iterations of the training loop, at least one.

        Returns:
            The spec of ⌈iterations/`steps_each`⌉ runs of the mechanism.
        """
        times = math.ceil(iterations / self.steps_each)
        if times == 1:
            return self.mechanism
        return Repeated(times=times, mechanism=self.mechanism)


@dataclass(frozen=True, kw_only=True)
class PlanReading:
    """Parameters of a `DPExecutionPlan` of jax_privacy, as they were read from its parts.

    Attributes:
        steps: the mechanism that the plan's privacy event describes, with its number of runs.
        draws: how the plan's sampler draws batches.
        noise: the noise that the plan's transformation adds; None if it cannot be read.
        bands: number of bands of the strategy matrix, by which the noise is correlated.
        multiplier: noise multiplier of the event: standard deviation over the sensitivity.
        norm_bound: largest norm of one record's clipped gradient, as the gradient function scales it.
        observations: contradictions between the parts.
    """

    steps: PlannedSteps
    draws: SamplerDraws
    noise: NoiseReading | None
    bands: int
    multiplier: float
    norm_bound: float
    observations: tuple[Observation, ...]

    def require_consistent(self) -> None:
        """Reject a plan with parts that contradict each other.

        Raises:
            RunDiffers: there is a contradiction. The error lists all of them.
        """
        if self.observations:
            raise RunDiffers.of(self.observations)


def spec_from_execution_plan(
    plan: DPExecutionPlan, *, relation: Relation = "zero-out-one", bands: int | None = None
) -> Spec:
    """Return the spec (description for privacy accounting) of all iterations of a `DPExecutionPlan`.

    The plan's `dp_event` gives the spec. The other parts of the plan are compared with it:

    - The sampler must be a `CyclicPoissonSampling`, truncated like the event, or a `FixedBatchSampling`. It draws
      records, or users inside a `UserSelectionStrategy`. dp-accounting has no event for the other samplers, which
      `spec_from_sampler` reads.
    - The standard deviation of the noise must be at least m c C. Here m is the event's noise multiplier, c the largest
      column norm of the strategy matrix, and C the clipping norm.
    - The strategy matrix must have at most as many bands as a cycle of the sampler has iterations.

    A plan for REPLACE_ONE already has doubled noise, and this library doubles the sensitivity again. The guarantee
    holds, with twice the noise that it needs.

    Args:
        plan: jax_privacy's plan, or an observed one.
        relation: neighbouring relation of the account; by default the one of jax_privacy.
        bands: number of bands of the strategy matrix, for a noise transformation that is not jax_privacy's.

    Returns:
        The spec, the description of the whole run for privacy accounting.

    Raises:
        InvalidInput: no spec describes the sampler or the event. Or the groups of the sampler do not go with the
            relation, or the bands cannot be read.
        RunDiffers: the parts of the plan contradict each other.
    """
    return steps_from_execution_plan(plan, relation=relation, bands=bands).spec


def steps_from_execution_plan(
    plan: DPExecutionPlan, *, relation: Relation = "zero-out-one", bands: int | None = None
) -> PlannedSteps:
    """Return the mechanism of a `DPExecutionPlan`, with its number of runs and of iterations per run.

    Args:
        plan: jax_privacy's plan, or an observed one.
        relation: neighbouring relation of the account.
        bands: number of bands of the strategy matrix; read from the plan if absent.

    Returns:
        The mechanism of one release, and the numbers. With correlated noise, several iterations are one release.

    Raises:
        InvalidInput: the plan cannot be read, or no spec describes it; see `spec_from_execution_plan`.
        RunDiffers: the parts of the plan contradict each other.
    """
    reading = read_plan(plan, relation=relation, bands=bands)
    reading.require_consistent()
    return reading.steps


def read_plan(plan: DPExecutionPlan, *, relation: Relation, bands: int | None = None) -> PlanReading:
    """Read the parameters of a plan from its parts, and list the contradictions between the parts.

    A plan has a sampler, a noise transformation, a gradient function and a privacy event, which must fit together.

    Args:
        plan: jax_privacy's plan, or an observed one.
        relation: neighbouring relation of the account.
        bands: number of bands of the strategy matrix; read from the plan if absent.

    Returns:
        The parameters. Contradictions are in its `observations`; they raise no error here.

    Raises:
        InvalidInput: the plan cannot be read, or no spec describes it; see `spec_from_execution_plan`.
    """
    original_plan = getattr(plan, "plan", plan)  # an observed plan contains the original one
    _require_plan(original_plan)
    mechanism, times = _read_event(original_plan, relation)
    truncation = _truncation(original_plan.dp_event)
    draws = read_sampler(original_plan.batch_selection_strategy, mechanism, relation, truncation=truncation)
    noise = read_noise(original_plan.noise_addition_transform, iterations=max(draws.iterations, 1))
    reading = PlanReading(
        steps=PlannedSteps(mechanism=mechanism, times=times, steps_each=draws.cycle, iterations=draws.iterations),
        draws=draws,
        noise=noise,
        bands=_count_bands(noise, bands),
        multiplier=_multiplier(mechanism),
        norm_bound=_norm_bound(original_plan),
        observations=(),
    )
    return replace(reading, observations=(*draws.observations, *_list_contradictions(reading)))


def _require_plan(plan: DPExecutionPlan) -> None:
    """Check that an object has all parts of an execution plan of JAX Privacy.

    Args:
        plan: the object.

    Raises:
        InvalidInput: a part is missing.
    """
    for name in _PARTS:
        if not hasattr(plan, name):
            raise InvalidInput.at(f"/{name}", "is required: this is no DPExecutionPlan")


def _read_event(plan: DPExecutionPlan, relation: Relation) -> tuple[Spec, int]:
    """Read the mechanism of a plan, and how often it is run, from the plan's privacy event.

    Args:
        plan: jax_privacy's plan.
        relation: neighbouring relation of the account.

    Returns:
        The mechanism of one run, and the number of runs.

    Raises:
        InvalidInput: the plan's event is not one mechanism that is repeated.
    """
    parts = parts_of(plan.dp_event, relation=relation)
    if len(parts) != 1:
        raise InvalidInput.at("/dp_event", "is not one mechanism, run over and over")
    return parts[0]


def _count_bands(noise: NoiseReading | None, bands: int | None) -> int:
    """Return the number of bands of a plan's strategy matrix, by which its noise is correlated.

    Args:
        noise: noise as read from the plan; None if it could not be read.
        bands: number according to the caller, which is used only if the noise could not be read.

    Returns:
        The number of bands; 1 means that the noise of each iteration is independent.

    Raises:
        InvalidInput: neither is known.
    """
    if noise is not None:
        return noise.bands
    if bands is None:
        message = "is not a privatizer of jax_privacy, so that the bands of its noise cannot be read: give bands="
        raise InvalidInput.at("/noise_addition_transform", message)
    return bands or 1


def _multiplier(mechanism: Spec) -> float:
    """Return the noise multiplier of a Gaussian mechanism, which may be subsampled.

    Args:
        mechanism: one release of the plan's event.

    Returns:
        The standard deviation of the noise over the sensitivity.

    Raises:
        InvalidInput: it is another mechanism.
    """
    inner = mechanism.mechanism if isinstance(mechanism, Subsampled) else mechanism
    # An event with `use_zcdp` states ρ = 1/(2z²) instead of the noise multiplier z.
    rho = getattr(inner, "rho", None)
    if rho is not None:
        return math.sqrt(0.5 / rho)
    if not isinstance(inner, Gaussian):
        raise InvalidInput.at("/dp_event", "is not a Gaussian mechanism, which a plan of jax_privacy adds")
    return float(inner.noise_multiplier)


def _truncation(event: DpEvent) -> int | None:
    """Return the number of records to which a plan truncates larger batches, by its privacy event.

    Args:
        event: event of the plan, which may be a repetition of the event of one iteration.

    Returns:
        The number; None if batches are not truncated.
    """
    while name_of(event) == "SelfComposedDpEvent":
        event = event.event
    largest = getattr(event, "truncated_batch_size", None)
    return None if largest is None else int(largest)


def _norm_bound(plan: DPExecutionPlan) -> float:
    """Return the bound on the norm of a clipped gradient that a plan's gradient function states.

    Args:
        plan: the plan.

    Returns:
        The bound on the ℓ2 norm of one record's clipped gradient.

    Raises:
        InvalidInput: the function states no such bound.
    """
    # The bound does not depend on the loss, so any function serves as the loss.
    try:
        return float(plan.clipped_grad(lambda: None).l2_norm_bound)
    except (AttributeError, TypeError, ValueError):
        message = "gives no function with an l2_norm_bound, so that the scale of the noise cannot be checked"
        raise InvalidInput.at("/clipped_grad", message) from None


def _list_contradictions(reading: PlanReading) -> list[Observation]:
    """Compare the event of a plan with its sampler and its noise, and return the contradictions.

    Args:
        reading: the parameters that were read from the parts of the plan.

    Returns:
        At most one contradiction each about iterations, bands and the noise multiplier.
    """
    contradictions = (_compare_iterations(reading), _compare_bands(reading), _compare_multiplier(reading))
    return [contradiction for contradiction in contradictions if contradiction is not None]


def _compare_iterations(reading: PlanReading) -> Observation | None:
    """Compare the number of iterations of a plan's sampler with the number that the plan's event counts.

    Args:
        reading: the plan, with its noise and sampling as read from its parts.

    Returns:
        A contradiction if the event does not count every cycle of the sampler; otherwise None.
    """
    steps, draws = reading.steps, reading.draws
    # The event counts cycles of the sampler, in each of which a record takes part at most once.
    if steps.times >= math.ceil(draws.iterations / draws.cycle):
        return None
    message = f"the sampler takes {draws.iterations} iterations, and the event counts {steps.times} times {draws.cycle}"
    return Observation(EVENT.id, message, remedy="Make the plan for all iterations of the sampler.")


def _compare_bands(reading: PlanReading) -> Observation | None:
    """Check that a record takes part at most once while the noise of a plan is correlated.

    Noise is correlated over as many iterations as the strategy matrix has bands. A record takes part once in a cycle of
    the sampler.

    Args:
        reading: the parameters that were read from the plan.

    Returns:
        A contradiction if there are more bands than iterations in a cycle; otherwise None.
    """
    cycle = reading.draws.cycle
    if reading.bands <= cycle:
        return None
    message = (
        f"the strategy matrix of the noise has {reading.bands} bands, and the sampler lets a record take part again "
        f"after {cycle} iterations"
    )
    remedy = f"Use a sampler with cycle_length={reading.bands}, or noise with at most {cycle} bands."
    return Observation(CORRELATION.id, message, remedy=remedy)


def _compare_multiplier(reading: PlanReading) -> Observation | None:
    """Check that a plan adds at least the noise that its privacy event states, up to rounding.

    The noise multiplier is:

        σ / (‖C‖ B),

    with the standard deviation σ of the noise, the norm bound B of a gradient, and the largest norm ‖C‖ of a column of
    the strategy matrix C. The formula needs that a record takes part at most once in as many consecutive iterations as
    C has bands. Otherwise nothing is compared.

    Args:
        reading: the parameters that were read from the plan.

    Returns:
        A contradiction if it adds less; otherwise None.
    """
    noise = reading.noise
    if noise is None or reading.bands > reading.draws.cycle:
        return None
    sensitivity = noise.column_norm * reading.norm_bound
    actual = noise.stddev / sensitivity if reading.norm_bound > 0.0 else math.inf
    if actual >= reading.multiplier * (1.0 - _ROUNDING):  # false for NaN: the column norm could not be read
        return None
    message = (
        f"the noise is {actual:.6g} times the sensitivity (standard deviation {noise.stddev:.6g}, column norm "
        f"{noise.column_norm:.6g}, norm bound {reading.norm_bound:.6g}), and the event says {reading.multiplier:.6g}"
    )
    return Observation(NOISE.id, message, remedy="Make noise, gradient function and event by one configuration.")
