"""Each lemma of docs/engine-certificate.md that the contour engine relies on, checked on numbers it did not compute."""

from __future__ import annotations

import cmath
import math
from dataclasses import replace

import mpmath as mp
import numpy as np
import pytest
from scipy.special import log_ndtr, logsumexp, ndtr

from epsilond.accountants.curve.facts import SampledGaussianLaw
from epsilond.accountants.engine.contour import composition as contour
from epsilond.accountants.engine.contour.chernoff import log_chernoff_factor
from epsilond.accountants.engine.contour.grouped_laws import build_parts
from epsilond.accountants.engine.contour.likelihood_ratio import LikelihoodRatio, clip_response
from epsilond.accountants.engine.contour.line import Integrand, build_integrand_at
from epsilond.accountants.engine.contour.noise_steps import NoiseSteps
from epsilond.accountants.engine.contour.panels import POINTS, WEIGHTS, Panels
from epsilond.accountants.engine.contour.part import Line, LineValues, floor_spacing, join_parts
from epsilond.accountants.engine.contour.piece import Piece
from epsilond.accountants.engine.contour.saddle import epsilon_target, find_saddle
from tests.oracles.contour import Step, by_contour, moment

DIRECTIONS = ("remove", "add", "replace")
PARAMETERS = ((0.01, 1.0), (0.001, 1 / 0.6), (0.3, 0.2), (0.97, 0.5), (1e-5, 2.0))


def steps_of(rate: float, shift: float, direction: str, count: int = 1) -> NoiseSteps:
    return NoiseSteps(LikelihoodRatio(rate, shift), direction, count)


def piece_of(rate: float, shift: float, direction: str) -> Piece:
    return steps_of(rate, shift, direction).pieces[0]


def cut_steps(rate: float, shift: float, direction: str, count: int, low: float, high: float) -> NoiseSteps:
    """Steps without noise outside [low, high]."""
    return replace(steps_of(rate, shift, direction, count), low=low, high=high)


def on_line(part: NoiseSteps, line: Line) -> LineValues:
    return part.resolve(line.tilt, line.nodes * line.spacing).on_line(line)


def laid_at(laws: list[tuple[SampledGaussianLaw, int]], epsilon: float) -> tuple[Integrand, float]:
    """A line for one ε, and the width of the range of ε that it serves."""
    parts = build_parts(laws)
    saddle = find_saddle(parts, epsilon_target(epsilon))
    return build_integrand_at(parts, saddle, epsilon, saddle.log_delta), saddle.width


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
    near, _ = laid_at([(SampledGaussianLaw(step.rate, step.shift, step.direction), step.count)], epsilon)
    tilt = near.line.tilt
    with mp.workdps(30):  # the excess at the longest period is 2e-15 of δ
        truth = by_contour([step], epsilon, tilt=tilt, period=24.0, count=420, spacing=0.1)
        for period in (2.0, 4.0, 6.0):
            aliased = by_contour([step], epsilon, tilt=tilt, period=period, count=math.ceil(17.5 * period), spacing=0.1)
            assert truth < aliased
            assert aliased - truth <= mp.exp(near.chernoff.log_alias_bound(tilt, period, epsilon))


def test_a1_the_bound_is_taken_at_the_epsilon_that_is_asked() -> None:
    laws = [(SampledGaussianLaw(0.3, 0.25, "remove"), 50)]
    near, width = laid_at(laws, 6.0)
    for offset in (-6.0, -3.0, 3.0, 6.0):
        epsilon = 6.0 + offset * width
        kept, fresh = near.enclosure(epsilon), contour.log_delta(laws, epsilon)
        assert kept.lower <= fresh.upper
        assert fresh.lower <= kept.upper
    # Far below the centre the alias grows faster than e^{λ(ε₀ − ε)}, and the enclosure says so.
    period, tilt = 2.0 * math.pi / near.line.spacing, near.line.tilt
    there, here = (near.chernoff.log_alias_bound(tilt, period, epsilon) for epsilon in (6.0 - 3.0 * width, 6.0))
    assert there - here > tilt * 3.0 * width


# A2


