"""Few steps and rare large losses: compositions less the event that no step is marked as large (certificate, A6)."""

from __future__ import annotations

import cmath
import math

import mpmath as mp
import numpy as np
import pytest
from flint import acb, arb, ctx
from scipy.special import ndtr

from epsilond.accountants.curve.facts import SampledGaussianLaw
from epsilond.accountants.engine.contour import composition as contour
from epsilond.accountants.engine.contour.parts import SampledGaussian, compiled
from epsilond.accountants.engine.contour.profile import ContourProfile
from epsilond.accountants.engine.contour.reductions import marked_at
from epsilond.accountants.engine.contour.transforms.marked_step import MarkedStep, Onset
from epsilond.accountants.engine.contour.transforms.sampled_gaussian import EXPONENTS, SampledGaussianLoss
from epsilond.accountants.engine.contour.transforms.some_large import SomeLarge
from epsilond.accountants.engine.contour.transforms.transform import ContourRefused, Line, NodeBudget, exact_step
from epsilond.accountants.profiles.one_large_step import OneLargeStep
from tests.oracles.contour import Step, loss

BUDGET = NodeBudget()


def loss_of(step: Step) -> SampledGaussianLoss:
    return SampledGaussianLoss(step.rate, step.shift, EXPONENTS[step.direction])


def marked(step: Step, onset: Onset) -> MarkedStep:
    return MarkedStep(loss_of(step), step.count, onset)


def log_ratio(step: Step, x: np.ndarray) -> np.ndarray:
    return np.log1p(step.rate * np.expm1(step.shift * x - 0.5 * step.shift**2))


def two_removals(first: Step, second: Step, epsilon: float) -> float:
    """log δ of two steps, to about 1e-9: E over the first step's noise of δ(ε − L₁) of the second, in closed form.

    That is smooth, but flat like a Gaussian of a logarithm where ε − L₁ = log(1 − q₂): panels shrink towards it.
    """
    level = math.expm1(epsilon - math.log1p(-second.rate)) + first.rate
    corner = math.log(level / first.rate) / first.shift + 0.5 * first.shift
    near = np.geomspace(1e-9, 16.0 + first.shift, 60)
    ends = np.concatenate((corner - near[::-1], [corner], corner + near))
    nodes, weights = np.polynomial.legendre.leggauss(24)
    middle, half = 0.5 * (ends[1:] + ends[:-1]), 0.5 * np.diff(ends)
    x = (middle[:, None] + half[:, None] * nodes).ravel()
    ratios = log_ratio(first, x)
    masses = (half[:, None] * weights).ravel() * np.exp(ratios - 0.5 * x * x) / math.sqrt(2.0 * math.pi)
    factor = np.exp(epsilon - ratios)
    over = np.maximum(factor - (1.0 - second.rate), 1e-300)
    end = np.log(over / second.rate) / second.shift + 0.5 * second.shift
    once = (1.0 - second.rate) * ndtr(-end) + second.rate * ndtr(second.shift - end) - factor * ndtr(-end)
    return math.log(float(masses @ np.where(factor > 1.0 - second.rate, once, 1.0 - factor)))


def halves(step: MarkedStep, direction: str, z: complex) -> tuple[mp.mpc, mp.mpc]:
    """M(z) without and with a mark, as rigorous integrals in ball arithmetic."""
    rate, shift, power = acb(step.loss.rate), acb(step.loss.shift), acb(z.real, z.imag)
    place, scale = acb(step.onset.place), acb(2).sqrt() * acb(step.onset.softness)

    def integrand(x: acb, analytic: bool, side: int) -> acb:
        def log_ratio(y: acb) -> acb:
            return (1 - rate + rate * (shift * y - shift * shift / 2).exp()).log(analytic=analytic)

        exponent = -x * x / 2 + (1 + power) * log_ratio(x)
        if direction == "replace":
            exponent -= power * log_ratio(-x)
        return exponent.exp() * (side * (place - x) / scale).erfc() / 2

    reach = 16 + 2 * (1 + z.real) * step.loss.shift
    found = []
    for side in (-1, 1):
        ball = acb.integral(lambda x, analytic, side=side: integrand(x, analytic, side), acb(-reach), acb(reach))
        ball /= acb(2 * arb.pi()).sqrt()
        found.append(
            mp.mpc(mp.mpf(ball.real.mid().str(35, radius=False)), mp.mpf(ball.imag.mid().str(35, radius=False)))
        )
    return found[0], found[1]


