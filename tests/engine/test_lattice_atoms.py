"""Laws of finitely many losses against direct convolution."""

from __future__ import annotations

import math

import mpmath as mp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from epsilond.accountants.curve.profile import Profile
from epsilond.accountants.engine.lattice.budget import Budget
from epsilond.accountants.engine.lattice.cells.atoms import locate_atoms
from epsilond.accountants.engine.lattice.composition import compose
from epsilond.accountants.engine.lattice.outline import outline
from epsilond.accountants.profiles.geometric import GeometricProfile
from tests.engine.pairs import atomic, randomized_response
from tests.oracles.convolution import Law, delta, log_delta_float

DIGITS = 1e-11


def ends(profile: Profile, epsilon: float) -> tuple[float, float]:
    lower, upper = profile.log_delta(np.asarray([epsilon]))
    return float(lower[0]), float(upper[0])


def encloses(profile: Profile, epsilon: float, truth: float) -> float:
    """Assert that the truth is enclosed, and return the width."""
    lower, upper = ends(profile, epsilon)
    slack = 0.0 if math.isinf(truth) else DIGITS * (1 + abs(truth))
    assert lower - slack <= truth <= upper + slack
    return 0.0 if math.isinf(upper) else upper - lower


def log_delta(law: Law, times: int, epsilon: float) -> float:
    with mp.workdps(40):
        exact = delta(law, times, epsilon)
        return float(mp.log(exact)) if exact > 0 else -math.inf


def response_law(epsilon: float, failure: float) -> Law:
    with mp.workdps(40):
        high = (1 - mp.mpf(failure)) / (1 + mp.exp(-mp.mpf(epsilon)))
        return ((-mp.mpf(epsilon), 1 - mp.mpf(failure) - high), (mp.mpf(epsilon), high)), mp.mpf(failure)


@pytest.mark.parametrize("failure", [0.0, 1e-3, 1e-12])
@pytest.mark.parametrize("times", [2, 20, 200])
@pytest.mark.parametrize("epsilon", [0.0, 0.3, 6.0, 10.0])
def test_randomized_response(failure: float, times: int, epsilon: float) -> None:
    """Losses on the lattice 2·0.501 have |φ| = 1 at the Nyquist frequency; all frequencies are used, so it counts."""
    composed = compose([(randomized_response(0.501, failure), times)]).forward
    truth = log_delta(response_law(0.501, failure), times, epsilon)
    assert encloses(composed, epsilon, truth) <= 3e-6


def test_infinite_losses_are_part_of_the_upper_end() -> None:
    """Twenty rounds that fail outright with probability 1e-3 have δ ≥ 1 − (1 − 1e-3)^20 at every ε."""
    composed = compose([(randomized_response(0.501, 1e-3), 20)]).forward
    for epsilon in (6.0, 10.03, 1e5):
        assert ends(composed, epsilon)[1] >= math.log(-math.expm1(20 * math.log1p(-1e-3))) - DIGITS
    truth = log_delta(response_law(0.501, 1e-3), 20, 6.0)
    assert truth > math.log(1.9811e-2)
    assert encloses(composed, 6.0, truth) <= 1e-6


def heavy_atom() -> tuple[np.ndarray, int]:
    """Mass 0.999 at zero and two-sided geometric tails on multiples of 0.01."""
    k = np.arange(1, 400)
    tail = np.exp(-0.02 * k)
    tail *= 5e-4 / tail.sum()
    masses = np.concatenate((tail[::-1] * np.exp(-0.01 * k[::-1]), [0.0], tail))
    masses[k.size] = 1.0 - masses.sum()
    return masses, -int(k.size)


@pytest.mark.parametrize("epsilon", [0.0, 0.5, 2.0, 5.0])
def test_an_atom_that_keeps_the_spectrum_from_decaying(epsilon: float) -> None:
    """The Nyquist frequency of an even number of points counts once; twice would be wrong by 3e-6 here.

    Cells of the default effort join losses far out; with finer ones nearly every loss is a cell.
    """
    masses, lowest = heavy_atom()
    losses = 0.01 * (lowest + np.arange(masses.size))
    pair = atomic(losses.tolist(), masses.tolist())
    truth = log_delta_float(masses, lowest, 0.01, 200, epsilon)
    assert encloses(compose([(pair, 200)]).forward, epsilon, truth) <= 1e-4
    assert encloses(compose([(pair, 200)], budget=Budget.fine()).forward, epsilon, truth) <= 1e-5


