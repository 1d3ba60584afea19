"""The samplers for arrays: their laws from the enclosures themselves, what decides close calls, and counts of draws."""

from __future__ import annotations

import math
from decimal import Decimal
from fractions import Fraction

import mpmath as mp
import numpy as np
import pytest
from scipy import stats

from epsilond.accountants.errors import InvalidInput
from epsilond.mechanisms import discrete_laplace
from epsilond.mechanisms.discrete_laplace import noise_tables, truncated_discrete_laplace
from epsilond.mechanisms.jumps import Inversion, decay, exact_product, jumps, powers
from epsilond.mechanisms.quantization import _floor_and_fraction, quantized_messages, stochastic_rounding
from epsilond.mechanisms.randomness import seeded_side_by_side
from epsilond.simulators.seeds import generators

ONE = 1 << 64


def beside(seed, repetitions):
    return seeded_side_by_side(generators(seed, repetitions))


@pytest.fixture
def blocks(monkeypatch):
    """Blocks from m = 3 on, so that their whole law can be written down."""
    monkeypatch.setattr(discrete_laplace, "DIRECT", 2)
    noise_tables.cache_clear()
    yield
    noise_tables.cache_clear()


@pytest.fixture(autouse=True)
def digits():
    with mp.workdps(80):
        yield


class Scripted:
    """A generator that gives the words it is told to."""

    def __init__(self, *words):
        self.words = list(words)

    def integers(self, low, high, *, endpoint, dtype, size):
        count = math.prod(size)
        assert (low, high, endpoint) == (0, ONE - 1, True)
        drawn, self.words = self.words[:count], self.words[count:]
        return np.array(drawn, dtype=dtype).reshape(size)


def law_of(decay_rate, noise_levels):
    weights = {y: mp.e ** (-mp.mpf(decay_rate) * abs(y)) for y in range(-noise_levels, noise_levels + 1)}
    total = mp.fsum(weights.values())
    return {y: weight / total for y, weight in weights.items()}


def chances(inversion):
    """Ends of the probability of each outcome, from the 64-bit jumps."""
    low = [0, *(int(one) for one in inversion.low[:-1]), ONE]
    high = [0, *(int(one) + 1 for one in inversion.high[:-1]), ONE]
    return [(max(low[k + 1] - high[k], 0), high[k + 1] - low[k]) for k in range(len(low) - 1)]


def implied(tables):
    """Ends of P(y) from the tables, in units of 1."""
    found = {}
    for place, (low, high) in enumerate(chances(tables.signed_block)):
        block = place - tables.blocks
        side = (block > 0) - (block < 0)
        if side == 0 or tables.within is None:
            found[block] = (mp.mpf(low) / ONE, mp.mpf(high) / ONE)
            continue
        inside = tables.within_last if abs(block) == tables.blocks else tables.within
        for a, (lower, upper) in enumerate(chances(inside)):
            y = side * (1 + (abs(block) - 1) * tables.width + a)
            found[y] = (mp.mpf(low) * lower / ONE**2, mp.mpf(high) * upper / ONE**2)
    return found


CASES = [(0.5, 2), (0.25, 3), (1.5, 1), (2.0, 7), (1e-3, 60), (0.1, 400), (40.0, 9), (700.0, 20), (1e-9, 10)]


@pytest.mark.parametrize(("decay_rate", "noise_levels"), CASES)
def test_the_jumps_enclose_the_law(decay_rate, noise_levels):
    found, truth = implied(noise_tables(decay_rate, noise_levels)), law_of(decay_rate, noise_levels)
    assert sorted(found) == sorted(truth)
    for y, (low, high) in found.items():
        assert low <= truth[y] <= high
        assert high - low <= mp.mpf(4) / ONE


@pytest.mark.parametrize(
    ("decay_rate", "noise_levels"), [(0.5, 3), (0.25, 7), (0.1, 10), (1e-3, 60), (2.0, 50), (0.01, 401)]
)
def test_blocks_have_the_same_law(blocks, decay_rate, noise_levels):
    tables = noise_tables(decay_rate, noise_levels)
    assert tables.width > 1 or noise_levels == 3
    found, truth = implied(tables), law_of(decay_rate, noise_levels)
    assert sorted(found) == sorted(truth)
    for y, (low, high) in found.items():
        assert low <= truth[y] <= high
        assert high - low <= mp.mpf(20) / ONE