def difference(steps: list[MarkedStep], direction: str, z: complex) -> mp.mpc:
    """Π M^T − Π M_s^T."""
    parts = [halves(step, direction, z) for step in steps]
    counts = [step.count for step in steps]
    whole = mp.fprod((low + high) ** count for (low, high), count in zip(parts, counts, strict=True))
    return whole - mp.fprod(low**count for (low, _), count in zip(parts, counts, strict=True))


CASES = [
    ([(Step(0.01, 1.0, "remove", 10), Onset(2.2, 0.2))], 7.0, 3.0),
    ([(Step(0.01, 1.0, "remove", 1), Onset(2.0, 0.3))], 6.0, 9.0),
    ([(Step(1e-5, 10.0, "remove", 10**6), Onset(10.5, 0.5))], 0.03, 0.1),
    ([(Step(0.05, 0.8, "replace", 3), Onset(2.5, 0.25))], 4.0, 2.0),
    ([(Step(0.02, 1.0, "remove", 2), Onset(2.5, 0.2)), (Step(0.001, 2.0, "remove", 5), Onset(3.0, 0.2))], 2.0, 1.5),
]


@pytest.mark.parametrize(("chosen", "tilt", "spacing"), CASES)
def test_a6_the_difference_on_a_line_is_within_its_error(
    chosen: list[tuple[Step, Onset]], tilt: float, spacing: float
) -> None:
    steps = [marked(step, onset) for step, onset in chosen]
    part = SomeLarge(tuple(steps), 1.0)
    line = Line(tilt, exact_step(spacing), 30)
    values = part.resolve((tilt, tilt), line.spacing * line.nodes, BUDGET).on_line(line)
    with mp.workdps(30), ctx.workprec(110):
        direction = chosen[0][0].direction
        exact = difference(steps, direction, complex(tilt)).real
        assert abs(values.cumulant - mp.log(exact)) <= values.cumulant_error + 1e-15 * (1 + abs(values.cumulant))
        assert values.cumulant_error < 1e-8
        for k in (1, 7, 29):
            t = line.spacing * k
            truth = difference(steps, direction, complex(tilt, t)) / exact * mp.expj(-mp.mpf(t) * mp.mpf(values.centre))
            ours = cmath.exp(values.log_modulus[k] + 1j * values.phase[k])
            allowed = math.exp(values.log_modulus[k]) * (math.expm1(values.log_growth[k]) + values.rounding[k])
            assert abs(ours - complex(truth)) <= allowed + 2e-15
            assert allowed < 1e-7


@pytest.mark.parametrize(("chosen", "tilt", "spacing"), CASES)
def test_a6_the_decay_bound_is_never_below_the_modulus(
    chosen: list[tuple[Step, Onset]], tilt: float, spacing: float
) -> None:
    steps = [marked(step, onset) for step, onset in chosen]
    grid = SomeLarge(tuple(steps), 1.0).resolve((0.0, tilt), 0.0, BUDGET)
    frequencies = spacing * np.asarray([1.0, 4.0, 12.0, 30.0])
    bounds = grid.log_decay(tilt, frequencies)
    assert np.all(np.diff(bounds) <= 1e-12)
    with mp.workdps(30), ctx.workprec(110):
        direction = chosen[0][0].direction
        exact = difference(steps, direction, complex(tilt)).real
        assert grid.upper_cumulants(np.asarray([tilt]))[0] >= mp.log(exact)
        assert grid.moments(np.asarray([tilt])).cumulant[0] == pytest.approx(float(mp.log(exact)), abs=1e-6)
        for t, bound in zip(frequencies.tolist(), bounds.tolist(), strict=True):
            assert mp.log(abs(difference(steps, direction, complex(tilt, t))) / exact) <= bound + 1e-9


def test_a6_the_moments_are_derivatives_of_the_cumulant() -> None:
    steps = tuple(marked(step, onset) for step, onset in CASES[-1][0])
    grid = SomeLarge(steps, 1.0).resolve((0.0, 6.0), 0.0, BUDGET)
    h = 1e-3
    at = grid.moments(np.asarray([2.0 - h, 2.0, 2.0 + h]))
    assert at.mean[1] == pytest.approx((at.cumulant[2] - at.cumulant[0]) / (2 * h), rel=1e-5)
    assert at.variance[1] == pytest.approx((at.mean[2] - at.mean[0]) / (2 * h), rel=1e-5)


