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
    """Return ⌈αT⌉, the first step that may be released, or 1 without a fraction.

    Args:
        fraction: α, taken as its shortest decimal form.
        steps: T.
    """
    if fraction is None:
        return 1
    return math.ceil(Fraction(repr(fraction)) * steps)


@request
class ProjectedSgd:
    """Noisy projected gradient descent of which one model is released and nothing else is seen.

    W_t = Π(W_{t−1} − η_t (1/m) Σ_{j ∈ B_t} (∇ℓ(W_{t−1}, x_j) + σ_t Z_{t,j})), Z_{t,j} ~ N(0, I), Π the projection onto
    the ball of radius ρ, W_0 in it and independent of the data. Each of the n clients holds one record; each of the m
    clients of a batch adds its own noise, so that the mean carries σ_t/√m. Gradients are used as they are: no clipping.

    `batches`: `shuffled`, a uniform partition into ⌊n/m⌋ batches of m, drawn once, kept secret, and gone through in
    its order, over and over if there are more steps than batches (clients left over never take part); `cyclic`, such
    a partition fixed in advance, which anyone may know; `without-replacement`, a fresh uniform batch in each step.
    `rounds` is the number T of steps; absent, one pass of ⌊n/m⌋. `release`: W_T (`last`), or W_τ with τ uniform on
    1, …, T (`random-stop`) or on ⌈αT⌉, …, T (`suffix`, α = `suffix_fraction`). Every record's loss is L-Lipschitz on
    the ball, and convex unless `convex` is false; β-smooth if `smoothness` is given, λ-strongly convex with λ =
    `strong_convexity`. zero-out-one: the record's gradient is zero, its client still adds noise.

    Admits: exactly n clients in both worlds. A batch of another number cannot be run on, and in a `cyclic` order a
    place may be anyone's, so that drawing the n clients from a larger population only thins.
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
        """Check that m ≤ n, λ ≤ β, λ = 0 unless convex, a suffix has its fraction, and lists have T entries."""
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
        """First step at which the model may be released."""
        return self.steps if self.release == "last" else first_step_of_suffix(self.suffix_fraction, self.steps)
