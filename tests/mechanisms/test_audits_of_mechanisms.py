"""What is shipped, attacked on two neighbours by the simulators' audits: never above what is certified, and not far below.

The attacker has the exact likelihood ratio of what the release gives out. Noise is seeded, so each test is a fixed one.
"""

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from scipy.special import log_ndtr

import epsilond
from epsilond.mechanisms import from_calibration
from epsilond.mechanisms.binomial import centred_binomial
from epsilond.mechanisms.randomness import seeded
from epsilond.mechanisms.responses import randomized_response
from epsilond.mechanisms.two_sided import discrete_laplace
from epsilond.simulators.audits.attack import SplitStatistics, best, delta_score, epsilon_score, mu_score
from epsilond.simulators.audits.message import Message, QuantizedMessage
from epsilond.simulators.audits.noise import IntegerNoise, noisy_shift, noisy_sum
from epsilond.simulators.audits.worlds import FIRST, SECOND, LogLikelihoodRatio

ERROR = 1e-3


def halves_of(target, count, seed=7):
    first, second = (target.statistics(np.random.default_rng([seed, world]), count, world) for world in (FIRST, SECOND))
    return SplitStatistics.of(first, second)


class Released:
    """A release of numbers in one coordinate as noise of the audits: standardised, of N(0, 1) as the attacker knows."""

    def __init__(self, release, std):
        self.release, self.std = release, std

    def draw(self, generator, count):
        source = seeded(generator)
        return np.array([self.release(np.zeros((1, 1)), source)[0] for _ in range(count)]) / self.std

    def log_density(self, values):
        return -0.5 * values * values


def gaussian_delta(mu, epsilon):
    return math.exp(log_ndtr(mu / 2 - epsilon / mu)) - math.exp(epsilon + log_ndtr(-mu / 2 - epsilon / mu))


def test_a_calibrated_gaussian_leaks_what_its_answer_says():
    answer = epsilond.calibrate(
        "gaussian", solve_for="noise_multiplier", relation="replace-one", sampling="full", rounds=1,
        epsilon=4.0, delta=1e-2, unit="record", observer="server",
    )  # fmt: skip
    release = from_calibration(answer, clipping_norm=3.0)
    # Contributions of norm 30 are clipped to 3: the sum moves by 6, in units of σ by 6/σ.
    moved = release(np.array([[30.0]]), source=seeded(0)) - release(np.array([[-30.0]]), source=seeded(0))
    assert moved[0] == pytest.approx(6.0)
    noise = Released(lambda zeros, source: release(zeros, source=source), release.noise_std)
    halves = halves_of(LogLikelihoodRatio(noisy_sum(noise, "replace-one", 3.0 / release.noise_std)), 4000)
    found = best(halves, epsilon_score(1e-2), ERROR).value
    assert 0.4 * answer.guarantee.epsilon.lower < found <= answer.guarantee.epsilon.upper
    assert 0.8 * 6.0 / release.noise_std < best(halves, mu_score, ERROR).value <= 6.0 / release.noise_std


def test_the_grid_leaks_no_more_than_its_concentrated_bound():
    answer = epsilond.calibrate(
        "gaussian", solve_for="noise_multiplier", relation="add-or-remove-one", sampling="full", rounds=1,
        epsilon=4.0, delta=1e-2, unit="record", observer="server",
    )  # fmt: skip
    grid = from_calibration(answer, clipping_norm=1.0).on_grid(0.25, dimension=1)
    noise = Released(lambda zeros, source: grid(zeros, source=source) / grid.step, grid.noise_in_steps[0])
    halves = halves_of(
        LogLikelihoodRatio(noisy_sum(noise, "add-or-remove-one", grid.norm_in_steps / grid.noise_in_steps[0])), 3000
    )
    rho = 0.5 * (grid.norm_in_steps / grid.noise_in_steps[0]) ** 2
    found = best(halves, epsilon_score(1e-2), ERROR).value
    assert 0.5 < found <= rho + 2 * math.sqrt(rho * math.log(1e2))