@pytest.mark.parametrize("direction", DIRECTIONS)
@pytest.mark.parametrize(("rate", "shift"), PARAMETERS)
def test_a2_the_bounds_on_a_panel_cover_the_integrand_around_it(rate: float, shift: float, direction: str) -> None:
    piece = piece_of(rate, shift, direction)
    low = np.linspace(-20.0, 19.0, 40)
    for width in (0.3, 1.0, 4.0):
        points = low + width * np.linspace(0.0, 1.0, 60)[:, None]
        for tilt, frequency in ((1.0, 0.0), (1.0, 40.0), (12.0, 10.0), (80.0, 100.0)):
            largest = piece.log_maximum(tilt, low, low + width)
            on_axis = log_modulus(rate, shift, direction, complex(tilt, 0.0), points) - 0.5 * math.log(2 * math.pi)
            assert np.all(on_axis.max(axis=0) <= largest)
            for height in (0.02, 0.1, min(0.8 * math.pi / shift, 2.0)):
                z = complex(tilt, frequency)
                off = [log_modulus(rate, shift, direction, z, points + 1j * y) for y in (height, -height)]
                grown = np.max(off, axis=0) - 0.5 * math.log(2 * math.pi) - on_axis
                bound = piece.log_growth(tilt, frequency, low, low + width, np.full_like(low, height), 0.0)
                assert np.all(grown.max(axis=0) <= bound + 1e-9)


@pytest.mark.parametrize("direction", DIRECTIONS)
@pytest.mark.parametrize(("rate", "shift"), PARAMETERS)
def test_a2_panels_err_by_no_more_than_their_ellipses(rate: float, shift: float, direction: str) -> None:
    piece, seen = Piece(LikelihoodRatio(rate, shift), direction, -8.0, 9.5), 0
    points, weights = np.polynomial.legendre.leggauss(60)
    edges = np.linspace(piece.low, piece.high, 400)
    x = (0.5 * np.diff(edges)[:, None] * points + 0.5 * (edges[1:] + edges[:-1])[:, None]).ravel()
    weight = (0.5 * np.diff(edges)[:, None] * weights).ravel()

    def values(z: complex, x: np.ndarray) -> np.ndarray:
        right, left = (np.log(1 - rate + rate * np.exp(sign * shift * x - shift * shift / 2)) for sign in (1, -1))
        power = {"remove": (1 + z) * right, "add": -z * right, "replace": (1 + z) * right - z * left}[direction]
        return np.asarray(np.exp(-x * x / 2 + power) / math.sqrt(2 * math.pi))

    for tilt, frequency in ((0.5, 0.0), (1.0, 200.0), (8.0, 40.0), (30.0, 10.0)):
        z = complex(tilt, frequency)
        exact, size = weight @ values(z, x), (weight @ np.abs(values(z, x)))
        panels = Panels.widest(piece)
        for _ in range(4):
            error = abs(np.exp(panels.log_weights) @ values(z, panels.nodes) - exact)
            bound = math.exp(min(logsumexp(panels.log_errors(tilt, frequency)), 300.0))
            assert error <= bound + 1e-13 * size
            seen += error > 1e-12 * size
            panels = panels.halve(np.ones(panels.widths.size, dtype=bool))
    assert seen >= (1 if rate > 1e-4 and rate * shift > 0.1 else 0)


def test_a2_gauss_nodes_and_weights_are_within_their_units() -> None:
    with mp.workdps(40):
        order = POINTS.size
        for point, weight in zip(POINTS.tolist(), WEIGHTS.tolist(), strict=True):
            exact = mp.findroot(lambda x: mp.legendre(order, x), point)
            slope = mp.diff(lambda x: mp.legendre(order, x), exact)
            assert abs(point - exact) <= 2.0**-52
            assert abs(weight * (1 - exact**2) * slope**2 / 2 - 1) <= 16 * 2.0**-53


def turns(loss: NoiseSteps, x: np.ndarray, angle: float) -> np.ndarray:
    """arg r(x + iy) − arg r(−x − iy) at s y = angle."""
    responses = loss.ratio.response(x), loss.ratio.response(-x)
    return sum(np.angle(1 - p + p * np.exp(1j * angle)) for p in responses)


def test_a2_the_phases_of_replace_add_up_to_one_angle_only_if_balanced() -> None:
    x = np.linspace(-30, 30, 6001)
    for rate, shift in ((0.5, 2.0), (0.5, 0.1), (0.01, 1.0), (0.7, 1.5)):
        loss = steps_of(rate, shift, "replace")
        assert (rate / (1 - rate)) ** 2 * math.exp(-(shift**2)) <= 1
        for angle in (0.1, 1.0, 2.0, 3.1):
            assert turns(loss, x, angle).max() <= angle + 1e-12
            assert (loss.ratio.response(x) + loss.ratio.response(-x)).max() <= 1 + 1e-12
    loss = steps_of(0.99, 0.5, "replace")
    assert (0.99 / 0.01) ** 2 * math.exp(-(0.5**2)) > 1
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
    assert error <= bound(single + frequency * shift * heights)


