"""Each lemma of docs/engine-certificate.md that the contour engine relies on, checked on numbers it did not compute."""

from __future__ import annotations

import cmath
import math

import mpmath as mp
import numpy as np
import pytest
from scipy.integrate import quad
from scipy.special import log_ndtr, logsumexp

from epsilond.accountants.curve.facts import SampledGaussianLaw
from epsilond.accountants.engine.contour import composition as contour
from epsilond.accountants.engine.contour.composition import _centred
from epsilond.accountants.engine.contour.parts import SampledGaussian, compiled
from epsilond.accountants.engine.contour.reductions import _cut_at
from epsilond.accountants.engine.contour.saddle import log_chernoff_factor
from epsilond.accountants.engine.contour.transforms.hard_cut import CutSampledGaussian
from epsilond.accountants.engine.contour.transforms.sampled_gaussian import (
    EXPONENTS,
    SampledGaussianLoss,
    Tilts,
    clipped_response,
)
from epsilond.accountants.engine.contour.transforms.transform import Line, NodeBudget, exact_step
from tests.oracles.contour import Step, by_contour, moment

BUDGET = NodeBudget()
DIRECTIONS = ("remove", "add", "replace")
PARAMETERS = ((0.01, 1.0), (0.001, 1 / 0.6), (0.3, 0.2), (0.97, 0.5), (1e-5, 2.0))


def loss_of(rate: float, shift: float, direction: str) -> SampledGaussianLoss:
    return SampledGaussianLoss(rate, shift, EXPONENTS[direction])


def log_modulus(rate: float, shift: float, direction: str, z: complex, x: np.ndarray) -> np.ndarray:
    """log |f_z(x)| on complex points, with principal powers."""
    right = np.log(1 - rate + rate * np.exp(shift * x - shift * shift / 2))
    left = np.log(1 - rate + rate * np.exp(-shift * x - shift * shift / 2))
    powers = {"remove": (1 + z) * right, "add": -z * right, "replace": (1 + z) * right - z * left}[direction]
    return np.real(-x * x / 2 + powers)


# A0 and A1


def test_a1_the_chernoff_factor_is_the_largest_value() -> None:
    tilts = np.asarray([0.0, 1e-9, 0.3, 1.0, 7.0, 1e3, 1e12])
    with mp.workdps(60):
        for tilt, value in zip(tilts.tolist(), log_chernoff_factor(tilts).tolist(), strict=True):
            mu = mp.mpf(tilt)
            exact = mu * mp.log(mu) - (1 + mu) * mp.log1p(mu) if tilt else mp.mpf(0)
            assert abs(value - exact) <= 1e-15 * (1 + abs(exact))
    v = np.linspace(0, 1, 2001)
    assert np.all((1 - v) * v**0.3 <= math.exp(log_chernoff_factor(np.asarray([0.3]))[0]))


def test_a1_the_alias_only_adds_and_stays_within_its_bound() -> None:
    step, epsilon = Step(0.1, 0.5, "remove", 20), 1.5
    parts = compiled([(SampledGaussianLaw(step.rate, step.shift, step.direction), step.count)])
    near = contour._centred(parts, epsilon, contour.DEFAULT_BUDGET)
    tilt = near.nodes.line.tilt
    truth = by_contour([step], epsilon, tilt=tilt, period=24.0, count=420, spacing=0.1)
    for period in (2.0, 4.0, 6.0):
        aliased = by_contour([step], epsilon, tilt=tilt, period=period, count=math.ceil(17.5 * period), spacing=0.1)
        assert truth < aliased
        assert aliased - truth <= mp.exp(near.nodes.chernoff.series(period).log_excess(epsilon))


def test_a1_the_bound_is_taken_at_the_epsilon_that_is_asked() -> None:
    laws = [(SampledGaussianLaw(0.3, 0.25, "remove"), 50)]
    near = contour._centred(compiled(laws), 6.0, contour.DEFAULT_BUDGET)
    for offset in (-6.0, -3.0, 3.0, 6.0):
        epsilon = 6.0 + offset * near.width
        kept, fresh = near.log_delta(epsilon), contour.log_delta(laws, epsilon)
        assert kept.lower <= fresh.upper
        assert fresh.lower <= kept.upper
    # Far below the centre the alias grows faster than e^{λ(ε₀ − ε)}, and the enclosure says so.
    series, tilt = near.nodes.chernoff.series(near.nodes.period), near.nodes.line.tilt
    growth = series.log_excess(6.0 - 3.0 * near.width) - series.log_excess(6.0)
    assert growth > tilt * 3.0 * near.width


