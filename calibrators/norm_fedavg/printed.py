"""Theorems 2 and 3 of Das et al. as printed, for a run that is to have the target."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from epsilond.accountants.target import Target
from epsilond.accountants.theorems.papers.das.composed_rounds import EQUATION_22, THEOREM_2
from epsilond.accountants.theorems.papers.das.small_movement import THEOREM_3
from epsilond.calibrators.answer import Caution, PrintedReading
from epsilond.calibrators.envelope import TheoremAtInputs, claims, make_reading
from epsilond.calibrators.qtdl.printed import figures_at, noise_of_theorem_1

if TYPE_CHECKING:
    from collections.abc import Iterator

    from epsilond.calibrators.norm_fedavg.problem import NormFedavgProblem


def printed_readings(problem: NormFedavgProblem) -> Iterator[PrintedReading]:
    """Evaluate Theorems 2 and 3 of Das et al. for a run, and yield the parameters that they prescribe.

    Theorem 2 is left out if δ is too small for a double, and Theorem 3 if the request has no `growth_ratio`. The
    sensitivities of Theorem 3 are shown and never used, because they hold only with a probability over the data.

    Args:
        problem: the request, with its target (ε, δ). An empty list of `readings` excludes both theorems.

    Yields:
        The theorems as printed ("readings"), with their claims. Theorem 2 also has the true ε and δ of its noise.
    """
    if problem.readings == ():
        return
    if problem.target.delta is not None:
        yield _theorem_2(problem, problem.target.delta)
    if problem.growth_ratio is not None:
        evaluation = TheoremAtInputs.of(THEOREM_3, problem)
        parameters = {name: float(value) for name, value in evaluation.outputs.items()}
        yield make_reading(evaluation, claims=claims(problem.target), parameters=parameters)


def _theorem_2(problem: NormFedavgProblem, delta: float) -> PrintedReading:
    """Evaluate Theorem 2 of Das et al. such that the ε that it claims for all rounds is the target's.

    The theorem claims (2r/n) ε̂ for r participants of n clients, where ε̂ is the composed ε of all rounds. So:

    1. ε̂ follows from the target's ε.
    2. Equation (22) of the paper gives the theorem's parameter ε for ε̂.
    3. Theorem 2 gives the ε₀ of one round.
    4. Theorem 1 prescribes the noise of a message at ε₀.

    Args:
        problem: the request, with its target, the clients, the participants and the rounds.
        delta: δ of the target.

    Returns:
        The claim, the parameters, and the true ε and δ at the printed noise. The noise and the true values are absent
        if Theorem 1 has no noise for ε₀.
    """
    target = problem.target
    composed = target.epsilon * problem.clients / (2.0 * problem.reporting)
    inverse = TheoremAtInputs.of(EQUATION_22, problem, composed_epsilon=composed, delta=delta)
    epsilon = float(inverse.outputs["epsilon"])
    theorem_2 = TheoremAtInputs.of(THEOREM_2, problem, participants=problem.reporting, epsilon=epsilon, delta=delta)
    round_epsilon = float(theorem_2.outputs["round_epsilon"])
    claim = Target(target.epsilon, float(theorem_2.outputs["log10_claimed_delta"]) * math.log(10.0))

    theorem_1, noise = noise_of_theorem_1(problem, round_epsilon)
    evaluations = [inverse]
    true = None
    if noise:
        evaluations.append(theorem_1)
        true = figures_at(theorem_1, claim, rounds=problem.rounds)
    return make_reading(
        theorem_2,
        *evaluations,
        claims=claims(claim),
        parameters={"epsilon": epsilon, "round_epsilon": round_epsilon} | noise,
        true=true,
    )


def own_cautions(problem: NormFedavgProblem) -> Iterator[Caution]:
    """Yield warnings of faults of Theorems 2 and 3 of Das et al., of assumed sensitivities, and of weak amplification.

    Args:
        problem: the request, with the sensitivities, the observer and the protected unit.

    Yields:
        The warnings that apply, in a fixed order. The one on Theorem 2 always applies.
    """
    yield Caution(
        code="printed-theorem-refuted",
        message="the printed theorem das.2 is false, as it rests on das.1. Its factor 2r/n for drawing r of n clients "
        "protects no record. Do not run with the noise of das.2",
    )
    if problem.growth_ratio is not None:
        yield Caution(
            code="not-dp-distributional",
            message="the printed theorem das.3 holds with a probability over the data. This probability is no δ, so "
            "the sensitivities of das.3 are not used",
        )

    if problem.l1_sensitivity is None and problem.sensitivity_rule is None:
        yield Caution(
            code="assumed-sensitivities",
            message="no sensitivities were given, so the updates are assumed to be any two unit vectors",
        )
    if problem.observer == "released-models" and problem.unit == "record":
        yield Caution(
            code="draw-thins-only-delta",
            message="the draw of M of N clients multiplies the δ of a record by M/N in every round. The draw does not "
            "change the ε of a record",
        )
