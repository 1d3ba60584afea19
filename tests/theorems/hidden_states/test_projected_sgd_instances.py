"""The instance of hidden-state projected SGD on a line, against the laws of its models by dense quadrature."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction
from typing import Any

import mpmath as mp
import numpy as np
import pytest
from scipy.special import ndtr

from epsilond.accountants.account import account
from epsilond.accountants.schedules import Constant
from epsilond.accountants.specs import ProjectedSgd
from epsilond.accountants.theorems.hidden_states.ordered_cells import (
    half_line_error,
    move_cells_down,
    symmetric_points,
)
from epsilond.accountants.theorems.hidden_states.projected_sgd_instances import released_model_instances

DENSE = 801
NOISE = 2e-16


def run(**changes: Any) -> ProjectedSgd:
    fields: dict[str, Any] = {
        "clients": 6,
        "participants": 2,
        "lipschitz": 1.0,
        "radius": 1.0,
        "smoothness": 1.0,
        "step_schedule": Constant(value=0.5),
        "noise_schedule": Constant(value=1.0),
    }
    return ProjectedSgd(**(fields | changes))


def model(spec: ProjectedSgd, pulls: list[float], curvatures: list[float] | None = None) -> np.ndarray:
    """Distribution function of the last model on a dense grid of the ball, the record pulling by `pulls`, step by step.

    `curvatures` are the mean curvatures of the losses of each batch; all losses have the curvature λ if there are none.
    """
    reach = min(spec.radius, 6.0)  # beyond it the model does not come
    grid = np.linspace(-reach, reach, DENSE)
    step, noise = spec.step_schedule.constant, spec.noise_schedule.constant
    assert step is not None
    assert noise is not None
    spread = step * noise / math.sqrt(spec.participants)
    mass = np.zeros(DENSE)
    mass[DENSE // 2] = 1.0
    below = np.zeros(DENSE)
    for pull, curvature in zip(pulls, curvatures or [spec.strong_convexity] * len(pulls), strict=True):
        moved, keep = step * pull / spec.participants, 1.0 - step * curvature
        below = np.zeros(DENSE)
        for start in np.array_split(np.arange(DENSE), 12):
            kernel = ndtr((grid[None, :] - keep * grid[start, None] - moved) / spread)
            below += mass[start] @ kernel
        below[-1] = 1.0
        # A cell's mass in the middle of it: second order in the cell's width.
        inner = 0.5 * (below[1:] + below[:-1])
        mass = np.diff(inner, prepend=0.0, append=1.0)
    return below


def divergence(spec: ProjectedSgd, runs: list[tuple[float, tuple[float, ...]]], epsilon: float) -> float:
    """Over half-lines: the likelihood ratio rises along the line."""
    pull = 1.0 - spec.strong_convexity
    first, second = (
        sum(weight * model(spec, [side * pull * use for use in uses]) for weight, uses in runs) for side in (1, -1)
    )
    above = (1.0 - first) - math.exp(epsilon) * (1.0 - second)
    return float(max(above.max(), 0.0))


def of(place: int, stop: int = 3) -> tuple[float, ...]:
    """Uses of the record in each step up to a stop, of which only one has it."""
    return tuple(float(step == place) for step in range(stop))


RANDOM_STOP = {"release": "random-stop"}
ONE_BATCH = {"clients": 5, "participants": 3}
CASES: dict[str, tuple[dict[str, Any], list[tuple[float, tuple[float, ...]]]]] = {
    "one full step": ({"participants": 6, "rounds": 1}, [(1.0, (1.0,))]),
    "three full steps": ({"participants": 6, "rounds": 3}, [(1.0, (1.0,) * 3)]),
    "cyclic": ({"batches": "cyclic"}, [(1.0, of(2))]),
    "shuffled": ({}, [(1 / 3, of(place)) for place in range(3)]),
    "strongly convex, cyclic": ({"batches": "cyclic", "strong_convexity": 0.4}, [(1.0, of(2))]),
    "full steps, random stop": (
        {"participants": 6, "rounds": 3, **RANDOM_STOP},
        [(1 / 3, (1.0,) * stop) for stop in (1, 2, 3)],
    ),
    "cyclic, random stop": ({"batches": "cyclic", **RANDOM_STOP}, [(1 / 3, of(0, stop)) for stop in (1, 2, 3)]),
    "cyclic twice, suffix": (
        {"batches": "cyclic", "rounds": 6, "release": "suffix", "suffix_fraction": 0.5},
        [(1 / 4, (of(2) * 2)[:stop]) for stop in (3, 4, 5, 6)],
    ),
    "shuffled, random stop": (RANDOM_STOP, [(1 / 9, of(place, stop)) for place in range(3) for stop in (1, 2, 3)]),
    "a single batch, shuffled": ({**ONE_BATCH, "rounds": 3}, [(0.6, (1.0,) * 3), (0.4, (0.0,) * 3)]),
    "a single batch, strongly convex, random stop": (
        {**ONE_BATCH, "rounds": 2, "strong_convexity": 0.4, **RANDOM_STOP},
        [(0.5 * weight, (use,) * stop) for stop in (1, 2) for weight, use in ((0.6, 1.0), (0.4, 0.0))],
    ),
    "a single batch, cyclic": ({**ONE_BATCH, "rounds": 3, "batches": "cyclic"}, [(1.0, (1.0,) * 3)]),
    "strongly convex, shuffled, suffix": (
        {"strong_convexity": 0.4, "release": "suffix", "suffix_fraction": 0.6},
        [(1 / 6, of(place, stop)) for place in range(3) for stop in (2, 3)],
    ),
    "drawn afresh, random stop": (
        {"batches": "without-replacement", "rounds": 2, **RANDOM_STOP},
        [
            (0.5 * math.prod(1 / 3 if used else 2 / 3 for used in uses), uses)
            for stop in (1, 2)
            for uses in itertools.product((0.0, 1.0), repeat=stop)
        ],
    ),
}
"""Changes of the run, and weights of what the record's uses may be. It pulls by L − λρ, and its replacement against it."""


