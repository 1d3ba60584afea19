"""What Bietti et al. print for the run: noises (4) and (12), the bounds of 4.5, 5.2 and B.4, and their experiments."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from epsilond.accountants.quantities import personalization_value
from epsilond.accountants.theorems.papers.bietti.billboard import SECTION_6
from epsilond.accountants.theorems.papers.bietti.noise import THEOREM_4_1
from epsilond.accountants.theorems.papers.bietti.sampled_noise import (
    THEOREM_5_1,
    SampledNoiseInputs,
    noise_multiplier_of,
)
from epsilond.accountants.theorems.risk.bietti.full_participation import THEOREM_4_5, BoundInputs
from epsilond.accountants.theorems.risk.bietti.personalization import minimal_norm
from epsilond.accountants.theorems.risk.bietti.sampled_participation import (
    THEOREM_5_2,
    THEOREM_B_4,
    SampledInputs,
)
from epsilond.calibrators.answer import PrintedReading
from epsilond.calibrators.envelope import claims, condition_answers, true_figures
from epsilond.calibrators.ppsgd.certificate import certify, guarantee_at
from epsilond.calibrators.ppsgd.problem import READINGS
from epsilond.calibrators.printed import Asked

if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from epsilond.accountants.theorem import Theorem
    from epsilond.calibrators.ppsgd.problem import PpsgdProblem
    from epsilond.calibrators.ppsgd.sharing import SharingPlan
    from epsilond.calibrators.search import Certified


def printed_readings(
    problem: PpsgdProblem, certified: Certified, plan: SharingPlan | None
) -> tuple[PrintedReading, ...]:
    """Every reading asked for that there is. The theorems do not speak of a fixed number of participants."""
    asked = READINGS if problem.readings is None else problem.readings
    fixed = problem.sampling == "without-replacement"
    found: list[PrintedReading] = []
    if "statement" in asked and not fixed:
        found += _noise(problem)
        found += _bound(problem, certified, plan)
    if "experimental" in asked and fixed and problem.participants != problem.clients:
        found.append(_experiments(problem))
    return tuple(found)


def noise_std_of(problem: PpsgdProblem, noise_multiplier: float) -> float:
    """σ_ζ = zC/(qW), on the average."""
    return noise_multiplier * problem.clipping_norm / (problem.rate * problem.federation.weight)


def _noise(problem: PpsgdProblem) -> Iterator[PrintedReading]:
    """(4) for all clients weighed alike, (12) else; neither has its constant, so the request must."""
    if problem.noise_constant is None:
        return
    theorem: Theorem
    inputs: Any
    if problem.sampling == "full" and problem.weighting == "clients":
        theorem, inputs = (
            THEOREM_4_1,
            THEOREM_4_1.request(
                clients=problem.clients,
                rounds=problem.rounds,
                clipping_norm=problem.clipping_norm,
                epsilon=problem.epsilon,
                delta=problem.delta,
                log10_delta=problem.log10_delta,
                relation=problem.relation,
                noise_constant=problem.noise_constant,
            ),
        )
    else:
        theorem, inputs = (
            THEOREM_5_1,
            SampledNoiseInputs(
                client_groups=problem.batches,
                weighting=problem.weighting,
                rounds=problem.rounds,
                participation_rate=problem.rate,
                clipping_norm=problem.clipping_norm,
                epsilon=problem.epsilon,
                delta=problem.delta,
                log10_delta=problem.log10_delta,
                noise_constant=problem.noise_constant,
            ),
        )
    std = theorem.evaluate(inputs).outputs["noise_std"]
    multiplier = noise_multiplier_of(
        noise_std=std,
        rate=problem.rate,
        weight=problem.federation.weight,
        clipping_norm=problem.clipping_norm,
    )
    yield PrintedReading(
        theorem=theorem.id,
        reading="statement",
        status=theorem.status,
        parameters={
            "noise_std": std,
            "noise_multiplier": multiplier,
            "noise_constant": problem.noise_constant,
            "rounds": problem.rounds,
        },
        claims=claims(problem.target),
        true=true_figures(guarantee_at(problem, multiplier), problem.target),
        conditions=condition_answers(one.at(inputs) for one in theorem.conditions if one.checked),
        evaluations=(Asked(theorem, inputs).served,),
    )


def _bound(problem: PpsgdProblem, certified: Certified, plan: SharingPlan | None) -> Iterator[PrintedReading]:
    """The printed bound at the certified noise and the α to run with, where that is finite."""
    if plan is None or plan.chosen.personalization == "unbounded":
        return
    std = noise_std_of(problem, certified.noise)
    theorem, inputs = _bound_inputs(problem, std, personalization_value(plan.chosen.personalization))
    found = theorem.evaluate(inputs).outputs
    yield PrintedReading(
        theorem=theorem.id,
        reading="statement",
        status=theorem.status,
        parameters={
            "noise_std": std,
            "noise_multiplier": certified.noise,
            "personalization": inputs.personalization,
            "weighted_optimum_norm": inputs.norm,
            "weighted_smoothness": found["weighted_smoothness"],
            "step_size": found["step_size"],
        },
        claims=claims(problem.target, found["excess_risk"]),
        true=true_figures(certified.guarantee, problem.target),
        conditions=condition_answers(one.at(inputs) for one in theorem.conditions if one.checked),
        evaluations=(Asked(theorem, inputs).served,),
    )


def _bound_inputs(problem: PpsgdProblem, noise_std: float, alpha: float) -> tuple[Theorem, Any]:
    federation, optimum = problem.federation, problem.optimum_norm or 0.0
    squared = minimal_norm(
        alpha=alpha,
        clients=problem.clients,
        mean_squared=optimum * optimum,
        spread_squared=problem.clients * problem.optimum_spread**2,
    )
    run: dict[str, Any] = {
        "rounds": problem.rounds,
        "smoothness": problem.smoothness,
        "personalization": alpha,
        "weighted_optimum_norm": math.sqrt(squared),
        "shared_dimension": problem.shared_dimension,
        "noise_std": noise_std,
    }
    if problem.sampling == "full" and problem.weighting == "clients":
        variances = federation.variances()
        return THEOREM_4_5, BoundInputs(
            clients=problem.clients,
            shared_gradient_std=math.sqrt(variances.shared),
            local_gradient_std=math.sqrt(variances.local),
            lipschitz=problem.gradient_bound,
            clipping_norm=problem.clipping_norm,
            **run,
        )
    theorem = THEOREM_5_2 if problem.weighting == "samples" else THEOREM_B_4
    return theorem, SampledInputs(client_groups=federation.groups, participation_rate=problem.rate, **run)


def _experiments(problem: PpsgdProblem) -> PrintedReading:
    """The noise that Section 6 would use, by its accountant for independent draws and a removed client."""
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
        true=true_figures(guarantee_at(problem, as_used.noise), problem.target),
        conditions=(),
    )
