"""Pairs to compose, written from their definitions: sampled Gaussians and laws of finitely many losses."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from scipy.special import log_ndtr

from epsilond.accountants.curve.enclosure import Enclosure, Tails
from epsilond.accountants.curve.pair import Pair
from epsilond.accountants.curve.profile import Profile
from epsilond.accountants.numerics.special import log1m_exp, log_difference, log_normal_tail
from epsilond.accountants.profiles.gaussian import GaussianProfile


def _log_minus(larger: np.ndarray, smaller: np.ndarray, slack: float) -> Enclosure:
    """log(e^larger − e^smaller) of two logs known within `slack` per unit."""
    with np.errstate(invalid="ignore"):
        spread = slack * (1.0 + np.where(np.isneginf(larger), 0.0, np.abs(larger)))
        ends = [
            log_difference(larger + sign * spread, np.minimum(smaller - sign * spread, larger + sign * spread))
            for sign in (-1.0, 1.0)
        ]
    return Enclosure(ends[0], np.minimum(ends[1], 0.0))


class _Drawn(Profile):
    """What is drawn with a rate in (0, 1]."""

    rate: float

    @property
    def log_absent(self) -> float:
        """log(1 − q)."""
        return float(log1m_exp(math.log(self.rate)))


@dataclass(frozen=True)
class Removed(_Drawn):
    """(1 − q) N(0, 1) + q N(μ, 1) against N(0, 1)."""

    rate: float
    mu: float
    log_infinite_mass: float = -math.inf
    tail_accuracy: float = 1e-14

    def _threshold(self, epsilon: np.ndarray) -> np.ndarray:
        """x with log(1 − q + q e^{μx − μ²/2}) = ε ≥ 0."""
        small = np.minimum(epsilon, 30.0)
        near = np.log1p(np.expm1(small) / self.rate)
        far = epsilon - math.log(self.rate) + np.log1p((self.rate - 1.0) * np.exp(-np.maximum(epsilon, 30.0)))
        return np.where(epsilon < 30.0, near, far) / self.mu + 0.5 * self.mu

    def log_tails(self, epsilon: np.ndarray) -> Tails:
        x = self._threshold(np.asarray(epsilon, dtype=np.float64))
        log_q = log_normal_tail(x)
        drawn = log_normal_tail(x - self.mu)
        return Tails(np.logaddexp(drawn + math.log(self.rate), log_q + self.log_absent), log_q)

    def log_delta(self, epsilon: np.ndarray) -> Enclosure:
        epsilon = np.asarray(epsilon, dtype=np.float64)
        log_p, log_q = self.log_tails(epsilon)
        return _log_minus(log_p, log_q + epsilon, 4e-14)


@dataclass(frozen=True)
class Added(_Drawn):
    """N(0, 1) against (1 − q) N(0, 1) + q N(μ, 1): the loss stays below −log(1 − q)."""

    rate: float
    mu: float
    log_infinite_mass: float = -math.inf
    tail_accuracy: float = 1e-13

    @property
    def supremum(self) -> float:
        """Minus log(1 − q), rounded up."""
        return -self.log_absent * (1.0 + 1e-15)

    def _threshold(self, epsilon: np.ndarray) -> np.ndarray:
        """x below which the loss exceeds ε: log(1 − q + q e^{μx − μ²/2}) = −ε; −∞ beyond the largest loss."""
        share = np.expm1(-np.minimum(epsilon, 700.0)) / self.rate
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.where(share > -1.0, np.log1p(np.maximum(share, -1.0)), -np.inf) / self.mu + 0.5 * self.mu

    def log_tails(self, epsilon: np.ndarray) -> Tails:
        x = self._threshold(np.asarray(epsilon, dtype=np.float64))
        log_p = np.asarray(log_ndtr(x))
        drawn = np.asarray(log_ndtr(x - self.mu))
        return Tails(log_p, np.logaddexp(drawn + math.log(self.rate), log_p + self.log_absent))

    def log_delta(self, epsilon: np.ndarray) -> Enclosure:
        epsilon = np.asarray(epsilon, dtype=np.float64)
        log_p, log_q = self.log_tails(epsilon)
        return _log_minus(log_p, log_q + epsilon, 1e-12)


def poisson(rate: float, noise: float) -> Pair:
    """Add-or-remove-one with Poisson sampling and Gaussian noise."""
    return Pair(Removed(rate, 1.0 / noise), Added(rate, 1.0 / noise))


@dataclass(frozen=True)
class Symmetrised(_Drawn):
    """q δ(log(1 + (e^ε − 1)/q)) in both orders: sampling without replacement under replace-one."""

    rate: float
    mu: float
    log_infinite_mass: float = -math.inf
    tail_accuracy: float = 1e-14

    def _base(self, epsilon: np.ndarray) -> np.ndarray:
        return Removed(self.rate, 1.0)._threshold(np.asarray(epsilon, dtype=np.float64)) - 0.5

    def log_delta(self, epsilon: np.ndarray) -> Enclosure:
        lower, upper = GaussianProfile(self.mu).log_delta(self._base(epsilon))
        return Enclosure(lower + math.log(self.rate) - 1e-13, upper + math.log(self.rate) + 1e-13)

    def log_tails(self, epsilon: np.ndarray) -> Tails:
        log_p, log_q = GaussianProfile(self.mu).log_tails(self._base(epsilon))
        return Tails(np.logaddexp(log_p + math.log(self.rate), log_q + self.log_absent), log_q)


def without_replacement(rate: float, mu: float) -> Pair:
    """Replace-one with a fixed-size batch; μ is the base mechanism's for replace-one."""
    profile = Symmetrised(rate, mu)
    return Pair(profile, profile)


