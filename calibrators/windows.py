"""The consequence of a guarantee for one window for all windows of a record or client, as accounts serve it."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Annotated, TypeVar

from epsilond.accountants.curve.curve import Curve
from epsilond.accountants.curve.enclosure import Interval
from epsilond.accountants.errors import InvalidInput
from epsilond.accountants.quantities import (
    DrawScheme,
    NeighbourFields,
    ProtectedUnit,
    Quantity,
    Relation,
    WindowedUnit,
    base_unit,
)
from epsilond.accountants.specs import Spec, Subsampled
from epsilond.accountants.statements.settings import join_statements
from epsilond.accountants.statements.windows import restate_for_window, window_conditions
from epsilond.accountants.structure import parts
from epsilond.accountants.structure.random_draws import draw_scheme
from epsilond.accountants.target import natural_log_delta
from epsilond.accountants.theorem import Condition
from epsilond.accountants.theorems.conversions.groups import GROUP_PRIVACY
from epsilond.accountants.theorems.conversions.windows import epsilon_over_windows, log_delta_over_windows
from epsilond.calibrators.answer import Ends, GuaranteeAnswer, Served
from epsilond.calibrators.points import Point

POPULATION_DRAWS: tuple[DrawScheme, ...] = ("truncated-poisson", "without-replacement", "with-replacement")
"""Sampling schemes whose inclusion probabilities depend on the number of all records or clients."""
ProblemT = TypeVar("ProblemT", bound=NeighbourFields)
WINDOWS = Quantity(
    symbol="w",
    ge=1,
    le=1_000_000,
    description="number of windows in which one record or client contributes; under replace-one, those of its "
    "replacement count too. If given, the answer also bounds ε and δ for all these windows "
    "together",
)


@dataclass(frozen=True, kw_only=True)
class OverWindows:
    """The guarantee for all windows of a record or client together, at the first requested point, by group privacy."""

    windows: int
    epsilon: Annotated[
        Ends, Served("ε for all windows together: the requested ε; at a requested δ an upper bound, with lower bound 0")
    ]
    delta: Annotated[
        Ends, Served("δ for all windows together: the requested δ; at a requested ε an upper bound, with lower bound 0")
    ]
    log10_delta: Annotated[
        Ends,
        Served(
            "base-10 logarithm of this δ: the requested value, or at a requested ε an upper bound without a lower one"
        ),
    ]
    theorem: str
    in_words: str


def reject_uncovered_windows(windows: int, spec: Spec, relation: Relation) -> None:
    """Reject a bound over several time windows if group privacy does not cover them.

    Group privacy removes the windows one after another. Under add-or-remove-one each removal makes the population
    smaller. In a smaller population, a batch of fixed size contains each unit with a larger probability, and a largest
    batch truncates less. The curve of the full population is not proved for that.

    Args:
        windows: number of windows in which the record or client contributes.
        spec: mechanism of the run.
        relation: the neighbouring relation.

    Raises:
        InvalidInput: the relation is add-or-remove-one, there are several windows, and the inclusion probabilities of
            some batch depend on the population.
    """
    if windows == 1 or relation != "add-or-remove-one":
        return
    batches = (part for part in parts(spec) if isinstance(part, Subsampled))
    if any(draw_scheme(part) in POPULATION_DRAWS for part in batches):
        message = (
            "must be 1 for batches of a fixed or largest size under add-or-remove-one, because the curve is that of "
            "one population, and each window less makes the population smaller"
        )
        raise InvalidInput.at("/windows", message, allowed="1, or the relation replace-one or zero-out-one")


def bound_over_windows(curve: Curve, unit: ProtectedUnit, windows: int, point: Point, quantity: str) -> OverWindows:
    """Bound ε or δ for all time windows of a record or client together, by group privacy.

    Args:
        curve: privacy curve for the contributions within one window.
        unit: the protected unit, with its window.
        windows: number of windows in which the record or client contributes, or its replacement under replace-one.
        point: the first requested point.
        quantity: name of the requested quantity, such as `delta`; its value at the point is kept.

    Returns:
        The requested quantity, and an upper bound on the other one for all windows, in numbers and in words.
    """
    if quantity.startswith("epsilon"):
        bounds = Interval(-math.inf, log_delta_over_windows(curve, windows, point.epsilon.upper))
        epsilon = point.epsilon
        delta = Ends.delta(bounds)
        log10_delta = Ends.log10(bounds)
    else:
        log_delta = natural_log_delta(None, point.log10_delta.lower)
        epsilon = Ends(0.0, epsilon_over_windows(curve, windows, log_delta))
        delta = point.delta
        log10_delta = point.log10_delta
    return OverWindows(
        windows=windows,
        epsilon=epsilon,
        delta=delta,
        log10_delta=log10_delta,
        theorem=GROUP_PRIVACY.id,
        in_words=_describe_protection(unit, windows),
    )


def for_whole_unit(problem: ProblemT) -> ProblemT:
    """Return a problem with the whole record or client as its protected unit, without a time window.

    Args:
        problem: the request, or a plan. It is returned unchanged if its unit has no window.
    """
    if not isinstance(problem.unit, WindowedUnit):
        return problem
    return replace(problem, unit=base_unit(problem.unit))


def guarantee_of_unit(guarantee: GuaranteeAnswer, unit: ProtectedUnit) -> GuaranteeAnswer:
    """Restate a guarantee for a whole record or client as one for its contributions within a time window.

    Args:
        guarantee: the guarantee for the whole record or client.
        unit: the requested unit. If it has no window, the guarantee is returned unchanged.

    Returns:
        A copy with the requested unit in its fields and in its sentences.
    """
    if not isinstance(unit, WindowedUnit):
        return guarantee
    statements = restate_for_window(guarantee.statements, guarantee.relation, unit)
    return replace(guarantee, unit=unit, statements=statements, in_words=join_statements(statements))


def conditions_of_unit(unit: ProtectedUnit, *, is_drawn: bool) -> tuple[Condition, ...]:
    """Return the conditions of a guarantee for a unit with a time window; an empty tuple for a unit without one.

    Args:
        unit: the protected unit.
        is_drawn: whether records or clients are sampled at random.
    """
    return window_conditions(unit, is_drawn=is_drawn) if isinstance(unit, WindowedUnit) else ()


def _describe_protection(unit: ProtectedUnit, windows: int) -> str:
    """Describe in words the protection over several windows by group privacy, and when a tighter bound exists.

    Args:
        unit: the protected unit with its window, such as a client within a day.
        windows: number of windows, at least 1.
    """
    window = unit.window if isinstance(unit, WindowedUnit) else "window"
    base = base_unit(unit)
    if windows == 1:
        within, every = f"one {window}", f"the {window}"
    else:
        within, every = f"{windows} {window}s", f"all {windows} {window}s"
    return (
        f"Protects: all contributions of one {base} within {within}, by group privacy of the curve for one "
        f"{window}. This is an upper bound. If each release reads one {window} only, an account of the releases of "
        f"{every} with the unit {base} is not larger."
    )
