"""The spec of noisy projected gradient descent with one released model."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Annotated, ClassVar, Literal

from epsilond.accountants.errors import InvalidInput
from epsilond.accountants.quantities import (
    RATIOS,
    ROUNDS,
    SMOOTHNESS,
    Clients,
    Lipschitz,
    Participants,
    StrongConvexity,
    request,
)
from epsilond.accountants.quantities.algorithms import (
    BATCHES,
    CONVEX,
    NOISE_SCHEDULE,
    RELEASE,
    STEP_SCHEDULE,
    SUFFIX_FRACTION,
    Batches,
    Radius,
    Release,
)
from epsilond.accountants.schedules import Schedule as Schedule  # noqa: PLC0414  simulators read it from here
from epsilond.accountants.schedules import demand_length
from epsilond.accountants.specs.primitives import KIND, Primitive


def first_step_of_suffix(fraction: float | None, steps: int) -> int:
    """Return the first of the steps ⌈αT⌉, …, T of a run, after a random one of which its model is released.

    Args:
        fraction: fraction α in (0, 1), taken as its shortest decimal form; None if every step may be released.
        steps: number T of steps, at least 1.

    Returns:
        ⌈αT⌉, the number of a step from 1 to T; 1 if no fraction is given.
    """
    if fraction is None:
        return 1
    # In doubles 0.07 · 100 is above 7, which would be rounded up to 8. The exact product of the decimal is 7.
    return math.ceil(Fraction(repr(fraction)) * steps)


@request
class ProjectedSgd:
    """Noisy projected gradient descent that releases one model. Only this model is seen.

    W_t = Π(W_{t−1} − η_t (1/m) Σ_{j ∈ B_t} (∇ℓ(W_{t−1}, x_j) + σ_t Z_{t,j})), where Z_{t,j} ~ N(0, I).
    Π is the projection onto the ball of radius ρ. W_0 is in the ball and independent of the data. Each of the n clients
    holds one record. Each of the m clients of a batch adds its own noise, so the noise of the mean is σ_t/√m. Gradients
    are not clipped.

    `batches`: `shuffled` is a uniform partition into ⌊n/m⌋ batches of m. It is drawn once and kept secret. Its batches
    are used in order, repeatedly if there are more steps than batches. Clients in no batch never take part. `cyclic` is
    such a partition that is fixed in advance and may be public. `without-replacement` is a fresh uniform batch in each
    step.

    `rounds` is the number T of steps; if absent, one pass of ⌊n/m⌋. `release`: W_T (`last`), or W_τ with τ uniform on
    1, …, T (`random-stop`) or on ⌈αT⌉, …, T (`suffix`, α = `suffix_fraction`). Every record's loss is L-Lipschitz on
    the ball, and convex unless `convex` is false. It is β-smooth if `smoothness` is given, and λ-strongly convex with
    λ = `strong_convexity`. Under zero-out-one the record's gradient is zero, and its client still adds noise.

    Admits: exactly n clients in both data sets. It does not run on a batch of a different number of clients. In a
    `cyclic` order every client may have every place, so drawing the n clients from a larger population only thins.
    """

    primitive: ClassVar[Primitive | None] = None
    scale: ClassVar = RATIOS

    kind: Annotated[Literal["projected_sgd"], KIND] = "projected_sgd"
    clients: Clients
    participants: Participants
    rounds: Annotated[int | None, ROUNDS] = None
    batches: Annotated[Batches, BATCHES] = "shuffled"
    lipschitz: Lipschitz
    radius: Radius
    smoothness: Annotated[float | None, SMOOTHNESS] = None
    strong_convexity: StrongConvexity = 0.0
    convex: Annotated[bool, CONVEX] = True
    step_schedule: Annotated[Schedule, STEP_SCHEDULE]
    noise_schedule: Annotated[Schedule, NOISE_SCHEDULE]
    release: Annotated[Release, RELEASE] = "last"
    suffix_fraction: Annotated[float | None, SUFFIX_FRACTION] = None

    def check(self) -> None:
        """Check that the clients, the constants of the losses, the release and the schedules fit together.

        Raises:
            InvalidInput: a batch has more clients than there are; the strong convexity exceeds the smoothness, or is
                positive for losses that are not convex; `suffix_fraction` does not fit the release; or a listed
                schedule does not have one entry for each step.
        """
        if self.participants > self.clients:
            raise InvalidInput.at("/participants", "exceeds the number of clients", allowed=f"≤ {self.clients}")
        if self.smoothness is not None and self.strong_convexity > self.smoothness:
            raise InvalidInput.at("/strong_convexity", "exceeds the smoothness", allowed=f"≤ {self.smoothness:g}")
        if self.strong_convexity > 0 and not self.convex:
            raise InvalidInput.at("/strong_convexity", "a strongly convex loss is convex", allowed="0")

        if (self.release == "suffix") != (self.suffix_fraction is not None):
            raise InvalidInput.at("/suffix_fraction", "belongs to the release suffix, and is needed there")
        demand_length(self.step_schedule, self.steps, at="/step_schedule")
        demand_length(self.noise_schedule, self.steps, at="/noise_schedule")

    @property
    def period(self) -> int:
        """Number of batches in one pass over the clients."""
        return self.clients // self.participants

    @property
    def steps(self) -> int:
        """Number T of steps."""
        return self.period if self.rounds is None else self.rounds

    @property
    def first_stop(self) -> int:
        """First step after which the model may be released."""
        if self.release == "last":
            return self.steps
        return first_step_of_suffix(self.suffix_fraction, self.steps)
