"""PPSGD: noise, α and steps from the calibrator at the problem's exact constants, bounds at the run's own."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from epsilond.accountants.errors import InvalidInput
from epsilond.accountants.json_types import Fields
from epsilond.accountants.target import Target
from epsilond.accountants.theorem import Theorem
from epsilond.accountants.theorems.risk.bietti.full_participation import (
    ANY_STEP,
    THEOREM_4_5,
    UNCLIPPED,
    AnyStepInputs,
    BoundInputs,
)
from epsilond.accountants.theorems.risk.bietti.minimal_norm import minimal_norm
from epsilond.accountants.theorems.risk.bietti.personalization import Landscape
from epsilond.accountants.theorems.risk.bietti.sampled_participation import (
    PERSONALIZED_RISK,
    THEOREM_5_2,
    THEOREM_B_4,
    DrawnGradients,
    DrawnInputs,
    GroupOfUsers,
    SampledInputs,
)
from epsilond.accountants.verdict import Verdict
from epsilond.calibrators.answer import Calibration
from epsilond.calibrators.ppsgd.calibrator import CALIBRATOR
from epsilond.calibrators.ppsgd.problem import PpsgdProblem
from epsilond.simulators.algorithms.ppsgd.run import PpsgdRun, batch_sizes, largest_message, steps_of
from epsilond.simulators.problems.personalized_problem import PersonalizedConstants, PersonalizedProblem
from epsilond.witness.join import Join, PromisedBound
from epsilond.witness.joins.settled import settled, target_fields
from epsilond.witness.joins.steps import at_step

ROUNDING = 1e-12


def calibrate(problem: PersonalizedProblem, run: PpsgdRun, target: Target) -> tuple[PpsgdRun, Calibration]:
    """The least certified noise, and α and steps where the run leaves them open.

    Raises:
        InvalidInput: no clipping norm bounds the messages, or no bound applies that would choose α or the steps.
        NoCertificate: as the calibrator.
    """
    asked = question(problem, run, target)
    answer = CALIBRATOR.solve(asked)
    found = answer.parameters
    if found.personalization is None:
        raise InvalidInput.at("/personalization", "is needed: no bound on the excess risk applies that would choose it")
    chosen = replace(
        run,
        noise_std=found.noise_std,
        clipping_norm=asked.clipping_norm,
        personalization=found.personalization,
    )
    if run.step_size is not None or run.shared_step_size is not None:
        return chosen, answer
    name = "shared_step_size" if found.personalization == "unbounded" else "step_size"
    step = getattr(found, name)
    if not step:  # nor is there one where the optimum is the start
        raise InvalidInput.at(f"/{name}", "is needed: no bound on the excess risk chooses it")
    return replace(chosen, **{name: step}), answer


def question(problem: PersonalizedProblem, run: PpsgdRun, target: Target) -> PpsgdProblem:
    """What the calibrator is asked.

    Raises:
        InvalidInput: gradients have no bound, and no clipping norm is given.
    """
    known, most = problem.constants, largest_message(problem, run)
    norm = run.clipping_norm or most
    if math.isinf(norm):
        message = "is needed: gradients of this problem have no bound"
        raise InvalidInput.at("/clipping_norm", message, allowed="> 0")
    return PpsgdProblem(
        **target_fields(target),
        relation="replace-one",
        unit="client",
        observer="other-clients",
        clients=problem.clients,
        rounds=run.rounds,
        sampling=run.sampling,
        participation_rate=run.participation_rate,
        clipping_norm=norm,
        shared_dimension=problem.dimension,
        smoothness=_finite(known.smoothness),
        lipschitz=_finite(known.lipschitz),
        batch_size=run.batch_size,
        client_groups=_groups(run),
        weighting=run.weighting,
        personalization=run.personalization,
        **_told(known),
    )


def _told(known: PersonalizedConstants) -> Fields:
    """Of the optimum what there is: separable classes have none."""
    names = ("shared_gradient_std", "local_gradient_std", "shared_gradient_norm", "optimum_norm", "optimum_spread")
    return {name: value for name in names if math.isfinite(value := getattr(known, name))}


def _groups(run: PpsgdRun) -> Any:
    if run.client_groups is None:
        return None
    return tuple({"clients": one.clients, "batch_size": one.batch_size} for one in run.client_groups)


def _finite(value: float) -> float | None:
    return value if math.isfinite(value) else None


# Bounds -------------------------------------------------------------------------------------------------------------
def bounds(problem: PersonalizedProblem, run: PpsgdRun) -> tuple[PromisedBound, ...]:
    """The theorems' bounds where the run takes their step, and the bound that holds at any small one.

    Squared losses are never bounded: of a run that clips them it is undecidable whether something was clipped.
    """
    if not math.isfinite(problem.constants.smoothness):
        return ()
    found = _shared_only(problem, run) if math.isinf(run.alpha) else _weighted(problem, run)
    return tuple(found)


def federation_of(problem: PersonalizedProblem, run: PpsgdRun) -> DrawnGradients:
    """The clients as the bounds see them."""
    known = problem.constants
    return DrawnGradients(
        groups=tuple(
            GroupOfUsers(
                clients=one.clients,
                batch_size=one.batch_size,
                shared_gradient_std=known.shared_gradient_std,
                local_gradient_std=known.local_gradient_std,
                shared_gradient_norm=known.shared_gradient_norm,
            )
            for one in run.batches(problem.clients)
        ),
        weighting=run.weighting,
        rate=run.rate,
        draw="fixed-number" if run.sampling == "without-replacement" else "independent",
    )


def verdicts(problem: PersonalizedProblem, run: PpsgdRun) -> Mapping[str, Verdict]:
    """What the problem and the run are by construction."""
    clipped = run.clipping_norm is not None and largest_message(problem, run) > run.clipping_norm * (1.0 + ROUNDING)
    unclipped = Verdict.UNDECIDABLE if clipped else Verdict.YES
    return {
        "convex-and-smooth": Verdict.of(math.isfinite(problem.constants.smoothness)),
        "fresh-records": Verdict.YES,
        "nothing-is-clipped": unclipped,
        "gradients-below-clipping": unclipped,
    }


def _weighted(problem: PersonalizedProblem, run: PpsgdRun) -> Iterator[PromisedBound]:
    known, alpha, step = problem.constants, run.alpha, steps_of(problem, run)[0]
    norm = math.sqrt(
        minimal_norm(
            alpha=alpha,
            clients=problem.clients,
            mean_squared=known.optimum_norm**2,
            spread_squared=problem.clients * known.optimum_spread**2,
        )
    )
    sampled: Fields = {
        "client_groups": federation_of(problem, run).groups,
        "rounds": run.rounds,
        "smoothness": known.smoothness,
        "personalization": alpha,
        "weighted_optimum_norm": norm,
        "shared_dimension": problem.dimension,
        "noise_std": run.noise_std,
    }
    drawn = DrawnInputs(**sampled, sampling=run.sampling, participation_rate=run.rate, weighting=run.weighting)
    outputs = PERSONALIZED_RISK.evaluate(drawn).outputs
    yield _stated(PERSONALIZED_RISK, drawn, problem, run, step)
    yield from _any_step(
        problem,
        run,
        step=step,
        smoothness=outputs["weighted_smoothness"],
        norm=norm,
        gradient_std=math.sqrt(outputs["variance"]),
    )
    if run.sampling == "full" and run.weighting == "clients":
        sizes = batch_sizes(problem, run)
        share = math.sqrt(math.fsum(1.0 / sizes) / problem.clients)
        plain = BoundInputs(
            clients=problem.clients,
            rounds=run.rounds,
            smoothness=known.smoothness,
            personalization=alpha,
            weighted_optimum_norm=norm,
            shared_gradient_std=known.shared_gradient_std * share,
            local_gradient_std=known.local_gradient_std * share,
            shared_dimension=problem.dimension,
            noise_std=run.noise_std or 0.0,
            lipschitz=_finite(known.lipschitz),
            clipping_norm=run.clipping_norm,
        )
        yield _stated(THEOREM_4_5, plain, problem, run, step)
    if run.sampling == "poisson":
        printed = THEOREM_5_2 if run.weighting == "samples" else THEOREM_B_4
        yield _stated(printed, SampledInputs(**sampled, participation_rate=run.rate), problem, run, step)


def _stated(
    theorem: Theorem, inputs: object, problem: PersonalizedProblem, run: PpsgdRun, step: float
) -> PromisedBound:
    outputs = theorem.evaluate(inputs).outputs
    return PromisedBound(
        theorem=theorem.id,
        status=theorem.status,
        value=outputs["excess_risk"],
        constant="explicit",
        conditions=(
            *settled((one.at(inputs) for one in theorem.conditions), verdicts(problem, run)),
            at_step(step, outputs["step_size"]),
        ),
    )


def _any_step(
    problem: PersonalizedProblem, run: PpsgdRun, *, step: float, smoothness: float, norm: float, gradient_std: float
) -> Iterator[PromisedBound]:
    """The least of its two bounds that holds."""
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
    conditions = settled((one.at(inputs) for one in ANY_STEP.conditions), verdicts(problem, run))
    values = [outputs["excess_risk"]]
    if next(one.holds for one in conditions if one.id == "step-below-quarter") == Verdict.YES:
        values.append(outputs["simple_excess_risk"])
    yield PromisedBound(
        theorem=ANY_STEP.id,
        status=ANY_STEP.status,
        value=min(values),
        constant="explicit",
        conditions=(
            *(one for one in conditions if one.id != "step-below-quarter"),
            *settled((UNCLIPPED.at(inputs),), verdicts(problem, run)),
        ),
    )


def _shared_only(problem: PersonalizedProblem, run: PpsgdRun) -> Iterator[PromisedBound]:
    """The limit of α: infinite unless all clients share one optimum."""
    known, federation = problem.constants, federation_of(problem, run)
    noise_std = run.noise_std or 0.0
    limit = Landscape.of(
        federation,
        rounds=run.rounds,
        smoothness=known.smoothness,
        optimum_norm=known.optimum_norm,
        optimum_spread=known.optimum_spread,
        noise_std=noise_std,
        dimension=problem.dimension,
    ).at(math.inf)
    step = steps_of(problem, run)[1]
    yield PromisedBound(
        theorem=PERSONALIZED_RISK.id,
        status=PERSONALIZED_RISK.status,
        value=limit.total,
        constant="explicit",
        conditions=(
            *settled((one.at(None) for one in PERSONALIZED_RISK.conditions), verdicts(problem, run)),
            at_step(step, limit.shared_step_size),
        ),
    )
    if known.optimum_spread == 0.0:
        shared, _ = federation.smoothness_factors()
        steep, _ = federation.variance_factors(noise_std=noise_std, dimension=problem.dimension)
        yield from _any_step(
            problem,
            run,
            step=step,
            smoothness=known.smoothness * shared,
            norm=known.optimum_norm,
            gradient_std=math.sqrt(steep),
        )


JOIN = Join(algorithm="ppsgd", calibrate=calibrate, bounds=bounds)
