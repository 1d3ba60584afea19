"""The share α of the model in ppsgd: the bound over α at the certified noise, its minimum, its ends and its curve."""

from __future__ import annotations

import functools
import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Literal

from epsilond.accountants.quantities.algorithms import personalization_value
from epsilond.accountants.theorems.risk.bietti.full_participation import ADDITIVE, ANY_STEP
from epsilond.accountants.theorems.risk.bietti.landscape import Landscape
from epsilond.accountants.theorems.risk.bietti.minimal_norm import PersonalizationBounds
from epsilond.accountants.theorems.risk.bietti.sampled_participation import PERSONALIZED_RISK
from epsilond.accountants.theorems.risk.bietti.variance_term import VarianceTermInputs, threshold_epsilon
from epsilond.calibrators.answer import Number, Risk, RiskBound, Served
from epsilond.calibrators.envelope import inputs_of
from epsilond.calibrators.risk.baseline import Start, start_of

if TYPE_CHECKING:
    from epsilond.accountants.theorem import Condition
    from epsilond.calibrators.ppsgd.problem import PpsgdProblem

ROUNDING = 2.0**-44
"""Relative rounding error that is added to a bound; it exceeds the error of a dozen operations by far."""

Alpha = Annotated[
    float | Literal["unbounded"],
    Served('degree of sharing α. 0: each client learns without the others. "unbounded": all clients have one model'),
]


@dataclass(frozen=True, kw_only=True)
class SharingPoint:
    """Bounds on the excess risk at one degree of sharing α (`personalization`), and the step sizes that they are for.

    `excess_risk` is optimisation + √(statistical² + privacy²), the closed form of the theorem. The other two bounds
    are not larger. α is the step size of the shared part over N times that of a client's own part, for N clients.
    """

    personalization: Alpha
    excess_risk: Number
    optimisation: Number
    statistical: Number
    privacy: Number
    excess_risk_at_step: Annotated[
        Number,
        Served(
            "second upper bound on the excess risk at the same step sizes. It is at most excess_risk",
            may_be_unbounded=True,
        ),
    ]
    proved_excess_risk: Annotated[
        Number,
        Served(
            "smallest proved upper bound on the excess risk at these step sizes, by theorem bietti.4.5.any-step",
            may_be_unbounded=True,
        ),
    ]
    step_size: Annotated[float, Served("step size η in the theorem; 0 if only the shared part learns")]
    shared_step_size: Annotated[
        float, Served("step size of the shared part of the model, for the noisy average of the shared gradients")
    ]
    local_step_size: Annotated[
        float,
        Served(
            "step size of a client's own part: step_size divided by participation_rate and by the sum of "
            "the clients' weights"
        ),
    ]


@dataclass(frozen=True, kw_only=True)
class SharingThreshold:
    """Rounds and ε at which sharing nothing has the least variance, at the least noise (Bietti et al., Lemma 4.6)."""

    rounds: Annotated[
        float,
        Served("number of rounds from which on α = 0 (nothing is shared) has the smallest variance term of the bound"),
    ]
    epsilon: Annotated[
        Number,
        Served(
            "largest ε, at the requested number of rounds, at which α = 0 (nothing is shared) has the "
            "smallest variance term of the bound",
            may_be_unbounded=True,
        ),
    ]


@dataclass(frozen=True, kw_only=True)
class Sharing:
    """Bounds on the excess risk as a function of the degree of sharing α, from 0 (local models) to unbounded."""

    optimised: Annotated[
        bool,
        Served("true: the request had no α, and α was chosen as that of the smallest bound. false: the request gave α"),
    ]
    best: Annotated[
        SharingPoint, Served("bounds at the α, from 0 to unbounded, at which proved_excess_risk is smallest")
    ]
    local_only: Annotated[SharingPoint, Served("bounds at α = 0: nothing is shared, and no noise is needed")]
    balanced: Annotated[
        SharingPoint,
        Served(
            "bounds at the α at which the shared part and the own parts limit the step size equally. α is "
            "1/N if all N clients take part"
        ),
    ]
    global_only: Annotated[
        SharingPoint, Served("bounds at unbounded α: everything is shared, and all clients have one model")
    ]
    curve: Annotated[
        tuple[SharingPoint, ...],
        Served("bounds at many α in ascending order, from 0 (local models) to unbounded (one model)"),
    ]
    threshold: Annotated[
        SharingThreshold | None,
        Served(
            "rounds and ε at which sharing nothing has the least variance. Absent unless all clients take part, are "
            "equal and have one optimum, and both gradient parts have equal variance"
        ),
    ] = None


@dataclass(frozen=True, kw_only=True)
class SharingPlan:
    """The chosen degree of sharing α, its bound on the excess risk, and the bounds at other α.

    α is the step size of the shared part of the model over N times that of a client's own part, for N clients.

    Attributes:
        chosen: the bounds and the step sizes at the chosen α.
        sharing: the bounds as a function of α.
        risk: the smallest proved bound at the chosen α.
        declared: conditions of the bound, which the library cannot check.
    """

    chosen: SharingPoint
    sharing: Sharing
    risk: Risk
    declared: tuple[Condition, ...] = (*PERSONALIZED_RISK.conditions, ADDITIVE)


