"""Laplace losses in the contour engine, against their definition and the lattice engine (certificate, A7)."""

from __future__ import annotations

import math
from dataclasses import replace

import mpmath as mp
import numpy as np
import pytest

from epsilond.accountants.composition.exact_laws import ExactProfile
from epsilond.accountants.composition.methods import ContourMethod, Fallback
from epsilond.accountants.composition.product import composed_pair
from epsilond.accountants.curve.enclosure import Interval
from epsilond.accountants.curve.facts import GaussianLaw, LaplaceLaw
from epsilond.accountants.engine import exact as engine
from epsilond.accountants.engine.contour import composition as contour
from epsilond.accountants.engine.contour.closed_forms import LaplaceSteps
from epsilond.accountants.engine.contour.part import Line
from epsilond.accountants.engine.contour.refusal import ContourRefused
from epsilond.accountants.engine.lattice.budget import Budget
from epsilond.accountants.engine.lattice.composition import compose
from epsilond.accountants.engine.lattice.product import ComposedProfile
from epsilond.accountants.profiles.gaussian import gaussian_pair
from epsilond.accountants.profiles.laplace import laplace_pair

KINDS = ((0.1, 10**6), (0.05, 400), (0.3, 30), (2.0, 5), (9.0, 7), (1.0, 1))


def density(z: mp.mpc, shift: mp.mpf) -> mp.mpc:
    """E[e^{zL}; −s < L < s], the integral of an exponential."""
    w = z + mp.mpf(1) / 2
    return mp.exp(-shift / 2) * (mp.exp(w * shift) - mp.exp(-w * shift)) / (4 * w)


def atoms(z: mp.mpc, shift: mp.mpf) -> mp.mpc:
    """E[e^{zL}; |L| = s]."""
    return (mp.exp(z * shift) + mp.exp(-shift - z * shift)) / 2


def transform(z: mp.mpc, shift: float, count: int) -> mp.mpc:
    """M(z) of T steps."""
    return (atoms(z, mp.mpf(shift)) + density(z, mp.mpf(shift))) ** count


def test_the_oracle_integrates_the_density_of_a_loss() -> None:
    for z, shift in ((mp.mpc(0.4, 2.0), mp.mpf(1)), (mp.mpc(3.0, 0.3), mp.mpf("0.1"))):
        integral = mp.quad(lambda v, z=z, s=shift: mp.exp(z * v - (s - v) / 2) / 4, [-shift, 0, shift])
        assert mp.almosteq(density(z, shift), integral, 1e-12)
    assert mp.almosteq(density(mp.mpf(0), mp.mpf(2)) + atoms(mp.mpf(0), mp.mpf(2)), 1)


@pytest.mark.parametrize(("shift", "count"), KINDS)
@pytest.mark.parametrize("tilt", [0.4, 3.7, 40.0])
def test_a7_the_transform_on_a_line_is_within_its_error(shift: float, count: int, tilt: float) -> None:
    part = LaplaceSteps(shift, count)
    deviation = math.sqrt(part.moments(tilt)[2])
    line = Line(tilt, 2.0 ** math.ceil(math.log2(0.4 / deviation)), 60)
    values = part.on_line(line)
    with mp.workdps(40):
        whole = transform(mp.mpf(tilt), shift, count)
        assert abs(mp.log(whole) - values.cumulant) <= values.cumulant_error
        for k in (0, 1, 2, 5, 17, 41, 59):
            t = mp.mpf(line.spacing) * k
            exact = transform(mp.mpc(tilt, t), shift, count) / whole * mp.exp(-1j * t * mp.mpf(values.centre))
            log_modulus, phase = mp.mpf(values.log_modulus[k]), mp.mpf(values.phase[k])
            computed = mp.exp(mp.mpc(log_modulus, phase))
            allowed = mp.exp(log_modulus) * mp.expm1(mp.mpf(values.log_growth[k] + values.rounding[k]))
            assert abs(computed - exact) <= allowed + 1e-290


@pytest.mark.parametrize(("shift", "count"), KINDS)
@pytest.mark.parametrize("tilt", [0.4, 3.7, 40.0])
def test_a7_the_decay_bound_is_never_below_the_modulus(shift: float, count: int, tilt: float) -> None:
    frequencies = np.asarray([0.3, 2.0, 15.7, 31.5, 200.0, 3000.0])
    bounds = LaplaceSteps(shift, count).log_decay(tilt, frequencies)
    assert np.all(np.diff(bounds) <= 0.0)
    places = np.concatenate([math.pi * np.arange(1.0, 9.0) / shift, frequencies])
    with mp.workdps(30):
        whole = transform(mp.mpf(tilt), shift, count)
        for t in np.concatenate([places, places * 1.003]).tolist():
            before = bounds[frequencies <= t]
            if before.size:
                found = abs(transform(mp.mpc(tilt, t), shift, count) / whole)
                assert found <= mp.exp(before[-1]) * (1 + mp.mpf(10) ** -12) + mp.mpf(10) ** -25


def test_a7_runs_and_lists_agree_with_the_lattice() -> None:
    generator = np.random.default_rng(7)
    answered = 0
    for kinds, length in ((1, 3.5), (1, 3.5), (1, 3.5), (1, 3.5), (90, 1.0)):
        shifts = np.exp(generator.uniform(-4.0, 1.5) + generator.uniform(0.0, 1.0, kinds)).tolist()
        counts = [int(each) for each in 10.0 ** generator.uniform(0.5 if kinds > 1 else 2.5, length, kinds)]
        log_delta = -float(generator.uniform(2.0, 40.0))
        laws = [(LaplaceLaw(shift), count) for shift, count in zip(shifts, counts, strict=True)]
        try:
            found = contour.epsilon(laws, log_delta)
        except ContourRefused:
            continue
        answered += 1
        pairs = [(laplace_pair(shift), count) for shift, count in zip(shifts, counts, strict=True)]
        other = compose(pairs, budget=Budget.coarse()).epsilon(log_delta)
        slack = 1e-12 * engine.supremum(laws)
        assert found.lower <= other.upper + slack
        assert other.lower <= found.upper + slack
        assert found.upper - found.lower <= 1e-4 * found.upper
    assert answered >= 3


