"""Noise on all integers: the probability of every path, in fractions, and counts of draws."""

import math
from fractions import Fraction

import mpmath as mp
import numpy as np
import pytest
from scipy import stats

from epsilond.accountants.errors import InvalidInput
from epsilond.mechanisms import two_sided
from epsilond.mechanisms.flips import exponential_bounds, exponential_flips, is_below_exponential, uniform_integers
from epsilond.mechanisms.randomness import secure, seeded, seeded_side_by_side
from epsilond.mechanisms.two_sided import discrete_gaussian, discrete_laplace

ONE = 1 << 64


@pytest.fixture(autouse=True)
def digits():
    with mp.workdps(80):
        yield


# Events of probability e^−γ -------------------------------------------------------------------------------------------
GAMMAS = [Fraction(0), Fraction(1, 10**12), Fraction(1, 3), Fraction(1), Fraction(7, 2), Fraction(30), Fraction(44)]
GAMMAS += [Fraction(50), Fraction(1000), Fraction(0.1)]


@pytest.mark.parametrize("gamma", GAMMAS)
@pytest.mark.parametrize("precision", [64, 128, 192])
def test_an_exponential_of_a_fraction_is_enclosed(gamma, precision):
    low, high = exponential_bounds(gamma, precision)
    truth = mp.e ** (-mp.mpf(gamma.numerator) / gamma.denominator) * mp.mpf(2) ** precision
    assert low <= truth <= high
    assert high - low <= 4


@pytest.mark.parametrize("gamma", GAMMAS)
def test_a_flip_is_decided_as_the_exact_number_says(gamma, scripted):
    truth = mp.e ** (-mp.mpf(gamma.numerator) / gamma.denominator)
    near = int(mp.floor(truth * ONE))
    spread = max(near >> 33, 1)
    words = {near + k * step for k in range(-3, 4) for step in (1, 5, spread)} | {0, ONE - 1}
    for word in sorted(one for one in words if 0 <= one < ONE):
        for rest in (0, ONE - 1):
            source = scripted(word, *([rest] * 40))
            (happens,) = exponential_flips(np.array([float(gamma)]), lambda _: gamma, source)
            number = (mp.mpf(word) + (0 if rest == 0 else 1 - mp.mpf(2) ** -200)) / ONE
            assert bool(happens) == bool(number < truth), (word, rest)


def test_a_flip_on_a_boundary_reads_on(scripted):
    truth = mp.exp(-1)
    first, second = (int(mp.floor(truth * mp.mpf(2) ** (64 * k))) % ONE for k in (1, 2))
    assert is_below_exponential(first, Fraction(1), scripted(second - 9), ())
    assert not is_below_exponential(first, Fraction(1), scripted(second + 9), ())


