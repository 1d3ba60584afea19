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
    """The bound on the risk of the initial model, before a run, and the objective of the risk.

    Attributes:
        objective: the loss that the risk is about: population, empirical or personalized.
        baseline: the bound, with its formula.
    """

    objective: Objective
    baseline: Baseline

    def vacuous(self, bound: float) -> bool:
        """Return whether an upper bound is vacuous: no better than the bound on the risk before training."""
        return self.baseline.covers(bound)

    def warning(self, code: str, name: str, bound: float) -> Caution:
        """Return a warning that a bound is vacuous: no better than the bound on the risk before training.

        Args:
            code: code of the warning, which programs can compare.
            name: name of the bound in the message, such as "the bound on the excess risk".
            bound: value of the bound, in units of the loss.

        Returns:
            The warning. The caller checks that the bound is vacuous.
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

    There are up to three bounds from the constants of the objective: L·D for a Lipschitz one, a smaller one if it is
    also strongly convex, and G*·D + β·D²/2 for a smooth one. Here D is the distance to a minimiser.

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

    # The formula of each bound. A strongly convex loss falls by at most L²/(2μ), which the formula with D gives at
    # D = L/μ.
    symbol = distance_symbol
    is_far = lipschitz is not None and strong_convexity > 0.0 and distance * strong_convexity >= lipschitz
    formulas = {
        "by_lipschitz": f"L·{symbol}",
        "by_strong_convexity": "L²/(2μ)" if is_far else f"L·{symbol} − μ·{symbol}²/2",
        "by_smoothness": f"β·{symbol}²/2" if minimiser_gradient_norm == 0.0 else f"G*·{symbol} + β·{symbol}²/2",
    }

    # The least of the bounds, and of the stated excess risk.
    least = min(bounds, key=bounds.__getitem__)
    value = bounds[least]
    formula = formulas[least]
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
        The risk with the marks, the objective and the bound on the initial risk. It is unchanged if either is None.
    """
    if risk is None or start is None:
        return risk
    upper = risk.upper
    prescribed = risk.as_prescribed
    if upper is not None and upper.constant == "explicit":
        upper = replace(upper, vacuous=start.vacuous(upper.value))
    if prescribed is not None:
        prescribed = replace(prescribed, vacuous=start.vacuous(prescribed.certified_noise))
    return replace(risk, objective=start.objective, baseline=start.baseline, upper=upper, as_prescribed=prescribed)


def mark_vacuous_runs(frontier: tuple[FrontierRun, ...] | None, start: Start | None) -> tuple[FrontierRun, ...] | None:
    """Mark the alternative runs with a vacuous risk bound: one no better than the bound for the initial model.

    Args:
        frontier: the runs; None if no run was chosen.
        start: the bound on the risk before training; None if there is none.

    Returns:
        The runs with the marks. The frontier is unchanged if either is None.
    """
    if start is None or frontier is None:
        return frontier
    return tuple(replace(run, vacuous=start.vacuous(run.risk)) for run in frontier)


def risk_cautions(risk: Risk | None, start: Start | None) -> Iterator[Caution]:
    """Yield a warning for each bound that `mark_vacuous_risk` has marked as no better than the start.

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
        yield start.warning(VACUOUS_RISK, "the bound on the excess risk", upper.value)
    prescribed = risk.as_prescribed
    if prescribed is not None and prescribed.vacuous:
        name = f"the bound at the run that {prescribed.theorem} ({prescribed.reading}) prescribes"
        yield start.warning(VACUOUS_PRESCRIBED_RISK, name, prescribed.certified_noise)


def mark_vacuous_readings(readings: Iterable[PrintedReading], start: Start | None) -> tuple[PrintedReading, ...]:
    """Mark the theorems of papers that claim a risk no better than the bound on the risk of the initial model.

    Those without a claimed risk are unchanged, and so are all if `start` is None.

    Args:
        readings: interpretations of the printed theorems.
        start: bound on the risk of the initial model, if known.

    Returns:
        The readings with the marks, in their order.
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
        # An order of growth is no number that could be compared.
        if bound.value is None:
            upper.append(bound)
            continue
        is_vacuous = start.vacuous(bound.value)
        upper.append(replace(bound, vacuous=is_vacuous))
        if is_vacuous:
            name_of_bound = f"the bound of {bound.theorem} ({bound.reading})"
            warnings.append(start.warning(VACUOUS_RISK, name_of_bound, bound.value))
    return replace(
        answer,
        objective=start.objective,
        baseline=start.baseline,
        upper=tuple(upper),
        warnings=tuple(warnings),
    )


def _mark_vacuous_claim(reading: PrintedReading, start: Start) -> PrintedReading:
    """Mark a paper's claimed risk as vacuous if it is no smaller than the bound on the risk before training.

    The objective and that bound are added to the claim. A statement that claims no risk is unchanged.

    Args:
        reading: the evaluated statement of the paper.
        start: the bound on the risk before training.

    Returns:
        A copy of the statement with the mark, or the statement itself if it claims no risk.
    """
    claims = reading.claims
    if claims.excess_risk is None:
        return reading
    vacuous = start.vacuous(claims.excess_risk)
    measured_claims = replace(claims, objective=start.objective, baseline=start.baseline, vacuous=vacuous)
    return replace(reading, claims=measured_claims)
