"""The sparse vector technique against its integral, its pure bound, and a simulation of the mechanism."""

from __future__ import annotations

import math
import random
from typing import Any

import numpy as np
import pytest
from scipy.integrate import quad

from epsilond.accountants.account import account
from epsilond.accountants.errors import InvalidInput
from epsilond.accountants.kinds.selection.sparse_vector import PURE, crossing_pair
from epsilond.accountants.specs import Approximate, Repeated, SparseVector, Subsampled
from epsilond.accountants.specs.selection import threshold_crossings
from epsilond.accountants.specs.selection.threshold_crossings import ThresholdNoise, crossings

SETTING: Any = {"relation": "add-or-remove-one", "observer": "released-models"}


def curve(spec: Any) -> Any:
    """The curve of a spec."""
    return account(spec, **SETTING).guarantee.curve


def below(x: float) -> float:
    """Laplace distribution function of scale 1."""
    return math.exp(x) / 2 if x < 0 else 1 - math.exp(-x) / 2


def probability(noise: ThresholdNoise, queries: list[float], answers: str) -> float:
    """P(answers) by one integral over the threshold noise, up to its stop."""

    def integrand(z: float) -> float:
        value = math.exp(-abs(z) / noise.threshold_scale) / (2 * noise.threshold_scale)
        for query, answer in zip(queries, answers, strict=True):
            lower = below((z - query) / noise.query_scale)
            value *= lower if answer == "-" else 1 - lower
        return value

    cuts = sorted({0.0, *queries, -40 * noise.threshold_scale, 40 * noise.threshold_scale})
    return math.fsum(quad(integrand, a, b, limit=300, epsabs=1e-14)[0] for a, b in zip(cuts, cuts[1:], strict=False))


@pytest.mark.compares("epsilond.sparse-vector")
@pytest.mark.parametrize("monotonic", [False, True])
@pytest.mark.parametrize(("epsilon", "share", "most"), [(1.0, 0.5, 1), (0.7, 0.2, 2), (3.0, 0.7, 3)])
def test_every_output_is_within_the_pure_bound(epsilon: float, share: float, most: int, monotonic: bool) -> None:
    fields: Any = {"epsilon": epsilon, "threshold_share": share, "largest_answers": most, "monotonic": monotonic}
    noise = SparseVector(**fields).noise
    found = PURE.evaluate(PURE.request(**fields)).outputs
    expected = {
        "threshold_scale": 1 / (share * epsilon),
        "query_scale": (1 if monotonic else 2) * most / ((1 - share) * epsilon),
    }
    for name, value in expected.items():
        assert found[name] == pytest.approx(value, rel=1e-12)
        assert found[name] != pytest.approx(value * (1 + 1e-6), rel=1e-8)
    generator = random.Random(7)
    for _ in range(6):
        queries = [generator.uniform(-3, 3) for _ in range(5)]
        sign = generator.choice((-1, 1))
        moves = [sign * generator.random() if monotonic else generator.choice((-1, 1)) for _ in queries]
        answers = "".join(generator.sample("-" * (5 - most) + "+" * most, 5))
        first = probability(noise, queries, answers)
        second = probability(noise, [q + move for q, move in zip(queries, moves, strict=True)], answers)
        assert abs(math.log(first / second)) <= epsilon * (1 + 1e-9)