@pytest.mark.parametrize("radius", [1.0, 40.0])
@pytest.mark.parametrize("name", CASES)
def test_it_lies_below_its_instance_and_not_far(name: str, radius: float) -> None:
    changes, runs = CASES[name]
    if "strong_convexity" in changes and radius > 1.0:
        pytest.skip("a strongly convex loss that is Lipschitz on a large ball has no room to pull")
    spec = run(radius=radius, **changes)
    (pair,) = released_model_instances(spec, "replace-one")
    for epsilon in (0.0, 0.1, 0.3):
        lower = float(pair.forward.log_delta(np.asarray([epsilon])).lower[0])
        exact = divergence(spec, runs, epsilon)
        assert math.exp(lower) <= exact * (1 + 1e-3) + 1e-6
        if exact > 0.02:
            assert math.exp(lower) >= 0.75 * exact


@pytest.mark.parametrize("curvature", [0.0, 0.5])
@pytest.mark.parametrize("release", [{}, {"release": "random-stop"}, {"release": "suffix", "suffix_fraction": 0.5}])
@pytest.mark.parametrize("relation", ["replace-one", "zero-out-one"])
@pytest.mark.parametrize(
    "changes",
    [
        {},
        {"batches": "cyclic", "rounds": 7},
        {"batches": "without-replacement", "rounds": 5},
        {"participants": 6, "rounds": 4},
    ],
)
def test_no_lower_end_is_zero(
    relation: Any, changes: dict[str, Any], release: dict[str, Any], curvature: float
) -> None:
    radius = 3.0 if curvature == 0.0 else 1.0
    spec = run(radius=radius, strong_convexity=curvature, noise_schedule=Constant(value=0.5), **(changes | release))
    guarantee = account(spec, relation=relation, observer="final-model").guarantee
    found = guarantee.curve.epsilon(math.log(1e-3))
    assert 0.0 < found.lower <= found.upper
    assert guarantee.tight != "unknown"


@pytest.mark.parametrize("release", ["last", "random-stop"])
@pytest.mark.parametrize("radius", [1.0, 40.0])
def test_a_random_stop_of_many_steps_is_between_the_bounds(release: Any, radius: float) -> None:
    """The interval is ordered at every ε, for runs long enough that the two ways of computing it both apply."""
    spec = run(clients=200, rounds=100, radius=radius, release=release)
    curve = account(spec, relation="replace-one", observer="final-model").guarantee.curve
    for epsilon in (0.0, 0.01, 0.1, 0.5):
        known = curve.log_delta(epsilon)
        assert known.lower <= known.upper
    if radius > 1.0:  # near the boundary the roundings of a hundred steps exceed the effect of one record
        assert curve.log_delta(0.0).lower > -math.inf


def test_where_it_is_not_worked_out_there_is_none() -> None:
    assert released_model_instances(run(strong_convexity=1.0), "replace-one") == ()
    assert released_model_instances(run(rounds=6), "replace-one") == ()


@pytest.mark.parametrize("release", ["last", "random-stop"])
def test_a_zeroed_record_takes_its_part_of_the_strong_convexity_away(release: Any) -> None:
    """Its batch has the mean curvature λ(m − 1)/m, so that this run contracts less."""
    spec = run(strong_convexity=0.5, batches="cyclic", release=release, noise_schedule=Constant(value=0.3))
    stops, use = ((3,), 2) if release == "last" else ((1, 2, 3), 0)
    first = sum(model(spec, [0.5 * (t == use) for t in range(stop)]) for stop in stops) / len(stops)
    second = sum(model(spec, [0.0] * stop, [0.25 if t == use else 0.5 for t in range(stop)]) for stop in stops) / len(
        stops
    )
    (pair,) = released_model_instances(spec, "zero-out-one")
    for epsilon in (0.0, 0.1, 0.2):
        lower = math.exp(float(pair.forward.log_delta(np.asarray([epsilon])).lower[0]))
        exact = float(max(((1.0 - first) - math.exp(epsilon) * (1.0 - second)).max(), 0.0))
        assert lower <= exact * (1 + 1e-3) + 1e-6
        assert lower >= 0.75 * exact - 5e-3