@pytest.mark.parametrize("rate", [0.0, 1e-12, 0.1, 1.0, 700.0, 1e7])
@pytest.mark.parametrize("precision", [64, 192])
def test_an_exponential_and_its_powers_are_enclosed(rate, precision):
    low, high = decay(Decimal(rate), precision)
    assert low <= mp.e ** (-mp.mpf(rate)) * mp.mpf(2) ** precision <= high
    assert high - low <= 3
    ends = powers((low, high), 50, precision)
    for k in range(50):
        assert ends.low[k] <= mp.e ** (-mp.mpf(rate) * k) * mp.mpf(2) ** precision <= ends.high[k]


@pytest.mark.parametrize("rate", [0.1, 1e-12, 5e-324])
def test_rates_are_multiplied_as_the_fractions_they_are(rate):
    assert Fraction(exact_product(rate, 12345)) == Fraction(rate) * 12345


def test_blocks_enclose_the_law_to_many_bits(blocks):
    truth, bits = law_of(0.1, 30), 192
    tables = noise_tables(0.1, 30)
    ends = jumps(tables.signed_block.weights, bits)
    cumulative, passed = mp.mpf(0), -31
    for low, high, block in zip(ends.low, ends.high, range(-tables.blocks, tables.blocks), strict=True):
        last = block * tables.width if block >= 0 else -(1 + (-block - 1) * tables.width)
        cumulative += mp.fsum(p for y, p in truth.items() if passed < y <= last)
        passed = last
        assert low <= cumulative * mp.mpf(2) ** bits < high + 1
        assert high - low <= 1


def test_a_word_on_a_jump_is_decided_by_more_bits_of_the_same_number():
    tables = noise_tables(0.5, 2)
    cumulative = mp.mpf(0)
    for outcome, y in enumerate(range(-2, 2)):
        cumulative += law_of(0.5, 2)[y]
        bits = [int(mp.floor(cumulative * mp.mpf(2) ** (64 * k))) % ONE for k in (1, 2, 3)]
        rest = iter([bits[1], bits[2] - 1])
        assert tables.signed_block.resolve(bits[0], lambda rest=rest: next(rest)) == outcome
        rest = iter([bits[1], bits[2] + 1])
        assert tables.signed_block.resolve(bits[0], lambda rest=rest: next(rest)) == outcome + 1
        # In a draw of an array the same happens, from the generator of that row.
        script = [5, bits[0], ONE - 5, bits[1] + 1]
        (drawn,) = truncated_discrete_laplace(0.5, 2, (1, 3), seeded_side_by_side([Scripted(*script)]))
        assert drawn.tolist() == [-2, y + 1, 2]
        script = [5, bits[0], ONE - 5, bits[1] - 1]
        (drawn,) = truncated_discrete_laplace(0.5, 2, (1, 3), seeded_side_by_side([Scripted(*script)]))
        assert drawn.tolist() == [-2, y, 2]


def test_words_beside_a_jump_are_decided_at_once():
    tables = noise_tables(0.5, 2)

    def never(place):
        raise AssertionError

    for outcome, (low, high) in enumerate(
        zip(tables.signed_block.low[:-1], tables.signed_block.high[:-1], strict=True)
    ):
        words = np.array([int(low) - 1, int(high) + 1], dtype=np.uint64)
        assert tables.signed_block.outcomes(words, never).tolist() == [outcome, outcome + 1]


def test_refined_jumps_are_within_the_coarse_ones():
    inversion = noise_tables(0.1, 30).signed_block
    fine = jumps(inversion.weights, 256)
    for low, high, fine_low, fine_high in zip(inversion.low, inversion.high, fine.low, fine.high, strict=False):
        assert int(low) <= fine_low >> 192 <= fine_high >> 192 <= int(high)
        assert fine_high - fine_low <= 1


