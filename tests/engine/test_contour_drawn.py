"""Batches without replacement in the contour engine, against their definition and the lattice engine (certificate, A8)."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from mpmath import mp, mpc, mpf

from epsilond.accountants.composition.product import composed_pair
from epsilond.accountants.curve.facts import DrawnGaussianLaw, GaussianLaw
from epsilond.accountants.engine import exact
from epsilond.accountants.engine.contour import composition as contour
from epsilond.accountants.engine.contour.closed_forms import GaussianSteps
from epsilond.accountants.engine.contour.grouped_laws import build_parts
from epsilond.accountants.engine.contour.likelihood_ratio import LikelihoodRatio
from epsilond.accountants.engine.contour.noise_steps import NoiseSteps
from epsilond.accountants.engine.contour.part import Line
from epsilond.accountants.engine.contour.refusal import ContourRefused
from epsilond.accountants.profiles.amplification import amplify_symmetrically
from epsilond.accountants.profiles.gaussian import gaussian_pair
from epsilond.accountants.profiles.sampling.inclusion import Share
from epsilond.accountants.specs import Gaussian, Subsampled
from tests.oracles import drawn

SETTINGS = ((0.5, 1.0), (0.01, 2.0), (0.9, 3.0), (1e-3, 0.3), (0.1, 1e-3), (0.3, 8.0))


def steps(rate: float, shift: float, count: int) -> NoiseSteps:
    return NoiseSteps(LikelihoodRatio(rate, shift), "drawn", count)


def reference(rate: float, shift: float, tilt: float, frequency: float) -> mpc:
    """M(l + it), split where the integrand turns fast."""
    return drawn.transform(rate, shift, complex(tilt, frequency))


@pytest.mark.parametrize(("rate", "shift"), SETTINGS)
def test_a8_the_cumulant_is_within_its_error(rate: float, shift: float) -> None:
    sums = steps(rate, shift, 1).resolve(4.0, 0.0)
    with mp.workdps(20):
        for tilt in (0.5, 4.0):
            value, error = sums.cumulant(tilt)
            assert abs(mp.log(reference(rate, shift, tilt, 0.0)) - mpf(value)) <= error < 1e-8


@pytest.mark.parametrize(("rate", "shift"), SETTINGS)
def test_a8_the_transform_on_a_line_is_within_its_error(rate: float, shift: float) -> None:
    tilt, count = 1.5, 3
    spacing = 2.0 ** math.floor(math.log2(0.3 / (rate * shift)))
    values = steps(rate, shift, count).resolve(tilt, 8 * spacing).on_line(Line(tilt, spacing, 8))
    with mp.workdps(20):
        whole = reference(rate, shift, tilt, 0.0)
        for k in (1, 7):
            power = (reference(rate, shift, tilt, spacing * k) / whole) ** count
            expected = power * mp.exp(-1j * mpf(spacing) * k * mpf(values.centre))
            computed = mp.exp(mpc(float(values.log_modulus[k]), float(values.phase[k])))
            allowed = mp.exp(mpf(float(values.log_modulus[k])))
            allowed *= mp.expm1(mpf(float(values.log_growth[k] + values.rounding[k] + 1e-15)))
            assert abs(computed - expected) <= allowed


@pytest.mark.parametrize(("rate", "shift"), SETTINGS)
def test_a8_the_decay_bound_is_never_below_the_modulus(rate: float, shift: float) -> None:
    tilt = 1.5
    frequencies = np.geomspace(0.05, 60.0, 12) / (rate * shift)
    bounds = steps(rate, shift, 100).resolve(tilt, 0.0).log_decay(tilt, frequencies) / 100
    assert np.all(np.diff(bounds) <= 1e-15)
    points, weights = np.polynomial.legendre.leggauss(100)
    edges = np.linspace(0.0, 2.5 * shift + 13.0, 4001)
    u = (0.5 * np.diff(edges)[:, None] * points + 0.5 * (edges[1:] + edges[:-1])[:, None]).ravel()
    loss = np.log1p(rate * np.expm1(shift * u))
    density = (0.5 * np.diff(edges)[:, None] * weights).ravel() * np.exp(-0.5 * (u + 0.5 * shift) ** 2)
    atom = (1 - rate) * math.erf(shift / math.sqrt(8.0))

    def transform(z: complex) -> complex:
        return atom + complex(density @ (np.exp((1 + z) * loss) + np.exp(-z * loss))) / math.sqrt(2 * math.pi)

    whole = transform(tilt).real
    moduli = [math.log(abs(transform(complex(tilt, t)) / whole)) for t in frequencies.tolist()]
    floor = -30.0  # log of the roundings of the sum
    assert all(modulus <= max(bound + 1e-12, floor) for modulus, bound in zip(moduli, bounds.tolist(), strict=True))
    # It falls from the first frequencies on, and at last to no more than the atom and a tenth of the rest.
    assert bounds[0] < 0.0
    assert bounds[-1] < math.log(0.9 * atom / whole + 0.1)


@pytest.mark.parametrize(
    ("rate", "shift", "count", "epsilon", "tilt", "period"),
    [(0.5, 1.0, 60, 30.0, 0.6, 150.0), (0.05, 0.7, 300, 3.0, 4.0, 60.0), (0.9, 2.0, 40, 120.0, 0.25, 500.0)],
)
def test_a8_the_inversion_of_its_transform_in_thirty_digits_lies_within(
    rate: float, shift: float, count: int, epsilon: float, tilt: float, period: float
) -> None:
    lower, upper = contour.log_delta([(DrawnGaussianLaw(rate, shift), count)], epsilon)
    with mp.workdps(30):
        assert lower <= drawn.by_inversion(rate, shift, count, epsilon, tilt=tilt, period=1.3 * period) <= upper
    assert upper - lower < 1e-8


def test_few_steps_whose_atoms_keep_a_share_are_refused() -> None:
    for law, count in ((DrawnGaussianLaw(0.5, 1.0), 2), (DrawnGaussianLaw(0.9, 3.0), 1)):
        assert not exact.transform_decays([(law, count)])
        with pytest.raises(ContourRefused):
            contour.log_delta([(law, count)], 1.0)


def test_it_agrees_with_the_lattice() -> None:
    random = np.random.default_rng(8)
    answered = 0
    for _ in range(12):
        rate, shift = float(np.exp(random.uniform(-5.0, -0.05))), float(np.exp(random.uniform(-3.0, 1.2)))
        count, log_delta = int(np.exp(random.uniform(4.0, 9.0))), float(random.uniform(-30.0, -3.0))
        laws = [(DrawnGaussianLaw(rate, shift), count)]
        if not exact.transform_decays(laws):
            continue
        try:
            lower, upper = contour.epsilon(laws, log_delta)
        except ContourRefused:
            continue
        answered += 1
        bare = replace(amplify_symmetrically(gaussian_pair(shift), Share.at(rate)), law=None)
        known = composed_pair([(bare, count)], "coarse").epsilon(log_delta)
        assert max(lower, known.lower) <= min(upper, known.upper)
        assert upper - lower <= 1e-8 * upper
    assert answered > 6


def test_with_every_record_it_is_the_gaussian() -> None:
    assert build_parts([(DrawnGaussianLaw(1.0, 2.0), 9)]) == build_parts([(GaussianLaw(2.0), 9)])
    assert build_parts([(DrawnGaussianLaw(0.0, 2.0), 9), (DrawnGaussianLaw(0.5, 0.0), 9)]) == []
    near = contour.epsilon([(DrawnGaussianLaw(1.0 - 2.0**-50, 2.0), 9)], math.log(1e-6))
    full = contour.epsilon([(GaussianLaw(2.0), 9)], math.log(1e-6))
    assert near.upper == pytest.approx(full.upper, rel=1e-11)


def test_the_loss_rises_with_the_rate() -> None:
    found = [contour.epsilon([(DrawnGaussianLaw(rate, 0.7), 2000)], -14.0) for rate in (0.05, 0.0501, 0.2, 0.9)]
    assert all(first.upper < second.lower for first, second in zip(found, found[1:], strict=False))


def test_beside_a_gaussian_it_encloses_the_lattice() -> None:
    lower, upper = contour.epsilon([(DrawnGaussianLaw(0.1, 1.0), 200), (GaussianLaw(0.5), 1)], -12.0)
    bare = replace(amplify_symmetrically(gaussian_pair(1.0), Share.at(0.1)), law=None)
    known = composed_pair([(bare, 200), (gaussian_pair(0.5), 1)], "coarse").epsilon(-12.0)
    assert max(lower, known.lower) <= min(upper, known.upper)
    parts = build_parts([(DrawnGaussianLaw(0.1, 1.0), 200), (GaussianLaw(0.5), 1)])
    assert any(isinstance(part, GaussianSteps) for part in parts)


@pytest.mark.parametrize(
    ("rate", "shift", "count"), [(1e-12, 2.0, 10), (1e-12, 20.0, 10**9), (0.5, 1e-6, 10**9), (1e-101, 1.0, 10)]
)
def test_extremes_are_answered_or_refused(rate: float, shift: float, count: int) -> None:
    try:
        lower, upper = contour.log_delta([(DrawnGaussianLaw(rate, shift), count)], 1.0)
    except ContourRefused:
        return
    assert lower <= upper <= 0.0


@pytest.mark.parametrize(
    "share",
    [
        Share.of(
            Subsampled(
                sampling="without-replacement", batch_size=k, population=n, mechanism=Gaussian(noise_multiplier=1.0)
            )
        )
        for k, n in ((1, 3), (2, 3), (1, 4))
    ],
)
def test_a8_profile_and_law_are_of_one_rate(share: Share) -> None:
    """One step by its profile encloses δ at the rate of its law, the double above q, and is no less than δ at q."""
    pair = amplify_symmetrically(gaussian_pair(2.0), share)
    assert isinstance(pair.law, DrawnGaussianLaw)
    exact_rate = round(3 * share.rate) / mpf(3) if not share.exact else mpf(share.rate)
    with mp.workdps(30):
        for epsilon in (0.0, 0.3, 1.5):
            rounded = mp.log(drawn.one_step(pair.law.rate, 2.0, mpf(epsilon)))
            lower, upper = pair.log_delta_bounds(epsilon)
            assert lower <= rounded <= upper
            assert mp.log(drawn.one_step(exact_rate, 2.0, mpf(epsilon))) <= upper


@pytest.mark.parametrize(("low", "high", "shift"), [(0.3, 0.31, 1.0), (0.9, 0.905, 2.0), (0.05, 0.06, 0.5)])
def test_a8_a_rounded_rate_dominates_and_by_no_more_than_its_bound(low: float, high: float, shift: float) -> None:
    with mp.workdps(20):
        ratio, absent = mp.log(mpf(high) / low), mp.log((1 - mpf(low)) / (1 - mpf(high)))
        for epsilon in (0.0, 0.2, 1.0):
            above = drawn.two_steps(high, shift, epsilon)
            assert drawn.two_steps(low, shift, epsilon) <= above
            moved = float(epsilon - 2 * (ratio + absent))
            assert above <= mp.exp(2 * ratio) * drawn.two_steps(low, shift, moved)
