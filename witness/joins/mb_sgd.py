"""mb-sgd: its calibrator, the explicit bound at the run's own step, and Theorem 2.1's where the step is as printed."""

from __future__ import annotations

import functools
import math
from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

from epsilond.accountants.account import account
from epsilond.accountants.attempts import ConditionResult
from epsilond.accountants.curve.enclosure import Interval
from epsilond.accountants.errors import InvalidInput
from epsilond.accountants.quantities import Sampling
from epsilond.accountants.specs import Gaussian, Repeated, Subsampled
from epsilond.accountants.target import Target
from epsilond.accountants.theorem import Status
from epsilond.accountants.theorems.risk.lowy_razaviyayn.explicit_bound import EXCESS_RISK_BOUND, ExcessRiskInputs
from epsilond.accountants.theorems.risk.lowy_razaviyayn.smooth_losses import THEOREM_2_1, SmoothInputs
from epsilond.accountants.theorems.risk.lowy_razaviyayn.unequal_clients import FEDERATED_RISK, FederatedInputs
from epsilond.accountants.verdict import Verdict
from epsilond.calibrators.mb_sgd.calibrator import CALIBRATOR
from epsilond.calibrators.mb_sgd.problem import MbSgdProblem
from epsilond.simulators.algorithms.algorithm import AnyRun
from epsilond.simulators.algorithms.mb_sgd import MbSgdRun, MbSgdShape, fading
from epsilond.simulators.algorithms.random_participation import harmonic_mean
from epsilond.simulators.federations.groups import Groups, client_arrays_of, loss_scales
from epsilond.simulators.problems.problem import SimulatedProblem
from epsilond.witness.join import Allowance, Join, Parameters, PromisedBound
from epsilond.witness.joins.settled import (
    LEAST_NOISE,
    distance_of,
    empirical_gradient_std,
    empirical_heterogeneity,
    settled,
    shape_of,
    smoothness_of,
    target_fields,
)
from epsilond.witness.joins.unlike import (
    asked_clients,
    bounded_clients,
    effective_noise_std,
    with_noise_of,
)

if TYPE_CHECKING:
    from epsilond.calibrators.answer import Calibration

ANY_DELTA = 1e-5
"""A risk depends on ε and δ through σ alone: at this δ there is an ε for which any σ is the printed one."""
MOST = 1e9
ALIKE = 1e-9
"""Relative difference of step sizes and weights that rounding may make."""


def calibrate(problem: SimulatedProblem, run: MbSgdRun, target: Target) -> tuple[MbSgdRun, Calibration]:
    """The smallest certified noise, and the step that goes with it unless the run has one.

    Raises:
        InvalidInput: no bound applies to this sampling, so that the step has to be given.
        NoCertificate: as the calibrator.
    """
    asked = MbSgdProblem(
        **target_fields(target),
        relation="replace-one",
        unit="record",
        observer="server",
        **shape_of(problem, run) | asked_clients(problem, run, run.law, run.groups),
        diameter=problem.constants.diameter,
        strong_convexity=problem.constants.strong_convexity,
        sampling=run.sampling,
    )
    answer = solved(asked)
    return with_parameters(run, answer.parameters), answer


@functools.lru_cache(maxsize=256)
def solved(asked: MbSgdProblem) -> Calibration:
    """The calibrator's answer; the same for the same question, which the cells of an experiment ask again and again.

    Raises:
        NoCertificate: as the calibrator.
    """
    answer: Calibration = CALIBRATOR.solve(asked)
    return answer


