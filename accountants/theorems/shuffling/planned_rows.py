"""Where the rows of a table lie, and which of many bounds is evaluated at each: by estimates, many rows at once.

Whatever is planned, every row is certified. What matters is that rows follow the bound's scale, that few different
bounds serve all of them, as each costs something before it is asked, and that no two rows are too far apart.

A choice is a clone pair, whose δ does not depend on the noise, and what it costs that reports are only near it, which
does. So a table is planned, and its clone pairs are evaluated, for a whole cell of noises; at each noise of the cell
only the costs are added. Cells are fixed: which table is used at a noise does not depend on what was asked before.
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
"""log δ where a table ends, and below which rows are rare."""
_LIKELY, _LESS_LIKELY = 9.0, 25.0
"""How far below the first row they are dense, and half as far apart as beyond."""
_BESIDE = 3
_COARSE = 3.0
_SHARE = 0.05
_TOO_FAR = 2.5
_OFF = ((9.0, 0.015), (20.0, 0.1), (np.inf, 0.3))
"""log δ by which the estimate of a bound may exceed the best one's, so far below the first row."""
GRID = 160
CELLS = 128
"""Of noises, for each factor of two."""
TABLES_KEPT = 64


class Rows(NamedTuple):
    """Increasing ε, and a certified upper end of log δ at each."""

    epsilon: FloatArray
    log_value: FloatArray


class Estimates(NamedTuple):
    """About log δ at increasing ε from 0, of each of several choices (columns), and of the bound that needs none."""

    epsilon: FloatArray
    choices: FloatArray
    local: FloatArray


def wanted(value: FloatArray | float, top: float) -> FloatArray:
    """By how much log δ is to fall from a row to the next one: a chord is a square of it over eight too high."""
    at = np.asarray(value)
    return np.select([at > top - _LIKELY, at < _DEEP, at > top - _LESS_LIKELY], [0.1, 5.0, 0.35], 0.7)


def grid(scale: float, furthest: float) -> FloatArray:
    """ε from 0 to the furthest: evenly up to about the scale, at equal ratios from there."""
    start = max(min(0.25 * scale, furthest), 1e-300)
    places = start * np.sinh(np.linspace(0.0, np.arcsinh(furthest / start), GRID))
    places[-1] = furthest
    return np.asarray(places)


def in_cell(pair: Pair) -> Pair:
    """The Gaussian pair in the middle of the cell that a Gaussian pair lies in; any other pair itself.

    Within a cell the best choices differ by less than choices do.
    """
    mu = pair.gaussian_dp_mu
    return gaussian_pair(2.0 ** (round(CELLS * math.log2(mu)) / CELLS)) if mu else pair


class Costs(NamedTuple):
    """What is added at a noise: to each choice the log distance of reports from its pair; and the bound without one."""

    log_distance: FloatArray
    local: Callable[[FloatArray], FloatArray]


@dataclass(frozen=True)
class Table:
    """Rows, and what some of the choices say at some of them before anything is charged.

    `value` is log δ of the clone pair of the choice in `choice` at the ε of the row in `row`.
    """

    epsilon: FloatArray
    row: IntArray
    choice: IntArray
    value: FloatArray

    def beside(self, other: Table) -> Table:
        """The rows of both, in their order."""
        epsilon = np.concatenate((self.epsilon, other.epsilon))
        order = np.argsort(epsilon, kind="stable")
        place = np.empty_like(order)
        place[order] = np.arange(order.size)
        row = place[np.concatenate((self.row, other.row + self.epsilon.size))]
        choice = np.concatenate((self.choice, other.choice))
        return Table(epsilon[order], row, choice, np.concatenate((self.value, other.value)))

    def of_choices(self) -> tuple[IntArray, Table]:
        """The choices that it has, and the table in which their places among these stand for them."""
        used, places = np.unique(self.choice, return_inverse=True)
        return used, Table(self.epsilon, self.row, places, self.value)

    def rows(self, costs: Costs) -> Rows:
        """The least at each row, certified."""
        found = np.zeros(self.epsilon.size)
        charge = costs.log_distance[self.choice] + np.logaddexp(0.0, self.epsilon)[self.row]
        charged = np.logaddexp(self.value, charge)
        raised = charged * (1.0 - 4.0 * UNIT_ROUNDOFF) + 8.0 * UNIT_ROUNDOFF  # where it is below 0, and −∞ stays
        np.minimum.at(found, self.row, raised)
        return Rows(self.epsilon, np.minimum(found, costs.local(self.epsilon)))


