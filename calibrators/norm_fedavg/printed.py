"""Theorems 2 and 3 of Das et al. as printed, for a run that is to have the target."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from epsilond.accountants.profiles.truncated_law import bits_per_coordinate, variance
from epsilond.accountants.theorems.papers.das.composed_rounds import (
    EQUATION_22,
    THEOREM_2,
    InverseInputs,
    RunInputs,
)
from epsilond.accountants.theorems.papers.das.small_movement import THEOREM_3, GrowthInputs
from epsilond.accountants.theorems.papers.das.truncated_noise import THEOREM_1, printed_levels
from epsilond.calibrators.answer import Caution, PrintedReading
from epsilond.calibrators.envelope import claims, condition_answers
from epsilond.calibrators.printed import Asked
from epsilond.calibrators.problem import Target
from epsilond.calibrators.qtdl.printed import figures_at, printed_inputs

if TYPE_CHECKING:
    from collections.abc import Iterator

    from epsilond.calibrators.norm_fedavg.problem import NormFedavgProblem


def printed_readings(problem: NormFedavgProblem) -> Iterator[PrintedReading]:
    """Theorem 2, where δ is a double; Theorem 3, where its inputs are given."""
    if problem.readings == ():
        return
    if problem.target.delta is not None:
        yield _theorem_2(problem, problem.target.delta)
    if problem.growth_ratio is not None and problem.samples_per_client is not None:
        yield _theorem_3(problem, problem.growth_ratio, problem.samples_per_client)


def _theorem_2(problem: NormFedavgProblem, delta: float) -> PrintedReading:
    """The ε of the theorem whose (2r/n) ε̂ is the target, its ε₀, and Theorem 1's noise at that."""
    composed = problem.epsilon * problem.clients / (2.0 * problem.participants)
    inverse = Asked(EQUATION_22, InverseInputs(composed_epsilon=composed, delta=delta))
    epsilon = float(inverse.outputs["epsilon"])
    run = RunInputs(
        epsilon=epsilon,
        delta=delta,
        rounds=problem.rounds,
        clients=problem.clients,
        participants=problem.participants,
        dimension=problem.dimension,
    )
    found = THEOREM_2.evaluate(run).outputs
    each = printed_inputs(float(found["round_epsilon"]), problem.dimension, problem.movement)
    levels = printed_levels(each)
    claim = Target(problem.epsilon, float(found["log10_claimed_delta"]) * math.log(10.0))
    parameters: dict[str, float] = {"epsilon": epsilon, "round_epsilon": each.epsilon}
    if levels is not None:
        grid = problem.quantization_levels
        parameters |= {
            "noise_levels": levels,
            "decay_rate": each.decay_rate,
            "noise_std": math.sqrt(variance(each.decay_rate, levels)) / grid,
            "bits_per_coordinate": bits_per_coordinate(grid, levels),
        }
    return PrintedReading(
        theorem=THEOREM_2.id,
        reading="statement",
        status=THEOREM_2.status,
        parameters=parameters,
        claims=claims(claim),
        true=None if levels is None else figures_at(each, levels, claim, rounds=problem.rounds),
        conditions=condition_answers(condition.at(run) for condition in THEOREM_2.conditions),
        evaluations=(
            Asked(THEOREM_2, run).served,
            inverse.served,
            *(() if levels is None else (Asked(THEOREM_1, each).served,)),
        ),
    )


def _theorem_3(problem: NormFedavgProblem, growth_ratio: float, samples_per_client: int) -> PrintedReading:
    """The sensitivities it would give: never used, as they hold with a probability over the data."""
    inputs = GrowthInputs(
        growth_ratio=growth_ratio,
        samples_per_client=samples_per_client,
        quantization_levels=problem.quantization_levels,
        dimension=problem.dimension,
    )
    return PrintedReading(
        theorem=THEOREM_3.id,
        reading="statement",
        status=THEOREM_3.status,
        parameters={name: float(value) for name, value in THEOREM_3.evaluate(inputs).outputs.items()},
        claims=claims(problem.target),
        conditions=condition_answers(condition.at(inputs) for condition in THEOREM_3.conditions),
        evaluations=(Asked(THEOREM_3, inputs).served,),
    )


def own_warnings(problem: NormFedavgProblem) -> Iterator[Caution]:
    """What is wrong with Theorems 2 and 3 here, and what was assumed."""
    yield Caution(
        code="printed-theorem-refuted",
        message="das.2 is false: it rests on das.1, and its factor 2r/n protects no record. Do not run with its noise",
    )
    if problem.growth_ratio is not None:
        yield Caution(
            code="not-dp-distributional",
            message="das.3 holds with a probability over the data, which is no δ: its sensitivities are not used",
        )
    if problem.l1_sensitivity is None and problem.sensitivity_rule is None:
        yield Caution(code="assumed-sensitivities", message="updates were taken to be any two unit vectors")
    if problem.observer == "released-models" and problem.protected == "record":
        yield Caution(
            code="draw-thins-only-delta",
            message="drawing clients multiplies a record's δ by M/N in every round and leaves its ε",
        )
