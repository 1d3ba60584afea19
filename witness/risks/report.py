"""From the repetitions' numbers and the theorems' bounds to the answer."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from epsilond.accountants import ENGINE_VERSION
from epsilond.accountants.verdict import Verdict
from epsilond.calibrators.answer import Calibration, Caution
from epsilond.simulators.algorithms.algorithm import AnyRun
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
from epsilond.witness.risks.measure import band, judge_bound

GRADIENT_NORM = "largest_gradient_norm"
"""The diagnostic that is checked against the problem's Lipschitz constant."""
ROUNDING = 1e-9
"""What sums of doubles may add to a norm."""
NOTABLE_GAP = 0.01
SHARES = ("test_error", "test_accuracy")
"""Scores that are at most 1."""


BlockOfRun = tuple[Floats, Mapping[str, Floats], Mapping[str, Floats], Floats | None]
"""Excess (repetitions, rounds); diagnostics and scores on held-out records, by name (repetitions,); of the first block,
where it is asked for, the first repetition's output."""


@dataclass(frozen=True, kw_only=True)
class Measurement:
    """One run's numbers, block by block."""

    name: str
    run: AnyRun
    rounds: tuple[int, ...]
    blocks: Sequence[BlockOfRun]

    def excess(self) -> Floats:
        """(repetitions, rounds)."""
        return np.concatenate([block[0] for block in self.blocks])

    def diagnostics(self) -> Mapping[str, Floats]:
        """By name, sorted: (repetitions,)."""
        return {name: np.concatenate([block[1][name] for block in self.blocks]) for name in sorted(self.blocks[0][1])}

    def scores(self) -> Mapping[str, Floats]:
        """By name, sorted: (repetitions,)."""
        return {name: np.concatenate([block[2][name] for block in self.blocks]) for name in sorted(self.blocks[0][2])}

    def model(self) -> tuple[tuple[float, ...], ...] | None:
        """The first repetition's output, a row of weights for each model; None: not asked for, or not finite."""
        found = self.blocks[0][3]
        if found is None or not np.all(np.isfinite(found)):
            return None
        return tuple(tuple(float(weight) for weight in row) for row in np.atleast_2d(found))


