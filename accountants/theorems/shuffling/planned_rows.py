"""Rows of a table, and the choice of the bound that is evaluated at each, by estimates for many rows at once.

Every row is certified, with every plan. A good plan has rows at the scale of the bound, few different bounds, because
each has a fixed cost, and no large gap between rows.

A choice is a clone pair, and a charge for the distance of the reports from it. The δ of the pair does not depend on the
noise, and the charge does. So a table is planned, and its clone pairs are evaluated, for a whole cell of noise
multipliers. At each noise of the cell only the charges are added. The cells are fixed, so the table that is used at a
noise does not depend on earlier requests.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from epsilond.accountants.numerics.special import UNIT_ROUNDOFF

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

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
"""Least relative spacing in ε of sparse rows."""
_TOO_FAR = 2.5
"""Ratio of the fall of log δ between two rows to the planned fall, above which a row is inserted."""
_MOST_INSERTIONS = 2
"""Number of times that rows are inserted into a table between others that are too far apart."""
_TOLERATED_EXCESS = ((9.0, 0.015), (20.0, 0.1), (np.inf, 0.3))
"""Largest excess in log δ of a choice's estimate over the best one, by depth below the first row."""
GRID = 160
"""Number of ε at which choices are estimated."""
TABLES_KEPT = 64
"""Number of tables that are stored."""


class Rows(NamedTuple):
    """A table of upper bounds on δ at increasing ε, between which interpolation bounds δ.

    Attributes:
        epsilon: increasing ε, in nats.
        log_value: certified upper bound on log δ at each ε.
    """

    epsilon: FloatArray
    log_value: FloatArray


class Estimates(NamedTuple):
    """Estimates of log δ of shuffled reports, by which a table of certified bounds is planned.

    There are several bounds to choose from. Each belongs to a clone pair: two distributions of a protected report that
    hides among similar reports, its clones.

    Attributes:
        epsilon: increasing ε from 0, in nats.
        choices: estimates of log δ, with a row for each ε and a column for each clone pair.
        local: estimate of log δ without shuffling at each ε.
    """

    epsilon: FloatArray
    choices: FloatArray
    local: FloatArray


def row_spacing(value: FloatArray | float, top: float) -> FloatArray:
    """Return by how much log δ should fall from one row of a table of bounds to the next.

    A row is an ε with an upper bound on log δ. Linear interpolation between rows raises log δ by at most fall²/8. This
    is about 0.001, 0.015, 0.06 and 3 for the falls 0.1, 0.35, 0.7 and 5, of which larger δ get the smaller ones.

    Args:
        value: natural logarithm of δ at a row, or at several rows.
        top: natural logarithm of δ at ε = 0.

    Returns:
        An array with one fall for each row.
    """
    log_delta = np.asarray(value)
    is_largest = log_delta > top - _LIKELY
    is_negligible = log_delta < _DEEP
    is_large = log_delta > top - _LESS_LIKELY
    return np.select([is_largest, is_negligible, is_large], [0.1, 5.0, 0.35], default=0.7)


def epsilon_grid(scale: float, furthest: float) -> FloatArray:
    """Return `GRID` values of ε from 0 to `furthest`, evenly spaced near 0 and at equal ratios far from it.

    The values are a sinh(u) at evenly spaced u, because sinh is linear near 0 and exponential far from it.

    Args:
        scale: order of magnitude of the privacy loss, in nats. The range of even spacing is about a quarter of it.
        furthest: largest ε of the grid, in nats.

    Returns:
        An increasing array of values of ε.
    """
    linear_range = max(min(0.25 * scale, furthest), 1e-300)  # a; positive, because it is a divisor
    largest_argument = np.arcsinh(furthest / linear_range)
    epsilon = linear_range * np.sinh(np.linspace(0.0, largest_argument, GRID))
    epsilon[-1] = furthest  # exactly, in spite of rounding
    return np.asarray(epsilon)


class Costs(NamedTuple):
    """Those terms of bounds on δ of shuffled reports that depend on the noise of the reports.

    A bound is that of idealised reports, which look like the victim's report with some probability. Their distributions
    on neighbouring data are a clone pair. A term for the distance of the real reports from them is added.

    Attributes:
        log_distance: for each clone pair, log of the total variation distance of the real reports from its reports.
        local: function from ε in nats to an upper bound on log δ without shuffling.
    """

    log_distance: FloatArray
    local: Callable[[FloatArray], FloatArray]


