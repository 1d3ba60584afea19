"""Laplace losses in the contour engine, against their definition and the lattice engine (certificate, A7)."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from typing import TypeAlias

import mpmath as mp
import numpy as np
import pytest

from epsilond.accountants.composition.laplace_sums import LaplaceSumProfile, laplace_sum_pair
from epsilond.accountants.composition.product import composed_pair
from epsilond.accountants.curve.enclosure import Interval
from epsilond.accountants.engine.contour import composition as contour
from epsilond.accountants.engine.contour.parts import Parts
from epsilond.accountants.engine.contour.transforms.gaussian import GaussianTransform
from epsilond.accountants.engine.contour.transforms.laplace import LaplaceRun, LaplaceSteps, laplace_part
from epsilond.accountants.engine.contour.transforms.transform import ContourRefused, Line
from epsilond.accountants.engine.lattice.budget import Budget
from epsilond.accountants.engine.lattice.composition import compose
from epsilond.accountants.engine.lattice.product import ComposedProfile
from epsilond.accountants.profiles.gaussian import gaussian_pair
from epsilond.accountants.profiles.laplace import laplace_pair

Shifts: TypeAlias = tuple[float, ...]
Counts: TypeAlias = tuple[int, ...]
RUNS = ((0.1, 100), (0.1, 2), (1.0, 7), (4.0, 3), (0.3, 40))
KINDS: tuple[tuple[Shifts, Counts], ...] = (((0.1,), (10**6,)), ((0.05, 0.3, 2.0), (400, 30, 5)), ((3.0, 9.0), (20, 7)))


def density(z: mp.mpc, shift: mp.mpf) -> mp.mpc:
    """E[e^{zL}; −s < L < s], the integral of an exponential."""
    w = z + mp.mpf(1) / 2
    return mp.exp(-shift / 2) * (mp.exp(w * shift) - mp.exp(-w * shift)) / (4 * w)


def atoms(z: mp.mpc, shift: mp.mpf) -> mp.mpc:
    """E[e^{zL}; |L| = s]."""
    return (mp.exp(z * shift) + mp.exp(-shift - z * shift)) / 2


def transform(z: mp.mpc, part: LaplaceSteps) -> mp.mpc:
    """What the part's transform is said to be."""
    found = mp.mpf(1)
    for shift, count in zip(map(mp.mpf, part.shifts), part.counts, strict=True):
        edge, between = atoms(z, shift), density(z, shift)
        found *= (edge + between) ** count
        if isinstance(part, LaplaceRun):
            found -= edge**count + count * edge ** (count - 1) * between
    return found


def test_the_oracle_integrates_the_density_of_a_loss() -> None:
    for z, shift in ((mp.mpc(0.4, 2.0), mp.mpf(1)), (mp.mpc(3.0, 0.3), mp.mpf("0.1"))):
        integral = mp.quad(lambda v, z=z, s=shift: mp.exp(z * v - (s - v) / 2) / 4, [-shift, 0, shift])
        assert mp.almosteq(density(z, shift), integral, 1e-12)
    assert mp.almosteq(density(mp.mpf(0), mp.mpf(2)) + atoms(mp.mpf(0), mp.mpf(2)), 1)


PARTS = [LaplaceRun((shift,), (count,)) for shift, count in RUNS] + [LaplaceSteps(*kinds) for kinds in KINDS]