def test_two_outcomes_that_64_bits_do_not_tell_apart():
    # e^−100 is below 2^−128: the outcomes 1 and 2 have jumps with the same 128 bits.
    inversion = Inversion.from_weights(lambda precision: powers(decay(Decimal(100), precision), 3, precision))
    top = (1 << 64) - 1
    words = iter([top, top, top, top, top, top])
    assert inversion.resolve(top, lambda: next(words)) == 2
    words = iter([0])
    assert inversion.resolve(top, lambda: next(words)) == 0


@pytest.mark.parametrize(("decay_rate", "noise_levels"), [(0.3, 6), (1e-3, 9000), (2e-4, 20000)])
def test_counts_of_draws_follow_the_law(decay_rate, noise_levels):
    drawn = truncated_discrete_laplace(decay_rate, noise_levels, (4, 50, 1000), beside(11, range(4))).ravel()
    assert np.abs(drawn).max() <= noise_levels
    weights = np.exp(-decay_rate * np.abs(np.arange(-noise_levels, noise_levels + 1)))
    cells = min(2 * noise_levels + 1, 61)
    edges = np.linspace(0, 2 * noise_levels + 1, cells + 1).astype(int)
    expected = np.add.reduceat(weights / weights.sum(), edges[:-1]) * drawn.size
    counts = np.add.reduceat(np.bincount(drawn + noise_levels, minlength=2 * noise_levels + 1), edges[:-1])
    kept = expected > 5
    assert (
        stats.chisquare(
            np.append(counts[kept], counts[~kept].sum() + 1), np.append(expected[kept], expected[~kept].sum() + 1)
        ).pvalue
        > 1e-3
    )