@pytest.mark.parametrize("epsilon", [0.0, 0.5, 2.0])
def test_losses_on_no_common_lattice_still_have_a_certificate(epsilon: float) -> None:
    losses, masses = [-0.37, 0.1, math.sqrt(0.5)], [0.2, 0.5, 0.3]
    composed = compose([(atomic(losses, masses), 5)]).forward
    truth = math.log(
        math.fsum(
            math.factorial(5)
            / (math.factorial(i) * math.factorial(j) * math.factorial(5 - i - j))
            * masses[0] ** i
            * masses[1] ** j
            * masses[2] ** (5 - i - j)
            * max(-math.expm1(epsilon - i * losses[0] - j * losses[1] - (5 - i - j) * losses[2]), 0.0)
            for i in range(6)
            for j in range(6 - i)
        )
    )
    assert encloses(composed, epsilon, truth) <= 1e-3


def test_the_larger_of_two_one_sided_compositions_is_no_bound() -> None:
    """Two rounds, each on one bit of one of two records: 9/64 and 8/64 one-sided, in truth 10/64, symmetrised 11/64."""
    epsilon = math.log(7 / 4)
    removed = atomic([math.log(2), math.log(2 / 3)], [0.5, 0.5])
    added = atomic([math.log(1 / 2), math.log(3 / 2)], [0.25, 0.75])
    symmetrised = atomic([math.log(2), 0.0, -math.log(2)], [0.5, 0.25, 0.25])
    for parts, truth in (
        ([(removed, 2)], 9 / 64),
        ([(added, 2)], 8 / 64),
        ([(removed, 1), (added, 1)], 10 / 64),
        ([(symmetrised, 2)], 11 / 64),
    ):
        encloses(compose(parts).forward, epsilon, math.log(truth))
    one_sided = max(ends(compose([(pair, 2)]).forward, epsilon)[1] for pair in (removed, added))
    assert one_sided < ends(compose([(removed, 1), (added, 1)]).forward, epsilon)[0]


@pytest.mark.parametrize(("times", "widest"), [(10**6, 1e-5), (10**9, 1e-3)])
def test_a_billion_randomized_responses(times: int, widest: float) -> None:
    """Close to a Gaussian of μ = ε √T: the binomial's skewness is negligible here.

    The pair states its tails within 1e-14, and a billion rounds multiply that.
    """
    epsilon = 1 / math.sqrt(times)
    composed = compose([(randomized_response(epsilon), times)]).forward
    lower, upper = ends(composed, 1.0)
    assert lower - 1e-6 <= -2.0640673 <= upper + 1e-6
    assert lower <= upper <= lower + widest


@settings(max_examples=25, deadline=None, derandomize=True, database=None)
@given(
    places=st.lists(st.integers(-6, 9), min_size=2, max_size=5, unique=True),
    weights=st.lists(st.floats(0.01, 1.0), min_size=5, max_size=5),
    failure=st.sampled_from([0.0, 1e-9, 1e-2]),
    span=st.sampled_from([0.013, 0.2, 1.0]),
    times=st.integers(2, 12),
    share=st.floats(0.0, 1.0),
)
def test_random_lattice_laws(
    places: list[int], weights: list[float], failure: float, span: float, times: int, share: float
) -> None:
    # Masses p with Σ p e^{−l} ≤ 1: give the lowest loss what is left, and lower all if that is too much.
    raw = np.asarray(weights[: len(places)]) / sum(weights[: len(places)]) * (1.0 - failure)
    ratio = float(np.sum(raw * np.exp(-span * np.asarray(places))))
    shift = max(0, math.ceil(math.log(max(ratio, 1e-300)) / span))
    moved = [place + shift for place in places]
    pair = atomic([span * place for place in moved], raw.tolist(), failure)
    epsilon = share * max(span * max(moved) * times, 0.0)
    with mp.workdps(40):
        atoms = [(mp.mpf(span) * place, mp.mpf(float(mass))) for place, mass in zip(moved, raw, strict=True)]
        truth = log_delta((atoms, mp.mpf(failure)), times, epsilon)
    encloses(compose([(pair, times)], budget=Budget.coarse()).forward, epsilon, truth)


@pytest.mark.parametrize(("rate", "shift", "levels"), [(3e-4, 102, 44756), (1e-3, 65, 10_000), (2.0, 300, 400)])
def test_many_losses_lie_on_the_span_that_their_profile_states(rate: float, shift: int, levels: int) -> None:
    profile = GeometricProfile(rate, shift, levels)
    found = locate_atoms(outline(profile, profile), profile)
    assert found.atomic
    assert found.span == profile.span


def test_few_losses_are_found_where_they_lie() -> None:
    pair = atomic([-0.4, 0.1, 0.7], [0.3, 0.5, 0.2])
    found = locate_atoms(outline(pair.forward, pair.backward), pair.forward)
    assert found.atomic
    assert found.span == pytest.approx(0.1, rel=1e-9)
    assert found.right.end == pytest.approx(0.7, rel=1e-12)
    assert found.left.end == pytest.approx(0.4, rel=1e-12)
