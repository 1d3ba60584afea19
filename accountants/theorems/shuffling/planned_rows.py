"""Rows of a table, and the choice of the bound that is evaluated at each, by estimates for many rows at once.

Every row is certified, whichever plan is used. A good plan has rows at the scale of the bound, few different bounds,
because each has a fixed cost, and no large gap between rows.

A choice is a clone pair, whose δ does not depend on the noise, and a charge for the distance of the reports from it,
which does. So a table is planned, and its clone pairs are evaluated, for a whole cell of noise multipliers. At each
noise of the cell only the charges are added. The cells are fixed, so the table that is used at a noise does not depend
on earlier requests.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from epsilond.accountants.numerics.special import UNIT_ROUNDOFF
from epsilond.accountants.profiles.gaussian import gaussian_pair

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from epsilond.accountants.curve.pair import Pair
    from epsilond.accountants.numerics.special import FloatArray

    IntArray = np.ndarray[tuple[int, ...], np.dtype[np.int64]]
    Pairs = Callable[[int, FloatArray], FloatArray]

_DEEPEST, _DEEP = -720.0, -80.0
"""log δ at which a table ends, and below which rows are sparse."""
_LIKELY, _LESS_LIKELY = 9.0, 25.0
"""Depth in log δ below the first row to which rows are dense, and to which they are half as far apart as beyond."""
_OVERLAP = 3
"""Number of rows by which the ranges of neighbouring choices overlap: their estimates are nearly equal there."""
_COARSE = 3.0
"""Factor between the row spacings of a coarse table and of a fine one."""
_SPARSE_SPACING = 0.05
"""Largest relative spacing in ε of sparse rows."""
_TOO_FAR = 2.5
"""Fall of log δ between rows, relative to the planned one, above which a row is inserted."""
_TOLERATED_EXCESS = ((9.0, 0.015), (20.0, 0.1), (np.inf, 0.3))
"""Largest excess in log δ of a choice's estimate over the best one, by depth below the first row."""
GRID = 160
"""Number of ε at which choices are estimated."""
CELLS = 128
"""Number of cells of noise multipliers per factor of two."""
TABLES_KEPT = 64
"""Number of tables that are stored."""


class Rows(NamedTuple):
    """Increasing ε, and a certified upper bound of log δ at each."""

    epsilon: FloatArray
    log_value: FloatArray


class Estimates(NamedTuple):
    """Estimates of log δ.

    Attributes:
        epsilon: increasing ε from 0.
        choices: estimate for each ε (rows) and clone pair (columns).
        local: estimate of the bound without shuffling at each ε.
    """

    epsilon: FloatArray
    choices: FloatArray
    local: FloatArray


def row_spacing(value: FloatArray | float, top: float) -> FloatArray:
    """Return the fall of log δ from a row to the next one.

    The chord between two rows is too high by an eighth of the square of this fall, at most.
    """
    at = np.asarray(value)
    return np.select([at > top - _LIKELY, at < _DEEP, at > top - _LESS_LIKELY], [0.1, 5.0, 0.35], 0.7)


def epsilon_grid(scale: float, furthest: float) -> FloatArray:
    """Return ε from 0 to `furthest`: evenly spaced up to about `scale`, at equal ratios beyond."""
    start = max(min(0.25 * scale, furthest), 1e-300)
    places = start * np.sinh(np.linspace(0.0, np.arcsinh(furthest / start), GRID))
    places[-1] = furthest
    return np.asarray(places)


def cell_representative(pair: Pair) -> Pair:
    """Return the Gaussian pair in the middle of the cell of a Gaussian pair; any other pair unchanged.

    Within a cell the best choices differ by less than neighbouring choices do.
    """
    mu = pair.gaussian_dp_mu
    return gaussian_pair(2.0 ** (round(CELLS * math.log2(mu)) / CELLS)) if mu else pair


