"""For each kind of spec a few concrete finite mechanisms that its words admit, the worst that come to mind.

A mechanism maps the units of a batch, (name, value) in the order of the data, to the law of what is put out. `against`
names declared conditions that rule a mechanism out; it counts wherever an answer declares none of them.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from typing import Any

import mpmath as mp

from tests.oracles.finite import black_box, response
from tests.oracles.hostile_runs import Batch, Law, Mechanism, independent

NAMED = frozenset({"same-randomizer"})
"""A report that names its sender is not a report of the mechanism that every client runs."""
ORDERED = NAMED | {"batch-has-no-order"}
ODDS = Fraction(3)
"""e^ε of every finite kind: ε = log 3 in the specs."""
_APART = 7
_DIGITS = 10**40


@dataclass(frozen=True)
class Instance:
    """A mechanism that the words admit, unless the answer declares `against`."""

    name: str
    law: Mechanism
    against: frozenset[str] = frozenset()


def plus(batch: Batch) -> int:
    """How many records are "+"."""
    return sum(value == "+" for _, value in batch)


def total(batch: Batch) -> int:
    """The sum of contributions in units of the bound on their norm: a zeroed record adds nothing."""
    return plus(batch) - sum(value == "-" for _, value in batch)


def named(batch: Batch) -> tuple[Any, ...]:
    """Who is in the batch."""
    return tuple(name for name, _ in batch)


def revealing(law: Mechanism, told: Callable[[Batch], Any]) -> Mechanism:
    """The same, with something about the batch beside it that no neighbour changes."""
    return lambda batch: {(told(batch), outcome): weight for outcome, weight in law(batch).items()}


# Noise on a sum: nothing may be chosen but how the output is read, in cells -------------------------------------------
@cache
def _normal(place: Fraction, noise: Fraction) -> Law:
    return _in_cells(mp.ncdf, place, noise)


@cache
def _laplace(place: Fraction, noise: Fraction) -> Law:
    return _in_cells(lambda x: mp.exp(x) / 2 if x < 0 else 1 - mp.exp(-x) / 2, place, noise)


def _in_cells(distribution: Callable[[Any], Any], place: Fraction, noise: Fraction) -> Law:
    """Masses of cells a third of a bound wide, in forty digits; what is beyond three bounds is one cell."""
    with mp.workdps(50):
        edges = [mp.mpf(step) / 3 for step in range(-9, 10)]
        scale, centre = mp.mpf(noise.numerator) / noise.denominator, mp.mpf(place.numerator) / place.denominator
        below = [Fraction(int(distribution((edge - centre) / scale) * _DIGITS), _DIGITS) for edge in edges]
    steps = [Fraction(0), *below, Fraction(1)]
    return {cell: right - left for cell, (left, right) in enumerate(zip(steps, steps[1:], strict=False))}


def gaussian(spec: Any, _: str) -> Iterator[Instance]:
    """The noisy sum."""
    noise = Fraction(spec.noise_multiplier)
    yield Instance("sum", lambda batch: _normal(Fraction(total(batch)), noise))


def laplace(spec: Any, _: str) -> Iterator[Instance]:
    """The noisy sum."""
    noise = Fraction(spec.scale_multiplier)
    yield Instance("sum", lambda batch: _laplace(Fraction(total(batch)), noise))


def gaussian_mixture(spec: Any, _: str) -> Iterator[Instance]:
    """The noisy sum, in which every record's contribution has a size of its own, of the same sign or of any."""
    noise = Fraction(spec.noise_multiplier)
    sizes = tuple(zip(map(Fraction, spec.sensitivities), map(Fraction, spec.probabilities), strict=True))

    def summed(signs: tuple[int, ...]) -> Mechanism:
        def law(batch: Batch) -> Law:
            places: dict[Fraction, Fraction] = {Fraction(0): Fraction(1)}
            for _, value in batch:
                sign = {"+": 1, "-": -1}.get(value, 0)
                added: dict[Fraction, Fraction] = {}
                for (size, chance), turn in zip(sizes, signs, strict=True):
                    for place, weight in places.items():
                        end = place + sign * turn * size
                        added[end] = added.get(end, Fraction(0)) + weight * chance
                places = added
            total: dict[Any, Fraction] = {}
            for place, weight in places.items():
                for cell, chance in _normal(place, noise).items():
                    total[cell] = total.get(cell, Fraction(0)) + weight * chance
            return total

        return law

    yield Instance("sizes", summed((1,) * len(sizes)))
    yield Instance("sizes of both signs", summed(tuple((-1) ** place for place in range(len(sizes)))))


def projected_sgd(spec: Any, _: str) -> Iterator[Instance]:
    """One step of all clients on linear losses, far from the edge of the ball: noise of every client, in every world."""
    assert spec.steps == 1
    assert spec.participants == spec.clients
    with mp.workdps(50):
        noise = Fraction(int(mp.sqrt(spec.clients) * spec.noise_schedule.constant / spec.lipschitz * _DIGITS), _DIGITS)
    yield Instance("linear losses", lambda batch: _normal(Fraction(total(batch)), noise))