# A2


@pytest.mark.parametrize("direction", DIRECTIONS)
@pytest.mark.parametrize(("rate", "shift"), PARAMETERS)
def test_a2_the_strip_bound_covers_the_integrand_off_the_axis(rate: float, shift: float, direction: str) -> None:
    loss = loss_of(rate, shift, direction)
    for tilt, frequency in ((1.0, 0.0), (1.0, 40.0), (12.0, 10.0), (80.0, 100.0)):
        low, high = loss.window(Tilts(tilt, tilt), 9.0)
        points = np.linspace(low, high, 4001)
        on_axis = logsumexp(log_modulus(rate, shift, direction, complex(tilt, 0.0), points))
        for height in (0.02, 0.1, min(0.8 * math.pi / shift, 2.0)):
            z = complex(tilt, frequency)
            off = max(logsumexp(log_modulus(rate, shift, direction, z, points + 1j * y)) for y in (height, -height))
            bound = loss.log_strip_growth(Tilts(tilt, tilt), frequency, np.asarray([height]))[0]
            assert off - on_axis <= bound + 1e-6


def turns(loss: SampledGaussianLoss, x: np.ndarray, angle: float) -> np.ndarray:
    """arg r(x + iy) − arg r(−x − iy) at s y = angle."""
    responses = loss.response(x), loss.response(-x)
    return sum(np.angle(1 - p + p * np.exp(1j * angle)) for p in responses)


def test_a2_the_phases_of_replace_add_up_to_one_angle_only_if_balanced() -> None:
    x = np.linspace(-30, 30, 6001)
    for rate, shift in ((0.5, 2.0), (0.5, 0.1), (0.01, 1.0), (0.7, 1.5)):
        loss = loss_of(rate, shift, "replace")
        assert loss.balanced
        for angle in (0.1, 1.0, 2.0, 3.1):
            assert turns(loss, x, angle).max() <= angle + 1e-12
            assert (loss.response(x) + loss.response(-x)).max() <= 1 + 1e-12
    loss = loss_of(0.99, 0.5, "replace")
    assert not loss.balanced
    assert turns(loss, x, 1.0).max() > 1.9


def test_a2_replace_at_a_rate_near_one_needs_twice_the_phase() -> None:
    # A bound with e^{|t|v} in place of e^{2|t|v} would lie below the error here, and the engine's does not.
    rate, shift, tilt, frequency, step = 0.999, 1.0, 1.0, 12.0, 0.21
    z = complex(tilt, frequency)
    with mp.workdps(50):

        def f(x, z):
            right = 1 - rate + rate * mp.exp(shift * x - mp.mpf(shift) ** 2 / 2)
            left = 1 - rate + rate * mp.exp(-shift * x - mp.mpf(shift) ** 2 / 2)
            return mp.npdf(x) * right ** (1 + mp.mpc(z)) * left ** (-mp.mpc(z))

        def rule(width, offset, z):
            return width * mp.fsum(f(width * (k + offset), z) for k in range(int(-14 / width), int(18 / width)))

        exact, size = rule(step / 4, 0, z), rule(step / 4, 0, complex(tilt, 0.0)).real
        error = max(abs(rule(step, offset, z) - exact) for offset in (0.25, 0.5)) / size
    heights = 3.0 / shift * np.linspace(0.02, 1.0, 100)

    def bound(growth: np.ndarray) -> float:
        return math.exp(np.min(np.log(2.0) + growth - np.log(np.expm1(2 * math.pi * heights / step))))

    single = 0.5 * heights**2 + frequency * shift * heights - tilt * np.log(np.cos(0.5 * shift * heights))
    assert bound(single) < error
    assert error <= bound(loss_of(rate, shift, "replace").log_strip_growth(Tilts(tilt, tilt), frequency, heights))