def test_the_last_digits_are_as_uniform_as_the_law_says():
    # Levels within a block: a wrong law there would not show in wide cells.
    drawn = truncated_discrete_laplace(
        1e-3,
        9000,
        (
            4,
            50000,
        ),
        beside(5, range(4)),
    ).ravel()
    width = noise_tables(1e-3, 9000).width
    inside = (np.abs(drawn[(drawn != 0) & (np.abs(drawn) <= width * (9000 // width))]) - 1) % width
    expected = np.exp(-1e-3 * np.arange(width))
    assert stats.chisquare(np.bincount(inside, minlength=width), expected / expected.sum() * inside.size).pvalue > 1e-3


def test_huge_noise_is_drawn_without_a_table_of_all_its_levels():
    drawn = truncated_discrete_laplace(
        1e-7,
        10**9,
        (
            2,
            20000,
        ),
        beside(0, range(2)),
    ).ravel()
    assert len(noise_tables(1e-7, 10**9).signed_block.low) < 10**5
    assert drawn.std() == pytest.approx(math.sqrt(2) * 1e7, rel=0.03)
    assert not truncated_discrete_laplace(
        0.5,
        0,
        (
            2,
            3,
        ),
        beside(0, range(2)),
    ).any()


# Rounding -------------------------------------------------------------------------------------------------------------
NASTY = [0.0, 1.0, 0.1, 0.5, 1 / 3, 1e-300, 5e-324, 2.0**-70, 1 - 2.0**-53, 0.7, 2.0**-40, 0.3 + 2.0**-54, 0.999]


@pytest.mark.parametrize("levels", [1, 2, 3, 64, 1000, 2**20 - 1, 2**33 + 1, 2**40])
def test_shares_are_known_to_two_units(levels):
    sizes = np.array([*NASTY, *np.random.default_rng(levels).random(300)])
    floor, share = _floor_and_fraction(sizes, levels)
    for size, whole, word in zip(sizes.tolist(), floor.tolist(), share.tolist(), strict=True):
        exact = Fraction(size) * levels
        # A share just below 1 may stand as one just above −0 of the next multiple.
        apart = exact - whole - Fraction(word, ONE)
        assert min(abs(apart), abs(apart - 1), abs(apart + 1)) <= Fraction(2, ONE)
        assert whole - 1 <= exact <= whole + 1


@pytest.mark.parametrize(
    ("value", "levels"), [(0.375, 2), (0.1, 3), (0.7, 1000), (2.0**-70, 5), (1 - 2.0**-53, 7), (0.0, 4), (1.0, 4)]
)
@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_every_close_call_is_decided_exactly(value, levels, sign):
    whole, share = divmod(Fraction(value) * levels, 1)
    near = int(share * ONE)
    for word in {max(near + k, 0) for k in range(-4, 5)} | {0, ONE - 1}:
        if word >= ONE:
            continue
        for rest in (0, ONE - 1):
            (rounded,) = stochastic_rounding(
                np.array([[sign * value]]), levels, seeded_side_by_side([Scripted(word, *([rest] * 40))])
            )
            tail = Fraction(0) if rest == 0 else Fraction(1) - Fraction(1, 2**2000)
            assert rounded[0] == sign * (whole + ((word + tail) / ONE < share))


def test_rounding_is_unbiased_and_has_its_variance():
    values = np.broadcast_to(np.array([-1.0, -0.83, -0.4, 0.0, 0.31, 0.5, 1.0]), (4, 20000, 7))
    rounded = stochastic_rounding(values, 3, beside(2, range(4))).reshape(-1, 7)
    scaled = 3 * values[0, 0]
    share = scaled - np.floor(scaled)
    deviation = np.sqrt(share * (1 - share) / len(rounded))
    assert np.all(np.abs(rounded.mean(axis=0) - scaled) <= 4 * deviation + 1e-12)
    assert np.all(np.abs(rounded - scaled) < 1)
    assert rounded.var(axis=0) == pytest.approx(share * (1 - share), abs=0.01)


def test_a_message_has_the_error_that_lemma_1_gives():
    levels, noise_levels, decay_rate = 4, 6, 0.4
    units = np.broadcast_to(np.array([0.6, -0.3, 0.0, 0.7416198487095663]), (8, 10000, 4))
    sent = quantized_messages(
        units, levels=levels, noise_levels=noise_levels, decay_rate=decay_rate, source=beside(3, range(8))
    )
    errors = np.square(sent / levels - units).sum(axis=-1)
    law = law_of(decay_rate, noise_levels)
    variance = float(mp.fsum(y * y * p for y, p in law.items()))
    share = levels * units[0, 0] - np.floor(levels * units[0, 0])
    expected = (np.sum(share * (1 - share)) + 4 * variance) / levels**2
    assert abs(errors.mean() - expected) <= 4 * errors.std() / math.sqrt(errors.size)
    assert np.abs(sent).max() <= levels + noise_levels


# Randomness -----------------------------------------------------------------------------------------------------------
def test_a_repetition_draws_the_same_alone_as_beside_others():
    units = np.random.default_rng(0).uniform(-0.5, 0.5, (5, 7, 3))
    asked = {"levels": 10, "noise_levels": 9000, "decay_rate": 1e-3}
    together = quantized_messages(units, **asked, source=beside(4, range(5)))
    for number in range(5):
        alone = quantized_messages(units[number : number + 1], **asked, source=beside(4, [number]))
        assert (alone[0] == together[number]).all()
    assert len(np.unique(together.reshape(5, -1), axis=0)) == 5


@pytest.mark.parametrize(
    "call",
    [
        lambda one: truncated_discrete_laplace(0.0, 3, (1, 2), one),
        lambda one: truncated_discrete_laplace(math.nan, 3, (1, 2), one),
        lambda one: truncated_discrete_laplace(0.5, -1, (1, 2), one),
        lambda one: truncated_discrete_laplace(0.5, 2**41, (1, 2), one),
        lambda one: stochastic_rounding(np.array([[1.5]]), 3, one),
        lambda one: stochastic_rounding(np.array([[math.nan]]), 3, one),
        lambda one: stochastic_rounding(np.array([[0.5]]), 0, one),
        lambda one: stochastic_rounding(np.array([[0.5]]), 2**41, one),
    ],
)
def test_what_is_out_of_range_is_refused(call):
    with pytest.raises(InvalidInput):
        call(beside(0, [0]))