# Integers with noise: any integers of that distance -------------------------------------------------------------------
def _clamped(centre: int, levels: int | None, lowest: int, highest: int) -> Law:
    """Two-sided geometric noise of ratio 1/3 around `centre`, or truncated to `levels`; the far ends are one outcome."""
    ratio, law = 1 / ODDS, dict[Any, Fraction]()
    if levels is not None:
        whole = sum((ratio ** abs(y) for y in range(-levels, levels + 1)), Fraction(0))
        return {centre + y: ratio ** abs(y) / whole for y in range(-levels, levels + 1)}
    for y in range(lowest + 1, highest):
        law[y] = (1 - ratio) / (1 + ratio) * ratio ** abs(y - centre)
    law[lowest] = ratio ** (centre - lowest) / (1 + ratio)
    law[highest] = ratio ** (highest - centre) / (1 + ratio)
    return law


def integers(spec: Any, relation: str) -> Iterator[Instance]:
    """Sums, and sums beside a count, an order or names in steps so large that they show."""
    levels = getattr(spec, "noise_levels", None)
    reach = spec.sensitivity if levels is None else int(spec.l1_sensitivity)

    def noisy(value: Callable[[Batch], int]) -> Mechanism:
        known = cache(lambda centre: _clamped(centre, levels, -3, 4 * _APART + reach + 3))
        return lambda batch: known(value(batch))

    yield from _sums(noisy, reach, relation)


def _digits(value: Any) -> Fraction:
    """A probability in forty digits."""
    return Fraction(int(value * _DIGITS), _DIGITS)


@cache
def _gaussian_integers(centre: int, scale: Fraction, lowest: int, highest: int) -> Law:
    """Discrete Gaussian noise around `centre`; the far ends are one outcome each."""
    with mp.workdps(50):
        square = 2 * (mp.mpf(scale.numerator) / scale.denominator) ** 2
        weights = {y: mp.exp(-(mp.mpf(y - centre) ** 2) / square) for y in range(lowest - 40, highest + 41)}
        whole = mp.fsum(weights.values())
        law = {y: _digits(weights[y] / whole) for y in range(lowest + 1, highest)}
        law[lowest] = _digits(mp.fsum(weights[y] for y in weights if y <= lowest) / whole)
    law[highest] = 1 - sum(law.values(), Fraction(0))
    return law


@cache
def _skellam_integers(centre: int, variance: Fraction, lowest: int, highest: int) -> Law:
    """Skellam noise around `centre`; the far ends are one outcome each."""
    with mp.workdps(50):
        mu = mp.mpf(variance.numerator) / variance.denominator
        weights = {y: mp.besseli(abs(y - centre), mu) * mp.exp(-mu) for y in range(lowest - 60, highest)}
        law = {y: _digits(weights[y]) for y in range(lowest + 1, highest)}
        law[lowest] = _digits(mp.fsum(weights[y] for y in weights if y <= lowest))
    law[highest] = 1 - sum(law.values(), Fraction(0))
    return law


def symmetric_integers(spec: Any, relation: str) -> Iterator[Instance]:
    """Sums, and sums beside a count or an order in steps so large that they show."""
    reach, scale = math.floor(spec.l2_sensitivity), Fraction(spec.primitive.scale)
    noise = _skellam_integers if spec.kind == "skellam" else _gaussian_integers

    def noisy(value: Callable[[Batch], int]) -> Mechanism:
        return lambda batch: noise(value(batch), scale, -4, 4 * _APART + reach + 4)

    yield from _sums(noisy, reach, relation)


def _sums(noisy: Callable[[Callable[[Batch], int]], Mechanism], reach: int, relation: str) -> Iterator[Instance]:
    """Sums with noise, and sums beside a count or an order."""
    yield Instance("sum", noisy(lambda batch: reach * plus(batch)))
    yield Instance("parity", noisy(lambda batch: reach * (len(batch) % 2)))
    if relation != "add-or-remove-one":
        yield Instance("count and sum", noisy(lambda batch: _APART * len(batch) + reach * plus(batch)))
        yield Instance("first and sum", noisy(lambda batch: _APART * _first(batch) + reach * plus(batch)), ORDERED)


def _first(batch: Batch) -> int:
    """The place in the data of the first record drawn, at most 3."""
    return int(min((str(name)[-1] for name in named(batch)), default="3"))


# Reports and black boxes ----------------------------------------------------------------------------------------------
def reports(spec: Any, _: str) -> Iterator[Instance]:
    """By name, in order, and as a multiset; a zeroed record is answered as "-" is."""

    def told(batch: Batch) -> Law:
        return independent([response(int(value == "+"), spec.categories, ODDS) for _, value in batch])

    def counted(batch: Batch) -> Law:
        law: dict[Any, Fraction] = {}
        for outcome, weight in told(batch).items():
            place: Any = frozenset(Counter(outcome).items())
            law[place] = law.get(place, Fraction(0)) + weight
        return law

    yield Instance("by name", revealing(told, named), NAMED)
    yield Instance("in order", told)
    yield Instance("counted", counted)


