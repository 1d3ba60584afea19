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
from epsilond.accountants.engine.contour.composition import compiled
from epsilond.accountants.engine.contour.drawn_gaussian import DrawnGaussian, DrawnGaussianGrid
from epsilond.accountants.engine.contour.drawn_loss import DrawnLoss
from epsilond.accountants.engine.contour.part import Line
from epsilond.accountants.engine.contour.refusal import ContourRefused
from epsilond.accountants.profiles.amplification import Share, amplified_in_both_orders
from epsilond.accountants.profiles.gaussian import gaussian_pair
from epsilond.accountants.specs import Gaussian, Subsampled
from tests.oracles import drawn

SETTINGS = ((0.5, 1.0), (0.01, 2.0), (0.9, 3.0), (1e-3, 0.3), (0.1, 1e-3), (0.3, 8.0))


def grid(rate: float, shift: float, count: int, tilt: float, frequency: float, *, alone: bool) -> DrawnGaussianGrid:
    """Nodes for one tilt, whatever the number of steps."""
    loss = DrawnLoss(rate, shift)
    part = DrawnGaussian(loss, count, alone=False)
    return replace(part.resolve((tilt, tilt), frequency), part=replace(part, alone=alone))


def reference(rate: float, shift: float, tilt: float, frequency: float) -> mpc:
    """M(l + it), split where the integrand turns fast."""
    return drawn.transform(rate, shift, complex(tilt, frequency))


@pytest.mark.parametrize(("rate", "shift"), SETTINGS)
def test_a8_the_cumulant_is_within_its_error(rate: float, shift: float) -> None:
    nodes = DrawnGaussian(DrawnLoss(rate, shift), 1, alone=False).resolve((0.0, 4.0), 0.0).nodes
    with mp.workdps(20):
        for tilt in (0.5, 4.0):
            value, error = nodes.cumulant(tilt)
            assert abs(mp.log(reference(rate, shift, tilt, 0.0)) - mpf(value)) <= error < 1e-8


@pytest.mark.parametrize("alone", [False, True])
@pytest.mark.parametrize(("rate", "shift"), SETTINGS)
def test_a8_the_transform_on_a_line_is_within_its_error(rate: float, shift: float, alone: bool) -> None:
    tilt, count = 1.5, 3
    spacing = 2.0 ** math.floor(math.log2(0.3 / (rate * shift)))
    line = Line(tilt, spacing, 8)
    values = grid(rate, shift, count, tilt, 8 * spacing, alone=alone).on_line(line)
    with mp.workdps(20):
        whole = reference(rate, shift, tilt, 0.0)
        atom = (1 - mpf(rate)) * (1 - 2 * mp.ncdf(-mpf(shift) / 2))
        for k in (1, 7):
            one = reference(rate, shift, tilt, spacing * k)
            power = one**count
            if alone:
                power -= atom**count + count * atom ** (count - 1) * (one - atom)
            expected = power / whole**count * mp.exp(-1j * mpf(spacing) * k * mpf(values.centre))
            computed = mp.exp(mpc(float(values.log_modulus[k]), float(values.phase[k])))
            allowed = mp.exp(mpf(float(values.log_modulus[k])))
            allowed *= mp.expm1(mpf(float(values.log_growth[k] + values.rounding[k] + 1e-15)))
            assert abs(computed - expected) <= allowed


@pytest.mark.parametrize(("rate", "shift"), SETTINGS)
def test_a8_the_decay_bound_is_never_below_the_modulus(rate: float, shift: float) -> None:
    tilt = 1.5
    frequencies = np.geomspace(0.05, 60.0, 6) / (rate * shift)
    resolved = DrawnGaussian(DrawnLoss(rate, shift), 100, alone=False).resolve((0.0, tilt), 0.0)
    bounds = resolved.log_decay(tilt, frequencies) / 100
    assert np.all(np.diff(bounds) <= 1e-15)
    with mp.workdps(20):
        whole = reference(rate, shift, tilt, 0.0)
        moduli = [float(mp.log(abs(reference(rate, shift, tilt, t) / whole))) for t in frequencies.tolist()]
    assert all(modulus <= bound + 1e-15 for modulus, bound in zip(moduli, bounds.tolist(), strict=True))
    masses = resolved.decay.upper_mass(tilt, frequencies)
    assert masses[-1] < 0.5 * resolved.nodes.most_mass(tilt)