@pytest.mark.parametrize("part", PARTS)
@pytest.mark.parametrize("tilt", [0.4, 3.7, 40.0])
def test_a7_the_transform_on_a_line_is_within_its_error(part: LaplaceSteps, tilt: float) -> None:
    deviation = math.sqrt(float(part.moments(np.asarray([tilt])).variance[0]))
    line = Line(tilt, 2.0 ** math.ceil(math.log2(0.4 / deviation)), 60)
    values = part.on_line(line)
    with mp.workdps(40):
        whole = transform(mp.mpf(tilt), LaplaceSteps(part.shifts, part.counts))
        assert abs(mp.log(whole) - values.cumulant) <= values.cumulant_error
        for k in (0, 1, 2, 5, 17, 41, 59):
            t = mp.mpf(line.spacing) * k
            exact = transform(mp.mpc(tilt, t), part) / whole * mp.exp(-1j * t * mp.mpf(values.centre))
            log_modulus, phase = mp.mpf(values.log_modulus[k]), mp.mpf(values.phase[k])
            computed = mp.exp(mp.mpc(log_modulus, phase))
            allowed = mp.exp(log_modulus) * mp.expm1(mp.mpf(values.log_growth[k] + values.rounding[k]))
            assert abs(computed - exact) <= allowed + 1e-290


@pytest.mark.parametrize("part", PARTS)
@pytest.mark.parametrize("tilt", [0.4, 3.7, 40.0])
def test_a7_the_decay_bound_is_never_below_the_modulus(part: LaplaceSteps, tilt: float) -> None:
    frequencies = np.asarray([0.3, 2.0, 15.7, 31.5, 200.0, 3000.0])
    bounds = part.log_decay(tilt, frequencies)
    assert np.all(np.diff(bounds) <= 0.0)
    places = np.concatenate([*(math.pi * np.arange(1.0, 9.0) / shift for shift in part.shifts), frequencies])
    with mp.workdps(30):
        whole = transform(mp.mpf(tilt), LaplaceSteps(part.shifts, part.counts))
        for t in np.concatenate([places, places * 1.003]).tolist():
            before = bounds[frequencies <= t]
            if before.size:
                found = abs(transform(mp.mpc(tilt, t), part) / whole)
                assert found <= mp.exp(before[-1]) * (1 + mp.mpf(10) ** -12) + mp.mpf(10) ** -25


@pytest.mark.parametrize(("shift", "count"), RUNS)
def test_a7_what_at_most_one_loss_between_the_ends_adds(shift: float, count: int) -> None:
    part = LaplaceRun((shift,), (count,))
    with mp.workdps(40):
        s = mp.mpf(shift)
        for share in (-0.3, 0.0, 0.13, 0.97):
            epsilon = share * shift * count
            found, total = part.beside(epsilon), mp.mpf(0)
            # A total that does not exceed ε by more than −s adds nothing.
            for falls in range(min(count, math.floor(0.5 * (count + 1 - epsilon / shift)) + 1) + 1):
                edge = mp.binomial(count, falls) * mp.mpf(2) ** -count * mp.exp(-falls * s)
                total += edge * max(0, 1 - mp.exp(mp.mpf(epsilon) - s * (count - 2 * falls)))
                if falls < count:
                    gap = mp.mpf(epsilon) - s * (count - 1 - 2 * falls)
                    ends = sorted({-s, min(max(gap, -s), s), s})
                    inner = mp.quad(lambda v, g=gap: mp.exp(-(s - v) / 2) / 4 * max(0, 1 - mp.exp(g - v)), ends)
                    total += edge * (count - falls) * 2 * inner
            scale = mp.exp(found.log_scale)
            assert found.lower * scale <= total <= found.upper * scale
            assert found.upper - found.lower <= 1e-9 * found.upper + 1e-300


def one_step(shift: mp.mpf, epsilon: mp.mpf) -> mp.mpf:
    """E[(1 − e^{ε−L})₊] of one step at any ε: below −s it is 1 − e^ε."""
    if epsilon <= -shift:
        return 1 - mp.exp(epsilon)
    return max(mp.mpf(0), 1 - mp.exp((epsilon - shift) / 2)) if epsilon < shift else mp.mpf(0)


