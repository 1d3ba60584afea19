"""Theorem 2 of Asoodeh et al. 2021: one pass of projected SGD, the model of its last step released."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Annotated, ClassVar

from epsilond.accountants.errors import InvalidInput
from epsilond.accountants.numerics.factor_sums import theta_with_error
from epsilond.accountants.quantities import (
    ANY_SCALE,
    CONVEX,
    NOISE_STD,
    SMOOTHNESS,
    STEP_SIZE,
    Clients,
    Lipschitz,
    Participants,
    PrivacyLoss,
    Quantity,
    Radius,
    Smoothness,
    StrongConvexity,
    delta_outputs,
    request,
)
from epsilond.accountants.schedules import Constant, Explicit, demand_length
from epsilond.accountants.theorem import Condition, Erratum, Outputs, Reading, Sides, Source, Status, Theorem
from epsilond.accountants.theorems.hidden_states.contraction_bound import log_contraction_bound
from epsilond.accountants.theorems.hidden_states.projected_sgd_run import Run

if TYPE_CHECKING:
    from epsilond.accountants.numerics.special import FloatArray

_TESTS = "tests/theorems/papers/asoodeh/test_one_pass.py"
FIRST_STOP = Quantity(ge=1, description="release at a uniform step from this one on; absent: at the last")
STEP_SIZES = Quantity(symbol="η_t", unit="length²/loss", description="step sizes: one for all steps, or one for each")
NOISE_STDS = Quantity(
    symbol="σ_t", unit="gradient", description="one client's noise per coordinate: one for all steps, or one for each"
)


def schedule(values: tuple[float, ...]) -> Constant | Explicit:
    """One value for all steps, or one for each."""
    return Constant(value=values[0]) if len(values) == 1 else Explicit(values=values)


def listed(values: tuple[float, ...], steps: int, *, at: str) -> None:
    """Refuse a list that is no schedule of so many steps.

    Raises:
        InvalidInput: at `at`.
    """
    try:
        made = schedule(values) if values else Explicit(values=())
        demand_length(made, steps, at="")
    except InvalidInput as error:
        fault = error.faults[0]
        raise InvalidInput.at(at, fault.message, allowed=f"1 or {steps} entries > 0") from None


@request
class OnePass:
    """One pass over the clients in ⌊n/m⌋ batches of m; replace-one, so that two gradients differ by at most 2L."""

    scale: ClassVar = ANY_SCALE

    epsilon: PrivacyLoss
    clients: Clients
    participants: Participants
    lipschitz: Lipschitz
    radius: Radius
    smoothness: Smoothness
    step_sizes: Annotated[tuple[Annotated[float, STEP_SIZE], ...], STEP_SIZES]
    noise_stds: Annotated[tuple[Annotated[float, NOISE_STD], ...], NOISE_STDS]

    def check(self) -> None:
        """m ≤ n; lists are as long as the pass."""
        if self.participants > self.clients:
            raise InvalidInput.at("/participants", "exceeds the number of clients", allowed=f"≤ {self.clients}")
        listed(self.step_sizes, self.steps, at="/step_sizes")
        listed(self.noise_stds, self.steps, at="/noise_stds")

    @property
    def steps(self) -> int:
        """⌊n/m⌋."""
        return self.clients // self.participants

    @property
    def run(self) -> Run:
        """The pass, every image's diameter taken to be 2ρ as the theorem has it."""
        return Run(
            clients=self.clients,
            participants=self.participants,
            steps=self.steps,
            first_stop=self.steps,
            sensitivity=2.0 * self.lipschitz,
            lipschitz=self.lipschitz,
            radius=self.radius,
            smoothness=self.smoothness,
            strong_convexity=0.0,
            convex=True,
            step_schedule=schedule(self.step_sizes),
            noise_schedule=schedule(self.noise_stds),
            whole_ball=True,
        )