@dataclass(frozen=True)
class AtomicProfile(Profile):
    """Finitely many losses with their masses under P, and an infinite one. Q has mass p e^{−l} there."""

    losses: tuple[float, ...]
    masses: tuple[float, ...]
    infinite: float = 0.0
    tail_accuracy: float = 1e-14

    @property
    def log_infinite_mass(self) -> float:
        return math.log(self.infinite) if self.infinite > 0 else -math.inf

    def _above(self, epsilon: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        return np.asarray(epsilon, dtype=np.float64)[..., None], np.asarray(self.losses)

    def log_tails(self, epsilon: np.ndarray) -> Tails:
        at, losses = self._above(epsilon)
        held = np.where(losses > at, np.asarray(self.masses), 0.0)
        with np.errstate(divide="ignore"):
            return Tails(np.log(held.sum(-1) + self.infinite), np.log((held * np.exp(-losses)).sum(-1)))

    def log_delta(self, epsilon: np.ndarray) -> Enclosure:
        at, losses = self._above(epsilon)
        gains = -np.expm1(np.minimum(at - losses, 0.0)) * np.asarray(self.masses)
        with np.errstate(divide="ignore"):
            return Enclosure.around(np.log(gains.sum(-1) + self.infinite), 1e-14)


def atomic(losses: list[float], masses: list[float], infinite: float = 0.0) -> Pair:
    """The pair of a law with these finite losses; what Q has left over lies where P has nothing."""
    other = [mass * math.exp(-loss) for loss, mass in zip(losses, masses, strict=True)]
    rest = 1.0 - math.fsum(other)
    forward = AtomicProfile(tuple(losses), tuple(masses), infinite)
    backward = AtomicProfile(tuple(-loss for loss in losses), tuple(other), rest if rest > 1e-13 else 0.0)
    return Pair(forward, backward)


def randomized_response(epsilon: float, failure: float = 0.0) -> Pair:
    """Loss ±ε, and an infinite loss with probability `failure`; the same in both orders."""
    high = (1.0 - failure) / (1.0 + math.exp(-epsilon))
    profile = AtomicProfile((-epsilon, epsilon), (1.0 - failure - high, high), failure)
    return Pair(profile, profile)
