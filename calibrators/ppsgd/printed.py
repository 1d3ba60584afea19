"""The printed statements of Bietti et al.: noises (4) and (12), bounds of 4.5, 5.2 and B.4, and their experiments."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from epsilond.accountants.json_types import Fields
from epsilond.accountants.quantities.algorithms import personalization_value
from epsilond.accountants.theorems.papers.bietti.billboard import SECTION_6
from epsilond.accountants.theorems.papers.bietti.noise import THEOREM_4_1
from epsilond.accountants.theorems.papers.bietti.sampled_noise import THEOREM_5_1, noise_multiplier_of
from epsilond.accountants.theorems.risk.bietti.full_participation import THEOREM_4_5
from epsilond.accountants.theorems.risk.bietti.minimal_norm import minimal_norm
from epsilond.accountants.theorems.risk.bietti.sampled_participation import THEOREM_5_2, THEOREM_B_4
from epsilond.calibrators.answer import PrintedReading
from epsilond.calibrators.envelope import TheoremAtInputs, claims, make_reading, true_figures
from epsilond.calibrators.ppsgd.family import certify, guarantee_at, noise_std_of
from epsilond.calibrators.ppsgd.problem import READINGS

if TYPE_CHECKING:
    from collections.abc import Iterator

    from epsilond.calibrators.ppsgd.problem import PpsgdProblem
    from epsilond.calibrators.ppsgd.sharing import SharingPlan
    from epsilond.calibrators.search import Certified


def printed_readings(
    problem: PpsgdProblem, certified: Certified, plan: SharingPlan | None
) -> tuple[PrintedReading, ...]:
    """Return the requested readings. The theorems do not speak of a fixed number of participants.

    Args:
        problem: the request.
        certified: the smallest certified noise.
        plan: how much to share at that noise; None where no bound applies.
    """
    requested = READINGS if problem.readings is None else problem.readings
    fixed = problem.sampling == "without-replacement"
    readings: list[PrintedReading] = []
    if "statement" in requested and not fixed:
        readings += _noise(problem)
        readings += _bound(problem, certified, plan)
    if "experimental" in requested and fixed and problem.participants != problem.clients:
        readings.append(_experiments(problem))
    return tuple(readings)


def _noise(problem: PpsgdProblem) -> Iterator[PrintedReading]:
    """Yield the noise (4) for all clients with equal weights, (12) otherwise, with the constant of the request."""
    if problem.noise_constant is None:
        return
    if _all_alike(problem):
        question = TheoremAtInputs.of(THEOREM_4_1, problem)
    else:
        question = TheoremAtInputs.of(
            THEOREM_5_1, problem, client_groups=problem.batches, participation_rate=problem.rate
        )
    std = question.outputs["noise_std"]
    multiplier = noise_multiplier_of(
        noise_std=std,
        rate=problem.rate,
        weight=problem.federation.weight,
        clipping_norm=problem.clipping_norm,
    )
    yield make_reading(
        question,
        claims=claims(problem.target),
        parameters={
            "noise_std": std,
            "noise_multiplier": multiplier,
            "noise_constant": problem.noise_constant,
            "rounds": problem.rounds,
        },
        true=true_figures(guarantee_at(problem, multiplier, "coarse"), problem.target),
    )


def _all_alike(problem: PpsgdProblem) -> bool:
    """Return whether Section 4 covers the run: all clients in every round, with equal weights."""
    return problem.sampling == "full" and problem.weighting == "clients"


def _bound(problem: PpsgdProblem, certified: Certified, plan: SharingPlan | None) -> Iterator[PrintedReading]:
    """Yield the printed bound at the certified noise and the α to run with, where that is finite."""
    if plan is None or plan.chosen.personalization == "unbounded":
        return
    noise_std = noise_std_of(problem, certified.noise)
    question = _bound_at(problem, noise_std, personalization_value(plan.chosen.personalization))
    outputs = question.outputs
    yield make_reading(
        question,
        claims=claims(problem.target, outputs["excess_risk"]),
        parameters={
            "noise_std": noise_std,
            "noise_multiplier": certified.noise,
            "personalization": question.inputs.personalization,
            "weighted_optimum_norm": question.inputs.norm,
            "weighted_smoothness": outputs["weighted_smoothness"],
            "step_size": outputs["step_size"],
        },
        true=true_figures(certified.guarantee, problem.target),
    )


def _bound_at(problem: PpsgdProblem, noise_std: float, alpha: float) -> TheoremAtInputs:
    federation, optimum = problem.federation, problem.optimum_norm or 0.0
    squared = minimal_norm(
        alpha=alpha,
        clients=problem.clients,
        mean_squared=optimum * optimum,
        spread_squared=problem.clients * problem.optimum_spread**2,
    )
    # Their `optimum_norm` is an older name of `weighted_optimum_norm`, not the problem's.
    run: Fields = {
        "personalization": alpha,
        "optimum_norm": None,
        "weighted_optimum_norm": math.sqrt(squared),
        "noise_std": noise_std,
    }
    if _all_alike(problem):
        variances = federation.variances()
        return TheoremAtInputs.of(
            THEOREM_4_5,
            problem,
            shared_gradient_std=math.sqrt(variances.shared),
            local_gradient_std=math.sqrt(variances.local),
            lipschitz=problem.gradient_bound,
            **run,
        )
    theorem = THEOREM_5_2 if problem.weighting == "samples" else THEOREM_B_4
    return TheoremAtInputs.of(theorem, problem, client_groups=federation.groups, participation_rate=problem.rate, **run)


def _experiments(problem: PpsgdProblem) -> PrintedReading:
    """Return the noise of Section 6, by its accountant for independent draws and a removed client."""
    as_used = certify(problem, sampling="poisson", relation="zero-out-one")
    return PrintedReading(
        theorem=SECTION_6.id,
        reading="experimental",
        status=SECTION_6.status,
        parameters={
            "noise_std": noise_std_of(problem, as_used.noise),
            "noise_multiplier": as_used.noise,
            "rounds": problem.rounds,
        },
        claims=claims(problem.target),
        true=true_figures(guarantee_at(problem, as_used.noise, "coarse"), problem.target),
        conditions=(),
    )