@pytest.mark.parametrize(("rate", "shift"), [(0.5, 1.0), (0.9, 3.0), (0.2, 0.6), (0.97, 2.0), (0.3, 8.0)])
def test_a8_two_steps_by_integration(rate: float, shift: float) -> None:
    with mp.workdps(25):
        for epsilon in (-0.5, 0.0, 1.0):
            expected = mp.log(drawn.two_steps(rate, shift, epsilon))
            try:
                lower, upper = contour.log_delta([(DrawnGaussianLaw(rate, shift), 2)], epsilon)
            except ContourRefused:
                assert rate == 0.2  # refused near 0, where frequencies are many
                continue
            assert lower <= expected <= upper
            assert upper - lower < 1e-6


def test_one_step_is_the_profile_of_the_definition() -> None:
    law = DrawnGaussianLaw(0.9, 3.0)
    with mp.workdps(25):
        for epsilon in (-2.0, 0.2, 5.0):
            lower, upper = contour.log_delta([(law, 1)], epsilon)
            assert lower <= mp.log(drawn.one_step(0.9, 3.0, mpf(epsilon))) <= upper


def test_it_agrees_with_the_lattice() -> None:
    random = np.random.default_rng(8)
    answered = 0
    for _ in range(12):
        rate, shift = float(np.exp(random.uniform(-5.0, -0.05))), float(np.exp(random.uniform(-3.0, 1.2)))
        count, log_delta = int(np.exp(random.uniform(4.0, 9.0))), float(random.uniform(-30.0, -3.0))
        laws = [(DrawnGaussianLaw(rate, shift), count)]
        if not exact.falls_enough(laws):
            continue
        try:
            lower, upper = contour.epsilon(laws, log_delta)
        except ContourRefused:
            continue
        answered += 1
        bare = replace(amplified_in_both_orders(gaussian_pair(shift), Share.at(rate)), law=None)
        known = composed_pair([(bare, count)], "coarse").epsilon(log_delta)
        assert max(lower, known.lower) <= min(upper, known.upper)
        assert upper - lower <= 1e-8 * upper
    assert answered > 6


def test_with_every_record_it_is_the_gaussian() -> None:
    assert compiled([(DrawnGaussianLaw(1.0, 2.0), 9)]) == compiled([(GaussianLaw(2.0), 9)])
    assert compiled([(DrawnGaussianLaw(0.0, 2.0), 9), (DrawnGaussianLaw(0.5, 0.0), 9)]) == []
    near = contour.epsilon([(DrawnGaussianLaw(1.0 - 2.0**-50, 2.0), 9)], math.log(1e-6))
    full = contour.epsilon([(GaussianLaw(2.0), 9)], math.log(1e-6))
    assert near.upper == pytest.approx(full.upper, rel=1e-11)


def test_the_loss_rises_with_the_rate() -> None:
    found = [contour.epsilon([(DrawnGaussianLaw(rate, 0.7), 2000)], -14.0) for rate in (0.05, 0.0501, 0.2, 0.9)]
    assert all(first.upper < second.lower for first, second in zip(found, found[1:], strict=False))


def test_beside_a_gaussian_it_encloses_the_lattice() -> None:
    lower, upper = contour.epsilon([(DrawnGaussianLaw(0.1, 1.0), 200), (GaussianLaw(0.5), 1)], -12.0)
    bare = replace(amplified_in_both_orders(gaussian_pair(1.0), Share.at(0.1)), law=None)
    known = composed_pair([(bare, 200), (gaussian_pair(0.5), 1)], "coarse").epsilon(-12.0)
    assert max(lower, known.lower) <= min(upper, known.upper)
    parts = compiled([(DrawnGaussianLaw(0.1, 1.0), 200), (GaussianLaw(0.5), 1)])
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
    """One step, by its profile and by its law: both enclose δ at the double above q, and no less than δ at q."""
    pair = amplified_in_both_orders(gaussian_pair(2.0), share)
    assert isinstance(pair.law, DrawnGaussianLaw)
    exact_rate = round(3 * share.rate) / mpf(3) if not share.exact else mpf(share.rate)
    with mp.workdps(30):
        for epsilon in (0.0, 0.3, 1.5):
            rounded = mp.log(drawn.one_step(pair.law.rate, 2.0, mpf(epsilon)))
            bounds = pair.log_delta_bounds(epsilon), contour.log_delta([(pair.law, 1)], epsilon)
            for lower, upper in bounds:
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