def certified_epsilon(problem: SimulatedProblem, run: MbSgdRun, log_delta: float) -> Interval:
    """Of the run's own noise, for each record of any client against a server that sees every message.

    Raises:
        NoCertificate: there is no noise, or nothing is known of this sampling.
    """
    if run.groups is None:
        kinds = {(run.noise_std or 0.0, run.batch_size, problem.samples_per_client)}
    else:
        unlike = client_arrays_of(problem, run, run.sampling)
        scaled = unlike.noise_stds / unlike.scales
        kinds = set(zip(scaled.tolist(), unlike.batches.tolist(), unlike.sizes.tolist(), strict=True))
    found = [
        epsilon_of_batches(
            noise_multiplier=noise_std * batch / problem.constants.lipschitz,
            sampling=run.sampling,
            batch_size=batch,
            samples_per_client=records,
            times=run.rounds,
            log_delta=log_delta,
        )
        for noise_std, batch, records in kinds
    ]
    return Interval(max(one.lower for one in found), max(one.upper for one in found))


@functools.lru_cache(maxsize=256)
def epsilon_of_batches(
    *,
    noise_multiplier: float,
    sampling: Sampling,
    batch_size: int,
    samples_per_client: int,
    times: int,
    log_delta: float,
) -> Interval:
    """Of means of so many records' gradients with noise, of fresh batches, so many times.

    Raises:
        NoCertificate: there is no noise, or nothing is known of this sampling.
    """
    full = sampling == "full"
    batch = Subsampled(
        sampling=sampling,
        batch_size=None if full else batch_size,
        population=None if full else samples_per_client,
        mechanism=Gaussian(noise_multiplier=noise_multiplier),
    )
    found = account(Repeated(times=times, mechanism=batch), relation="replace-one", unit="record", observer="server")
    return found.guarantee.curve.bound_epsilon(log_delta)


def with_parameters(run: AnyRun, parameters: Parameters) -> AnyRun:
    """The run with calibrated noise, and the calibrated step where it has none.

    Raises:
        InvalidInput: there is neither.
    """
    step = run.step_size or parameters.step_size
    if step is None:
        raise InvalidInput.at("/step_size", "is needed: no bound of this sampling chooses one")
    return with_noise_of(replace(run, step_size=step), parameters)


def bounds(problem: SimulatedProblem, run: MbSgdShape) -> tuple[PromisedBound, ...]:
    """Our explicit bound and Theorem 2.1, both at the run's own σ, R, K and η."""
    if run.groups is not None:
        return (of_unlike(problem, run, run.groups),)
    return (explicit(problem, run), *printed(problem, run))


def of_unlike(problem: SimulatedProblem, run: MbSgdShape, groups: Groups) -> PromisedBound:
    """`epsilond.federated-sgd-excess-risk`: of the population, and so of the data at hand, where it charges more."""
    step, kept, least = run.step_size or 0.0, fading(problem, run), min(loss_scales(groups))
    convexity = problem.constants.strong_convexity
    inputs = FederatedInputs(
        **bounded_clients(problem, run, run.law, groups),
        rounds=run.rounds,
        dimension=problem.dimension,
        smoothness=smoothness_of(problem),
        strong_convexity=min(convexity, (1.0 - kept) / (step * least)),
        initial_distance=distance_of(problem),
        step_size=step,
    )
    found = FEDERATED_RISK.evaluate(inputs)
    known = {
        "closed-convex-domain": Verdict.YES,
        "loss": Verdict.YES,
        "fresh-sampling": Verdict.of(run.batches in ("without-replacement", "full")),
        "averaged-output": Verdict.of(1.0 - kept <= step * least * convexity * (1.0 + ALIKE)),
        "independent-records": Verdict.YES,
        "exact-proximal-step": Verdict.YES,
    }
    return PromisedBound(
        theorem=FEDERATED_RISK.id,
        status=FEDERATED_RISK.status,
        value=found.outputs["excess_risk"],
        constant="explicit",
        conditions=settled(found.conditions, known),
    )