def one_more(shift: mp.mpf, before: Callable[[mp.mpf], mp.mpf], kinks: list[mp.mpf]) -> Callable[[mp.mpf], mp.mpf]:
    """E[f(ε − L)] over one more step."""

    def after(epsilon: mp.mpf) -> mp.mpf:
        cuts = sorted({-shift, shift, *(k for k in (epsilon - kink for kink in kinks) if -shift < k < shift)})
        inside = mp.quad(lambda v: mp.exp(-(shift - v) / 2) / 4 * before(epsilon - v), cuts)
        return before(epsilon - shift) / 2 + mp.exp(-shift) / 2 * before(epsilon + shift) + inside

    return after


def solved(shift: float, count: int, epsilon: float) -> Interval:
    """The contour engine's ends, of any width."""
    return contour.log_delta(Parts([LaplaceRun((shift,), (count,))]), epsilon, widest=1.0)


@pytest.mark.parametrize("shift", [0.1, 1.0, 3.0])
def test_a7_two_and_three_steps_by_integration(shift: float) -> None:
    with mp.workdps(15):
        s = mp.mpf(shift)
        two = one_more(s, lambda e: one_step(s, e), [-s, s])
        three = one_more(s, two, [-2 * s, mp.mpf(0), 2 * s])
        for count, delta, shares in ((2, two, (0.1, 0.4, 0.7)), (3, three, (0.4,))):
            for share in shares:
                epsilon = share * shift * count
                lower, upper = solved(shift, count, epsilon)
                assert lower - 1e-12 <= mp.log(delta(mp.mpf(epsilon))) <= upper + 1e-12
                assert upper - lower <= 1e-5


def test_a7_runs_and_lists_agree_with_the_lattice() -> None:
    generator = np.random.default_rng(7)
    answered = 0
    for kinds in (1, 1, 1, 1, 1, 1, 1, 1, 90):
        shifts = tuple(np.exp(generator.uniform(-4.0, 1.5) + generator.uniform(0.0, 1.0, kinds)).tolist())
        counts = tuple(int(each) for each in 10.0 ** generator.uniform(0.5, 3.5 if kinds == 1 else 1.0, kinds))
        log_delta = -float(generator.uniform(2.0, 40.0))
        part = laplace_part(shifts, counts, alone=True)
        try:
            found = contour.epsilon(Parts([part]), log_delta)
        except ContourRefused:
            continue
        answered += 1
        pairs = [(laplace_pair(shift), count) for shift, count in zip(shifts, counts, strict=True)]
        other = compose(pairs, budget=Budget.coarse()).epsilon(log_delta)
        slack = 1e-12 * part.supremum
        assert found.lower <= other.upper + slack
        assert other.lower <= found.upper + slack
        assert found.upper - found.lower <= 1e-4 * found.upper
    assert answered >= 6


def test_many_different_kinds_lie_between_equal_ones() -> None:
    shifts = tuple(1.0 / (10.0 + 10.0 * place / 1000) for place in range(1000))
    listed = contour.epsilon(Parts([laplace_part(shifts, (1,) * 1000, alone=True)]), math.log(1e-6))
    ends = [
        contour.epsilon(Parts([laplace_part((shift,), (1000,), alone=True)]), math.log(1e-6))
        for shift in (min(shifts), max(shifts))
    ]
    assert ends[0].upper < listed.lower <= listed.upper < ends[1].lower
    assert listed.upper - listed.lower <= 1e-7 * listed.upper


def test_a_gaussian_among_laplace_losses_makes_their_transform_decay() -> None:
    pairs = [(laplace_pair(0.1), 3), (laplace_pair(0.25), 1), (gaussian_pair(0.5), 1)]
    found = composed_pair(pairs, "default")
    assert isinstance(found.forward, LaplaceSumProfile)
    part = laplace_part((0.1, 0.25), (3, 1), alone=False)
    direct = contour.epsilon(Parts([GaussianTransform(0.25), part]), -14.0)
    ends, other = found.epsilon(-14.0), compose(pairs).epsilon(-14.0)
    assert other.lower <= ends.upper
    assert ends.lower <= other.upper
    assert ends.lower <= direct.upper
    assert direct.lower <= ends.upper
    assert ends.upper - ends.lower <= 1e-9