def test_many_different_kinds_lie_between_equal_ones() -> None:
    shifts = [1.0 / (10.0 + 10.0 * place / 300) for place in range(300)]
    listed = contour.epsilon([(LaplaceLaw(shift), 3) for shift in shifts], math.log(1e-6))
    ends = [contour.epsilon([(LaplaceLaw(shift), 900)], math.log(1e-6)) for shift in (min(shifts), max(shifts))]
    assert ends[0].upper < listed.lower <= listed.upper < ends[1].lower
    assert listed.upper - listed.lower <= 1e-7 * listed.upper


def test_a_gaussian_among_laplace_losses_makes_their_transform_decay() -> None:
    pairs = [(laplace_pair(0.1), 3), (laplace_pair(0.25), 1), (gaussian_pair(0.5), 1)]
    found = composed_pair(pairs, "default")
    assert isinstance(found.forward, ExactProfile)
    direct = contour.epsilon([(GaussianLaw(0.5), 1), (LaplaceLaw(0.1), 3), (LaplaceLaw(0.25), 1)], -14.0)
    ends, other = found.epsilon(-14.0), compose(pairs).epsilon(-14.0)
    assert other.lower <= ends.upper
    assert ends.lower <= other.upper
    assert ends.lower <= direct.upper
    assert direct.lower <= ends.upper
    assert ends.upper - ends.lower <= 1e-9


def test_what_the_contour_engine_refuses_the_lattice_answers() -> None:
    pairs = [(laplace_pair(shift), 1) for shift in (0.1, 0.2, 0.33)]
    found = composed_pair(pairs, "default")
    assert isinstance(found.forward, ExactProfile)
    assert found.epsilon(-8.0) == compose(pairs).epsilon(-8.0)
    assert found.upper_epsilon(-8.0) == compose(pairs).upper_epsilon(-8.0)
    assert found.log_delta_bounds(0.3) == compose(pairs).log_delta_bounds(0.3)


def test_a_list_with_another_kind_is_not_taken() -> None:
    other = compose([(gaussian_pair(1.0), 1), (laplace_pair(0.5), 2)])
    assert isinstance(other.forward, ComposedProfile)
    assert ContourMethod().compose([(laplace_pair(0.1), 2), (other, 1)], Fallback(lambda: other)) is None


def test_composing_such_a_product_again_composes_its_parts() -> None:
    inner = composed_pair([(laplace_pair(0.1), 50)], "default")
    again = compose([(inner, 2)])
    direct = compose([(laplace_pair(0.1), 100)])
    assert again.epsilon(-12.0) == direct.epsilon(-12.0)


def test_a_rounded_shift_moves_both_ends_outward() -> None:
    pair = composed_pair([(laplace_pair(0.1), 1000)], "default")
    assert isinstance(pair.forward, ExactProfile)
    profile = pair.forward
    nearer = engine.epsilon(profile.laws, -14.0)
    ends = pair.epsilon(-14.0)
    assert ends.lower < nearer.lower
    assert nearer.upper < ends.upper
    lower, upper = pair.log_delta_bounds(ends.upper)
    assert upper <= -14.0
    assert lower < upper


def test_no_loss_at_zero_is_answered_only_where_rounded_shifts_leave_it_true() -> None:
    pair = composed_pair([(laplace_pair(0.1), 1000)], "default")
    assert isinstance(pair.forward, ExactProfile)
    exact, rough = pair.forward, replace(pair.forward)
    vars(rough)["epsilon_error"] = 0.01
    log_delta = exact.log_delta_bounds(0.0).upper + 1e-4
    (found, is_narrow), (moved, _) = exact.enclose_epsilon(log_delta), rough.enclose_epsilon(log_delta)
    assert is_narrow
    assert found.upper <= 1e-9
    assert rough.log_delta_bounds(0.0).upper > log_delta
    assert moved.upper == pytest.approx(0.01)


def test_a_target_above_delta_at_zero_needs_no_loss() -> None:
    for shift, count, delta in ((0.1, 7, 0.3), (0.01, 1000, 0.3)):
        pair = composed_pair([(laplace_pair(shift), count)], "default")
        assert pair.log_delta_bounds(0.0).upper < math.log(delta)
        assert pair.epsilon(math.log(delta)) == Interval(0.0, 0.0)


@pytest.mark.parametrize("count", [5, 50, 1000])
def test_a_test_is_read_anywhere_however_far_from_its_nodes(count: int) -> None:
    """Where the engine refuses, so far away, the ends are those of every probability."""
    profile = composed_pair([(laplace_pair(0.1), count)], "default").forward
    assert isinstance(profile, ExactProfile)
    for found in profile.near_tests([1e-3, 0.1]):
        assert found is not None
        for epsilon in (-1e9, -0.2 * count, -1e-9, 0.0, 0.099 * count, 0.2 * count, 1e9, 1e300):
            lower, upper = found.log_delta(epsilon)
            assert lower <= upper <= 0.0
            if epsilon > 0.1 * count:
                assert upper == 0.0 or upper < -1.0