@pytest.mark.parametrize("monotonic", [False, True])
@pytest.mark.parametrize(("epsilon", "share", "most"), [(1.0, 0.5, 1), (0.3, 0.3, 4), (5.0, 0.5, 2)])
def test_witnesses_are_outputs_of_the_mechanism(
    epsilon: float, share: float, most: int, monotonic: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    noise = SparseVector(epsilon=epsilon, threshold_share=share, largest_answers=most, monotonic=monotonic).noise
    for count, low, high in ((1, 0.0, 0.0), (4, -1.0, 2.0), (16, 1.0, -1.0)):
        monkeypatch.setattr(threshold_crossings, "_COUNTS", (count,))
        monkeypatch.setattr(threshold_crossings, "_QUERY_VALUES", (low, high))
        found = crossings.__wrapped__(noise)
        exact = []
        for place, other in ((low, low), (low, high), (high, low), (high, high)):
            a, b = place * noise.query_scale, other * noise.query_scale
            answers = "-" * count + "+" * most
            shift = 0.0 if monotonic else 1.0
            exact.append(
                (
                    probability(noise, [a] * count + [b] * most, answers),
                    probability(noise, [a + 1] * count + [b - shift] * most, answers),
                )
            )
        for output in found:
            assert any(
                output.first <= p * (1 + 1e-9)
                and q / p * (1 - 1e-9) <= output.second / output.first
                and output.first > 0.9 * p
                and output.second / output.first < 1.1 * q / p
                for p, q in exact
            )


def outputs(queries: int, most: int) -> list[str]:
    """All outputs on so many queries: the mechanism stops after `most` answers above."""
    if not queries or not most:
        return [""]
    return ["-" + rest for rest in outputs(queries - 1, most)] + ["+" + rest for rest in outputs(queries - 1, most - 1)]


@pytest.mark.parametrize(
    ("most", "likely", "lossy"), [(1, (4, -1.0, 2.0), (4, 2.0, 0.0)), (2, (4, -2.0, 4.0), (6, 2.0, 2.0))]
)
def test_the_lower_bound_is_attained_by_all_outputs_on_two_data_sets(
    most: int, likely: tuple[int, float, float], lossy: tuple[int, float, float]
) -> None:
    """The first queries, answered below, are larger by 1 on the neighbour, and the last ones are the same."""
    spec = SparseVector(epsilon=2.5, threshold_share=0.2, largest_answers=most, monotonic=True)
    laws = []
    for count, low, high in (likely, lossy):
        data_sets = ([low] * count + [high] * most, [low + 1.0] * count + [high] * most)
        first, second = (
            np.asarray(
                [probability(spec.noise, queries[: len(answers)], answers) for answers in outputs(count + most, most)]
            )
            for queries in data_sets
        )
        assert first.sum() == pytest.approx(1.0, abs=1e-9)
        assert second.sum() == pytest.approx(1.0, abs=1e-9)
        laws += [(first, second), (second, first)]
    for epsilon in (0.0, 0.25, 0.5, 1.0, 1.5, 2.0, 2.25):
        attained = max(float(np.maximum(p - math.exp(epsilon) * q, 0.0).sum()) for p, q in laws)
        lower = math.exp(curve(spec).log_delta(epsilon).lower)
        assert 0.0 < lower <= attained
        assert epsilon > 0.0 or lower > 0.9 * attained


def test_a_simulated_run_has_the_probability_of_its_output() -> None:
    generator, noise = np.random.default_rng(5), SparseVector(epsilon=2.0).noise
    runs = 200_000
    threshold = generator.laplace(0, noise.threshold_scale, runs)
    answers = generator.laplace(0, noise.query_scale, (runs, 2)) + np.asarray([-0.5, 0.7]) > threshold[:, None]
    share = float(np.mean(~answers[:, 0] & answers[:, 1]))
    assert share == pytest.approx(probability(noise, [-0.5, 0.7], "-+"), abs=0.005)


@pytest.mark.parametrize("times", [1, 20])
def test_bounds_are_those_of_a_pure_mechanism_and_of_one_output(times: int) -> None:
    spec = SparseVector(epsilon=1.0)
    run, pure = (Repeated(times=times, mechanism=each) for each in (spec, Approximate(epsilon=1.0, delta=0.0)))
    known = curve(run)
    for epsilon in (0.0, 0.3, 0.9):
        bounds = known.log_delta(epsilon)
        assert bounds.upper == curve(pure).log_delta(epsilon).upper
        assert bounds.lower < bounds.upper
    assert known.log_delta(0.0).lower > math.log(0.05)
    assert known.epsilon(math.log(1e-6)).lower > 0.4
    sampled = curve(Subsampled(sampling="poisson", rate=0.1, mechanism=spec)).log_delta(0.01)
    assert -math.inf < sampled.lower < sampled.upper


def test_the_pair_of_an_output_is_that_of_two_bernoulli_variables() -> None:
    for output in crossings(SparseVector(epsilon=1.0).noise):
        found = crossing_pair(output).log_delta_bounds(0.1)
        exact = max(
            output.first - math.exp(0.1) * output.second,
            (1 - output.second) - math.exp(0.1) * (1 - output.first),
        )
        assert math.exp(found.lower) <= exact * (1 + 1e-9) <= math.exp(found.upper) * (1 + 2e-9)


@pytest.mark.parametrize("epsilon", [1e-6, 1e-3, 0.03])
def test_small_losses_are_witnessed_too(epsilon: float) -> None:
    bounds = curve(SparseVector(epsilon=epsilon)).log_delta(0.0)
    assert bounds.upper == pytest.approx(math.log(math.tanh(epsilon / 2)), rel=1e-9)
    assert bounds.lower > bounds.upper - 3.0


@pytest.mark.parametrize("epsilon", [1e-300, 1e-9, 1e3, 1e9])
def test_extreme_noise_is_enclosed(epsilon: float) -> None:
    for spec in (SparseVector(epsilon=epsilon), SparseVector(epsilon=epsilon, largest_answers=10**15)):
        bounds = curve(spec).log_delta(0.5 * min(epsilon, 1.0))
        assert bounds.lower <= bounds.upper <= 0.0


@pytest.mark.parametrize(
    "fields", [{"epsilon": 0.0}, {"threshold_share": 0.0}, {"threshold_share": 1.0}, {"largest_answers": 0}]
)
def test_techniques_that_no_run_can_have(fields: dict[str, Any]) -> None:
    with pytest.raises(InvalidInput):
        SparseVector(**{"epsilon": 1.0, **fields})