def window(loss: NoiseSteps, tilt: float, c: float) -> tuple[float, float]:
    """The ends of the lemma; to add, the mode x* = −l s p(x*) by bisection."""
    rate, shift = loss.ratio.rate, loss.ratio.shift
    if loss.kind == "add":
        low, high = -tilt * shift, 0.0
        for _ in range(60):
            middle = 0.5 * (low + high)
            rises = middle + tilt * shift * float(loss.ratio.response(np.asarray(middle))) < 0.0
            low, high = (middle, high) if rises else (low, middle)
        return low - c, c
    balanced = (rate / (1 - rate)) ** 2 * math.exp(-(shift**2)) <= 1
    both = loss.kind == "replace" and not balanced
    return -c, shift * (1.0 + (2.0 if both else 1.0) * tilt) + c


@pytest.mark.parametrize("direction", DIRECTIONS)
@pytest.mark.parametrize(("rate", "shift"), [*PARAMETERS, (0.9999, 1.0), (1 - 1e-7, 0.3)])
def test_a2_the_window_leaves_out_no_more_than_it_says(rate: float, shift: float, direction: str) -> None:
    loss = steps_of(rate, shift, direction)
    for tilt in (0.5, 5.0, 60.0):
        low, high = window(loss, tilt, 3.0)
        centre = np.linspace(low - 12.0, high + 12.0, 200_001)
        logs = -0.5 * centre**2 + sum(
            power * loss.ratio.log_ratio(sign * centre) for sign, power in loss.pieces[0].factors(tilt)
        )
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
    line = Line(tilt, floor_spacing(0.7 / shift), 30)
    values = on_line(steps_of(rate, shift, direction), line)
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
    ratio = LikelihoodRatio(rate, shift)
    x = np.asarray([-30.0, -9.0, -1.0, -1e-3, 0.5 * shift, 0.51 * shift + 1e-7, 2.0, 14.0, 60.0])
    x.sort()
    ours = ratio.log_ratio(x)
    allowed = ratio.ratio_error(x, ours)
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
    frequencies = np.asarray([0.5, 2.0, 5.0, 12.0, 30.0])
    bounds = steps_of(rate, shift, direction, count).resolve(tilt, 0.0).log_decay(tilt, frequencies)
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
    turn, spread = clip_response(response)
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


def test_a2_what_a_falling_factor_grows_by_is_convex_and_enough() -> None:
    heights = np.linspace(0.0, 6.2, 400)
    for rate, end in ((0.01, 3.0), (0.3, 9.0), (0.9, 2.0), (0.01, 10.6)):
        piece, low, high = piece_of(rate, 0.5, "add"), np.full(400, -9.0), np.full(400, end)
        grown = piece.log_growth(7.0, 0.0, low, high, heights, 0.0) - 0.5 * heights**2
        assert np.all(np.diff(grown, 2) >= -1e-12)
        for x in np.linspace(-9.0, end, 60):
            p = float(piece.ratio.response(np.asarray(x)))
            assert np.all(-3.5 * np.log1p(-4.0 * p * (1.0 - p) * np.sin(heights / 4) ** 2) <= grown + 1e-9)


# A2, hard cut


def test_hard_cut_nodes_fill_the_panels_between_the_ends() -> None:
    cut = cut_steps(0.01, 0.5, "remove", 1000, -11.25, 12.0625)
    for tilt, frequency in ((20.0, 0.0), (20.0, 300.0), (1.0, 3.0)):
        for panels in cut.resolve(tilt, frequency).panels:
            assert cut.low < panels.nodes.min()
            assert panels.nodes.max() < cut.high
            starts = np.sort(panels.starts)
            assert starts[0] == 0.0
            assert np.all(np.diff(starts) == panels.widths[np.argsort(panels.starts)][:-1])
            assert panels.widths.sum() == cut.high - cut.low