def planned(known: Estimates, pairs: Pairs, costs: Costs, *, coarse: bool = False) -> Table:
    """A table down to δ = 1e-312, or to where it no longer falls, with close enough rows at these costs.

    `pairs`: (choice, ε) ↦ upper ends of log δ of its clone pair. `coarse`: a third of the rows and of the work, for a
    search.
    """
    times = _COARSE if coarse else 1.0
    least = np.minimum(known.choices.min(axis=1), known.local)
    table = _evaluated(known, _places(known.epsilon, least, times), pairs, times)
    for _ in range(2):
        found = table.rows(costs)
        fallen = -np.diff(np.minimum.accumulate(found.log_value))
        much = fallen > _TOO_FAR * times * wanted(found.log_value[:-1], float(found.log_value[0]))
        much &= (np.diff(found.epsilon) > 1e-9 * found.epsilon[1:]) & (found.log_value[:-1] > _DEEP)
        if not much.any():
            break
        between = 0.5 * (found.epsilon[:-1] + found.epsilon[1:])[much]
        table = table.beside(_evaluated(known, between, pairs, times))
    return table


def _places(epsilon: FloatArray, estimate: FloatArray, times: float) -> FloatArray:
    """ε at which the estimate has fallen by what is wanted; where it falls no more, one row at its end."""
    value = np.maximum(np.minimum.accumulate(estimate), 2.0 * _DEEPEST)
    share = -np.diff(value) / wanted(value[:-1], float(value[0]))
    ratio = np.log(epsilon[1:] / np.maximum(epsilon[:-1], 1e-300)) / _SHARE
    share = np.where(value[:-1] < _DEEP, np.minimum(share, ratio), share)
    counted = np.append(0.0, np.cumsum(share)) / times
    ends = int(np.argmax(value <= max(_DEEPEST, float(value[-1]) + 0.01)))
    inner = np.interp(np.arange(1.0, counted[ends]), counted, epsilon)
    return np.unique(np.concatenate(([0.0], inner, [epsilon[ends]])))


def _evaluated(known: Estimates, places: FloatArray, pairs: Pairs, times: float) -> Table:
    """The clone pairs of the choices that cover these ε, evaluated there."""
    near = np.minimum(np.searchsorted(known.epsilon, places), known.epsilon.size - 1)
    runs = list(_covering(known.choices[near], known.local[near], times))
    # Where one choice follows another the estimates are nearly the same, and either may be better.
    rows = [np.arange(max(run.start - _BESIDE, 0), min(run.end + _BESIDE, places.size)) for run in runs]
    values = [pairs(run.choice, places[covered]) for run, covered in zip(runs, rows, strict=True)]
    choices = np.repeat([run.choice for run in runs], [covered.size for covered in rows])
    nothing = np.zeros(0)
    return Table(
        places,
        np.concatenate((nothing, *rows)).astype(np.int64),
        choices.astype(np.int64),
        np.concatenate((nothing, *values)),
    )


class _Run(NamedTuple):
    """Consecutive rows, from `start` and before `end`, and a choice for all of them."""

    choice: int
    start: int
    end: int


def _covering(choices: FloatArray, local: FloatArray, times: float) -> Iterator[_Run]:
    """A choice for each row that needs one, each for as many rows as its estimate allows."""
    best = choices.min(axis=1)
    needed = best < local + 1.0
    # Where a choice says that nothing is left, the first row may too, and their difference would be no number.
    fallen = np.subtract(best[0], best, where=best > -np.inf, out=np.full(best.size, np.inf))
    room = times * np.asarray([off for _, off in _OFF])[np.searchsorted([below for below, _ in _OFF], fallen)]
    allowed = np.vstack(
        ((choices <= (best + room)[:, None]) & needed[:, None], np.zeros((1, choices.shape[1]), np.bool_))
    )
    place = 0
    while place < best.size:
        if not needed[place]:
            place += 1
            continue
        ends = np.argmin(allowed[place:], axis=0)
        choice = int(np.argmax(ends))
        yield _Run(choice, place, place + int(ends[choice]))
        place += int(ends[choice])