@dataclass(frozen=True)
class Table:
    """Upper bounds on log δ of idealised shuffled reports at some ε, which do not depend on the noise of the reports.

    An idealised report hides among similar ones, its clones. Two distributions of such reports are a clone pair. A
    charge for the total variation distance of the real reports from the idealised ones is added later.

    Attributes:
        epsilon: ε of each row in nats, increasing. A row may have bounds of several clone pairs.
        row: for each bound, the index of its row in `epsilon`.
        choice: for each bound, the index of its clone pair.
        value: for each bound, the upper bound on log δ, natural logarithm.
    """

    epsilon: FloatArray
    row: IntArray
    choice: IntArray
    value: FloatArray

    def merge(self, additional: Table) -> Table:
        """Return a table with the rows and bounds of this table and of a second one, sorted by ε.

        Args:
            additional: the second table, with the same indices of clone pairs.

        Returns:
            The table, in which `row` has the indices after sorting.
        """
        epsilon = np.concatenate((self.epsilon, additional.epsilon))
        row = np.concatenate((self.row, additional.row + self.epsilon.size))
        order = np.argsort(epsilon, kind="stable")
        index_after_sorting = np.empty_like(order)
        index_after_sorting[order] = np.arange(order.size)
        return Table(
            epsilon=epsilon[order],
            row=index_after_sorting[row],
            choice=np.concatenate((self.choice, additional.choice)),
            value=np.concatenate((self.value, additional.value)),
        )

    def compact(self) -> tuple[IntArray, Table]:
        """Renumber the clone pairs, without those that have no bound in the table.

        Returns:
            The present indices of the remaining clone pairs, and the table in which `choice` is the position in them.
        """
        used, new_choice = np.unique(self.choice, return_inverse=True)
        return used, Table(self.epsilon, self.row, new_choice, self.value)

    def rows(self, costs: Costs) -> Rows:
        """Return the least certified upper bound on log δ at each ε.

        The bound of a clone pair is its δ(ε) plus the charge (1 + e^ε) t. Here t is the total variation distance of the
        real reports from the pair. The bound without shuffling is used where it is smaller.

        Args:
            costs: distance t of each clone pair at the noise of the reports, and the bound without shuffling.

        Returns:
            The values of ε in nats, and a bound at each, which is at most 0.
        """
        log_weight = np.logaddexp(0.0, self.epsilon)  # log(1 + e^ε)
        log_charge = costs.log_distance[self.choice] + log_weight[self.row]
        log_sum = np.logaddexp(self.value, log_charge)
        # Rounded up if below 0, by more than the rounding errors of the sums; −∞ stays.
        upper = log_sum * (1.0 - 4.0 * UNIT_ROUNDOFF) + 8.0 * UNIT_ROUNDOFF
        least_in_row = np.zeros(self.epsilon.size)
        np.minimum.at(least_in_row, self.row, upper)
        return Rows(self.epsilon, np.minimum(least_in_row, costs.local(self.epsilon)))


def plan_table(estimates: Estimates, pairs: Pairs, costs: Costs, *, coarse: bool = False) -> Table:
    """Compute a table of upper bounds on log δ of shuffled reports, at values of ε that are chosen by estimates.

    Each bound belongs to a clone pair, that is, to a report that hides among similar ones. The estimates determine at
    which ε the table has rows, and which clone pair is evaluated there. The last row is at δ of about 1e-312, or where
    log δ no longer falls. Where δ is largest, log δ falls by at most a few tenths between rows.

    Args:
        estimates: estimates of log δ of each clone pair.
        pairs: function from the index of a clone pair and an array of ε to upper bounds on its log δ.
        costs: at one noise, the distance of the reports from each clone pair, and the bound without shuffling. They
            show at which ε rows are missing.
        coarse: whether to use a third of the rows, for a search.

    Returns:
        The table, with at least one bound in each row at which a clone pair may be better than no shuffling.
    """
    spacing_factor = _COARSE if coarse else 1.0
    least_estimate = np.minimum(estimates.choices.min(axis=1), estimates.local)
    planned_rows = _plan_rows(estimates.epsilon, least_estimate, spacing_factor)
    table = _evaluate_rows(estimates, planned_rows, pairs, spacing_factor)
    for _ in range(_MOST_INSERTIONS):
        middles = _find_middles_of_gaps(table.rows(costs), spacing_factor)
        if middles.size == 0:
            return table
        table = table.merge(_evaluate_rows(estimates, middles, pairs, spacing_factor))
    return table


