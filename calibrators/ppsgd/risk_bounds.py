"""Risk bounds of ppsgd: the bound at any step size, and Theorem 5.2 of Bietti et al. as it is proved here."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Annotated

from epsilond.accountants.errors import Fault, InvalidInput
from epsilond.accountants.quantities import STEP_SIZE, request
from epsilond.accountants.quantities.algorithms import SHARED_NOISE_STD, personalization_value
from epsilond.accountants.quantities.risks import PairTarget
from epsilond.accountants.theorem import Condition
from epsilond.accountants.theorems.risk.bietti.full_participation import ADDITIVE, ANY_STEP, AnyStepInputs
from epsilond.accountants.theorems.risk.bietti.landscape import Landscape
from epsilond.accountants.theorems.risk.bietti.minimal_norm import minimal_norm
from epsilond.accountants.theorems.risk.bietti.sampled_participation import PERSONALIZED_RISK
from epsilond.calibrators.answer import Caution
from epsilond.calibrators.cautions import assumption_cautions
from epsilond.calibrators.ppsgd.problem import PpsgdProblem
from epsilond.calibrators.ppsgd.sharing import plan_of, start_of_run
from epsilond.calibrators.risk.given_noise import GivenNoiseRiskPart, NoisyRun, explicit_upper, run_at_certified_noise
from epsilond.calibrators.risk.part import Bounds

if TYPE_CHECKING:
    from epsilond.calibrators.risk.answer import UpperBound

CLIPPED = "messages may exceed clipping_norm, and no theorem here bounds the bias of clipping"
STEP_BELOW_HALF = ANY_STEP.conditions[:1]
"""The condition ηβ < 1/2 on step size η and smoothness β, with which the bound is finite."""

MEAN_MODELS = Condition("mean-of-rounds", "a client's model is the mean of its models at the start of all rounds")
EQUAL_OPTIMA = Condition("equal-optima", "all clients' losses have the same minimiser, as optimum_spread is 0")


@request
class PpsgdRiskProblem(PairTarget, PpsgdProblem):
    """A run of ppsgd; `smoothness` and `optimum_norm` are needed.

    `noise_std` is that of the average of the shared gradients, σ_ζ. If it is absent, it is the smallest certified one.
    `step_size` is the η of the theorem, and needs a finite `personalization`. If it is absent, it is the theorem's.
    """

    noise_std: Annotated[float | None, SHARED_NOISE_STD] = None
    step_size: Annotated[float | None, STEP_SIZE] = None

    def check(self) -> None:
        """Check the fields of PPSGD and those of the risk bound.

        Raises:
            InvalidInput: a field of PPSGD is not valid, the smoothness or the norm of the optimum is missing, or a step
                size is given without a finite degree of sharing (`personalization`).
        """
        super().check()
        faults = [
            Fault(f"/{name}", "is needed for a bound on the risk")
            for name in ("smoothness", "optimum_norm")
            if getattr(self, name) is None
        ]
        if self.step_size is not None and self.personalization in (None, "unbounded"):
            faults.append(Fault("/personalization", "is needed with step_size", "a number ≥ 0"))
        if faults:
            raise InvalidInput(*faults)


def given_run(problem: PpsgdRiskProblem) -> NoisyRun | None:
    """Return the noise and the rounds of the requested run.

    Args:
        problem: the request. Its `noise_std` is that of the average of the shared gradients.

    Returns:
        The run; None if the request gives no noise, which then has to be certified.
    """
    if problem.noise_std is None:
        return None
    return NoisyRun(noise_std=problem.noise_std, rounds=problem.rounds)


def bounds(problem: PpsgdRiskProblem, run: NoisyRun) -> Bounds:
    """Bound the mean excess risk of the clients' own models after a run of PPSGD.

    The model is the sum of a shared part and a client's own part. α is the weight of the shared part. If the request
    leaves out α or the step size, the best α and the theorem's step size are used.

    Args:
        problem: the request, with the losses, the clients and, if it fixes them, α and the step size.
        run: the standard deviation of the noise in the average of the shared gradients.

    Returns:
        The bounds, with the conditions that the caller declares and a warning that states α. There is no upper bound if
        a message may be clipped.
    """
    start = start_of_run(problem)
    assert start is not None  # `check` demands the learning problem
    if problem.clipping_may_bind:
        return Bounds(upper=(), start=start, open_question=CLIPPED)
    if problem.step_size is None:
        sharing, step_size, upper = _at_best_step(problem, run)
    else:
        sharing = f"{problem.personalization:g}"
        step_size = problem.step_size
        upper = (_at_given_step(problem, run, step_size),)
    declared = [*PERSONALIZED_RISK.conditions, ADDITIVE, MEAN_MODELS]
    if problem.optimum_spread == 0.0:
        declared.append(EQUAL_OPTIMA)
    message = f"the bounds are for α = {sharing}, the weight of the shared part"
    return Bounds(
        upper=upper,
        start=start,
        declared=tuple(declared),
        step_size=step_size,
        cautions=(Caution(code="degree-of-sharing", message=message), *assumption_cautions(problem)),
    )


def _at_best_step(problem: PpsgdRiskProblem, run: NoisyRun) -> tuple[str, float, tuple[UpperBound, ...]]:
    """Return the risk bounds at the theorem's step size, for the requested or the best degree of sharing α.

    Args:
        problem: the request, with the losses, the clients and, if it fixes it, α.
        run: the run, with its noise.

    Returns:
        α as text, the step size, and two bounds: the sharper one, and its closed form.
    """
    plan = plan_of(problem, run.noise_std)
    assert plan is not None  # the learning problem is given, and nothing is clipped
    assert plan.risk.upper is not None
    point = plan.chosen
    terms = {"optimisation": point.optimisation, "statistical": point.statistical, "privacy": point.privacy}
    upper = (
        explicit_upper(ANY_STEP, plan.risk.upper.terms, value=plan.risk.upper.value),
        explicit_upper(PERSONALIZED_RISK, terms, value=point.excess_risk),
    )
    sharing = "unbounded" if point.personalization == "unbounded" else f"{point.personalization:.6g}"
    return sharing, point.step_size, upper


def _at_given_step(problem: PpsgdRiskProblem, run: NoisyRun, step_size: float) -> UpperBound:
    """Return the risk bound at the requested step size η and degree of sharing α.

    For R rounds, the bound is:

        ‖u‖²/(2ηR(1 − 2ηβ')) + ηs²/(1 − 2ηβ').

    All its constants are measured in the norm weighted by α: the norm ‖u‖ of the optimum, the smoothness β' and the
    variance s² of gradients.

    Args:
        problem: the request, with smoothness, optima and α.
        run: the run, with the standard deviation of its noise.
        step_size: step size η, above 0.

    Returns:
        The bound with its two terms; they are inf unless ηβ' < 1/2.
    """
    assert problem.smoothness is not None
    assert problem.optimum_norm is not None
    assert problem.personalization is not None
    alpha = personalization_value(problem.personalization)
    landscape = Landscape.of(
        problem.federation,
        rounds=problem.rounds,
        smoothness=problem.smoothness,
        optimum_norm=problem.optimum_norm,
        optimum_spread=problem.optimum_spread,
        noise_std=run.noise_std,
        dimension=problem.shared_dimension,
    )
    shared_smoothness, local_smoothness = landscape.smooth_factors
    shared_variance, local_variance = landscape.sampled_factors
    squared_norm = minimal_norm(
        alpha=alpha,
        clients=landscape.clients,
        mean_squared=landscape.mean_squared,
        spread_squared=landscape.spread_squared,
    )
    # Only the shared part, of weight α, has noise.
    variance = alpha * (shared_variance + landscape.noise_factor) + local_variance
    inputs = AnyStepInputs(
        rounds=problem.rounds,
        step_size=step_size,
        smoothness=problem.smoothness * max(alpha * shared_smoothness, local_smoothness),
        weighted_optimum_norm=math.sqrt(squared_norm),
        gradient_std=math.sqrt(variance),
    )
    value = float(ANY_STEP.evaluate(inputs).outputs["excess_risk"])
    terms = {"optimisation": math.inf, "variance": math.inf}
    # The bound is finite only if ηβ' < 1/2.
    margin = 1.0 - 2.0 * step_size * inputs.smoothness
    if margin > 0.0:
        terms["optimisation"] = 0.5 * squared_norm / (step_size * problem.rounds * margin)
        terms["variance"] = step_size * variance / margin
    conditions = [condition.at(inputs) for condition in STEP_BELOW_HALF]
    return explicit_upper(ANY_STEP, terms, value=value, conditions=conditions)


RISK = GivenNoiseRiskPart(
    title="Excess risk of personalised models with a noisy shared part",
    summary=(
        "Upper bounds with explicit constants on the mean excess risk of the clients' own models. They "
        "hold at the run's noise and step size (Bietti et al., Theorems 4.5, 5.2 and B.4, Appendix "
        "B.2)."
    ),
    problem=PpsgdRiskProblem,
    theorems=(ANY_STEP.id, PERSONALIZED_RISK.id),
    example_fields={"noise_std": 0.1},
    given_run=given_run,
    certified_run=run_at_certified_noise,
    bounds=bounds,
)
