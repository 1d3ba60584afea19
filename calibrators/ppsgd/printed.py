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
    """Evaluate what Bietti et al. print for a request, and certify the privacy at the printed noise.

    A reading is one interpretation of the paper. `statement` has the noise and the risk bound of the theorems, if
    clients are drawn independently or all take part. `experimental` has the noise of the experiments (Section 6), if a
    fixed number of clients is drawn.

    Args:
        problem: the request, which may select readings.
        certified: the smallest certified noise.
        plan: the degree of sharing at that noise; None if no bound applies.

    Returns:
        The readings that are requested and apply to the draw of clients.
    """
    requested = READINGS if problem.readings is None else problem.readings
    has_fixed_number = problem.sampling == "without-replacement"
    readings: list[PrintedReading] = []
    if "statement" in requested and not has_fixed_number:
        readings += _printed_noise(problem)
        readings += _printed_bound(problem, certified, plan)
    if "experimental" in requested and has_fixed_number and problem.participants != problem.clients:
        readings.append(_experiments(problem))
    return tuple(readings)


def _printed_noise(problem: PpsgdProblem) -> Iterator[PrintedReading]:
    """Yield the noise that Bietti et al. prescribe in equation (4) or (12), with its claimed and its true (ε, δ).

    Equation (4) is for rounds of all clients with equal weights, and (12) for all other rounds. Both leave a constant
    open. Nothing is yielded unless the request states the constant as `noise_constant`.

    Args:
        problem: the request, with the clients, the rounds and, if given, the constant.

    Yields:
        At most one interpretation ("reading") of the text, with the printed noise and the ε and δ that are certified
        for it.
    """
    if problem.noise_constant is None:
        return
    if _has_all_clients_equally(problem):
        evaluation = TheoremAtInputs.of(THEOREM_4_1, problem)
    else:
        evaluation = TheoremAtInputs.of(
            THEOREM_5_1, problem, client_groups=problem.batches, participation_rate=problem.rate
        )
    std = evaluation.outputs["noise_std"]
    multiplier = noise_multiplier_of(
        noise_std=std,
        rate=problem.rate,
        weight=problem.federation.weight,
        clipping_norm=problem.clipping_norm,
    )
    yield make_reading(
        evaluation,
        claims=claims(problem.target),
        parameters={
            "noise_std": std,
            "noise_multiplier": multiplier,
            "noise_constant": problem.noise_constant,
            "rounds": problem.rounds,
        },
        true=true_figures(guarantee_at(problem, multiplier, "coarse"), problem.target),
    )


def _has_all_clients_equally(problem: PpsgdProblem) -> bool:
    """Decide whether all clients take part in every round with equal weights, the case of Section 4 of the paper."""
    return problem.sampling == "full" and problem.weighting == "clients"


def _printed_bound(problem: PpsgdProblem, certified: Certified, plan: SharingPlan | None) -> Iterator[PrintedReading]:
    """Yield the risk bound that Bietti et al. print, at the certified noise and the chosen degree of sharing α.

    Nothing is yielded without a plan, or if the whole model is shared (α unbounded).

    Args:
        problem: the request, with the losses, the clients and the privacy target.
        certified: the smallest certified noise.
        plan: the chosen α at that noise; None if no bound applies.

    Yields:
        At most one interpretation ("reading") of the text, with the quantities that the bound depends on.
    """
    if plan is None or plan.chosen.personalization == "unbounded":
        return
    noise_std = noise_std_of(problem, certified.noise)
    evaluation = _evaluate_bound(problem, noise_std, personalization_value(plan.chosen.personalization))
    outputs = evaluation.outputs
    yield make_reading(
        evaluation,
        claims=claims(problem.target, outputs["excess_risk"]),
        parameters={
            "noise_std": noise_std,
            "noise_multiplier": certified.noise,
            "personalization": evaluation.inputs.personalization,
            "weighted_optimum_norm": evaluation.inputs.norm,
            "weighted_smoothness": outputs["weighted_smoothness"],
            "step_size": outputs["step_size"],
        },
        true=true_figures(certified.guarantee, problem.target),
    )


def _evaluate_bound(problem: PpsgdProblem, noise_std: float, alpha: float) -> TheoremAtInputs:
    """Evaluate the bound on the excess risk that Bietti et al. print for the request's sampling and weights.

    It is Theorem 4.5 for rounds of all clients with equal weights. Otherwise it is Theorem 5.2 if clients are weighted
    by their records, and Theorem B.4 if not.

    Args:
        problem: the request, with the clients, their weights and the constants of the losses.
        noise_std: standard deviation σ_ζ per coordinate of the noise in the average.
        alpha: degree of sharing α, finite: the weight of the model part that all clients share.

    Returns:
        The theorem at its inputs. Its outputs have the bound and the step size.
    """
    federation = problem.federation

    # The squared norm of the optimum, in which the parts of the model are weighted by α.
    optimum = problem.optimum_norm or 0.0
    squared_norm = minimal_norm(
        alpha=alpha,
        clients=problem.clients,
        mean_squared=optimum * optimum,
        spread_squared=problem.clients * problem.optimum_spread**2,
    )
    run: Fields = {
        "personalization": alpha,
        # The theorems have an older name for the next field, which in the request means another norm.
        "optimum_norm": None,
        "weighted_optimum_norm": math.sqrt(squared_norm),
        "noise_std": noise_std,
    }

    if _has_all_clients_equally(problem):
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
    """Return the noise by the method of the experiments of Bietti et al. (Section 6), with its true ε and δ.

    The authors' privacy accountant assumes independent draws of clients and neighbours in which a client's data are
    removed. Their runs draw a fixed number of clients.

    Args:
        problem: the request, with the clients, the rounds and the privacy target.

    Returns:
        The noise, the claimed (ε, δ), and the ε and δ that are certified for this run. The answer lists them as the
        interpretation ("reading") `experimental`.
    """
    certified_by_authors = certify(problem, sampling="poisson", relation="zero-out-one")
    return PrintedReading(
        theorem=SECTION_6.id,
        reading="experimental",
        status=SECTION_6.status,
        parameters={
            "noise_std": noise_std_of(problem, certified_by_authors.noise),
            "noise_multiplier": certified_by_authors.noise,
            "rounds": problem.rounds,
        },
        claims=claims(problem.target),
        true=true_figures(guarantee_at(problem, certified_by_authors.noise, "coarse"), problem.target),
        conditions=(),
    )
