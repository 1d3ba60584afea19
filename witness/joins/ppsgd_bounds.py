"""Bounds of Bietti et al. on the excess risk of ppsgd, at the run's own noise and steps."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping

from epsilond.accountants.attempts import ConditionResult
from epsilond.accountants.json_types import Fields
from epsilond.accountants.theorem import Theorem
from epsilond.accountants.theorems.risk.bietti.drawn_gradients import DrawnGradients, GroupOfUsers
from epsilond.accountants.theorems.risk.bietti.full_participation import (
    ANY_STEP,
    THEOREM_4_5,
    UNCLIPPED,
    AnyStepInputs,
    BoundInputs,
)
from epsilond.accountants.theorems.risk.bietti.landscape import Landscape
from epsilond.accountants.theorems.risk.bietti.minimal_norm import minimal_norm
from epsilond.accountants.theorems.risk.bietti.sampled_participation import (
    PERSONALIZED_RISK,
    THEOREM_5_2,
    THEOREM_B_4,
    DrawnInputs,
    SampledInputs,
)
from epsilond.accountants.verdict import Verdict
from epsilond.simulators.algorithms.ppsgd.run import PpsgdRun, batch_sizes, largest_message, steps_of
from epsilond.simulators.problems.personalized_problem import PersonalizedProblem
from epsilond.witness.join import PromisedBound
from epsilond.witness.joins.prescribed_step import check_step
from epsilond.witness.joins.problem_fields import settle_conditions

ROUNDING = 1e-12
"""Relative tolerance for the largest message over the clipping norm; it allows for rounding."""


def bounds(problem: PersonalizedProblem, run: PpsgdRun) -> tuple[PromisedBound, ...]:
    """Return the bounds of Bietti et al. on the excess risk at their prescribed step, and one for any small step.

    A bound is valid for the run only if no message is clipped. Gradients of squared losses have no bound, so that it is
    then undecidable whether messages are clipped.

    Args:
        problem: the simulated learning problem.
        run: the algorithm with its parameters, noise and step.

    Returns:
        The bounds, in the unit of the loss, each with the conditions of its theorem. A prescribed step is one of the
        conditions. Empty if the loss is not smooth.
    """
    if not math.isfinite(problem.constants.smoothness):
        return ()
    if math.isinf(run.alpha):
        return tuple(_shared_model_bounds(problem, run))
    return tuple(_weighted_bounds(problem, run))


def gradient_statistics(problem: PersonalizedProblem, run: PpsgdRun) -> DrawnGradients:
    """Return the statistics of the clients' gradients, which bounds on the excess risk depend on.

    PPSGD trains one model that all clients share, and one of each client. The statistics are the standard deviations of
    the gradients of both models, and the norm of the shared gradient at the optimum.

    Args:
        problem: the simulated learning problem, with its exact constants.
        run: the algorithm with its parameters.

    Returns:
        The statistics of each group of equal clients, with the way in which clients are weighted and drawn.
    """
    constants = problem.constants
    groups = [
        GroupOfUsers(
            clients=group.clients,
            batch_size=group.batch_size,
            shared_gradient_std=constants.shared_gradient_std,
            local_gradient_std=constants.local_gradient_std,
            shared_gradient_norm=constants.shared_gradient_norm,
        )
        for group in run.batches(problem.clients)
    ]
    return DrawnGradients(
        groups=tuple(groups),
        weighting=run.weighting,
        rate=run.rate,
        draw="fixed-number" if run.sampling == "without-replacement" else "independent",
    )


def decide_conditions(problem: PersonalizedProblem, run: PpsgdRun) -> Mapping[str, Verdict]:
    """Decide the theorems' conditions that follow from the construction of the problem and the run.

    Args:
        problem: the simulated learning problem.
        run: the algorithm with its parameters.

    Returns:
        For each condition, by its id, whether it holds. If a message may exceed the clipping norm, it is undecidable
        whether any message is clipped.
    """
    # `ROUNDING` exceeds the rounding error of the largest norm.
    may_clip = False
    if run.clipping_norm is not None:
        may_clip = largest_message(problem, run) > run.clipping_norm * (1.0 + ROUNDING)
    is_unclipped = Verdict.UNDECIDABLE if may_clip else Verdict.YES
    return {
        "convex-and-smooth": Verdict.of(math.isfinite(problem.constants.smoothness)),
        "fresh-records": Verdict.YES,
        "nothing-is-clipped": is_unclipped,
        "gradients-below-clipping": is_unclipped,
    }


def _conditions(
    theorem: Theorem, inputs: object, problem: PersonalizedProblem, run: PpsgdRun
) -> tuple[ConditionResult, ...]:
    """Check the conditions of a theorem, by its inputs and by the construction of the problem and the run.

    The inputs do not decide every condition, for example whether every record is used once.

    Args:
        theorem: the theorem.
        inputs: inputs of the theorem.
        problem: the simulated learning problem.
        run: the algorithm with its parameters.

    Returns:
        Each condition with a verdict: it holds, fails, or is undecidable.
    """
    results = (condition.at(inputs) for condition in theorem.conditions)
    return settle_conditions(results, decide_conditions(problem, run))


def _weighted_bounds(problem: PersonalizedProblem, run: PpsgdRun) -> Iterator[PromisedBound]:
    """Yield bounds on the excess risk of personalised models w + θ_i, if the shared part w has a finite weight α.

    They are the bound for all samplings of clients at a prescribed step, the bound for any small step, and that of the
    printed theorem for the run's sampling. This is Theorem 4.5 of Bietti et al. if all clients take part with equal
    weights, and 5.2 or B.4 if each takes part at random, independently of the others.

    Args:
        problem: the learning problem, with its exact constants.
        run: parameters of the run, with its noise and steps.

    Yields:
        Each bound, with its theorem's conditions and whether each holds.
    """
    own_step, _ = steps_of(problem, run)
    norm = _weighted_optimum_norm(problem, run)
    shared_fields: Fields = {
        "client_groups": gradient_statistics(problem, run).groups,
        "rounds": run.rounds,
        "smoothness": problem.constants.smoothness,
        "personalization": run.alpha,
        "weighted_optimum_norm": norm,
        "shared_dimension": problem.dimension,
        "noise_std": run.noise_std,
    }

    drawn_inputs = DrawnInputs(
        **shared_fields, sampling=run.sampling, participation_rate=run.rate, weighting=run.weighting
    )
    outputs = PERSONALIZED_RISK.evaluate(drawn_inputs).outputs
    yield _bound_at_prescribed_step(PERSONALIZED_RISK, drawn_inputs, problem, run, own_step)

    # The bound for any small step takes the smoothness and the variance from the outputs of that theorem.
    yield from _bounds_at_any_step(
        problem,
        run,
        step=own_step,
        smoothness=outputs["weighted_smoothness"],
        norm=norm,
        gradient_std=math.sqrt(outputs["variance"]),
    )

    if run.sampling == "full" and run.weighting == "clients":
        full_inputs = _full_participation_inputs(problem, run, norm)
        yield _bound_at_prescribed_step(THEOREM_4_5, full_inputs, problem, run, own_step)
    if run.sampling == "poisson":
        printed_theorem = THEOREM_5_2 if run.weighting == "samples" else THEOREM_B_4
        sampled_inputs = SampledInputs(**shared_fields, participation_rate=run.rate)
        yield _bound_at_prescribed_step(printed_theorem, sampled_inputs, problem, run, own_step)


def _weighted_optimum_norm(problem: PersonalizedProblem, run: PpsgdRun) -> float:
    """Return the least weighted norm √(‖w‖²/α + Σ_i ‖θ_i‖²) of all optima.

    An optimum consists of a shared part w and the own parts θ_1, …, θ_N of N clients. α is the run's weight of the
    shared part.

    Args:
        problem: the simulated learning problem, with its exact constants.
        run: the algorithm with its parameters.

    Returns:
        The norm, in the unit of the models.
    """
    constants = problem.constants
    squared_norm = minimal_norm(
        alpha=run.alpha,
        clients=problem.clients,
        mean_squared=constants.optimum_norm**2,
        # The sum over the clients, of which `optimum_spread` is the root mean square.
        spread_squared=problem.clients * constants.optimum_spread**2,
    )
    return math.sqrt(squared_norm)


def _full_participation_inputs(problem: PersonalizedProblem, run: PpsgdRun, norm: float) -> BoundInputs:
    """Return the inputs of Theorem 4.5 of Bietti et al., in which all clients take part in every round.

    The theorem's variance of gradients is a mean over the N clients. A client averages the gradients of its batch of
    b_i records, which divides their variance by b_i. The variance of one record's gradient is thus multiplied by
    (1/b_1 + … + 1/b_N)/N.

    Args:
        problem: the simulated learning problem.
        run: the algorithm with its parameters.
        norm: least weighted norm of an optimum, see `_weighted_optimum_norm`.

    Returns:
        The inputs: sizes and noise of the run, the constants of the problem, and standard deviations of its gradients.
    """
    constants = problem.constants
    sizes = batch_sizes(problem, run)
    variance_ratio = math.fsum(1.0 / sizes) / problem.clients
    std_ratio = math.sqrt(variance_ratio)
    return BoundInputs(
        clients=problem.clients,
        rounds=run.rounds,
        smoothness=constants.smoothness,
        personalization=run.alpha,
        weighted_optimum_norm=norm,
        shared_gradient_std=constants.shared_gradient_std * std_ratio,
        local_gradient_std=constants.local_gradient_std * std_ratio,
        shared_dimension=problem.dimension,
        noise_std=run.noise_std or 0.0,
        lipschitz=finite_or_none(constants.lipschitz),
        clipping_norm=run.clipping_norm,
    )


def _bound_at_prescribed_step(
    theorem: Theorem, inputs: object, problem: PersonalizedProblem, run: PpsgdRun, step: float
) -> PromisedBound:
    """Return a theorem's bound on the excess risk, which is valid only for the step size that the theorem prescribes.

    Args:
        theorem: the theorem, with outputs `excess_risk` and `step_size`.
        inputs: inputs of the theorem.
        problem: the simulated learning problem.
        run: the algorithm with its parameters.
        step: step size of the clients' own models in the run.

    Returns:
        The bound, with whether each of the theorem's conditions holds, and whether the run takes the prescribed step.
    """
    outputs = theorem.evaluate(inputs).outputs
    step_condition = check_step(step, outputs["step_size"])
    return PromisedBound(
        theorem=theorem.id,
        status=theorem.status,
        value=outputs["excess_risk"],
        constant="explicit",
        conditions=(*_conditions(theorem, inputs, problem, run), step_condition),
    )


def _bounds_at_any_step(
    problem: PersonalizedProblem, run: PpsgdRun, *, step: float, smoothness: float, norm: float, gradient_std: float
) -> Iterator[PromisedBound]:
    """Yield the bound on the excess risk that is valid for every small step size.

    The theorem has two bounds. The second one requires a step of at most 1/4 of the inverse smoothness. If the step is
    that small, the smaller of the two bounds is used, and otherwise the first one.

    Args:
        problem: the simulated learning problem.
        run: the algorithm with its parameters and noise.
        step: step size of the run, ≥ 0.
        smoothness: smoothness of the weighted objective.
        norm: norm of the weighted optimum.
        gradient_std: standard deviation of the noisy gradients.

    Yields:
        One bound, with its conditions and whether each holds. Nothing for a step of 0.
    """
    if step == 0.0:
        return
    inputs = AnyStepInputs(
        rounds=run.rounds,
        step_size=step,
        smoothness=smoothness,
        weighted_optimum_norm=norm,
        gradient_std=gradient_std,
    )
    outputs = ANY_STEP.evaluate(inputs).outputs
    conditions = _conditions(ANY_STEP, inputs, problem, run)

    below_quarter = next(condition for condition in conditions if condition.id == "step-below-quarter")
    value = outputs["excess_risk"]
    if below_quarter.holds == Verdict.YES:
        value = min(value, outputs["simple_excess_risk"])

    # The first bound is valid without the condition of the second one. Both require that no message is clipped.
    required_conditions = [condition for condition in conditions if condition is not below_quarter]
    unclipped_conditions = settle_conditions((UNCLIPPED.at(inputs),), decide_conditions(problem, run))
    yield PromisedBound(
        theorem=ANY_STEP.id,
        status=ANY_STEP.status,
        value=value,
        constant="explicit",
        conditions=(*required_conditions, *unclipped_conditions),
    )


def _shared_model_bounds(problem: PersonalizedProblem, run: PpsgdRun) -> Iterator[PromisedBound]:
    """Yield the bounds on the excess risk if all clients share one model, the limit α → ∞ of the shared part's weight.

    The first bound generalises Theorems 5.2 and B.4 of Bietti et al. to all samplings of clients. The bound for any
    small step is added if all clients have the same optimum, as it requires.

    Args:
        problem: the simulated learning problem, with its exact constants.
        run: the run with one model for all.

    Yields:
        Each bound, with its theorem's conditions and whether each holds.
    """
    constants, statistics = problem.constants, gradient_statistics(problem, run)
    noise_std = run.noise_std or 0.0
    _, shared_step = steps_of(problem, run)

    landscape = Landscape.of(
        statistics,
        rounds=run.rounds,
        smoothness=constants.smoothness,
        optimum_norm=constants.optimum_norm,
        optimum_spread=constants.optimum_spread,
        noise_std=noise_std,
        dimension=problem.dimension,
    )
    limit = landscape.at(math.inf)
    step_condition = check_step(shared_step, limit.shared_step_size)
    yield PromisedBound(
        theorem=PERSONALIZED_RISK.id,
        status=PERSONALIZED_RISK.status,
        value=limit.total,
        constant="explicit",
        conditions=(*_conditions(PERSONALIZED_RISK, None, problem, run), step_condition),
    )

    if constants.optimum_spread == 0.0:
        smoothness_factor, _ = statistics.smoothness_factors()
        variance, _ = statistics.variance_factors(noise_std=noise_std, dimension=problem.dimension)
        yield from _bounds_at_any_step(
            problem,
            run,
            step=shared_step,
            smoothness=constants.smoothness * smoothness_factor,
            norm=constants.optimum_norm,
            gradient_std=math.sqrt(variance),
        )


def finite_or_none(value: float) -> float | None:
    """Return a finite value unchanged, and None for an infinite value or NaN."""
    return value if math.isfinite(value) else None