def explicit(problem: SimulatedProblem, run: MbSgdShape) -> PromisedBound:
    """`epsilond.mini-batch-sgd-excess-risk`.

    An average whose weights grow less than by 1/(1 − ημ) is that of a smaller μ, which the loss has too; of a larger
    growth nothing is proved.
    """
    step, kept = run.step_size or 0.0, fading(problem, run)
    convexity = problem.constants.strong_convexity
    shape = shape_of(problem, run)
    if run.law is not None:
        # The bound is of 1/E[1/M_r] clients; of fewer it is larger.
        shape["participants"] = max(1, math.floor(harmonic_mean(run.law)))
    inputs = ExcessRiskInputs(
        **shape,
        noise_std=max(effective_noise_std(problem, run, run.noise_std or 0.0), LEAST_NOISE),
        strong_convexity=min(convexity, (1.0 - kept) / step),
        step_size=step,
        empirical_gradient_std=empirical_gradient_std(problem),
        empirical_heterogeneity=empirical_heterogeneity(problem),
        objective=problem.objective,
    )
    found = EXCESS_RISK_BOUND.evaluate(inputs)
    known = {
        "closed-convex-domain": Verdict.YES,
        "loss": Verdict.YES,
        "fresh-sampling": Verdict.of(run.batches in ("without-replacement", "full")),
        "averaged-output": Verdict.of(1.0 - kept <= step * convexity * (1.0 + ALIKE)),
        "independent-records": Verdict.YES,
    }
    return PromisedBound(
        theorem=EXCESS_RISK_BOUND.id,
        status=EXCESS_RISK_BOUND.status,
        value=found.outputs["excess_risk"],
        constant="explicit",
        conditions=settled(found.conditions, known),
    )


def printed(problem: SimulatedProblem, run: MbSgdShape) -> Iterator[PromisedBound]:
    """Theorem 2.1, complete and convex: 272 L D ν/√M. It speaks of one step size, that it prescribes."""
    known, noise = problem.constants, run.noise_std or 0.0
    if problem.objective != "population" or known.strong_convexity > 0.0 or noise == 0.0:
        return
    if run.law is not None or run.levels is not None:
        return
    logs = math.log(2.5 * run.rounds / ANY_DELTA) * math.log(2.0 / ANY_DELTA)
    # Beyond the largest ε that is offered the printed noise is more than the run's, for which the bound holds too.
    epsilon = min(16.0 * known.lipschitz * math.sqrt(run.rounds * logs) / (problem.samples_per_client * noise), MOST)
    shape = shape_of(problem, run)
    del shape["initial_distance"]
    inputs = SmoothInputs(
        **shape,
        epsilon=epsilon,
        delta=ANY_DELTA,
        diameter=known.diameter,
        sampling="with-replacement" if run.batches == "with-replacement" else "without-replacement",
    )
    found = THEOREM_2_1.evaluate(inputs, "corrected")
    step, asked = run.step_size or 0.0, found.outputs["step_size"]
    facts = {
        "fresh-noise": Verdict.YES,
        "bounded-gradients": Verdict.YES,
        "loss": Verdict.YES,
        "identical-clients": Verdict.of(known.heterogeneity == 0.0),
        "domain": Verdict.YES,
        "averaged-output": Verdict.of(fading(problem, run) == 1.0),
        "hidden-constants": Verdict.YES,
    }
    own = ConditionResult(
        "prescribed-step",
        "the step size is the one prescribed",
        Verdict.of(math.isclose(step, asked, rel_tol=ALIKE)),
        step,
        asked,
    )
    sampled = ConditionResult("sampling", "batches have a fixed size", Verdict.of(run.batches != "poisson"))
    # What the theorem's privacy needs says nothing of its risk, which is all that is compared here.
    apart = ("epsilon-range", "minimal-batch-size")
    yield PromisedBound(
        theorem=THEOREM_2_1.id,
        status=Status(THEOREM_2_1.status),
        value=found.outputs["excess_risk"],
        constant="explicit",
        conditions=(*settled((one for one in found.conditions if one.id not in apart), facts), own, sampled),
    )


JOIN = Join(
    algorithm="mb-sgd",
    calibrate=calibrate,
    account=certified_epsilon,
    bounds=bounds,
    allowance=Allowance(0.8, 0.025),
)