@pytest.mark.parametrize("direction", DIRECTIONS)
@pytest.mark.parametrize(("rate", "shift"), [*PARAMETERS, (0.9999, 1.0), (1 - 1e-7, 0.3)])
def test_a2_the_window_leaves_out_no_more_than_it_says(rate: float, shift: float, direction: str) -> None:
    loss = loss_of(rate, shift, direction)
    for tilt in (0.5, 5.0, 60.0):
        low, high = loss.window(Tilts(tilt, tilt), 3.0)
        centre = np.linspace(low - 12.0, high + 12.0, 200_001)
        logs = -0.5 * centre**2 + sum(power * loss.log_ratio(sign * centre) for sign, power in loss.powers(tilt))
        mass = np.exp(logs - logs.max())
        outside = mass[(centre < low) | (centre > high)].sum() / mass.sum()
        assert outside <= 3.0 * math.exp(log_ndtr(-3.0)) * (1 + 1e-3)


@pytest.mark.parametrize("direction", DIRECTIONS)
@pytest.mark.parametrize(
    ("rate", "shift", "tilt"),
    [
        (0.01, 1.0, 7.0),
        (0.001, 1 / 0.6, 2.6),
        (0.999997, 0.8, 3.0),
        (1e-6, 0.5, 40.0),
        (0.4, 1e-3, 2000.0),
        (0.1, 8.0, 0.4),
    ],
)
def test_a2_a4_the_transform_on_a_line_is_within_its_error(
    rate: float, shift: float, tilt: float, direction: str
) -> None:
    part = SampledGaussian(loss_of(rate, shift, direction), 1)
    line = Line(tilt, exact_step(0.7 / shift), 30)
    values = part.resolve((tilt, tilt), line.spacing * line.nodes, BUDGET).on_line(line)
    step = Step(rate, shift, direction)
    exact = moment(step, tilt, 0.0).real
    assert abs(values.cumulant - math.log(exact)) <= values.cumulant_error + 4e-16 * (1 + abs(values.cumulant))
    for k in (1, 7, 29):
        t = line.spacing * k
        truth = moment(step, tilt, t) / exact * cmath.exp(-1j * t * values.centre)
        ours = cmath.exp(values.log_modulus[k] + 1j * values.phase[k])
        allowed = math.exp(values.log_modulus[k]) * (math.expm1(values.log_growth[k]) + values.rounding[k])
        assert abs(ours - truth) <= allowed + 2e-15


@pytest.mark.parametrize("rate", [1e-30, 1e-9, 0.01, 0.5, 0.50001, 0.999, 1 - 2.0**-50])
@pytest.mark.parametrize("shift", [1e-6, 0.3, 2.0, 40.0])
def test_a4_the_log_ratio_is_within_its_error(rate: float, shift: float) -> None:
    loss = loss_of(rate, shift, "remove")
    x = np.asarray([-30.0, -9.0, -1.0, -1e-3, 0.5 * shift, 0.51 * shift + 1e-7, 2.0, 14.0, 60.0])
    x.sort()
    ours = loss.log_ratio(x)
    allowed = loss.ratio_error(x, ours)
    with mp.workdps(60):
        for point, value, error in zip(x.tolist(), ours.tolist(), allowed.tolist(), strict=True):
            q, s = mp.mpf(rate), mp.mpf(shift)
            exact = mp.log(1 - q + q * mp.exp(s * mp.mpf(point) - s * s / 2))
            assert abs(mp.mpf(value) - exact) <= error + mp.mpf(10) ** -300


def test_a4_the_error_of_many_steps_grows_with_the_root_of_their_number() -> None:
    widths = []
    for rounds in (10**4, 10**6, 10**8):
        enclosure = contour.log_delta([(SampledGaussianLaw(1 / math.sqrt(rounds), 1.0, "remove"), rounds)], 4.0)
        widths.append(enclosure.upper - enclosure.lower)
    assert widths[2] < 200 * widths[0]
    assert widths[2] < 3e-9


# A3