def _find_middles_of_gaps(rows: Rows, spacing_factor: float) -> FloatArray:
    """Find the middle ε between neighbouring rows of a table that are too far apart in log δ for interpolation.

    A row is an ε with an upper bound on log δ.

    Args:
        rows: increasing ε with bounds on log δ.
        spacing_factor: factor by which all planned distances of rows are enlarged.

    Returns:
        The middles, increasing. Gaps from a log δ ≤ −80 on, or narrower than 1e-9 of ε, are left out.
    """
    epsilon, log_delta = rows
    # The bounds need not be monotone, so each is replaced by the least one so far.
    fall = -np.diff(np.minimum.accumulate(log_delta))
    planned_fall = row_spacing(log_delta[:-1], float(log_delta[0]))
    is_too_far = fall > _TOO_FAR * spacing_factor * planned_fall
    is_divisible = np.diff(epsilon) > 1e-9 * epsilon[1:]  # the middle is then a double that differs from both ε
    is_relevant = log_delta[:-1] > _DEEP
    middles = 0.5 * (epsilon[:-1] + epsilon[1:])
    return np.asarray(middles[is_too_far & is_divisible & is_relevant])


def _plan_rows(epsilon: FloatArray, estimate: FloatArray, spacing_factor: float) -> FloatArray:
    """Choose the values of ε at which a table of bounds on log δ has rows, with the density of `_rows_between`.

    The first row is at ε = 0, and the last one where the estimate of log δ no longer falls, or reaches `_DEEPEST`.

    Args:
        epsilon: increasing ε.
        estimate: estimate of log δ at each ε.
        spacing_factor: factor by which all distances of rows are enlarged; 1 for a table of full accuracy.

    Returns:
        The values of ε of the rows, increasing from 0.
    """
    # Estimates need not be monotone, so each is replaced by the least one so far.
    log_delta = np.maximum(np.minimum.accumulate(estimate), 2.0 * _DEEPEST)
    rows_before = np.append(0.0, np.cumsum(_rows_between(epsilon, log_delta))) / spacing_factor
    final_value = max(_DEEPEST, float(log_delta[-1]) + 0.01)
    last = int(np.argmax(log_delta <= final_value))
    inner_rows = np.interp(np.arange(1.0, rows_before[last]), rows_before, epsilon)
    return np.unique(np.concatenate(([0.0], inner_rows, [epsilon[last]])))


def _rows_between(epsilon: FloatArray, log_delta: FloatArray) -> FloatArray:
    """Compute how many rows a table of bounds on log δ should have between each ε and the next, not rounded.

    From row to row log δ falls by `row_spacing`. Where δ is negligible (log δ below `_DEEP`), there are fewer rows if
    they would differ by less than `_SPARSE_SPACING` in log ε.

    Args:
        epsilon: increasing ε.
        log_delta: log δ at each ε, not increasing.

    Returns:
        One number of rows for each ε but the last.
    """
    by_fall = -np.diff(log_delta) / row_spacing(log_delta[:-1], float(log_delta[0]))
    by_ratio = np.log(epsilon[1:] / np.maximum(epsilon[:-1], 1e-300)) / _SPARSE_SPACING  # the first ε is 0
    is_negligible = log_delta[:-1] < _DEEP
    return np.where(is_negligible, np.minimum(by_fall, by_ratio), by_fall)


