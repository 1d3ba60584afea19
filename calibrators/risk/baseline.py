"""Comparison of risk bounds with the bound on the risk of the start.

Every calibrator states the objective of its risk and the bound on the start. Its own bound and the bounds that printed
statements claim are then marked as vacuous in one place.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING

from epsilond.accountants.theorems.risk.start import excess_risk_bounds
from epsilond.calibrators.answer import Baseline, Caution

if TYPE_CHECKING:
    from epsilond.calibrators.answer import FrontierRun, Objective, PrintedReading, Risk
    from epsilond.calibrators.risk.answer import RiskBoundsAnswer, UpperBound

VACUOUS_RISK = "vacuous-risk"
VACUOUS_PRESCRIBED_RISK = "vacuous-prescribed-risk"


@dataclass(frozen=True, kw_only=True)
class Start:
    """An upper bound on the risk of the initial model, before a run. Bounds on trained models are compared with it.

    Attributes:
        objective: the loss of which the risk is the excess: population, empirical or personalized.
        baseline: the bound in units of this loss, with its formula.
    """

    objective: Objective
    baseline: Baseline

    def is_vacuous(self, bound: float) -> bool:
        """Return whether an upper bound on the risk of a trained model is no better than this bound."""
        return self.baseline.covers(bound)

    def vacuous_warning(self, code: str, name: str, bound: float) -> Caution:
        """Return the warning that a bound on the risk of a trained model is no better than this bound.

        Args:
            code: code of the warning, which programs can compare.
            name: name of the bound in the message, such as "the bound on the excess risk".
            bound: value of the bound, for which `is_vacuous` is true, in units of the loss.
        """
        message = f"{name} is {bound:.6g}, {no_better(self.baseline)}: it does not show that training helps"
        return Caution(code=code, message=message)


def no_better(baseline: Baseline) -> str:
    """Return the words for a vacuous bound, for example: no better than the start (L·D = 2)."""
    return f"no better than the start ({baseline})"


def start_of(
    objective: Objective,
    *,
    distance: float,
    distance_symbol: str = "D",
    lipschitz: float | Fraction | None = None,
    strong_convexity: float = 0.0,
    smoothness: float | None = None,
    minimiser_gradient_norm: float | None = None,
    gap: float | None = None,
) -> Start:
    """Return the least known upper bound on the excess risk of the initial model, before any training.

    With the distance D to a minimiser, the bounds are:

        L·D for a Lipschitz objective; L·D − μ·D²/2, but at most L²/(2μ), if it is also strongly convex,
        G*·D + β·D²/2 for a smooth objective.

    At least one of them must be known.

    Args:
        objective: the objective of the risk: population, empirical or personalized.
        distance: bound on the distance D from the initial model to a minimiser.
        distance_symbol: symbol of the distance in the formula of the answer.
        lipschitz: Lipschitz constant L of the objective, if known.
        strong_convexity: strong convexity μ of the objective.
        smoothness: smoothness β of the objective; it is used only with `minimiser_gradient_norm`.
        minimiser_gradient_norm: bound G* on the norm of the objective's gradient at the minimiser, if known.
        gap: excess risk of the initial model, if the request states it.

    Returns:
        The bound in units of the loss, with its formula and the objective.
    """
    bounds = excess_risk_bounds(
        distance=distance,
        lipschitz=lipschitz,
        strong_convexity=strong_convexity,
        smoothness=smoothness,
        minimiser_gradient_norm=minimiser_gradient_norm,
    )

    # L·D − μ·D²/2 is largest at D = L/μ. For larger distances its value L²/(2μ) there is the bound.
    symbol = distance_symbol
    is_far = lipschitz is not None and strong_convexity > 0.0 and distance * strong_convexity >= lipschitz
    formulas = {
        "by_lipschitz": f"L·{symbol}",
        "by_strong_convexity": "L²/(2μ)" if is_far else f"L·{symbol} − μ·{symbol}²/2",
        "by_smoothness": f"β·{symbol}²/2" if minimiser_gradient_norm == 0.0 else f"G*·{symbol} + β·{symbol}²/2",
    }

    least = min(bounds, key=bounds.__getitem__)
    value, formula = bounds[least], formulas[least]
    if gap is not None and gap < value:
        value = gap
        formula = "the initial_gap given"
    return Start(objective=objective, baseline=Baseline(value=value, formula=formula))


def mark_vacuous_risk(risk: Risk | None, start: Start | None) -> Risk | None:
    """Mark the bounds on a risk that are vacuous: no smaller than the bound on the risk of the initial model.

    Args:
        risk: the bounds; None if no theorem bounds the risk.
        start: the bound on the risk before training; None if there is none.

    Returns:
        A copy of `risk` with the marks, the objective and the bound on the initial risk. `risk` itself if either
        argument is None.
    """
    if risk is None or start is None:
        return risk
    upper = risk.upper
    prescribed = risk.as_prescribed
    if upper is not None and upper.constant == "explicit":
        upper = replace(upper, vacuous=start.is_vacuous(upper.value))
    if prescribed is not None:
        prescribed = replace(prescribed, vacuous=start.is_vacuous(prescribed.certified_noise))
    return replace(risk, objective=start.objective, baseline=start.baseline, upper=upper, as_prescribed=prescribed)


def mark_vacuous_runs(frontier: tuple[FrontierRun, ...] | None, start: Start | None) -> tuple[FrontierRun, ...] | None:
    """Mark the alternative runs with a vacuous risk bound: one no better than the bound for the initial model.

    Args:
        frontier: the runs; None if no run was chosen.
        start: the bound on the risk before training; None if there is none.

    Returns:
        Copies of the runs with the marks. `frontier` itself if either argument is None.
    """
    if start is None or frontier is None:
        return frontier
    return tuple(replace(run, vacuous=start.is_vacuous(run.risk)) for run in frontier)


def risk_cautions(risk: Risk | None, start: Start | None) -> Iterator[Caution]:
    """Yield a warning for each bound that `mark_vacuous_risk` has marked as no better than before training.

    Args:
        risk: the marked bounds; None if no theorem bounds the risk.
        start: the bound on the risk before training; None if there is none.

    Yields:
        At most two warnings, for the run of the answer and for the run that a paper prescribes.
    """
    if risk is None or start is None:
        return
    upper = risk.upper
    if upper is not None and upper.vacuous:
        yield start.vacuous_warning(VACUOUS_RISK, "the bound on the excess risk", upper.value)
    prescribed = risk.as_prescribed
    if prescribed is not None and prescribed.vacuous:
        name = f"the bound at the run that {prescribed.theorem} ({prescribed.reading}) prescribes"
        yield start.vacuous_warning(VACUOUS_PRESCRIBED_RISK, name, prescribed.certified_noise)


def mark_vacuous_readings(readings: Iterable[PrintedReading], start: Start | None) -> tuple[PrintedReading, ...]:
    """Mark the theorems of papers with a claimed risk no better than the bound on the risk of the initial model.

    Args:
        readings: the readings, that is, interpretations of the printed theorems.
        start: the bound on the risk before training; None if there is none.

    Returns:
        The readings in their order, with the marks. A reading that claims no risk is unchanged, and so are all if
        `start` is None.
    """
    if start is None:
        return tuple(readings)
    return tuple(_mark_vacuous_claim(reading, start) for reading in readings)


def mark_vacuous_bounds(answer: RiskBoundsAnswer, start: Start) -> RiskBoundsAnswer:
    """Mark the upper bounds that are vacuous, and add a warning for each.

    A bound is vacuous if it is no smaller than the bound on the risk of the initial model. Orders without a value are
    not compared.

    Args:
        answer: the answer about risk bounds.
        start: the bound on the risk before training, for the same objective as the upper bounds.

    Returns:
        A copy of the answer with the marks, the warnings and the bound on the initial risk.
    """
    upper: list[UpperBound] = []
    warnings = list(answer.warnings)
    for bound in answer.upper:
        if bound.value is None:
            upper.append(bound)
            continue
        is_vacuous = start.is_vacuous(bound.value)
        upper.append(replace(bound, vacuous=is_vacuous))
        if is_vacuous:
            name_of_bound = f"the bound of {bound.theorem} ({bound.reading})"
            warnings.append(start.vacuous_warning(VACUOUS_RISK, name_of_bound, bound.value))
    return replace(
        answer,
        objective=start.objective,
        baseline=start.baseline,
        upper=tuple(upper),
        warnings=tuple(warnings),
    )


def _mark_vacuous_claim(reading: PrintedReading, start: Start) -> PrintedReading:
    """Mark whether the risk that a paper claims is no smaller than the bound on the risk before training.

    Args:
        reading: the evaluated statement of the paper.
        start: the bound on the risk before training.

    Returns:
        A copy of the statement with the mark, the objective and that bound; `reading` itself if it claims no risk.
    """
    claims = reading.claims
    if claims.excess_risk is None:
        return reading
    is_vacuous = start.is_vacuous(claims.excess_risk)
    marked_claims = replace(claims, objective=start.objective, baseline=start.baseline, vacuous=is_vacuous)
    return replace(reading, claims=marked_claims)
