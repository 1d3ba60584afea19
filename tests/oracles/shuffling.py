"""Shuffled reports by enumeration, from the definition, in exact fractions; and the blanket's sum on a lattice."""

from __future__ import annotations

import itertools
import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from fractions import Fraction

import numpy as np
from scipy.special import ndtr

Row = Sequence[Fraction]
Law = dict[tuple[int, ...], Fraction]


def response_rows(odds: int, categories: int) -> list[list[Fraction]]:
    """k-ary randomized response with e^ε₀ = odds."""
    return [
        [Fraction(odds if i == j else 1, odds + categories - 1) for j in range(categories)] for i in range(categories)
    ]


def shuffled(rows: Iterable[Row]) -> Law:
    """The law of the multiset of reports, as counts, of clients with these outcome laws."""
    law: Law = {}
    for row in rows:
        start = law or {(0,) * len(row): Fraction(1)}
        law = {}
        for counts, mass in start.items():
            for outcome, probability in enumerate(row):
                if probability:
                    after = (*counts[:outcome], counts[outcome] + 1, *counts[outcome + 1 :])
                    law[after] = law.get(after, Fraction(0)) + mass * probability
    return law


def permuted(rows: Sequence[Row]) -> dict[tuple[int, ...], Fraction]:
    """The law of the sequence that the shuffler puts out: all reports, all permutations."""
    law: defaultdict[tuple[int, ...], Fraction] = defaultdict(Fraction)
    orders = list(itertools.permutations(range(len(rows))))
    for reports in itertools.product(*(range(len(row)) for row in rows)):
        mass = math.prod(row[report] for row, report in zip(rows, reports, strict=True))
        for order in orders:
            law[tuple(reports[i] for i in order)] += Fraction(mass, len(orders))
    return dict(law)


def divergence(p: dict[tuple[int, ...], Fraction], q: dict[tuple[int, ...], Fraction], alpha: Fraction) -> Fraction:
    """E_α(P‖Q)."""
    return sum((max(mass - alpha * q.get(key, Fraction(0)), Fraction(0)) for key, mass in p.items()), Fraction(0))


def shuffled_delta(rows: Sequence[Row], clients: int, alpha: Fraction) -> Fraction:
    """The largest divergence over all contributions of the others and all ordered pairs of the victim's."""
    others = [
        shuffled([rows[i] for i in chosen])
        for chosen in itertools.combinations_with_replacement(range(len(rows)), clients - 1)
    ]
    worst = Fraction(0)
    for law in others:
        worlds = [_joined(law, row) for row in rows]
        worst = max([worst, *(divergence(p, q, alpha) for p, q in itertools.permutations(worlds, 2))])
    return worst


def _joined(law: Law, row: Row) -> Law:
    start = law or {(0,) * len(row): Fraction(1)}
    after: Law = {}
    for counts, mass in start.items():
        for outcome, probability in enumerate(row):
            key = (*counts[:outcome], counts[outcome] + 1, *counts[outcome + 1 :])
            after[key] = after.get(key, Fraction(0)) + mass * probability
    return after


def clone_delta(clients: int, rate: Fraction, odds: Fraction, alpha: Fraction, *, count_seen: bool = True) -> Fraction:
    """E_α of (A + Δ, C − A + 1 − Δ) against (A + 1 − Δ, C − A + Δ), or of their first entries if C is not seen."""
    worlds: list[Law] = [{}, {}]
    for clones in range(clients):
        mass = math.comb(clients - 1, clones) * rate**clones * (1 - rate) ** (clients - 1 - clones)
        for first in range(clones + 1):
            half = mass * Fraction(math.comb(clones, first), 2**clones)
            for bit, weight in ((1, odds / (1 + odds)), (0, 1 / (1 + odds))):
                for world, shown in ((0, bit), (1, 1 - bit)):
                    seen = (first + shown, clones - first + 1 - shown) if count_seen else (first + shown,)
                    worlds[world][seen] = worlds[world].get(seen, Fraction(0)) + half * weight
    return divergence(worlds[0], worlds[1], alpha)


def blanket_delta(rows: Sequence[Row], clients: int, alpha: Fraction) -> Fraction:
    """max over pairs of (1/n) E[(Y₁ + … + Y_n)₊], Y = (R_x − αR_x′)/w with probability w = min R, else 0."""
    common = [min(column) for column in zip(*rows, strict=True)]
    worst = Fraction(0)
    for p, q in itertools.permutations(rows, 2):
        law: dict[Fraction, Fraction] = {Fraction(0): Fraction(1)}
        step = Counter({Fraction(0): 1 - sum(common)})
        for w, first, second in zip(common, p, q, strict=True):
            step[(first - alpha * second) / w] += w
        for _ in range(clients):
            after: defaultdict[Fraction, Fraction] = defaultdict(Fraction)
            for total, mass in law.items():
                for place, weight in step.items():
                    after[total + place] += mass * weight
            law = dict(after)
        worst = max(worst, sum((mass * total for total, mass in law.items() if total > 0), Fraction(0)) / clients)
    return worst


def gaussian_blanket_ends(
    clients: int, noise: float, epsilon: float, *, step: float, cells: int, cut: float
) -> tuple[float, float]:
    """Both ends of (1/n) E[(Y₁ + … + Y_n)₊] for Gaussian reports, Y dropped above w = cut: every Y rounded down, or up."""
    c, alpha = 1.0 / noise, math.exp(epsilon)
    edges = np.arange(-cells // 2, cells // 2 + 1) * step
    below = np.log(np.maximum((1.0 - edges) / alpha, 1.0)) / (2.0 * c)
    above = np.minimum(np.log(np.maximum(edges + alpha, 1.0)) / (2.0 * c), cut)
    distribution = np.where(edges < 1.0 - alpha, ndtr(-(below + c)), ndtr(-c))
    distribution = distribution + np.where(edges > 1.0 - alpha, ndtr(above + c) - ndtr(c), 0.0)
    mass, ends = np.diff(distribution), []
    for shift in (0, 1):
        law = np.roll(mass, shift)
        law[cells // 2] += 1.0 - law.sum()
        total = np.fft.fftshift(np.fft.irfft(np.fft.rfft(np.fft.ifftshift(law)) ** clients, cells))
        ends.append(float(total @ np.maximum(edges[:-1], 0.0)) / clients)
    return ends[0], ends[1]