class Costs(NamedTuple):
    """The part of a table that depends on the noise.

    Attributes:
        log_distance: log total variation distance of the reports from each clone pair.
        local: function from ε to log δ of the bound without shuffling.
    """

    log_distance: FloatArray
    local: Callable[[FloatArray], FloatArray]


@dataclass(frozen=True)
class Table:
    """Upper bounds on log δ of some clone pairs at some ε, before the charge that depends on the noise is added.

    Attributes:
        epsilon: ε of each row, increasing.
        row: index of the row of each value.
        choice: index of the clone pair of each value.
        value: upper bound on log δ of this clone pair at the row's ε.
    """

    epsilon: FloatArray
    row: IntArray
    choice: IntArray
    value: FloatArray

    def merge(self, additional: Table) -> Table:
        """Return a table with the rows of both, sorted by ε."""
        epsilon = np.concatenate((self.epsilon, additional.epsilon))
        order = np.argsort(epsilon, kind="stable")
        place = np.empty_like(order)
        place[order] = np.arange(order.size)
        row = place[np.concatenate((self.row, additional.row + self.epsilon.size))]
        choice = np.concatenate((self.choice, additional.choice))
        return Table(epsilon[order], row, choice, np.concatenate((self.value, additional.value)))

    def compact(self) -> tuple[IntArray, Table]:
        """Return the indices of the clone pairs that have values, and the table with indices into these only."""
        used, places = np.unique(self.choice, return_inverse=True)
        return used, Table(self.epsilon, self.row, places, self.value)

    def rows(self, costs: Costs) -> Rows:
        """Return the least certified upper bound on log δ at each ε.

        Args:
            costs: the charge of each clone pair at the noise, and the bound without shuffling.
        """
        least = np.zeros(self.epsilon.size)
        charge = costs.log_distance[self.choice] + np.logaddexp(0.0, self.epsilon)[self.row]
        log_sum = np.logaddexp(self.value, charge)
        upper = log_sum * (1.0 - 4.0 * UNIT_ROUNDOFF) + 8.0 * UNIT_ROUNDOFF  # above it if it is below 0; −∞ stays
        np.minimum.at(least, self.row, upper)
        return Rows(self.epsilon, np.minimum(least, costs.local(self.epsilon)))


def plan_table(estimates: Estimates, pairs: Pairs, costs: Costs, *, coarse: bool = False) -> Table:
    """Choose rows and clone pairs by estimates, and evaluate the pairs there.

    The rows end at δ = 1e-312, or at the ε from which log δ no longer falls. Two rows are at most a few tenths of log δ
    apart where δ matters most.

    Args:
        estimates: estimates of log δ of each clone pair.
        pairs: function from the index of a clone pair and an array of ε to upper bounds on its log δ.
        costs: charges at the noise for which the rows are spaced.
        coarse: whether to use a third of the rows, for a search.
    """
    times = _COARSE if coarse else 1.0
    least = np.minimum(estimates.choices.min(axis=1), estimates.local)
    table = _evaluate(estimates, _row_places(estimates.epsilon, least, times), pairs, times)
    for _ in range(2):
        rows = table.rows(costs)
        fall = -np.diff(np.minimum.accumulate(rows.log_value))
        too_far = fall > _TOO_FAR * times * row_spacing(rows.log_value[:-1], float(rows.log_value[0]))
        too_far &= (np.diff(rows.epsilon) > 1e-9 * rows.epsilon[1:]) & (rows.log_value[:-1] > _DEEP)
        if not too_far.any():
            break
        middles = 0.5 * (rows.epsilon[:-1] + rows.epsilon[1:])[too_far]
        table = table.merge(_evaluate(estimates, middles, pairs, times))
    return table


