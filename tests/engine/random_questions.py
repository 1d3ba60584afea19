"""Random compositions of laws, and questions about them."""

from __future__ import annotations

import math
import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from epsilond.accountants.curve.facts import DrawnGaussianLaw, GaussianLaw, Law, SampledGaussianLaw
from epsilond.accountants.curve.pair import Pair
from epsilond.accountants.profiles.amplification import amplify_symmetrically
from epsilond.accountants.profiles.gaussian import gaussian_pair
from epsilond.accountants.profiles.sampling.inclusion import Share
from tests.engine.pairs import poisson
from tests.oracles.contour import Step


@dataclass(frozen=True)
class Asked:
    """A composition, and the log δ at which it is asked for its ε."""

    laws: tuple[tuple[Law, int], ...]
    log_delta: float

    @property
    def steps(self) -> list[Step]:
        """The composition as the oracles read it."""
        return [
            Step(1.0, law.mu, "remove", count)
            if isinstance(law, GaussianLaw)
            else Step(law.rate, law.shift, law.direction, count)
            for law, count in self.laws
        ]

    @property
    def pairs(self) -> list[tuple[Pair, int]] | None:
        """The composition as the lattice reads it, in its forward order; None for what has no such pair here."""
        found = []
        for law, count in self.laws:
            if isinstance(law, GaussianLaw):
                found.append((gaussian_pair(law.mu), count))
            elif isinstance(law, DrawnGaussianLaw):
                pair = amplify_symmetrically(gaussian_pair(law.shift), Share.at(law.rate))
                found.append((replace(pair, law=None), count))
            elif law.direction == "remove":
                found.append((poisson(law.rate, 1.0 / law.shift), count))
            else:
                return None
        return found


def log_uniform(generator: random.Random, low: float, high: float) -> float:
    return math.exp(generator.uniform(math.log(low), math.log(high)))


def law(generator: random.Random, directions: Sequence[str]) -> tuple[Law, int]:
    """What training runs look like, and somewhat beyond."""
    if generator.random() < 0.1:
        return GaussianLaw(log_uniform(generator, 0.01, 0.5)), generator.randint(1, 20)
    rate, noise_multiplier = log_uniform(generator, 1e-5, 0.5), log_uniform(generator, 0.4, 12.0)
    return SampledGaussianLaw(rate, 1.0 / noise_multiplier, generator.choice(directions)), round(
        log_uniform(generator, 1.0, 1e6)
    )


def questions(seed: int, number: int, directions: Sequence[str] = ("remove", "add", "replace")) -> Iterator[Asked]:
    """Single runs and lists of up to four, at δ from 0.01 to 1e-30."""
    generator = random.Random(seed)
    for _ in range(number):
        size = generator.choice((1, 1, 1, 2, 4))
        laws = tuple(law(generator, directions) for _ in range(size))
        yield Asked(laws, -generator.uniform(4.6, 69.0))


def rare_questions(seed: int, number: int) -> Iterator[Asked]:
    """Short runs of rare steps, as a monitor of a training loop asks about them first, at δ from 1e-5 to 1e-12."""
    generator = random.Random(seed)
    for _ in range(number):
        rate, noise_multiplier = log_uniform(generator, 1e-4, 1e-2), log_uniform(generator, 0.5, 3.0)
        count = round(log_uniform(generator, 1.0, 60.0))
        steps = SampledGaussianLaw(rate, 1.0 / noise_multiplier, "remove")
        yield Asked(((steps, count),), -generator.uniform(5.0, 12.0) * math.log(10.0))


def drawn_questions(seed: int, number: int) -> Iterator[Asked]:
    """Runs on batches without replacement, alone and in lists with other laws, at δ from 0.01 to 1e-30."""
    generator = random.Random(seed)
    for _ in range(number):
        laws = [
            (
                DrawnGaussianLaw(log_uniform(generator, 1e-3, 0.9), log_uniform(generator, 0.05, 2.0)),
                round(log_uniform(generator, 30.0, 1e5)),
            )
            for _ in range(generator.choice((1, 1, 2)))
        ]
        laws += [law(generator, ("remove",)) for _ in range(generator.choice((0, 0, 1)))]
        yield Asked(tuple(laws), -generator.uniform(4.6, 69.0))
