"""Sources of random bits: the laws of what is made of the operating system's, and that seeded draws are numpy's own."""

import os
from fractions import Fraction
from itertools import permutations

import numpy as np
import pytest
from scipy import stats

from epsilond.mechanisms.randomness import is_below, secure, seeded, seeded_side_by_side
from epsilond.mechanisms.shuffling import shuffled

ONE = 1 << 64


def test_secure_words_are_the_operating_systems(monkeypatch):
    asked = []

    def urandom(count):
        asked.append(count)
        return bytes(range(256))[:count]

    monkeypatch.setattr(os, "urandom", urandom)
    drawn = secure().words((2, 3))
    assert drawn.tobytes() == bytes(range(48))
    assert secure().next_word((1, 1)) == int.from_bytes(bytes(range(8)), "little")
    assert asked == [48, 8]


def test_two_secure_draws_differ():
    assert not np.array_equal(secure().words((4,)), secure().words((4,)))


def test_normal_numbers_are_normal(fixed_urandom):
    fixed_urandom(1)
    drawn = secure().normal((400, 1000))
    assert drawn.shape == (400, 1000)
    assert stats.kstest(drawn.ravel(), "norm").pvalue > 1e-3
    assert stats.chi2(drawn.size).cdf(np.sum(drawn**2)) == pytest.approx(0.5, abs=0.499)
    assert abs(np.corrcoef(drawn[:, 0::2].ravel(), drawn[:, 1::2].ravel())[0, 1]) < 4 / np.sqrt(drawn.size / 2)


def test_extreme_words_give_finite_normal_numbers(monkeypatch):
    for octet in (b"\x00", b"\xff"):
        monkeypatch.setattr(os, "urandom", lambda count, octet=octet: octet * count)
        assert np.isfinite(secure().normal((3,))).all()
        assert abs(secure().normal(())) < 19.5
        assert 0.0 <= float(secure().uniform(())) < 1.0


def test_uniform_numbers_are_uniform(fixed_urandom):
    fixed_urandom(2)
    drawn = secure().uniform((100000,))
    assert stats.kstest(drawn, "uniform").pvalue > 1e-3
    assert np.array_equal(np.ldexp(drawn, 53), np.rint(np.ldexp(drawn, 53)))


@pytest.mark.parametrize("probability", [0.0, 5e-324, 2.0**-70, 0.1, 1 / 3, 0.5, 1 - 2.0**-53, 1.0])
def test_a_flip_is_decided_exactly(monkeypatch, probability):
    """The word at the probability's own first 64 bits is decided by the bits that follow."""
    floor = int(Fraction(probability) * ONE)
    for word in {max(floor - 1, 0), min(floor, ONE - 1), min(floor + 1, ONE - 1), 0, ONE - 1}:
        for rest in (0, ONE - 1):
            script = [word] + [rest] * 40

            def urandom(count, script=script):
                return b"".join(script.pop(0).to_bytes(8, "little") for _ in range(count // 8))

            monkeypatch.setattr(os, "urandom", urandom)
            exact = Fraction(word, ONE) + (0 if rest == 0 else Fraction(1, ONE) - Fraction(1, 2**2000))
            assert bool(secure().flips(probability, ())) == (exact < Fraction(probability))


def test_further_bits_are_asked_for_until_it_is_sure(scripted):
    third = Fraction(1, 3)
    word = int(third * ONE)
    assert is_below(word, third, scripted(word, 0), ())
    assert not is_below(word, third, scripted(word, word, ONE - 1), ())


@pytest.mark.parametrize("make", [secure, lambda: seeded(3)])
def test_subsets_and_orders_are_all_equally_likely(fixed_urandom, make):
    fixed_urandom(3)
    source = make()
    pairs = np.sort(source.subsets((6000,), 4, 2), axis=1)
    _, counts = np.unique(pairs, axis=0, return_counts=True)
    assert len(counts) == 6
    assert stats.chisquare(counts).pvalue > 1e-3
    orders, counts = np.unique(source.permutations((9000,), 3), axis=0, return_counts=True)
    assert sorted(map(tuple, orders.tolist())) == list(permutations(range(3)))
    assert stats.chisquare(counts).pvalue > 1e-3
    assert source.subsets((2, 5), 7, 7).tolist() == [[list(range(7))] * 5] * 2


def test_an_order_with_equal_keys_is_drawn_again(monkeypatch):
    script = [5, 5, 9, 1, 7, 4]
    monkeypatch.setattr(
        os,
        "urandom",
        lambda count: b"".join(script.pop(0).to_bytes(8, "little") for _ in range(count // 8)),
    )
    assert secure().permutations((), 3).tolist() == [0, 2, 1]
    assert script == []


def test_seeded_draws_are_numpys():
    ours, theirs = seeded(5), np.random.default_rng(5)
    assert np.array_equal(ours.normal((3, 2)), theirs.standard_normal((3, 2)))
    assert np.array_equal(ours.uniform((4,)), theirs.random(4))
    assert np.array_equal(ours.flips(0.3, (9,)), theirs.random(9) < 0.3)
    assert np.array_equal(ours.words((2, 2)), theirs.integers(0, ONE - 1, endpoint=True, dtype=np.uint64, size=(2, 2)))


@pytest.mark.parametrize(
    "draw",
    [
        lambda source, shape: source.words(shape),
        lambda source, shape: source.uniform(shape),
        lambda source, shape: source.normal(shape),
        lambda source, shape: source.flips(0.5, shape),
        lambda source, shape: source.subsets(shape, 9, 4),
        lambda source, shape: source.permutations(shape, 5),
    ],
)
def test_a_row_is_what_its_generator_draws_alone(draw):
    together = draw(seeded_side_by_side([np.random.default_rng(seed) for seed in range(3)]), (3, 7))
    for seed in range(3):
        assert np.array_equal(together[seed], draw(seeded(seed), (7,)))


def test_as_many_rows_as_generators():
    with pytest.raises(ValueError, match="no array of shape"):
        seeded_side_by_side([np.random.default_rng(0)]).words((2, 3))


def test_reports_are_shuffled_whole(fixed_urandom):
    fixed_urandom(4)
    reports = [b"a", b"b", b"c"]
    seen = [tuple(shuffled(reports)) for _ in range(3000)]
    counts = [seen.count(order) for order in permutations(reports)]
    assert sum(counts) == 3000
    assert stats.chisquare(counts).pvalue > 1e-3
    assert shuffled([]) == []
    assert shuffled(reports, seeded(1)) == shuffled(reports, seeded(1))
