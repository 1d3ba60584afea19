"""The answer of a measurement, made of the repetitions' numbers and the theorems' bounds."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from epsilond.accountants import ENGINE_VERSION
from epsilond.accountants.verdict import Verdict
from epsilond.calibrators.answer import Calibration, Caution
from epsilond.simulators.algorithms.kinds import algorithm_of
from epsilond.simulators.problems.problem import Floats, SimulatedProblem
from epsilond.witness.join import PromisedBound
from epsilond.witness.risks.answer import (
    BoundAnswer,
    Measured,
    ProblemAnswer,
    RiskAnswer,
    Role,
    SeriesAnswer,
    Spread,
)
from epsilond.witness.risks.blocks import Measurement, as_floats
from epsilond.witness.risks.measure import confidence_band, judge_bound

GRADIENT_NORM = "largest_gradient_norm"
"""Name of the diagnostic that is compared with the problem's Lipschitz constant."""
ROUNDING = 1e-9
"""Relative tolerance for the norm of a gradient; it allows for rounding in sums of doubles."""
NOTABLE_GAP = 0.01
"""Share of the measured excess above which the error of the optimum is reported."""
SHARES = ("test_error", "test_accuracy")
"""Scores that are at most 1."""


def make_answer(
    request: Any,
    problem: SimulatedProblem,
    calibration: Calibration | None,
    measurements: Sequence[Measurement],
    bounds: Sequence[PromisedBound],
) -> RiskAnswer:
    """Return the answer: the measured excess risk of every run, and the private run's comparison with its bounds.

    The excess risk is the risk of the model minus the least possible risk. The private run is the one with noise.

    Args:
        request: the request, with the confidence level of the bands.
        problem: the learning problem, with its exact constants.
        calibration: answer of the calibrator, or None if the noise was given.
        measurements: numbers of every run; the first one is the private run.
        bounds: theorems' bounds on the private run.

    Returns:
        The answer. Its `guarantee` is None if the noise was given.
    """
    private_measurement = measurements[0]
    algorithm = algorithm_of(private_measurement.run)

    titles = {"private": algorithm.title, **algorithm.titles}
    series = tuple(_summarise_run(measurement, request.confidence, titles) for measurement in measurements)
    private = series[0]

    # The minimum of the risk is known up to `gap`.
    gap = getattr(problem.constants, "optimum_gap", 0.0)
    compared = tuple(
        _compare_bound(bound, private.final, private_measurement, request.confidence, gap) for bound in bounds
    )

    # Only calibrated noise has a guarantee.
    guarantee = None
    client_groups = None
    if calibration is not None:
        guarantee = calibration.guarantee
        client_groups = getattr(calibration.parameters, "groups", None)
    return RiskAnswer(
        algorithm=algorithm.name,
        title=algorithm.title,
        parameters=private_measurement.run,
        guarantee=guarantee,
        client_groups=client_groups,
        problem=_describe_problem(request.problem, problem),
        rounds=private.rounds[-1],
        repetitions=request.repetitions,
        confidence=request.confidence,
        final_excess=private.final,
        bounds=compared,
        series=series,
        warnings=_warnings(problem, series, compared),
        seed=request.seed,
        engine_version=ENGINE_VERSION,
    )


def _describe_problem(spec: object, problem: SimulatedProblem) -> ProblemAnswer:
    """Return the description of the learning problem in the answer, with its exact constants.

    Args:
        spec: the problem as requested.
        problem: the problem that was built from it.

    Returns:
        Sizes, constants and further entries of the description. `samples_per_client` is None if clients draw fresh
        records.
    """
    constants: Any = problem.constants
    return ProblemAnswer(
        spec=spec,
        objective=getattr(problem, "objective", "population"),
        clients=problem.clients,
        samples_per_client=getattr(problem, "samples_per_client", None),
        dimension=problem.dimension,
        constants=constants,
        facts=problem.facts(),
    )