@pytest.mark.parametrize("direction", DIRECTIONS)
@pytest.mark.parametrize(
    ("rate", "shift", "tilt", "count"),
    [
        (0.01, 1.0, 7.0, 1000),
        (0.001, 1 / 0.6, 2.6, 10**5),
        (0.3, 0.25, 50.0, 20),
        (0.9, 0.5, 2.0, 3),
        (0.01, 1.25, 300.0, 1000),
    ],
)
def test_a3_the_decay_bound_is_never_below_the_modulus(
    rate: float, shift: float, tilt: float, count: int, direction: str
) -> None:
    if direction != "add":
        tilt = min(tilt, 14 / shift)
    part = SampledGaussian(loss_of(rate, shift, direction), count)
    frequencies = np.asarray([0.5, 2.0, 5.0, 12.0, 30.0])
    bounds = part.resolve((0.0, tilt), 0.0, BUDGET).log_decay(tilt, frequencies)
    step = Step(rate, shift, direction)
    base = moment(step, tilt, 0.0).real
    for t, bound in zip(frequencies.tolist(), bounds.tolist(), strict=True):
        assert count * math.log(abs(moment(step, tilt, t)) / base) <= bound + 1e-9
    assert np.all(np.diff(bounds) <= 1e-12)


def test_a3_the_phase_stays_positive_off_the_axis_only_up_to_a_right_angle() -> None:
    # θ(x + iy′) has the real part (arg(v + v′) + arg(v − v′))/2 with arg(v) = arg(1 + ρ e^{iv}): ≥ 0 for v, v′ ≤ π/2.
    rho = np.geomspace(1e-6, 1e6, 301)[:, None]

    def real_part(v: float, outer: float) -> np.ndarray:
        angles = np.asarray([v + outer, v - outer])
        return 0.5 * np.angle(1 + rho * np.exp(1j * angles)).sum(axis=1)

    for v in np.linspace(0.01, math.pi / 2, 25):
        for outer in np.linspace(0.01, min(math.pi / 2, 3.13 - v), 25):
            assert real_part(v, outer).min() >= -1e-15
    assert real_part(1.3, 1.8).min() < -1e-3


def test_the_clipped_response_bounds_turn_and_size() -> None:
    response = np.linspace(1e-6, 1 - 1e-6, 997)
    turn, spread = clipped_response(response)
    assert np.all(np.diff(turn) >= 0)
    assert np.all(np.diff(spread) >= 0)
    for v in np.linspace(0.01, 3.13, 60):
        r = 1 - response + response * np.exp(1j * v)
        assert np.all(np.angle(r) <= v * turn + 1e-12)
        assert np.all(1 - np.abs(r) ** 2 <= 4 * math.sin(v / 2) ** 2 * spread + 1e-12)


def test_a2_a_rule_cut_midway_errs_by_its_end_and_its_strip() -> None:
    rate, shift, end, needed = 0.01, 0.4, 2.5, 0
    points, weights = np.polynomial.legendre.leggauss(400)
    x, weight = (0.5 * (end + 13.0) * points + 0.5 * (end - 13.0)), 0.5 * (end + 13.0) * weights
    turn = shift * rate / (rate + (1 - rate) * math.exp(-shift * end + shift * shift / 2))
    assert turn <= shift / 2

    def values(z: complex, x: np.ndarray) -> np.ndarray:
        ratio = np.log(1 - rate + rate * np.exp(shift * x - shift * shift / 2))
        return np.asarray(np.exp(-x * x / 2 + (1 + z) * ratio) / math.sqrt(2 * math.pi))

    for tilt in (0.5, 8.0, 40.0):
        moment, edge = weight @ values(tilt, x), abs(values(tilt, np.asarray(end)))
        for t in (0.0, 5.0, 200.0):
            for step in (0.05, 0.2, 0.4, 0.6):
                nodes = end - step * (np.arange(math.ceil((end + 13.0) / step)) + 0.5)
                error = abs(step * values(complex(tilt, t), nodes).sum() - weight @ values(complex(tilt, t), x))
                bounds = []
                for height in np.linspace(0.1, 3.0 / shift, 60):
                    fall = 2 * math.pi / step - t * turn - height / 2
                    fallen = math.exp(height * height / 2 + t * turn * height - 2 * math.pi * height / step)
                    strip = 2 * moment * fallen / -math.expm1(-2 * math.pi * height / step)
                    bounds.append((strip + 2 * edge / fall, strip) if fall > 0 else (math.inf, math.inf))
                assert error <= min(both for both, _ in bounds) + 1e-13 * moment
                needed += error > min(strip for _, strip in bounds) + 1e-13 * moment
    assert needed >= 12


# A2, hard cut


