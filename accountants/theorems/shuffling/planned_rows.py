"""Where the rows of a table lie, and which of many bounds is evaluated at each: by estimates, many rows at once.

Whatever is planned, every row is certified. What matters is that rows follow the bound's scale, that few different
bounds serve all of them, as each costs something before it is asked, and that no two rows are too far apart.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from epsilond.accountants.numerics.special import FloatArray

    IntArray = np.ndarray[tuple[int, ...], np.dtype[np.int64]]

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
LOCAL = -1
"""In place of a choice: the bound that needs none."""


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


def certified_rows(known: Estimates, upper: Callable[[int, FloatArray], FloatArray], *, coarse: bool = False) -> Rows:
    """Rows down to δ = 1e-312, or to where it no longer falls; `upper` certifies a choice at several ε.

    `coarse`: a third of the rows and of the work, for a search.
    """
    times = _COARSE if coarse else 1.0
    least = np.minimum(known.choices.min(axis=1), known.local)
    places = _places(known.epsilon, least, times)
    found = _evaluated(known, places, upper, times)
    for _ in range(2):
        fallen = -np.diff(np.minimum.accumulate(found.log_value))
        much = fallen > _TOO_FAR * times * wanted(found.log_value[:-1], float(found.log_value[0]))
        much &= (np.diff(found.epsilon) > 1e-9 * found.epsilon[1:]) & (found.log_value[:-1] > _DEEP)
        if not much.any():
            break
        between = 0.5 * (found.epsilon[:-1] + found.epsilon[1:])[much]
        added = _evaluated(known, between, upper, times)
        order = np.argsort(np.concatenate((found.epsilon, added.epsilon)), kind="stable")
        found = Rows(*(np.concatenate(pair)[order] for pair in zip(found, added, strict=True)))
    return found


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


def _evaluated(
    known: Estimates, places: FloatArray, upper: Callable[[int, FloatArray], FloatArray], times: float
) -> Rows:
    """The rows at these ε, certified by their choices, and by the bound that needs none where that may be less."""
    near = np.minimum(np.searchsorted(known.epsilon, places), known.epsilon.size - 1)
    local = known.local[near]
    found = np.zeros(places.size)
    for run in _covering(known.choices[near], local, times):
        # Where one choice follows another the estimates are nearly the same, and either may be better.
        rows = slice(max(run.start - _BESIDE, 0), run.end + _BESIDE)
        found[rows] = np.minimum(found[rows], upper(run.choice, places[rows]))
    # The estimate of the local bound is that of a smaller ε: there it is nearly exact.
    doubtful = local < found + 1.0
    if doubtful.any():
        found[doubtful] = np.minimum(found[doubtful], upper(LOCAL, places[doubtful]))
    return Rows(places, found)


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