@pytest.mark.parametrize("release", [{}, {"release": "random-stop"}, {"release": "suffix", "suffix_fraction": 0.5}])
@pytest.mark.parametrize("radius", [2.0, 1e3])
@pytest.mark.parametrize("relation", ["replace-one", "zero-out-one"])
def test_a_record_outside_of_the_single_batch_is_never_used(
    relation: Any, radius: float, release: dict[str, Any]
) -> None:
    """The batch is drawn once. So δ is at most the probability m/n that it has the record, after any number of steps."""
    changes = {"clients": 5, "participants": 3, "rounds": 30, "smoothness": None}
    spec = run(radius=radius, noise_schedule=Constant(value=0.3), **(changes | release))
    known = account(spec, relation=relation, observer="final-model").guarantee.curve.log_delta(0.0)
    assert 0.4 < math.exp(known.lower) <= 0.6
    assert known.lower <= known.upper


def exact_last_model(pull: float, epsilon: float) -> mp.mpf:
    """δ after eight steps of fresh batches of 2 of 6 with noise multiplier 2, without the projection, in forty digits.

    The half-line at which the likelihood ratio is e^ε is found by bisection.
    """
    with mp.workdps(40):
        share, deviation, alpha = mp.mpf(1) / 3, mp.mpf(8), mp.exp(mp.mpf(epsilon))
        weights = [mp.binomial(8, k) * share**k * (1 - share) ** (8 - k) for k in range(9)]

        def density(x: mp.mpf, shift: float) -> mp.mpf:
            return mp.fsum(w * mp.npdf(x, shift * k, deviation) for k, w in enumerate(weights))

        low, high = mp.mpf(-60), mp.mpf(400)
        for _ in range(120):
            middle = (low + high) / 2
            low, high = (low, middle) if density(middle, 1.0) > alpha * density(middle, pull) else (middle, high)
        above = [
            mp.fsum(w * mp.ncdf((shift * k - low) / deviation) for k, w in enumerate(weights)) for shift in (1.0, pull)
        ]
        return above[0] - alpha * above[1]


@pytest.mark.parametrize(("relation", "pull"), [("zero-out-one", 0.0), ("replace-one", -1.0)])
def test_a_tiny_delta_is_bounded_from_below_by_less_than_it(relation: Any, pull: float) -> None:
    """Masses far from the middle keep their digits. The largest δ of the list is 0.1, the least is 4e-14."""
    spec = run(
        batches="without-replacement", rounds=8, radius=60.0, smoothness=None, noise_schedule=Constant(value=2.0)
    )
    curve = account(spec, relation=relation, observer="final-model").guarantee.curve
    for epsilon in (0.5, 1.5, 2.5, 3.0, 3.2):
        exact = exact_last_model(pull, epsilon)
        assert 0.995 * exact <= mp.exp(mp.mpf(curve.log_delta(epsilon).lower)) <= exact


@pytest.mark.parametrize("deviation", [1.0, 0.02, 30.0])
def test_masses_of_cells_are_those_of_a_distribution_below(deviation: float) -> None:
    """Every half-line from above has a little less than the normal distribution, and every one from below more."""
    points = symmetric_points(6.0, 101)
    below, above = ndtr(points / deviation), ndtr(-points / deviation)
    cells = move_cells_down(below, above, half_line_error(6.0, deviation))
    assert np.array_equal(points, -points[::-1])
    assert cells.min() >= 0.0
    assert math.fsum(cells) == pytest.approx(1.0, abs=1e-15)
    for index, point in enumerate(points.tolist()):
        with mp.workdps(50):
            tail, start = mp.ncdf(-mp.mpf(point) / deviation), mp.ncdf(mp.mpf(point) / deviation)
            if 1e-290 < tail <= 0.5:
                assert tail * (1 - mp.mpf("1e-10")) <= mp.fsum(cells[index + 1 :].tolist()) <= tail
            if 1e-290 < start < 0.5:
                assert start <= mp.fsum(cells[: index + 1].tolist()) <= start * (1 + mp.mpf("1e-10"))


@pytest.mark.parametrize("radius", [3.0, 7.0, 1.1])
@pytest.mark.parametrize("strong_convexity", [0.1, 0.3, 0.7])
def test_the_record_pulls_no_more_than_the_lipschitz_constant_allows(strong_convexity: float, radius: float) -> None:
    """The pull L − λρ is the difference of nearly equal numbers, and tiny noise makes its last digit visible."""
    lipschitz = math.nextafter(strong_convexity * radius, math.inf)
    spec = run(
        lipschitz=lipschitz,
        strong_convexity=strong_convexity,
        radius=radius,
        rounds=1,
        noise_schedule=Constant(value=NOISE),
    )
    allowed = Fraction(lipschitz) - Fraction(strong_convexity) * Fraction(radius)
    lower = account(spec, relation="replace-one", observer="final-model").guarantee.curve.log_delta(0.0).lower
    distance = 2.0 * float(allowed) / math.sqrt(spec.participants) / NOISE
    exact = spec.participants / spec.clients * math.erf(distance / math.sqrt(8.0))
    assert 0.99 * exact <= math.exp(lower) <= exact * (1.0 + 1e-9)