def _row_places(epsilon: FloatArray, estimate: FloatArray, times: float) -> FloatArray:
    """Return the ε of the rows.

    From each row to the next the estimate of log δ falls by about `row_spacing`. The last row is where the estimate
    stops falling.

    Args:
        epsilon: increasing ε.
        estimate: estimate of log δ at each ε.
        times: factor of the spacing.
    """
    value = np.maximum(np.minimum.accumulate(estimate), 2.0 * _DEEPEST)
    share = -np.diff(value) / row_spacing(value[:-1], float(value[0]))
    ratio = np.log(epsilon[1:] / np.maximum(epsilon[:-1], 1e-300)) / _SPARSE_SPACING
    share = np.where(value[:-1] < _DEEP, np.minimum(share, ratio), share)
    rows_before = np.append(0.0, np.cumsum(share)) / times
    last = int(np.argmax(value <= max(_DEEPEST, float(value[-1]) + 0.01)))
    inner = np.interp(np.arange(1.0, rows_before[last]), rows_before, epsilon)
    return np.unique(np.concatenate(([0.0], inner, [epsilon[last]])))


def _evaluate(estimates: Estimates, places: FloatArray, pairs: Pairs, times: float) -> Table:
    """Evaluate at some ε the clone pairs that seem best there.

    Args:
        estimates: estimates of log δ of each clone pair.
        places: the ε, increasing.
        pairs: function from the index of a clone pair and an array of ε to upper bounds on its log δ.
        times: factor of the tolerated excess over the best estimate.
    """
    near = np.minimum(np.searchsorted(estimates.epsilon, places), estimates.epsilon.size - 1)
    runs = list(_choose_runs(estimates.choices[near], estimates.local[near], times))
    # At the border of two choices the estimates are nearly the same, and either may be better.
    rows = [np.arange(max(run.start - _OVERLAP, 0), min(run.end + _OVERLAP, places.size)) for run in runs]
    values = [pairs(run.choice, places[rows_of_run]) for run, rows_of_run in zip(runs, rows, strict=True)]
    choices = np.repeat([run.choice for run in runs], [rows_of_run.size for rows_of_run in rows])
    empty = np.zeros(0)
    return Table(
        places,
        np.concatenate((empty, *rows)).astype(np.int64),
        choices.astype(np.int64),
        np.concatenate((empty, *values)),
    )


class _Run(NamedTuple):
    """Consecutive rows, from `start` and before `end`, and the index of one clone pair for all of them."""

    choice: int
    start: int
    end: int


def _choose_runs(choices: FloatArray, local: FloatArray, times: float) -> Iterator[_Run]:
    """Yield runs of consecutive rows that one clone pair serves, to evaluate few different pairs.

    A clone pair suits a row if its estimated log δ exceeds the least one by no more than the row's tolerance. Each run
    takes the pair that suits most of the following rows. Rows at which the bound without shuffling is lower by 1 or
    more in log δ are in no run.

    Args:
        choices: estimated log δ, a row for each ε and a column for each clone pair.
        local: log δ of the bound without shuffling at each ε.
        times: factor of the tolerances of `_TOLERATED_EXCESS`.
    """
    best = choices.min(axis=1)
    needed = best < local + 1.0
    # If δ of a choice is 0, that of the first row may be 0 too; the difference of both logarithms would be a NaN.
    depth = np.subtract(best[0], best, where=best > -np.inf, out=np.full(best.size, np.inf))
    depths, tolerances = (np.asarray(column) for column in zip(*_TOLERATED_EXCESS, strict=True))
    tolerance = times * tolerances[np.searchsorted(depths, depth)]
    suits = (choices <= (best + tolerance)[:, None]) & needed[:, None]
    last_row = np.zeros((1, choices.shape[1]), np.bool_)  # suits no choice, so that every run ends before it
    allowed = np.vstack((suits, last_row))
    place = 0
    while place < best.size:
        if not needed[place]:
            place += 1
            continue
        ends = np.argmin(allowed[place:], axis=0)
        choice = int(np.argmax(ends))
        yield _Run(choice, place, place + int(ends[choice]))
        place += int(ends[choice])