def _evaluate_rows(estimates: Estimates, epsilon: FloatArray, pairs: Pairs, spacing_factor: float) -> Table:
    """Compute a table of bounds on log δ at given ε, with the clone pairs that are best there by estimates.

    Args:
        estimates: estimates of log δ of each clone pair.
        epsilon: the ε, increasing.
        pairs: function from the index of a clone pair and an array of ε to upper bounds on its log δ.
        spacing_factor: factor by which the tolerated excess of a pair's log δ over the best one is enlarged.

    Returns:
        The table. A row has one bound, several near the border of two clone pairs, or none where shuffling does not
        help.
    """
    nearest = np.minimum(np.searchsorted(estimates.epsilon, epsilon), estimates.epsilon.size - 1)
    runs = _choose_ranges(estimates.choices[nearest], estimates.local[nearest], spacing_factor)
    # At the border of two runs the estimates of both clone pairs are nearly the same, and either may be better.
    wide_runs = [run.widen(_OVERLAP, epsilon.size) for run in runs]
    rows = [np.arange(run.start, run.end) for run in wide_runs]
    choices = [np.full(run.end - run.start, run.choice, np.int64) for run in wide_runs]
    values = [pairs(run.choice, epsilon[run.start : run.end]) for run in wide_runs]
    # Without any run, the concatenation needs an empty array.
    no_integers = np.zeros(0, np.int64)
    row = np.concatenate((no_integers, *rows))
    choice = np.concatenate((no_integers, *choices))
    value = np.concatenate((np.zeros(0), *values))
    return Table(epsilon, row, choice, value)


class _RowRange(NamedTuple):
    """Consecutive rows of a table of bounds on δ, in all of which the same clone pair is evaluated.

    A clone pair is a pair of distributions of shuffled reports that look like the victim's with some probability.

    Attributes:
        choice: index of the clone pair.
        start: index of the first row.
        end: index after the last row.
    """

    choice: int
    start: int
    end: int

    def widen(self, margin: int, row_count: int) -> _RowRange:
        """Return a range with more rows at both ends, as far as the table has them.

        Args:
            margin: number of additional rows on each side.
            row_count: number of rows of the table.
        """
        return _RowRange(self.choice, max(self.start - margin, 0), min(self.end + margin, row_count))


def _choose_ranges(choices: FloatArray, local: FloatArray, spacing_factor: float) -> Iterator[_RowRange]:
    """Divide the rows of a table of bounds on δ into ranges, in each of which one clone pair is evaluated.

    Each clone pair, two distributions of idealised reports, gives a bound. It suits a row if its estimated log δ is at
    most the least estimate of the row plus a tolerance. Each range has the pair that suits the most consecutive rows
    from its start on, because every new pair has a fixed cost. Rows at which the bound without shuffling is lower by 1
    or more in log δ are in no range.

    Args:
        choices: estimated log δ, a row for each ε and a column for each clone pair.
        local: log δ of the bound without shuffling at each ε.
        spacing_factor: factor of the tolerances of `_TOLERATED_EXCESS`.

    Yields:
        The ranges, in the order of their rows; they do not overlap.
    """
    best = choices.min(axis=1)
    is_needed = best < local + 1.0
    largest_suitable = best + spacing_factor * _tolerated_excess(best)
    suits = (choices <= largest_suitable[:, None]) & is_needed[:, None]
    no_pair = np.zeros((1, choices.shape[1]), np.bool_)  # a last row that suits no pair, so that every range ends
    suits = np.vstack((suits, no_pair))

    start = 0
    while start < best.size:
        if not is_needed[start]:
            start += 1
            continue
        lengths = np.argmin(suits[start:], axis=0)  # number of rows until the first one that a pair does not suit
        longest = int(np.argmax(lengths))
        end = start + int(lengths[longest])
        yield _RowRange(longest, start, end)
        start = end


def _tolerated_excess(best: FloatArray) -> FloatArray:
    """Return by how much the estimate of a chosen bound on log δ may exceed the least estimate, at each row of a table.

    More is tolerated the further log δ has fallen since the first row.

    Args:
        best: array of the least estimate of log δ at each row.

    Returns:
        An array of tolerances in log δ, one for each row.
    """
    # The depth is the fall since the first row. It is infinite for δ = 0, where −∞ − (−∞) would be NaN.
    depth = np.subtract(best[0], best, where=best > -np.inf, out=np.full(best.size, np.inf))
    largest_depths, tolerances = np.asarray(_TOLERATED_EXCESS).T
    return np.asarray(tolerances[np.searchsorted(largest_depths, depth)])