def _summarise_run(measurement: Measurement, confidence: float, titles: Mapping[str, str]) -> SeriesAnswer:
    """Summarise one run over its repetitions: mean excess risk by rounds with its band, scores and diagnostics.

    The band is a confidence interval of the mean at each round by itself.

    Args:
        measurement: numbers of the run, for each repetition and measured round.
        confidence: confidence level of each band, between 0 and 1.
        titles: titles of the runs, by name.

    Returns:
        Mean, bounds of the band and standard error at each measured round, and for the output of the run. `scores` is
        None if the problem has no scores.
    """
    # The output of the run is the model after its last round.
    band = confidence_band(measurement.excess(), confidence)
    final = Measured(
        mean=float(band.mean[-1]),
        lower=float(band.lower[-1]),
        upper=float(band.upper[-1]),
        standard_error=float(band.standard_error[-1]),
    )

    scores = {}
    for name, values in measurement.scores().items():
        largest_score = 1.0 if name in SHARES else math.inf
        scores[name] = mean_over_repetitions(values, confidence, most=largest_score)
    diagnostics = {name: _summarise_diagnostic(values) for name, values in measurement.diagnostics().items()}
    return SeriesAnswer(
        name=measurement.name,
        title=titles[measurement.name],
        role=_role(measurement.name),
        algorithm=measurement.run.algorithm,
        parameters=measurement.run,
        rounds=measurement.rounds,
        mean=as_floats(band.mean),
        lower=as_floats(band.lower),
        upper=as_floats(band.upper),
        standard_error=as_floats(band.standard_error),
        final=final,
        scores=scores or None,
        diagnostics=diagnostics,
        model=measurement.model(),
    )


def _role(name: str) -> Role:
    """Return the role of a run in the comparison: private, non-private or alternative."""
    roles: Mapping[str, Role] = {"private": "private", "non-private": "non-private"}
    return roles.get(name, "alternative")


def _summarise_diagnostic(values: Floats) -> Spread:
    """Return mean, minimum and maximum of a value over repetitions. NaN, from a diverged run, counts as infinite."""
    without_nan = np.where(np.isnan(values), np.inf, values)
    return Spread(mean=float(without_nan.mean()), least=float(without_nan.min()), largest=float(without_nan.max()))


def _compare_bound(
    bound: PromisedBound, final: Measured, measurement: Measurement, confidence: float, gap: float
) -> BoundAnswer:
    """Compare a bound with the measured quantity that it bounds: the excess risk of the output, or a diagnostic.

    A diagnostic is a further number that a run records in each repetition.

    Args:
        bound: the bound, with the name of the quantity.
        final: measured excess risk of the output.
        measurement: numbers of the run, with the diagnostics.
        confidence: confidence level of a diagnostic's band, between 0 and 1.
        gap: largest error of the problem's minimum, which affects the excess risk only.

    Returns:
        The bound with its verdict, or with the reason why it is not compared.
    """
    if bound.quantity == "excess":
        return _judge(bound, final, gap)
    diagnostic = mean_over_repetitions(measurement.diagnostics()[bound.quantity], confidence)
    return _judge(bound, diagnostic, 0.0)


def mean_over_repetitions(values: Floats, confidence: float, most: float = math.inf) -> Measured:
    """Return the mean of a quantity over repetitions, with a confidence interval by Student's t distribution.

    The interval is cut off at the largest possible value of the quantity.

    Args:
        values: one value for each repetition, from 0 to `most`.
        confidence: confidence level, between 0 and 1.
        most: largest possible value.

    Returns:
        Mean, bounds of its confidence interval, and standard error, in the unit of the values.
    """
    band = confidence_band(values[:, None], confidence)  # one column, as for a single round
    return Measured(
        mean=float(band.mean[0]),
        lower=float(band.lower[0]),
        upper=min(float(band.upper[0]), most),
        standard_error=float(band.standard_error[0]),
    )


