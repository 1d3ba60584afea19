"""The exact samplers: every path of random choices enumerated with its exact probability."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable
from fractions import Fraction

import mpmath as mp
import pytest

from epsilond.accountants.errors import InvalidInput
from epsilond.mechanisms.exact import (
    Bits,
    Choices,
    exponential_flip,
    quantized_message,
    stochastic_rounding,
    truncated_discrete_laplace,
)

SMALLEST = Fraction(1, 10**4)
"""Paths less likely than this are given up."""


class GivenUp(Exception):
    """A path became too unlikely."""


class Scripted:
    """A source that follows a script of choices and tells how many there were at each."""

    def __init__(self, script: list[int]) -> None:
        self.script, self.chances, self.options = script, Fraction(1), []

    def _choose(self, probabilities: list[Fraction]) -> int:
        place = len(self.options)
        choice = self.script[place] if place < len(self.script) else 0
        self.options.append(probabilities)
        self.chances *= probabilities[choice]
        if self.chances < SMALLEST:
            raise GivenUp
        return choice

    def below(self, count: int) -> int:
        return self._choose([Fraction(1, count)] * count)

    def flip(self, probability: Fraction) -> bool:
        return bool(self._choose([1 - probability, probability]))


def law(sample: Callable[[Choices], object]) -> tuple[dict[object, Fraction], Fraction]:
    """Exact probabilities of outcomes over all paths that are followed, and the mass of those given up."""
    found: dict[object, Fraction] = {}
    script: list[int] = []
    while True:
        source = Scripted(script)
        try:
            outcome = sample(source)
        except GivenUp:
            pass
        else:
            found[outcome] = found.get(outcome, Fraction(0)) + source.chances
        script = [*script, *[0] * (len(source.options) - len(script))]
        while script and script[-1] + 1 >= len(source.options[len(script) - 1]):
            script.pop()
        if not script:
            return found, 1 - sum(found.values())
        script[-1] += 1


@pytest.mark.parametrize("exponent", [Fraction(0), Fraction(1, 3), Fraction(1), Fraction(7, 3)])
def test_the_flip_has_the_probability_of_an_exponential(exponent: Fraction) -> None:
    found, lost = law(lambda source: exponential_flip(exponent, source))
    assert lost < Fraction(1, 100)
    truth = mp.e ** (-mp.mpf(exponent.numerator) / exponent.denominator)
    assert found.get(True, 0) <= truth <= found.get(True, 0) + lost


@pytest.mark.parametrize(("decay_rate", "noise_levels"), [(0.5, 2), (0.25, 3), (1.5, 1), (2.0, 2), (0.3, 0)])
def test_the_noise_has_exactly_its_law(decay_rate: float, noise_levels: int) -> None:
    found, lost = law(lambda source: truncated_discrete_laplace(decay_rate, noise_levels, source))
    assert lost < Fraction(1, 5)
    support = range(-noise_levels, noise_levels + 1)
    assert set(found) == set(support)
    weights = {y: mp.e ** (-mp.mpf(decay_rate) * abs(y)) for y in support}
    total = mp.fsum(weights.values())
    for y in support:
        low = mp.mpf(found[y].numerator) / found[y].denominator
        assert low <= weights[y] / total <= low + mp.mpf(lost.numerator) / lost.denominator
        assert found[y] == found[-y] or abs(found[y] - found[-y]) <= lost


def test_every_double_is_taken_as_the_fraction_it_is() -> None:
    asked: set[Fraction] = set()

    class Recording(Bits):
        def flip(self, probability: Fraction) -> bool:
            asked.add(probability)
            return super().flip(probability)

    for seed in range(20):
        truncated_discrete_laplace(0.1, 5, Recording(seed))
    exact = Fraction(0.1)
    assert exact != Fraction(1, 10)
    assert any(exact * size in asked for size in range(1, 6))
    assert not any(Fraction(size, 10) in asked for size in (1, 2, 3, 4))


@pytest.mark.parametrize("levels", [1, 3, 8])
def test_rounding_is_unbiased_and_to_a_neighbour(levels: int) -> None:
    values = [-1.0, -0.4, 0.0, 0.3, 1.0]
    for value in values:
        found, lost = law(lambda source, value=value: stochastic_rounding([value], levels, source)[0])  # type: ignore[misc]
        assert lost == 0
        assert sum(k * p for k, p in found.items()) == Fraction(value) * levels  # type: ignore[operator]
        assert all(abs(k - Fraction(value) * levels) < 1 for k in found)  # type: ignore[operator]


def test_a_message_stays_within_its_bits_and_has_the_variance_of_its_law() -> None:
    levels, noise_levels, decay_rate = 4, 6, 0.4
    source, squares, count = Bits(7), 0.0, 4000
    seen: Counter[int] = Counter()
    for _ in range(count):
        (message,) = quantized_message(
            [0.5], levels=levels, noise_levels=noise_levels, decay_rate=decay_rate, source=source
        )
        seen[message] += 1
        squares += (message - 2) ** 2
    assert min(seen) >= 2 - noise_levels
    assert max(seen) <= 2 + noise_levels
    weights = [math.exp(-decay_rate * abs(y)) for y in range(-noise_levels, noise_levels + 1)]
    variance = sum(w * y * y for w, y in zip(weights, range(-noise_levels, noise_levels + 1), strict=True)) / sum(
        weights
    )
    fourth = sum(w * y**4 for w, y in zip(weights, range(-noise_levels, noise_levels + 1), strict=True)) / sum(weights)
    assert abs(squares / count - variance) <= 5 * math.sqrt((fourth - variance**2) / count)


def test_the_same_seed_gives_the_same_message_and_huge_scales_are_quick() -> None:
    asked = {"levels": 2**20, "noise_levels": 2**22, "decay_rate": 1e-6}
    first, second = (quantized_message([0.1, -0.7, 0.0], **asked, source=Bits(3)) for _ in range(2))  # type: ignore[arg-type]
    assert first == second
    assert all(abs(value) <= 2**20 + 2**22 for value in first)


@pytest.mark.parametrize(
    "call",
    [
        lambda: truncated_discrete_laplace(0.0, 3, Bits(1)),
        lambda: truncated_discrete_laplace(math.nan, 3, Bits(1)),
        lambda: truncated_discrete_laplace(0.5, -1, Bits(1)),
        lambda: stochastic_rounding([1.5], 3, Bits(1)),
        lambda: stochastic_rounding([0.5], 0, Bits(1)),
    ],
)
def test_what_is_out_of_range_is_refused(call: Callable[[], object]) -> None:
    with pytest.raises(InvalidInput):
        call()