def boxes(spec: Any, relation: str) -> Iterator[Instance]:
    """A loosest (ε, δ) answer to one bit of the batch, beside whatever no neighbour in the relation changes."""
    delta = Fraction(spec.delta)
    yield from _boxes(delta, relation)


def declared_profile(spec: Any, relation: str) -> Iterator[Instance]:
    """The same mechanisms: their profile is at most 1/8 at log 3."""
    del spec
    yield from _boxes(Fraction(1, 8), relation)


def declared_divergences(spec: Any, relation: str) -> Iterator[Instance]:
    """The same with δ = 0: every divergence of order a is at most min(ε, aε²/2)."""
    del spec
    yield from _boxes(Fraction(0), relation)


def _boxes(delta: Fraction, relation: str) -> Iterator[Instance]:
    def asked(bit: Callable[[Batch], object]) -> Mechanism:
        return lambda batch: black_box(ODDS, delta, int(bool(bit(batch))))

    def each(batch: Batch) -> Law:
        return independent([black_box(ODDS, delta, int(value == "+")) for _, value in batch])

    def unordered(batch: Batch) -> Law:
        law: dict[Any, Fraction] = {}
        for outcome, weight in each(batch).items():
            place = tuple(sorted(outcome))
            law[place] = law.get(place, Fraction(0)) + weight
        return law

    yield Instance("constant", lambda _: {"nothing": Fraction(1)})
    yield Instance("any", asked(plus))
    yield Instance("parity", asked(lambda batch: len(batch) % 2))
    yield Instance("several", asked(lambda batch: len(batch) > 1))
    yield Instance("first", asked(lambda batch: batch and batch[0][1] == "+"), ORDERED)
    if relation != "add-or-remove-one":
        yield Instance("count", revealing(asked(plus), len))
        yield Instance("count of each", unordered)
        yield Instance("names", revealing(asked(plus), named), ORDERED)
        yield Instance("each in order", each, ORDERED)


# Sums of trials -------------------------------------------------------------------------------------------------------
def trials(spec: Any, relation: str) -> Iterator[Instance]:
    """Sums over the batch, with further clients of extreme values until there are enough."""
    del relation
    theta = Fraction(spec.theta)

    def summed(values: list[int]) -> Law:
        law: dict[Any, Fraction] = {0: Fraction(1)}
        for value in values:
            success = Fraction(1, 2) + value * theta
            for _ in range(spec.trials):
                following: dict[Any, Fraction] = {}
                for total, weight in law.items():
                    following[total] = following.get(total, Fraction(0)) + weight * (1 - success)
                    following[total + 1] = following.get(total + 1, Fraction(0)) + weight * success
                law = following
        return law

    def with_others(other: int) -> Mechanism:
        def released(batch: Batch) -> Law:
            values = [1 if value == "+" else -1 for _, value in batch]
            return summed(values + [other] * (spec.clients - len(values)))

        return released

    yield Instance("others low", with_others(-1))
    yield Instance("others high", with_others(1))
    yield Instance("others in the middle", with_others(0))
    yield Instance("names", revealing(with_others(-1), named), ORDERED)


# Choices by scores: two candidates whose scores change places ---------------------------------------------------------
ROOT = Fraction(math.isqrt(3 * _DIGITS**2), _DIGITS)
"""√3 = e^{ε/2} to forty digits."""
LOSERS = {"gumbel": 1 / (1 + ROOT), "exponential": 1 / (2 * ROOT)}
"""Probability that a candidate wins whose score is 1 below that of the only other one, by the noise on the scores."""


def choices(spec: Any, relation: str) -> Iterator[Instance]:
    """The choice by one bit of the batch, next to candidates whose scores tell whatever no neighbour changes."""
    loser = LOSERS[spec.primitive.noise]

    def asked(bit: Callable[[Batch], object]) -> Mechanism:
        return lambda batch: {0: 1 - loser, 1: loser} if bit(batch) else {0: loser, 1: 1 - loser}

    yield Instance("any", asked(plus))
    yield Instance("parity", asked(lambda batch: len(batch) % 2))
    yield Instance("several", asked(lambda batch: len(batch) > 1))
    yield Instance("first", asked(lambda batch: batch and batch[0][1] == "+"), ORDERED)
    if relation != "add-or-remove-one":
        yield Instance("count", revealing(asked(plus), len))
        yield Instance("names", revealing(asked(plus), named), ORDERED)


KINDS: dict[str, Callable[[Any, str], Iterator[Instance]]] = {
    "gaussian": gaussian,
    "gaussian_mixture": gaussian_mixture,
    "laplace": laplace,
    "discrete_laplace": integers,
    "truncated_discrete_laplace": integers,
    "randomized_response": reports,
    "approximate": boxes,
    "profile": declared_profile,
    "zcdp": declared_divergences,
    "rdp": declared_divergences,
    "projected_sgd": projected_sgd,
    "discrete_gaussian": symmetric_integers,
    "skellam": symmetric_integers,
    "poisson_binomial": trials,
    "exponential": choices,
    "permute_and_flip": choices,
    "report_noisy_max": choices,
}
LOG_ODDS = math.log(ODDS)