def _judge(bound: PromisedBound, measured: Measured, gap: float) -> BoundAnswer:
    """Compare a theorem's bound with the measured mean of the quantity that it bounds.

    A bound with a hidden constant, or with a condition that fails, is reported without a comparison. The ratio of bound
    and mean is left out if both are smaller than `gap`, because the error of the minimum would determine it.

    Args:
        bound: the bound.
        measured: the mean of the bounded quantity, with its confidence band.
        gap: largest error of the measured mean that is due to the problem's minimum.

    Returns:
        The bound with its verdict and its ratio to the mean, or with the reason why it is not compared.
    """
    reason = reason_not_compared(bound)
    is_compared = reason is None

    verdict = None
    ratio = None
    if is_compared:
        verdict = judge_bound(bound.value, measured.lower, measured.upper, gap)
        has_finite_mean = 0.0 < measured.mean < math.inf
        exceeds_gap = max(bound.value, measured.mean) >= gap
        if has_finite_mean and exceeds_gap:
            ratio = bound.value / measured.mean
    return BoundAnswer(
        theorem=bound.theorem,
        status=bound.status,
        value=bound.value,
        quantity=bound.quantity,
        constant=bound.constant,
        conditions=tuple(bound.conditions),
        compared=is_compared,
        reason=reason,
        ratio=ratio,
        holds=verdict,
    )


def reason_not_compared(bound: PromisedBound) -> str | None:
    """Return the reason why a theorem's bound cannot be compared with a measurement.

    Only a bound with explicit constants, under conditions that hold, can be contradicted by a measurement.

    Args:
        bound: the bound, with its conditions checked for the run.

    Returns:
        The reason, or None if the bound is explicit and finite, and all its conditions hold.
    """
    if bound.constant == "hidden":
        return "its constant is hidden: this is an order, and no number contradicts it"
    # An undecided condition counts as one that fails.
    failing = [condition.id for condition in bound.conditions if condition.holds != Verdict.YES]
    if failing:
        return "these conditions do not hold, or cannot be decided: " + ", ".join(failing)
    if not math.isfinite(bound.value):
        return "it is infinite here"
    return None


def _warnings(
    problem: SimulatedProblem, series: Sequence[SeriesAnswer], bounds: Sequence[BoundAnswer]
) -> tuple[Caution, ...]:
    """Return the warnings about a risk simulation: large gradients, divergence, violated bounds, an inexact optimum.

    A warning does not change the measured numbers.

    Args:
        problem: the problem, with its constants.
        series: summaries of the runs, the private one first.
        bounds: theorems' bounds on the excess risk of the private run, each compared with the measured mean.

    Returns:
        One warning for each fault; empty if there is none.
    """
    warnings = list(_large_gradients(series, problem.constants.lipschitz))

    # A repetition that diverged has an infinite excess risk, and so has the mean.
    for run in series:
        if not all(math.isfinite(mean) for mean in run.mean):
            message = f"{run.name}: some repetitions diverged; their excess is infinite"
            warnings.append(Caution(code="diverged", message=message))

    # A measurement that contradicts a theorem points to a fault in the theorem or in the simulation.
    for bound in bounds:
        if bound.holds == Verdict.NO:
            message = f"the whole confidence band lies above the bound of {bound.theorem}, {bound.value:.6g}"
            warnings.append(Caution(code="bound-broken", message=message))

    # The excess risk is measured from a computed minimum, which may lie above the true one by the gap.
    gap = getattr(problem.constants, "optimum_gap", 0.0)
    private = series[0]
    if gap > NOTABLE_GAP * private.final.mean:
        message = (
            f"the optimum is known up to {gap:.3g} only, which is more than"
            f" {NOTABLE_GAP:.0%} of the measured excess; verdicts on bounds allow for it"
        )
        warnings.append(Caution(code="optimum-gap", message=message))
    return tuple(warnings)


def _large_gradients(series: Sequence[SeriesAnswer], lipschitz: float) -> Iterator[Caution]:
    """Warn of each run in which the norm of some gradient exceeded the problem's Lipschitz constant.

    Noise and bounds are computed from this constant, so they do not apply to such a run.

    Args:
        series: summaries of the runs. Runs without a measured gradient norm are ignored.
        lipschitz: the Lipschitz constant, a bound on the norm of every gradient.

    Yields:
        One warning for each such run.
    """
    for run in series:
        if GRADIENT_NORM not in run.diagnostics:
            continue
        largest = run.diagnostics[GRADIENT_NORM].largest
        if largest > lipschitz * (1.0 + ROUNDING):
            yield Caution(
                code="lipschitz-exceeded",
                message=f"{run.name}: a gradient of norm {largest:.6g} was met, above the"
                f" bound {lipschitz:.6g}: neither privacy nor bounds are about this run",
            )