def report(
    request: Any,
    problem: SimulatedProblem,
    calibration: Calibration | None,
    measurements: Sequence[Measurement],
    bounds: Sequence[PromisedBound],
) -> RiskAnswer:
    """The answer. The first measurement is the private run."""
    algorithm = algorithm_of(measurements[0].run)
    titles = {"private": algorithm.title, **algorithm.titles}
    series = tuple(_series(each, request.confidence, titles) for each in measurements)
    private = series[0]
    constants: Any = problem.constants
    # Personalised problems have exact optima, and data without end.
    gap = getattr(constants, "optimum_gap", 0.0)
    compared = tuple(_compared(each, private.final, measurements[0], request.confidence, gap) for each in bounds)
    return RiskAnswer(
        algorithm=algorithm.name,
        title=algorithm.title,
        parameters=measurements[0].run,
        guarantee=None if calibration is None else calibration.guarantee,
        client_groups=None if calibration is None else getattr(calibration.parameters, "groups", None),
        problem=ProblemAnswer(
            spec=request.problem,
            objective=getattr(problem, "objective", "population"),
            clients=problem.clients,
            samples_per_client=getattr(problem, "samples_per_client", None),
            dimension=problem.dimension,
            constants=constants,
            facts=problem.facts(),
        ),
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


def _series(measurement: Measurement, confidence: float, titles: Mapping[str, str]) -> SeriesAnswer:
    found = band(measurement.excess(), confidence)
    mean, lower, upper, error = (
        tuple(float(each) for each in part) for part in (found.mean, found.lower, found.upper, found.standard_error)
    )
    return SeriesAnswer(
        name=measurement.name,
        title=titles[measurement.name],
        role=_role(measurement.name),
        algorithm=measurement.run.algorithm,
        parameters=measurement.run,
        rounds=measurement.rounds,
        mean=mean,
        lower=lower,
        upper=upper,
        standard_error=error,
        final=Measured(mean=mean[-1], lower=lower[-1], upper=upper[-1], standard_error=error[-1]),
        scores={
            name: _mean_of(values, confidence, most=1.0 if name in SHARES else math.inf)
            for name, values in measurement.scores().items()
        }
        or None,
        diagnostics={name: _spread(values) for name, values in measurement.diagnostics().items()},
        model=measurement.model(),
    )


def _role(name: str) -> Role:
    roles: Mapping[str, Role] = {"private": "private", "non-private": "non-private"}
    return roles.get(name, "alternative")


def _spread(values: Floats) -> Spread:
    held = np.where(np.isnan(values), np.inf, values)
    return Spread(mean=float(held.mean()), least=float(held.min()), largest=float(held.max()))


def _compared(
    bound: PromisedBound, final: Measured, measurement: Measurement, confidence: float, gap: float
) -> BoundAnswer:
    """Beside the excess of the output, or beside the diagnostic that it speaks of."""
    if bound.quantity == "excess":
        return _bound(bound, final, gap)
    return _bound(bound, _mean_of(measurement.diagnostics()[bound.quantity], confidence), 0.0)


def _mean_of(values: Floats, confidence: float, most: float = math.inf) -> Measured:
    """The mean over repetitions of figures between 0 and `most`, and its band."""
    found = band(values[:, None], confidence)
    mean, lower, upper, error = (
        float(part[0]) for part in (found.mean, found.lower, found.upper, found.standard_error)
    )
    return Measured(mean=mean, lower=lower, upper=min(upper, most), standard_error=error)


def _bound(bound: PromisedBound, measured: Measured, gap: float) -> BoundAnswer:
    reason = why_not_compared(bound)
    compared = reason is None
    # Below the gap both are the gap's own size, and their ratio says nothing.
    telling = compared and 0.0 < measured.mean < math.inf and max(bound.value, measured.mean) >= gap
    return BoundAnswer(
        theorem=bound.theorem,
        status=bound.status,
        value=bound.value,
        quantity=bound.quantity,
        constant=bound.constant,
        conditions=tuple(bound.conditions),
        compared=compared,
        reason=reason,
        ratio=bound.value / measured.mean if telling else None,
        holds=judge_bound(bound.value, measured.lower, measured.upper, gap) if compared else None,
    )


def why_not_compared(bound: PromisedBound) -> str | None:
    """None for an explicit, finite bound all of whose conditions hold."""
    if bound.constant == "hidden":
        return "its constant is hidden: this is an order, and no number contradicts it"
    failing = [condition.id for condition in bound.conditions if condition.holds != Verdict.YES]
    if failing:
        return "these conditions do not hold, or cannot be decided: " + ", ".join(failing)
    return None if math.isfinite(bound.value) else "it is infinite here"


def _warnings(
    problem: SimulatedProblem, series: Sequence[SeriesAnswer], bounds: Sequence[BoundAnswer]
) -> tuple[Caution, ...]:
    private, gap = series[0], getattr(problem.constants, "optimum_gap", 0.0)
    warnings = [
        Caution(
            code="lipschitz-exceeded",
            message=f"{each.name}: a gradient of norm {each.diagnostics[GRADIENT_NORM].largest:.6g} was met, above the"
            f" bound {problem.constants.lipschitz:.6g}: neither privacy nor bounds are about this run",
        )
        for each in series
        if GRADIENT_NORM in each.diagnostics
        and each.diagnostics[GRADIENT_NORM].largest > problem.constants.lipschitz * (1.0 + ROUNDING)
    ]
    warnings += [
        Caution(code="diverged", message=f"{each.name}: some repetitions diverged; their excess is infinite")
        for each in series
        if not all(math.isfinite(value) for value in each.mean)
    ]
    warnings += [
        Caution(
            code="bound-broken",
            message=f"the whole confidence band lies above the bound of {each.theorem}, {each.value:.6g}",
        )
        for each in bounds
        if each.holds == Verdict.NO
    ]
    if gap > NOTABLE_GAP * private.final.mean:
        message = (
            f"the optimum is known up to {gap:.3g} only, which is more than"
            f" {NOTABLE_GAP:.0%} of the measured excess; verdicts on bounds allow for it"
        )
        warnings.append(Caution(code="optimum-gap", message=message))
    return tuple(warnings)