@pytest.mark.parametrize("direction", DIRECTIONS)
@pytest.mark.parametrize(("rate", "shift", "tilt"), [(0.001, 0.5, 60.0), (0.009, 0.25, 150.0), (0.2, 1.0, 6.0)])
def test_hard_cut_the_transform_is_within_its_error(rate: float, shift: float, tilt: float, direction: str) -> None:
    part = cut_steps(rate, shift, direction, 1000, -11.5, 12.0)
    line = Line(tilt, 1.0, 30)
    values = on_line(part, line)
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

    of_one = values.cumulant_error / 1000 + 1e-12
    assert abs(values.cumulant / 1000 - math.log(transform(0.0).real)) < of_one
    for k in (3, 29):
        truth = (transform(k) / transform(0.0)) * cmath.exp(-1j * k * values.centre / 1000)
        ours = cmath.exp((values.log_modulus[k] + 1j * values.phase[k]) / 1000)
        allowed = math.expm1(values.log_growth[k] / 1000) + values.rounding[k] / 1000
        assert abs(ours - truth) < allowed + 1e-12 * (1 + tilt)


@pytest.mark.parametrize("direction", DIRECTIONS)
def test_hard_cut_the_decay_bound_holds_with_edges(direction: str) -> None:
    rate, shift, tilt, count = 0.001, 0.5, 40.0, 5000
    part = cut_steps(rate, shift, direction, count, -10.75, 11.0)
    frequencies = np.asarray([5.0, 20.0, 60.0, 150.0])
    bounds = part.resolve(tilt, 0.0).log_decay(tilt, frequencies)
    actual = on_line(part, Line(tilt, 1.0, 151)).log_modulus
    for t, bound in zip(frequencies.tolist(), bounds.tolist(), strict=True):
        assert actual[int(t) :].max() <= bound + 1e-8


def test_hard_cut_the_leak_is_what_is_left_out() -> None:
    for direction, shifts in (("remove", (0.0, 0.5)), ("add", (0.0,)), ("replace", (0.0, 0.5))):
        part = cut_steps(0.01, 0.5, direction, 1000, -6.5, 7.0)
        weights = (0.99, 0.01) if len(shifts) == 2 else (1.0,)
        inside = sum(
            weight * (ndtr(part.high - mean) - ndtr(part.low - mean))
            for weight, mean in zip(weights, shifts, strict=True)
        )
        assert 1000 * (1 - inside) <= math.exp(part.log_leak) * (1 + 1e-6) <= 1010 * (1 - inside)
        kept = steps_of(0.01, 0.5, direction, 1000).trim(-80.0, 0.0)
        assert -90.0 < kept.log_leak <= -80.0


def test_hard_cut_the_answer_is_that_of_the_whole_transform() -> None:
    # Both ways serve here; the cut one leaks at most e^−19 of δ, and only to the upper end.
    parts = [steps_of(0.01, 1.0, "remove", 1000)]
    enclosures = []
    for kept in (parts, [parts[0].trim(-13.3 - 19.0, 0.0)]):
        saddle = find_saddle(kept, epsilon_target(2.0))
        enclosures.append(build_integrand_at(kept, saddle, 2.0, saddle.log_delta).enclosure(2.0))
    whole, cut = enclosures
    assert max(whole.lower, cut.lower) <= min(whole.upper, cut.upper)
    assert cut.upper - cut.lower < 1e-6


# A5


@pytest.mark.parametrize("count", [7, 120])
def test_many_different_parts_lie_between_equal_ones(count: int) -> None:
    spread, rate = 1e-9, 2.4 / count
    each = [SampledGaussianLaw(rate, 1.0 + spread * k / count, "remove") for k in range(count)]
    together = contour.log_delta([(law, 1) for law in each], 0.5)
    least = contour.log_delta([(each[0], count)], 0.5)
    most = contour.log_delta([(SampledGaussianLaw(rate, 1.0 + spread, "remove"), count)], 0.5)
    assert together.lower <= most.upper
    assert together.upper >= least.lower
    assert together.upper - together.lower <= 1e-5


def test_the_rounding_of_adding_parts_is_charged() -> None:
    line = Line(1.0, 0.25, 5)
    losses = [steps_of(0.3, 0.1 * k, "remove", 3 * k) for k in range(1, 12)]
    parts = [on_line(part, line) for part in losses]
    values = join_parts(parts)
    for node in range(line.nodes):
        exact = math.fsum(part.phase[node] for part in parts)
        own = math.fsum(part.rounding[node] for part in parts)
        assert abs(values.phase[node] - exact) <= values.rounding[node] - own + 1e-300
        assert values.rounding[node] >= own
    assert join_parts(parts[:1]).phase.tolist() == parts[0].phase.tolist()