@pytest.mark.parametrize("count", [1, 2, 3, 7, 1 << 40, (1 << 62) - 1])
def test_uniform_integers_are_words_without_the_incomplete_last_round(count, scripted):
    whole = ONE // count * count
    if whole < ONE:
        assert uniform_integers(count, (1,), scripted(ONE - 1, whole, whole - 1)).tolist() == [count - 1]
    assert uniform_integers(count, (3,), scripted(0, whole - 1, count // 2)).tolist() == [0, count - 1, count // 2]


# Paths ----------------------------------------------------------------------------------------------------------------
class Paths:
    """In place of flips: the exponents that were asked for, exactly, with answers from a script."""

    def __init__(self, *answers):
        self.answers, self.exact = list(answers), []

    def __call__(self, exponents, exact, _):
        if not exponents.size:
            return np.array([], dtype=bool)
        assert exponents.shape == (1,)
        self.exact.append(exact((0,)))
        if self.exact[-1] < 50:
            assert abs(Fraction(float(exponents[0])) - self.exact[-1]) <= Fraction(1, 2**34)
        else:
            assert exponents[0] > 46
        return np.array([self.answers.pop(0)])


def path(monkeypatch, scripted, draw, *, within, blocks, negative, block):
    """The value on a path, its exponents, and whether it would be kept if nothing but a second zero were refused."""
    flips = Paths(True, *([True] * blocks), False, True)
    monkeypatch.setattr(two_sided, "exponential_flips", flips)
    source = scripted(within)
    source.flips = lambda probability, _: np.array([negative]) if probability == 0.5 else None
    values, kept = draw(1, source)
    if not kept[0] and flips.answers:
        assert (within, blocks, negative) == (0, 0, True)
    assert within < block
    return int(values[0]), flips.exact, bool(kept[0])


@pytest.mark.parametrize("rate", [1.0, 0.3, 1 / 7, 0.01, 2.5, 40.0])
def test_each_integer_has_one_path_and_its_probability(monkeypatch, scripted, rate):
    """P(path) = (1/t) e^−αU e^−αtV (1 − e^−αt)/2: the exponents of the successes add up to α|y|, exactly."""
    exact, block = Fraction(rate), math.ceil(1 / Fraction(rate))
    seen = {}
    for within in range(min(block, 20)):
        for blocks in range(4):
            for negative in (False, True):
                value, exponents, kept = path(
                    monkeypatch,
                    scripted,
                    lambda count, source: two_sided._laplace_candidates(exact, count, source),
                    within=within,
                    blocks=blocks,
                    negative=negative,
                    block=block,
                )
                assert exponents[0] == exact * within
                assert set(exponents[1:]) == {exact * block}
                assert len(exponents) == blocks + 2
                assert sum(exponents[:-1]) == exact * abs(value)
                if kept:
                    assert value not in seen
                    seen[value] = True
                else:
                    assert (value, negative) == (0, True)
    assert {value for value in seen if abs(value) < min(block, 20)} == set(range(-min(block, 20) + 1, min(block, 20)))


@pytest.mark.parametrize("noise_std", [0.001, 0.3, 0.99, 1.0, 1.7, 12.3, 1e4])
def test_the_exponents_of_a_gaussian_path_are_its_square(monkeypatch, scripted, noise_std):
    """|y|/t + (|y| − σ²/t)²/(2σ²) = y²/(2σ²) + σ²/(2t²): what remains is the same for all y."""
    variance = Fraction(noise_std) ** 2
    block = math.floor(Fraction(noise_std)) + 1
    constant = variance / (2 * block**2)
    for within in sorted({0, 1, 2, block // 2, block - 1} & set(range(block))):
        for blocks in (0, 1, 5):
            for negative in (False, True):
                value, exponents, kept = path(
                    monkeypatch,
                    scripted,
                    lambda count, source: two_sided._gaussian_candidates(variance, count, source),
                    within=within,
                    blocks=blocks,
                    negative=negative,
                    block=block,
                )
                if kept:
                    assert exponents[0] + sum(exponents[1 : 1 + blocks]) == Fraction(abs(value), block)
                    assert exponents[0] + sum(exponents[1 : 1 + blocks]) + exponents[-1] == (
                        Fraction(value) ** 2 / (2 * variance) + constant
                    )


# Draws ----------------------------------------------------------------------------------------------------------------
def assert_law(drawn, log_weight, reach):
    values = np.arange(-reach, reach + 1)
    weights = np.exp([log_weight(value) for value in values])
    expected = weights / weights.sum() * drawn.size
    counts = np.array([np.count_nonzero(drawn == value) for value in values])
    likely = expected > 10
    observed = np.append(counts[likely], drawn.size - counts[likely].sum())
    wanted = np.append(expected[likely], drawn.size - expected[likely].sum())
    if wanted[-1] < 5:
        assert observed[-1] < 25
        observed, wanted = observed[:-1], wanted[:-1] * (observed[:-1].sum() / wanted[:-1].sum())
    if len(wanted) > 1:
        assert stats.chisquare(observed, wanted).pvalue > 1e-3


@pytest.mark.parametrize("noise_std", [0.1, 0.5, 1.0, 2.2, 9.0])
def test_gaussian_counts_follow_the_law(fixed_urandom, noise_std):
    fixed_urandom(int(100 * noise_std))
    drawn = discrete_gaussian(noise_std, (60, 1000), secure())
    assert drawn.shape == (60, 1000)
    assert_law(drawn.ravel(), lambda y: -0.5 * (y / noise_std) ** 2, 60)


@pytest.mark.parametrize("decay_rate", [0.2, 0.9, 1.0, 2.3, 50.0])
def test_laplace_counts_follow_the_law(fixed_urandom, decay_rate):
    fixed_urandom(int(100 * decay_rate))
    drawn = discrete_laplace(decay_rate, (60000,), secure())
    assert_law(drawn, lambda y: -decay_rate * abs(y), 80)


def test_wide_noise_is_as_wide_as_it_says():
    gaussian = discrete_gaussian(2.0**40, (20000,), seeded(1))
    assert stats.kstest(gaussian / 2.0**40, "norm").pvalue > 1e-3
    laplace = discrete_laplace(2.0**-40, (20000,), seeded(2))
    assert stats.kstest(laplace / 2.0**40, "laplace").pvalue > 1e-3
    assert len(np.unique(gaussian % 2)) == 2


def test_a_repetition_draws_the_same_alone_as_beside_others():
    for draw in (lambda shape, source: discrete_gaussian(3.0, shape, source), lambda s, o: discrete_laplace(0.5, s, o)):
        together = draw((3, 200), seeded_side_by_side([np.random.default_rng(seed) for seed in range(3)]))
        for seed in range(3):
            assert np.array_equal(together[seed], draw((200,), seeded(seed)))


@pytest.mark.parametrize("value", [0.0, -1.0, math.nan, math.inf, 2.0**41, 2.0**-41])
def test_parameters_out_of_range_are_refused(value):
    with pytest.raises(InvalidInput):
        discrete_gaussian(value, (2,), seeded(0))
    if value != 2.0**41:
        with pytest.raises(InvalidInput):
            discrete_laplace(value, (2,), seeded(0))