@pytest.mark.parametrize("direction", DIRECTIONS)
@pytest.mark.parametrize(("rate", "shift", "tilt"), [(0.001, 0.5, 90.0), (0.009, 0.25, 210.0), (0.2, 1.0, 6.0)])
def test_hard_cut_the_panels_are_within_their_error(rate: float, shift: float, tilt: float, direction: str) -> None:
    part = CutSampledGaussian.leaking(loss_of(rate, shift, direction), 1000, -60.0)
    grid = part.resolve((tilt, tilt), 30.0, BUDGET)
    line = Line(tilt, 1.0, 30)
    values = grid.on_line(line)
    points, weights = np.polynomial.legendre.leggauss(60)
    edges = np.linspace(part.low, part.high, 120)
    x = (0.5 * np.diff(edges)[:, None] * points + 0.5 * (edges[1:] + edges[:-1])[:, None]).ravel()
    w = (0.5 * np.diff(edges)[:, None] * weights).ravel()

    def transform(t: float) -> complex:
        z = complex(tilt, t)
        c1, c2 = {"remove": (1 + z, 0.0), "add": (-z, 0.0), "replace": (1 + z, -z)}[direction]
        r = (
            np.log(1 - rate + rate * np.exp(shift * x - shift**2 / 2)),
            np.log(1 - rate + rate * np.exp(-shift * x - shift**2 / 2)),
        )
        return complex((w * np.exp(-0.5 * x * x + c1 * r[0] + c2 * r[1])).sum() / math.sqrt(2 * math.pi))

    assert abs(values.cumulant / 1000 - math.log(transform(0.0).real)) < 1e-12
    for k in (3, 29):
        truth = (transform(k) / transform(0.0)) * cmath.exp(-1j * k * values.centre / 1000)
        ours = cmath.exp((values.log_modulus[k] + 1j * values.phase[k]) / 1000)
        assert abs(ours - truth) < 1e-12 * (1 + tilt)


@pytest.mark.parametrize("direction", DIRECTIONS)
def test_hard_cut_the_decay_bound_holds_with_edges(direction: str) -> None:
    rate, shift, tilt, count = 0.001, 0.5, 60.0, 5000
    part = CutSampledGaussian.leaking(loss_of(rate, shift, direction), count, -50.0)
    grid = part.resolve((0.0, tilt), 0.0, BUDGET)
    frequencies = np.asarray([5.0, 20.0, 60.0, 150.0])
    bounds = grid.log_decay(tilt, frequencies)
    line = Line(tilt, 1.0, 151)
    actual = part.resolve((tilt, tilt), 151.0, BUDGET).on_line(line).log_modulus
    for t, bound in zip(frequencies.tolist(), bounds.tolist(), strict=True):
        assert actual[int(t) :].max() <= bound + 1e-8


def test_hard_cut_the_leak_is_what_is_left_out() -> None:
    for direction, shifts in (("remove", (0.0, 0.5)), ("add", (0.0,)), ("replace", (0.0, 0.5))):
        part = CutSampledGaussian.leaking(loss_of(0.01, 0.5, direction), 1000, -12.0)
        weights = (0.99, 0.01) if len(shifts) == 2 else (1.0,)
        inside = sum(
            weight
            * quad(lambda x, m=mean: math.exp(-0.5 * (x - m) ** 2) / math.sqrt(2 * math.pi), part.low, part.high)[0]
            for weight, mean in zip(weights, shifts, strict=True)
        )
        assert math.exp(part.log_leak) == pytest.approx(1000 * (1 - inside), rel=1e-5)
        assert part.log_leak == pytest.approx(-12.0, abs=0.05)


def test_hard_cut_the_answer_is_that_of_the_whole_transform() -> None:
    # Both ways serve here; the cut one leaks at most e^−19 of δ, and only to the upper end.
    parts = compiled([(SampledGaussianLaw(0.01, 1.0, "remove"), 1000)])
    whole = _centred(parts, 2.0, BUDGET).log_delta(2.0)
    cut = _centred(_cut_at(parts, whole.upper - 19.0), 2.0, BUDGET).log_delta(2.0)
    assert max(whole.lower, cut.lower) <= min(whole.upper, cut.upper)
    assert cut.upper - cut.lower < 2e-8
