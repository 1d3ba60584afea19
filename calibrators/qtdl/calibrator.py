"""qtdl: rounded unit updates with truncated discrete Laplace noise, certified, and Theorem 1 of Das et al. beside it.

The printed theorem is false (das.1). What is returned instead is the least noise by four proofs, of which the best
stands unless one is asked for.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Annotated, Any

from epsilond.accountants.errors import ConditionViolated
from epsilond.accountants.profiles.truncated_law import variance
from epsilond.accountants.theorem import Condition, ConditionResult
from epsilond.accountants.theorems.conversions.escape import ESCAPE
from epsilond.accountants.theorems.mechanisms.truncated_discrete_laplace import BY_L2, EXACT, worst_shift
from epsilond.accountants.theorems.papers.das.noise_law import EQUATION_7, LEMMA_1, update_error
from epsilond.accountants.theorems.papers.das.sensitivity import COUPLED, HOEFFDING
from epsilond.accountants.theorems.papers.das.truncated_noise import THEOREM_1
from epsilond.calibrators.answer import Caution, Ends, GuaranteeAnswer, Served
from epsilond.calibrators.calibration import Calibrator, CostClass, Solution
from epsilond.calibrators.cautions import noise_cautions
from epsilond.calibrators.envelope import guarantee_answer
from epsilond.calibrators.qtdl.plan import PLANS
from epsilond.calibrators.qtdl.printed import (
    binomial_cautions,
    binomial_trials,
    communication,
    printed_cautions,
    printed_readings,
)
from epsilond.calibrators.qtdl.problem import GridProblem, Method, QtdlProblem
from epsilond.calibrators.qtdl.search import least_noise
from epsilond.calibrators.search import Certified

if TYPE_CHECKING:
    from collections.abc import Iterator

    from epsilond.accountants.quantities import Sampling
    from epsilond.accountants.specs import Spec
    from epsilond.accountants.structure import Definition
    from epsilond.calibrators.qtdl.family import Found

CONDITIONS = (
    Condition("bounded-coordinates", "every coordinate that is rounded is in [−1, 1]; a zero update is sent as zeros"),
    Condition("neighbours-within", "neighbours' values are within the sensitivities, whatever was released before"),
    Condition("fresh-randomness", "every message is rounded afresh and carries fresh noise"),
)


@dataclass(frozen=True, kw_only=True)
class QtdlParameters:
    """What to run with: values are rounded to multiples of 1/s, and integer noise over s is added."""

    noise_levels: Annotated[int, Served("m: the largest absolute value of the integer noise")]
    decay_rate: Annotated[float, Served("α: the noise is y with probability proportional to e^(−α|y|)")]
    noise_std: Annotated[float, Served("standard deviation of the noise per coordinate, in units of the update")]
    variance: Annotated[float, Served("variance of the noise per coordinate, in squared units of the update")]
    mean_squared_error: Annotated[float, Served("of one message, rounding and noise together")]
    quantization_levels: Annotated[int, Served("s: grid steps per unit")]
    method: Annotated[Method, Served("the proof that the noise is calibrated by")]
    l1_sensitivity: Annotated[float, Served("Δ₁ in grid steps, as that proof uses it")]
    linf_sensitivity: Annotated[float, Served("Δ∞ in grid steps")]
    l2_sensitivity: Annotated[float | None, Served("Δ₂ in grid steps")] = None
    log10_failure_delta: Annotated[
        float | None, Served("log10 of the share of δ, in each round, that the rounding may move further")
    ] = None

    @classmethod
    def of(cls, solution: GridSolution) -> QtdlParameters:
        """Those of the certified noise."""
        return cls(**noise_fields(solution))


@dataclass(frozen=True, kw_only=True)
class GridSolution(Solution):
    """With the certified noise: a number of levels and a rate of decay."""

    found: Found

    @property
    def variance_in_steps(self) -> float:
        """Of the noise per coordinate, in squared grid steps."""
        return variance(self.found.noise.decay_rate, self.found.noise.noise_levels)

    @property
    def noise_std(self) -> float:
        """In units of the update."""
        return math.sqrt(self.variance_in_steps) / float(self.problem.quantization_levels)

    @classmethod
    def of(cls, problem: GridProblem) -> GridSolution:
        """The least noise, by the best of the proofs.

        Raises:
            Infeasible: no noise that is offered meets the target.
        """
        found = least_noise(problem)
        certified = Certified(found.noise.noise_levels, found.guarantee, 0.0 if found.minimal == "proved" else None)
        return cls(problem=problem, target=problem.target, certified=certified, found=found)


ROUNDING_BOUNDED = "rounding-bounded"
"""The condition that fails where a rounding may move further than the sensitivities say."""


def released(solution: GridSolution) -> tuple[Spec, ...]:
    """All rounds of noisy integers.

    Raises:
        ConditionViolated: roundings may move further than the mechanism's sensitivities say, which no spec holds.
    """
    release = solution.found.release
    if math.isfinite(release.log_failure):
        statement = "log10 of the probability that a rounding moves further than the sensitivities say is −∞"
        sides = ConditionResult(ROUNDING_BOUNDED, statement, False, release.log_failure / math.log(10.0), -math.inf)
        message = (
            "A part of δ pays for roundings that move further than the sensitivities say, which a ledger cannot be "
            "charged for: give sensitivities that no rounding exceeds."
        )
        raise ConditionViolated(message, sides)
    return (release.spec(solution.found.noise),)


def noise_fields(solution: GridSolution) -> dict[str, Any]:
    """The certified noise as parameters."""
    noise, movement = solution.found.noise, solution.found.release.movement
    levels, in_steps = solution.problem.quantization_levels, solution.variance_in_steps
    failure = movement.log_failure
    return {
        "noise_levels": noise.noise_levels,
        "decay_rate": noise.decay_rate,
        "noise_std": solution.noise_std,
        "variance": in_steps / levels**2,
        "mean_squared_error": update_error(
            dimension=solution.problem.dimension, quantization_levels=levels, variance_in_steps=in_steps
        ),
        "quantization_levels": levels,
        "method": solution.found.method,
        "l1_sensitivity": movement.l1,
        "linf_sensitivity": movement.linf,
        "l2_sensitivity": movement.l2,
        "log10_failure_delta": None if math.isinf(failure) else failure / math.log(10.0),
    }


def certified_guarantee(solution: GridSolution, definition: Definition, sampling: Sampling) -> GuaranteeAnswer:
    """The guarantee part: what was evaluated to meet the target is not pushed over it by rounding on the way out."""
    noise, target = solution.found.noise, solution.target
    norm = math.sqrt(worst_shift(noise).square) if noise.l2_sensitivity is None else noise.l2_sensitivity
    given = guarantee_answer(solution.certified, target, definition=definition, sampling=sampling, sensitivity=norm)
    log10 = Ends(given.log10_delta.lower, min(given.log10_delta.upper, target.log10_delta))
    delta = given.delta if target.delta is None else Ends(given.delta.lower, min(given.delta.upper, target.delta))
    return replace(given, log10_delta=log10, delta=delta).read_from(given.curve)


def cautions(solution: GridSolution) -> Iterator[Caution]:
    """What to know of the noise, and of what it is compared with."""
    yield from printed_cautions(solution.printed, solution.noise_std)
    yield from binomial_cautions(solution.problem)
    yield from noise_cautions((solution.certified,))
    if solution.problem.rounds > 1:
        yield Caution(
            code="printed-speaks-of-one-round",
            message="das.1 is shown at ε for one message; the answer is for all of them",
        )


def cost(problem: QtdlProblem) -> CostClass:
    """Escapes are a closed form, everything else is searched."""
    return "closed-form" if problem.method == "escape" and problem.rounds == 1 else "search"


CALIBRATOR = Calibrator(
    name="qtdl",
    title="Quantised updates with truncated discrete Laplace noise",
    summary=(
        "The fewest noise levels that are certified, their bits, and the printed prescription, which is not private "
        "(Das et al., Theorem 1)."
    ),
    problem=QtdlProblem,
    parameters=QtdlParameters,
    cost=cost,
    knob="noise_std",
    find=GridSolution.of,
    released=released,
    guarantee=lambda solution: certified_guarantee(solution, "local", "full"),
    printed=lambda solution: printed_readings(solution.problem),
    communication=lambda solution: communication(solution, binomial_trials(solution.problem)),
    declared=lambda solution: (*CONDITIONS, *solution.certified.guarantee.declared),
    cautions=cautions,
    theorems=tuple(one.id for one in (THEOREM_1, EXACT, BY_L2, ESCAPE, COUPLED, HOEFFDING, LEMMA_1, EQUATION_7)),
    plans=PLANS,
    plan_place=8,
    example={
        "epsilon": 1.0,
        "delta": 1e-6,
        "dimension": 10000,
        "quantization_levels": 512,
        "sensitivity_rule": {"kind": "relative", "relative_movement": 0.1},
    },
)