def test_what_the_contour_engine_refuses_the_lattice_answers() -> None:
    pairs = [(laplace_pair(shift), 1) for shift in (0.1, 0.2, 0.33)]
    found = composed_pair(pairs, "default")
    assert isinstance(found.forward, LaplaceSumProfile)
    assert found.epsilon(-8.0) == compose(pairs).epsilon(-8.0)
    assert found.upper_epsilon(-8.0) == compose(pairs).upper_epsilon(-8.0)
    assert found.log_delta_bounds(0.3) == compose(pairs).log_delta_bounds(0.3)


def test_a_list_with_another_kind_is_not_taken() -> None:
    other = compose([(gaussian_pair(1.0), 1), (laplace_pair(0.5), 2)])
    assert isinstance(other.forward, ComposedProfile)
    assert laplace_sum_pair([(laplace_pair(0.1), 2), (other, 1)], lambda: other) is None
    assert laplace_sum_pair([(gaussian_pair(1.0), 2)], lambda: other) is None


def test_composing_such_a_product_again_composes_its_parts() -> None:
    inner = composed_pair([(laplace_pair(0.1), 50)], "default")
    again = compose([(inner, 2)])
    direct = compose([(laplace_pair(0.1), 100)])
    assert again.epsilon(-12.0) == direct.epsilon(-12.0)


def test_a_rounded_shift_moves_both_ends_outward() -> None:
    pair = composed_pair([(laplace_pair(0.1), 1000)], "default")
    assert isinstance(pair.forward, LaplaceSumProfile)
    profile = pair.forward
    nearer = contour.epsilon(profile.laws, -14.0)
    ends = pair.epsilon(-14.0)
    assert ends.lower < nearer.lower
    assert nearer.upper < ends.upper
    lower, upper = pair.log_delta_bounds(ends.upper)
    assert upper <= -14.0
    assert lower < upper


def test_no_loss_at_zero_is_answered_only_where_rounded_shifts_leave_it_true() -> None:
    pair = composed_pair([(laplace_pair(0.1), 7)], "default")
    assert isinstance(pair.forward, LaplaceSumProfile)
    exact, rough = pair.forward, replace(pair.forward, moved=0.01)
    log_delta = exact.log_delta_bounds(0.0).upper + 1e-4
    found, moved = exact.enclose_epsilon(log_delta), rough.enclose_epsilon(log_delta)
    assert found is not None
    assert moved is not None
    assert found.upper == 0.0
    assert rough.log_delta_bounds(0.0).upper > log_delta
    assert moved.upper == 0.01


def test_a_target_above_delta_at_zero_needs_no_loss() -> None:
    for shift, count, delta in ((0.1, 7, 0.3), (0.01, 1000, 0.3)):
        pair = composed_pair([(laplace_pair(shift), count)], "default")
        assert pair.log_delta_bounds(0.0).upper < math.log(delta)
        assert pair.epsilon(math.log(delta)) == Interval(0.0, 0.0)


@pytest.mark.parametrize("count", [5, 50, 1000])
def test_a_test_is_read_anywhere_however_far_from_its_nodes(count: int) -> None:
    """Where the engine refuses, so far away, the ends are those of every probability."""
    profile = composed_pair([(laplace_pair(0.1), count)], "default").forward
    assert isinstance(profile, LaplaceSumProfile)
    for found in profile.near_tests([1e-3, 0.1]):
        assert found is not None
        for epsilon in (-1e9, -0.2 * count, -1e-9, 0.0, 0.099 * count, 0.2 * count, 1e9, 1e300):
            lower, upper = found.log_delta(epsilon)
            assert lower <= upper <= 0.0
            if epsilon > 0.1 * count:
                assert upper == 0.0 or upper < -1.0