def start_of_run(problem: PpsgdProblem) -> Start | None:
    """Bound the excess risk of the initial models, before any training.

    The model of every client starts at 0, and the gradient of client i is 0 at its optimum v_i. So the root mean square
    distance of the initial models from the optima is √(‖v̄‖² + S/N). Here v̄ is the mean optimum and S/N the mean of
    ‖v_i − v̄‖². The request gives ‖v̄‖ as `optimum_norm` and √(S/N) as `optimum_spread`.

    Args:
        problem: the request, with the smoothness of the losses and the norms of the optima.

    Returns:
        The bound with its formula; None if the optima or the smoothness are unknown.
    """
    if problem.optimum_norm is None or problem.smoothness is None:
        return None
    distance = math.hypot(problem.optimum_norm, problem.optimum_spread)
    symbol = "‖v‖"
    if problem.optimum_spread > 0.0:
        # Round up by more than the error of `hypot`.
        distance *= 1.0 + ROUNDING
        symbol = "√(‖v̄‖² + S/N)"
    return start_of(
        "personalized",
        distance=distance,
        distance_symbol=symbol,
        lipschitz=problem.gradient_bound,
        smoothness=problem.smoothness,
        minimiser_gradient_norm=0.0,
    )


def plan_of(problem: PpsgdProblem, noise_std: float) -> SharingPlan | None:
    """Choose the degree of sharing α, with its step sizes and the bound on the excess risk.

    α is the step size of the shared part of the model over N times that of a client's own part, for N clients. It is
    the requested value, or the one with the smallest proved bound.

    Args:
        problem: the request, with the losses, the clients and, if it fixes it, α.
        noise_std: standard deviation σ_ζ per coordinate of the noise in the average of the shared gradients.

    Returns:
        The chosen α, and the bound at other α for comparison. None if the smoothness or the optima are unknown, or if a
        message may exceed the clipping norm, which the theorem excludes.
    """
    if problem.smoothness is None or problem.optimum_norm is None or problem.clipping_may_bind:
        return None

    landscape = Landscape.of(
        problem.federation,
        rounds=problem.rounds,
        smoothness=problem.smoothness,
        optimum_norm=problem.optimum_norm,
        optimum_spread=problem.optimum_spread,
        noise_std=noise_std,
        dimension=problem.shared_dimension,
    )
    requested = problem.personalization
    best = landscape.best_proved()
    chosen = best if requested is None else landscape.at(personalization_value(requested))

    point = functools.partial(_point, problem.rate * problem.federation.weight)
    sharing = Sharing(
        optimised=requested is None,
        best=point(best),
        local_only=point(landscape.at(0.0)),
        balanced=point(landscape.at(landscape.balanced)),
        global_only=point(landscape.at(math.inf)),
        curve=tuple(map(point, landscape.curve(best.alpha, chosen.alpha))),
        threshold=_threshold(problem),
    )
    upper = RiskBound(
        # rounded up, for the rounding errors of the bound
        value=chosen.proved.total * (1.0 + ROUNDING),
        constant="explicit",
        theorem=ANY_STEP.id,
        terms={"optimisation": chosen.proved.optimisation, "variance": chosen.proved.variance},
    )
    return SharingPlan(chosen=point(chosen), sharing=sharing, risk=Risk(upper=upper))


def _threshold(problem: PpsgdProblem) -> SharingThreshold | None:
    """Return the rounds from which on, and the ε up to which, sharing nothing has the least variance term of the bound.

    This is Lemma 4.6 of Bietti et al. at the least noise. It is for equal clients that all take part and have one
    optimum, and for shared and local parts of the gradient with equal variance.

    Args:
        problem: the request, with the clients, the clipping norm and the statistics of gradients.

    Returns:
        The thresholds; None if the lemma does not apply.
    """
    groups = problem.federation.groups
    group = groups[0]
    are_equal = len({client_group.batch_size for client_group in groups}) == 1
    has_equal_variances = group.shared_gradient_std == group.local_gradient_std
    have_one_optimum = not problem.optimum_spread
    if not (problem.sampling == "full" and are_equal and have_one_optimum and has_equal_variances):
        return None

    # A message is a sum of gradients. Its clipping norm corresponds to this bound on the norm of one gradient.
    lipschitz = problem.clipping_norm / problem.federation.largest_message
    inputs = inputs_of(
        VarianceTermInputs,
        problem,
        personalization=0.0,
        gradient_std=group.shared_gradient_std,
        batch_size=group.batch_size,
        lipschitz=lipschitz,
        noise_constant=None,
    )
    return SharingThreshold(rounds=inputs.threshold("corrected"), epsilon=threshold_epsilon(inputs))


def _point(drawn_weight: float, bound: PersonalizationBounds) -> SharingPoint:
    """Convert the risk bound at one degree of sharing α to the form of the answer, with its step sizes.

    Args:
        drawn_weight: expected weight of the clients that take part in a round: the participation rate times the sum of
            the clients' weights.
        bound: the bound at α.

    Returns:
        The bounds, increased by the relative `ROUNDING`, and the step sizes of both parts of the model.
    """
    return SharingPoint(
        personalization="unbounded" if math.isinf(bound.alpha) else bound.alpha,
        excess_risk=bound.total * (1.0 + ROUNDING),
        optimisation=bound.optimisation,
        statistical=bound.statistical,
        privacy=bound.privacy,
        excess_risk_at_step=bound.bound_23 * (1.0 + ROUNDING),
        proved_excess_risk=bound.proved.total * (1.0 + ROUNDING),
        step_size=bound.step_size,
        shared_step_size=bound.shared_step_size,
        local_step_size=bound.step_size / drawn_weight,
    )