def test_noise_that_is_taken_back_protects_a_record_at_every_release():
    """Its record is in the first of three reports; sums of the messages are s + ξ_N, independent of one another."""
    asked = {
        "epsilon": 4.0, "delta": 1e-2, "clients": 4, "participants": 4, "rounds": 3, "dimension": 1, "lipschitz": 1.0,
        "smoothness": 1.0, "diameter": 1.0, "relation": "replace-one", "unit": "record", "observer": "server",
    }  # fmt: skip
    answer = epsilond.calibrate("mu2-sgd", **asked)
    mechanism = from_calibration(answer)
    bound, base = mechanism.contribution_bound, mechanism.base_std

    class Target:
        work = 1.0

        def statistics(self, generator, count, world):
            source, sign, found = seeded(generator), 1.0 if world == FIRST else -1.0, np.empty(count)
            for place in range(count):
                client, total, found[place] = mechanism.start(), 0.0, 0.0
                for number, report in enumerate((2.0 * sign * bound, 0.0, 0.0), start=1):
                    total += float(client(np.array([[report]]), source)[0])
                    found[place] += 2.0 * total * bound / (base**2 * number)
            return found

    halves = halves_of(Target(), 4000)
    found = best(halves, epsilon_score(1e-2), ERROR).value
    assert 0.35 * answer.guarantee.epsilon.lower < found <= answer.guarantee.epsilon.upper
    exact = 2 * bound / base * math.sqrt(1 + 1 / 2 + 1 / 3)
    assert 0.8 * exact < best(halves, mu_score, ERROR).value <= exact
    assert gaussian_delta(exact, answer.guarantee.epsilon.upper) <= 1e-2


@dataclass(frozen=True)
class Packed(Message):
    """The audit of a whole message, through the bytes that a client sends."""

    release: Any = None

    def _implemented(self, generator, count, update):
        source, vector = seeded(generator), np.array(update)
        sent = [self.release.decode_integers(self.release.encode(vector, source)) for _ in range(count)]
        return np.array(sent, dtype=np.float64)


def test_a_packed_message_leaks_what_its_answer_says():
    answer = epsilond.calibrate(
        "qtdl",
        epsilon=3.0,
        delta=1e-2,
        dimension=2,
        quantization_levels=4,
        l1_sensitivity=4.0,
        linf_sensitivity=2,
        relation="replace-one",
        unit="record",
        observer="server",
    )
    release = from_calibration(answer)
    spec = QuantizedMessage(
        first=(0.25, 0.5), second=(-0.25, 0.0), quantization_levels=release.quantization_levels,
        noise_levels=release.noise_levels, decay_rate=release.decay_rate,
    )  # fmt: skip
    assert sum(spec.distances) == 4
    halves = halves_of(Packed(spec, release=release), 4000)
    found = best(halves, epsilon_score(1e-2), ERROR).value
    assert 0.4 * answer.guarantee.epsilon.lower < found <= answer.guarantee.epsilon.upper
    assert best(halves, delta_score(answer.guarantee.epsilon.upper), ERROR).value <= 1e-2


class Drawn(IntegerNoise):
    """The attacker's law of integer noise, drawn by what is shipped."""

    def draw(self, generator, count):
        return discrete_laplace(self.decay_rate, (count,), seeded(generator)).astype(np.float64)


def test_discrete_laplace_noise_leaks_its_epsilon():
    halves = halves_of(LogLikelihoodRatio(noisy_shift(Drawn(0.5, None), "replace-one", 3)), 20000)
    assert 1.3 < best(halves, epsilon_score(0.0), ERROR).value <= 1.5


class Responses:
    work = 1.0

    def statistics(self, generator, count, world):
        own = np.zeros(count, dtype=np.int64) if world == FIRST else np.ones(count, dtype=np.int64)
        said = randomized_response(own, epsilon=1.5, categories=4, source=seeded(generator))
        return 1.5 * ((said == 0).astype(float) - (said == 1).astype(float))


def test_randomized_response_leaks_its_epsilon():
    assert 1.35 < best(halves_of(Responses(), 20000), epsilon_score(0.0), ERROR).value <= 1.5


class Counts:
    """1 + Z against Z, Z binomial: P(k − 1)/P(k) = k/(N + 1 − k)."""

    work = 1.0
    trials = 20

    def statistics(self, generator, count, world):
        seen = centred_binomial(self.trials, (count,), seeded(generator)) + self.trials // 2 + (world == FIRST)
        with np.errstate(divide="ignore"):
            return np.log(seen) - np.log(np.maximum(self.trials + 1.0 - seen, 0.0))


def test_binomial_noise_leaks_no_more_than_its_own_law():
    epsilon, delta = 0.25, 0.0
    chances = [math.comb(20, k) * 0.5**20 for k in range(21)] + [0.0]
    for k in range(22):
        below = chances[k - 1] if k else 0.0
        delta += max(below - math.exp(epsilon) * chances[k], 0.0)
    halves = halves_of(Counts(), 40000)
    assert 0.3 * delta < best(halves, delta_score(epsilon), ERROR).value <= delta