@pytest.mark.parametrize("direction", ["remove", "replace"])
@pytest.mark.parametrize("epsilon", [0.1, 0.25, 0.5, 1.0])
def test_a6_what_steps_without_a_mark_add_is_within_the_leak(direction: str, epsilon: float) -> None:
    step = Step(0.02, 1.0, direction, 2)
    onset = Onset(2.3, 0.3)
    x = np.linspace(-9.0, 9.0, 1801)
    ratios = log_ratio(step, x)
    losses = ratios - (ratios[::-1] if direction == "replace" else 0.0)
    rest = ndtr((onset.place - x) / onset.softness)
    masses = np.exp(ratios - 0.5 * x * x) / math.sqrt(2.0 * math.pi) * (x[1] - x[0]) * rest
    excess = np.maximum(-np.expm1(np.minimum(epsilon - (losses[:, None] + losses), 1.0)), 0.0)
    truth = math.log(float(masses @ excess @ masses))
    part = SomeLarge((marked(step, onset),), 0.5)
    assert truth <= part.log_leak_at(epsilon) < truth + 12.0
    assert part.log_leak_at(0.0) <= part.log_leak


@pytest.mark.parametrize("place", [2.0, 2.4, 2.8])
@pytest.mark.parametrize("softness", [0.12, 0.3])
def test_a6_any_marks_whatever_give_a_true_enclosure(place: float, softness: float) -> None:
    step = Step(0.02, 1.0, "remove", 2)
    part = SomeLarge((marked(step, Onset(place, softness)),), 0.6)
    truth = two_removals(step, step, 0.6)
    built: ContourProfile = contour._centred((part,), 0.6, BUDGET)
    lower, upper = built.log_delta(0.6)
    assert lower - 1e-8 <= truth <= upper + 1e-8


@pytest.mark.parametrize(
    ("first", "second", "epsilon"),
    [
        (Step(0.01, 1.0, "remove"), Step(0.01, 1.0, "remove"), 0.4254643),
        (Step(0.01, 1.0, "remove"), Step(0.02, 0.8, "remove"), 0.6),
        (Step(0.001, 3.0, "remove"), Step(0.001, 3.0, "remove"), 6.0),
        (Step(0.02, 1.0, "remove"), Step(0.005, 0.7, "remove"), 0.35),
    ],
)
def test_two_steps_that_decay_slowly(first: Step, second: Step, epsilon: float) -> None:
    truth = two_removals(first, second, epsilon)
    laws = [(SampledGaussianLaw(step.rate, step.shift, step.direction), 1) for step in (first, second)]
    lower, upper = contour.log_delta(laws, epsilon)
    assert lower - 1e-8 <= truth <= upper + 1e-8
    assert upper - lower < 1e-6


@pytest.mark.parametrize(
    ("rate", "shift", "count", "log_delta"),
    [
        (0.01, 1.0, 3, math.log(1e-6)),
        (0.01, 1.0, 10, math.log(1e-6)),
        (0.001, 1 / 0.3, 10, math.log(1e-6)),
        (0.001, 2.5, 3, math.log(1e-9)),
        (1e-5, 1 / 0.3, 1000, math.log(1e-6)),
        (1.024e-5, 10.0, 976563, math.log(1e-7)),
    ],
)
def test_corners_of_few_steps_are_solved_and_agree_with_delta(
    rate: float, shift: float, count: int, log_delta: float
) -> None:
    laws = [(SampledGaussianLaw(rate, shift, "remove"), count)]
    lower, upper = contour.epsilon(laws, log_delta)
    assert 0.0 < lower <= upper <= lower * (1.0 + 1e-6)
    assert contour.log_delta(laws, lower).lower <= log_delta + 1e-5
    assert contour.log_delta(laws, upper).upper >= log_delta - 1e-5
    other = OneLargeStep.of(laws).log_delta(upper)
    assert other.lower <= contour.log_delta(laws, upper).upper
    assert contour.log_delta(laws, upper).lower <= other.upper


def test_neighbours_share_marks_and_what_is_small_beside_nothing_is_refused() -> None:
    parts = compiled([(SampledGaussianLaw(0.01, 1.0, "remove"), 10)])
    assert marked_at(parts, 0.6, -30.2) is marked_at(parts, 0.6001, -30.3)
    for epsilon in (0.0, -1.0, 1e-6):
        with pytest.raises(ContourRefused):
            marked_at(parts, epsilon, -30.0)


def test_marks_lie_at_the_size_that_is_asked() -> None:
    for step in (Step(0.01, 1.0, "remove"), Step(1e-5, 10.0, "remove"), Step(0.6, 0.2, "remove")):
        for size in (1e-3, 0.3, 20.0, 900.0):
            onset = Onset.at_loss(loss_of(step), size, 0.2)
            assert float(loss(step, mp.mpf(onset.place))) == pytest.approx(size, rel=1e-9)
    assert isinstance(compiled([(SampledGaussianLaw(0.01, 1.0, "remove"), 10)])[0], SampledGaussian)
