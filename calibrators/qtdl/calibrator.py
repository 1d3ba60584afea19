"""qtdl: rounded unit updates with truncated discrete Laplace noise, certified, and Theorem 1 of Das et al. beside it.

The printed theorem is false (das.1). What is returned instead is the least noise by four proofs, of which the best
stands unless one is asked for.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Annotated

from epsilond.accountants import ENGINE_VERSION
from epsilond.accountants.profiles.truncated_law import variance
from epsilond.accountants.theorem import Condition
from epsilond.accountants.theorems.conversions.escape import ESCAPE
from epsilond.accountants.theorems.mechanisms.truncated_discrete_laplace import BY_L2, EXACT, worst_shift
from epsilond.accountants.theorems.papers.das.noise_law import EQUATION_7, LEMMA_1, update_error
from epsilond.accountants.theorems.papers.das.sensitivity import COUPLED, HOEFFDING
from epsilond.accountants.theorems.papers.das.truncated_noise import THEOREM_1
from epsilond.calibrators.answer import Calibration, Caution, Ends, GuaranteeAnswer, Served, derivation_of
from epsilond.calibrators.calibration import Calibrator, CostClass
from epsilond.calibrators.envelope import declared_answers, guarantee_answer, numerical_answer
from epsilond.calibrators.problem import Target
from epsilond.calibrators.qtdl.printed import (
    binomial_trials,
    binomial_warnings,
    communication,
    printed_noise_levels,
    printed_reading,
    printed_warnings,
)
from epsilond.calibrators.qtdl.problem import METHODS, GridProblem, Method, QtdlProblem
from epsilond.calibrators.qtdl.release import Found, Release
from epsilond.calibrators.qtdl.search import best_of
from epsilond.calibrators.search import Certified

if TYPE_CHECKING:
    from collections.abc import Iterator

    from epsilond.accountants.quantities import Sampling
    from epsilond.accountants.theorems.papers.das.sensitivity import Movement
    from epsilond.accountants.trust import Definition

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


def found_parameters(found: Found, dimension: int, levels: int) -> QtdlParameters:
    """The parameters of certified noise."""
    noise, movement = found.noise, found.release.movement
    in_steps = variance(noise.decay_rate, noise.noise_levels)
    failure = movement.log_failure
    return QtdlParameters(
        noise_levels=noise.noise_levels,
        decay_rate=noise.decay_rate,
        noise_std=math.sqrt(in_steps) / levels,
        variance=in_steps / levels**2,
        mean_squared_error=update_error(dimension=dimension, quantization_levels=levels, variance_in_steps=in_steps),
        quantization_levels=levels,
        method=found.method,
        l1_sensitivity=movement.l1,
        linf_sensitivity=movement.linf,
        l2_sensitivity=movement.l2,
        log10_failure_delta=None if math.isinf(failure) else failure / math.log(10.0),
    )


def proofs(problem: GridProblem, *, drawn: bool = False) -> Iterator[tuple[Method, Method, Movement]]:
    """Methods that are asked for and apply, each with its proof and distances; closed forms first, what is slow last.

    Where clients are drawn unseen only zCDP composes in reasonable time, and with the least distances alone.
    """
    certain, together = problem.movement, problem.rounded_together()
    wanted = METHODS if problem.method is None else (problem.method,)
    if drawn and together and "concentrated-coupled" in wanted:
        least = min(together, key=lambda one: math.inf if one.l2 is None else one.l2)
        yield "concentrated-coupled", "concentrated", least
        return
    if "escape" in wanted and not drawn:
        yield "escape", "escape", certain
    if "concentrated-coupled" in wanted:
        for movement in together:
            yield "concentrated-coupled", "escape", movement
        for movement in together:
            yield "concentrated-coupled", "concentrated", movement
    if "concentrated" in wanted and certain.l2 is not None:
        yield "concentrated", "concentrated", certain
    if "hockey-stick" in wanted and not drawn:
        yield "hockey-stick", "hockey-stick", certain


def certified_guarantee(found: Found, target: Target, *, definition: Definition, sampling: Sampling) -> GuaranteeAnswer:
    """The guarantee part: what was evaluated to meet the target is not pushed over it by rounding on the way out."""
    noise = found.noise
    shift = worst_shift(noise)
    norm = math.sqrt(shift.square) if noise.l2_sensitivity is None else noise.l2_sensitivity
    certified = Certified(noise.noise_levels, found.guarantee, 0.0 if found.minimal == "proved" else None)
    given = guarantee_answer(certified, target, definition=definition, sampling=sampling, sensitivity=norm)
    log10 = Ends(given.log10_delta.lower, min(given.log10_delta.upper, target.log10_delta))
    delta = given.delta if target.delta is None else Ends(given.delta.lower, min(given.delta.upper, target.delta))
    return replace(given, log10_delta=log10, delta=delta).read_from(given.curve)


def solve(problem: QtdlProblem) -> Calibration:
    """The least certified noise, and what was printed.

    Guarantees: `guarantee.epsilon.upper` ≤ ε at the target δ, and `guarantee.delta.upper` ≤ δ at the target ε.

    Raises:
        Infeasible: no noise that is offered meets the target.
    """
    target, levels = problem.target, problem.quantization_levels
    release = Release(
        dimension=problem.dimension,
        movement=problem.movement,
        rounds=problem.rounds,
        relation=problem.relation,
        unit=problem.unit,
        observer=problem.observer,
        realised=problem.realised,
    )
    found = best_of(proofs(problem), release, target)
    parameters = found_parameters(found, problem.dimension, levels)
    printed = (
        ()
        if problem.readings == ()
        else (printed_reading(problem.epsilon, problem.dimension, levels, problem.movement),)
    )
    one_round = problem.rounds == 1
    return Calibration(
        algorithm="qtdl",
        parameters=parameters,
        guarantee=certified_guarantee(found, target, definition="local", sampling="full"),
        numerical=numerical_answer(found.guarantee, target),
        as_printed=printed,
        communication=communication(
            dimension=problem.dimension,
            quantization_levels=levels,
            noise_levels=found.noise.noise_levels,
            messages=problem.rounds * problem.participants,
            printed=printed_noise_levels(printed),
            trials=binomial_trials(target, problem.dimension, levels, problem.movement) if one_round else None,
        ),
        derivation=derivation_of(found.guarantee.derivation),
        declared_conditions=declared_answers((*CONDITIONS, *found.guarantee.declared)),
        warnings=(
            *printed_warnings(printed, parameters.noise_std),
            *binomial_warnings(target, problem.rounds),
            *found_warnings(found),
            *([] if one_round else [ONE_ROUND]),
        ),
        engine_version=ENGINE_VERSION,
    )


def found_warnings(found: Found) -> Iterator[Caution]:
    """What to know of the noise that was found."""
    if found.minimal == "searched":
        yield Caution(
            code="minimality-not-proved",
            message="the answer is certified, but the bound is too coarse here to prove that it is the best",
        )


ONE_ROUND = Caution(
    code="printed-speaks-of-one-round", message="das.1 is shown at ε for one message; the answer is for all of them"
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
    by_hand=solve,
    cost=cost,
    theorems=(
        THEOREM_1.id,
        EXACT.id,
        BY_L2.id,
        ESCAPE.id,
        COUPLED.id,
        HOEFFDING.id,
        LEMMA_1.id,
        EQUATION_7.id,
    ),
    example={
        "epsilon": 1.0,
        "delta": 1e-6,
        "dimension": 10000,
        "quantization_levels": 512,
        "sensitivity_rule": {"kind": "relative", "relative_movement": 0.1},
    },
)