@request
class AnyOnePass:
    """One pass over the clients, of losses that may be neither convex nor smooth; replace-one.

    `smoothness` absent: the gradient has no Lipschitz constant. `strong_convexity` needs smoothness to help.
    """

    scale: ClassVar = ANY_SCALE

    epsilon: PrivacyLoss
    clients: Clients
    participants: Participants
    lipschitz: Lipschitz
    radius: Radius
    smoothness: Annotated[float | None, SMOOTHNESS] = None
    strong_convexity: StrongConvexity = 0.0
    convex: Annotated[bool, CONVEX] = True
    step_sizes: Annotated[tuple[Annotated[float, STEP_SIZE], ...], STEP_SIZES]
    noise_stds: Annotated[tuple[Annotated[float, NOISE_STD], ...], NOISE_STDS]
    first_stop: Annotated[int | None, FIRST_STOP] = None

    def check(self) -> None:
        """m ≤ n, λ ≤ β, λ = 0 unless convex; lists are as long as the pass, which the first stop is within."""
        if self.participants > self.clients:
            raise InvalidInput.at("/participants", "exceeds the number of clients", allowed=f"≤ {self.clients}")
        if self.strong_convexity > (math.inf if self.smoothness is None else self.smoothness):
            raise InvalidInput.at("/strong_convexity", "exceeds the smoothness", allowed=f"≤ {self.smoothness:g}")
        if self.strong_convexity > 0 and not self.convex:
            raise InvalidInput.at("/strong_convexity", "a strongly convex loss is convex", allowed="0")
        listed(self.step_sizes, self.clients // self.participants, at="/step_sizes")
        listed(self.noise_stds, self.clients // self.participants, at="/noise_stds")
        if (self.first_stop or 1) > self.clients // self.participants:
            raise InvalidInput.at("/first_stop", "exceeds the steps", allowed=f"≤ {self.clients // self.participants}")

    @property
    def run(self) -> Run:
        """The pass, with the diameters its maps have, released at its end or at a uniform step from the first stop."""
        steps = self.clients // self.participants
        return Run(
            clients=self.clients,
            participants=self.participants,
            steps=steps,
            first_stop=self.first_stop or steps,
            sensitivity=2.0 * self.lipschitz,
            lipschitz=self.lipschitz,
            radius=self.radius,
            smoothness=self.smoothness,
            strong_convexity=self.strong_convexity,
            convex=self.convex,
            step_schedule=schedule(self.step_sizes),
            noise_schedule=schedule(self.noise_stds),
        )


def bound_outputs(epsilon: float, run: Run, *, passes: float | None = None) -> Outputs:
    """δ, and for constant schedules the factors θ_s of a use and θ_c of a later step."""
    ends = log_contraction_bound(epsilon, run, passes=passes)
    outputs = delta_outputs(ends.upper) | {"steps": run.steps if passes is None else passes}
    if not run.constant:
        return outputs
    sensitivity, contraction = run.shifts(1, 1)
    return outputs | {
        "sensitivity_theta": _theta(epsilon, sensitivity),
        "contraction_theta": _theta(epsilon, contraction),
    }


def _theta(epsilon: float, shift: FloatArray) -> float:
    return math.exp(float(theta_with_error(epsilon, shift)[0][0]))


def theorem_2(inputs: OnePass, reading: Reading = "printed") -> Outputs:
    """δ of the released model. Printed: n/m steps, a whole number or not; corrected: the ⌊n/m⌋ that can be run."""
    real = reading == "printed" and inputs.run.constant
    return bound_outputs(inputs.epsilon, inputs.run, passes=inputs.clients / inputs.participants if real else None)


def any_losses(inputs: AnyOnePass) -> Outputs:
    """δ of the released model, with every image's diameter as it is."""
    return bound_outputs(inputs.epsilon, inputs.run)


def steps_small(run: Run) -> Sides:
    """The largest η_t against 2/β."""
    return Sides.at_most(run.largest_step, math.inf if run.smoothness is None else 2.0 / run.smoothness)


def steps_whole(inputs: OnePass) -> Sides:
    """n/m against ⌊n/m⌋."""
    return Sides.at_most(inputs.clients / inputs.participants, float(inputs.steps))


LIPSCHITZ_LOSSES = Condition("lipschitz-losses", "every record's loss is L-Lipschitz on the ball; none is clipped")
CONVEX_LOSSES = Condition("convex-losses", "every record's loss is convex on the ball")
SMOOTH_LOSSES = Condition("smooth-losses", "every record's loss is β-smooth on the ball")
PROJECTED = Condition("projected", "every step ends with the projection onto the ball of radius ρ")
FRESH_NOISE = Condition("fresh-noise", "fresh Gaussian noise in every step, and none of it is left out")
SECRET_ORDER = Condition("secret-order", "the partition into batches is uniform and secret; one model alone is seen")
SMALL_STEPS = Condition("step-sizes", "η_t ≤ 2/β at every t", lambda inputs: steps_small(inputs.run))
WHOLE_STEPS = Condition("whole-steps", "n/m is an integer", steps_whole)

A_1 = Erratum(
    "A-1",
    printed="the proof's last display has 2L √m/σ",
    truth="2L/(√m σ), as the statement has: a shift of 2Lη/m against noise ησ/√m; at T = 1 it is attained",
    test=f"{_TESTS}::test_one_step_of_linear_losses_attains_the_statement_and_not_the_proofs_last_line",
)
A_3 = Erratum(
    "A-3",
    printed="Theorem 2 is applied with η_t = 1/(λt)",
    truth="η_t ≤ 2/β fails for t < β/(2λ); the image of the ball is then wider than 2ρ",
    test=f"{_TESTS}::test_steps_beyond_two_over_beta_reach_further_than_the_ball",
)
A_5 = Erratum(
    "A-5",
    printed="the exponent n/m, also where it is not an integer (Figure 2, q = 0.3)",
    truth="⌊n/m⌋ steps can be run; the printed δ is larger than theirs, by n/m over ⌊n/m⌋ without contraction",
    test=f"{_TESTS}::test_a_fraction_of_a_step_only_raises_the_printed_bound",
)
A_9 = Erratum(
    "A-9",
    printed="the more users per round, the smaller δ (Figure 2)",
    truth="δ rises with m where contraction is strong: δ ~ (m/n) θ_s",
    test=f"{_TESTS}::test_more_users_in_a_round_may_cost_privacy",
)

THEOREM_2 = Theorem(
    id="asoodeh.2",
    title="One pass of projected SGD with hidden states",
    statement=(
        "δ = (m/n) Σ_t θ_ε(2L/(√m σ_t)) Π_{j>t} θ_ε(2ρ √m/(η_j σ_j)) for W_T, replace-one, a uniform secret partition "
        "into n/m batches; constant steps and noise: (m/n) θ_s (1 − θ_c^{n/m})/(1 − θ_c)"
    ),
    source=Source("asoodeh2021", "Theorem 2"),
    status=Status.PROVED,
    conditions=(
        SMALL_STEPS,
        WHOLE_STEPS,
        LIPSCHITZ_LOSSES,
        CONVEX_LOSSES,
        SMOOTH_LOSSES,
        PROJECTED,
        FRESH_NOISE,
        SECRET_ORDER,
    ),
    errata=(A_1, A_5, A_9),
    inputs=OnePass,
    formula=theorem_2,
    examples=(
        {
            "epsilon": 0.5,
            "clients": 100,
            "participants": 10,
            "lipschitz": 1.0,
            "radius": 1.0,
            "smoothness": 2.0,
            "step_sizes": (0.5,),
            "noise_stds": (1.5,),
        },
    ),
)
ANY_LOSSES = Theorem(
    id="epsilond.projected-contraction",
    title="One pass of projected SGD, whatever the losses and step sizes",
    statement=(
        "Theorem 2 with 2ρ replaced by the diameter of the image of the ball: 2 min(c ρ, ρ + η_j L), c = "
        "max(|1 − η_j λ|, |1 − η_j β|) for convex losses, 1 + η_j β for smooth ones, 2(ρ + η_j L) for any"
    ),
    source=Source("epsilond", "the proof of Theorem 2 of Asoodeh et al., with the diameter left as it is"),
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


THEOREMS: tuple[Theorem, ...] = (THEOREM_2, ANY_LOSSES)
