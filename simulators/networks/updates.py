"""Updates of clients on their way to the server: scaled, rounded to a grid, and with integer noise.

An update is divided by its norm (DP-NormFedAvg), or clipped and divided by the clipping norm C, or sent as it is
(FedAvg). On a grid, coordinates are rounded at random to multiples of 1/s, without bias. Noise is an integer multiple
of 1/s. Each client adds it to its message, or the server adds it once to the sum of the messages. Scaling, rounding and
truncated discrete Laplace noise are those of `mechanisms`. Binomial noise has numbers of trials that are beyond the
exact sampler, so it is drawn by numpy.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

import numpy as np

from epsilond.mechanisms.clipping import clip
from epsilond.mechanisms.discrete_laplace import truncated_discrete_laplace
from epsilond.mechanisms.quantization import stochastic_rounding, unit_vectors
from epsilond.mechanisms.randomness import Integers, seeded
from epsilond.simulators.problems.problem import Floats

UpdateScaling = Literal["normalised", "clipped", "none"]


@dataclass(frozen=True, kw_only=True)
class LaplaceLevels:
    """Truncated discrete Laplace noise on integers: y with |y| ≤ m has a probability proportional to e^(−α|y|).

    Attributes:
        noise_levels: largest size m of the noise, at least 1, in grid steps.
        decay_rate: decay rate α of the probabilities per grid step, above 0.
    """

    noise_levels: int
    decay_rate: float

    def draw(self, dimension: int, generator: np.random.Generator) -> Integers:
        """Draw independent noise for each coordinate of a vector, as a number of grid steps.

        Args:
            dimension: number of coordinates, at least 1.
            generator: source of randomness, which makes the noise reproducible.

        Returns:
            Independent integers, (dimension,), each of absolute value at most `noise_levels`.
        """
        return truncated_discrete_laplace(self.decay_rate, self.noise_levels, (dimension,), seeded(generator))


@dataclass(frozen=True, kw_only=True)
class BinomialTrials:
    """Binomial noise Z − N/2, where Z is the number of heads of N fair coins.

    Attributes:
        trials: number N of fair coins, even and at least 2.
    """

    trials: int

    def draw(self, dimension: int, generator: np.random.Generator) -> Integers:
        """Draw independent noise for each coordinate of a vector, as a number of grid steps.

        Args:
            dimension: number of coordinates, at least 1.
            generator: source of randomness.

        Returns:
            Independent integers, (dimension,), each of absolute value at most half of `trials`.
        """
        heads = generator.binomial(self.trials, 0.5, size=dimension)
        return np.asarray(heads - self.trials // 2)


@dataclass(frozen=True, kw_only=True)
class UpdateRule:
    """Rule by which clients' updates become messages, and messages a noisy mean: scaling, rounding and noise.

    Attributes:
        scaling: `normalised`, `clipped` or `none`.
        clipping_norm: clipping norm C of clipped updates, in the unit of the weights; None for other updates.
        quantization_levels: number s of grid steps in a unit: coordinates are rounded to multiples of 1/s. None for no
            rounding.
        noise: distribution of the noise, in grid steps; None for no noise. It is only possible with rounding.
        noise_at: whether each client adds noise to its message, or the server adds it once to the sum.
    """

    scaling: UpdateScaling
    clipping_norm: float | None = None
    quantization_levels: int | None = None
    noise: LaplaceLevels | BinomialTrials | None = None
    noise_at: Literal["clients", "server"] = "clients"

    @property
    def unit(self) -> float:
        """Factor from scaled updates to weights: the clipping norm C for clipped updates, otherwise 1."""
        return self.clipping_norm or 1.0

    def scale(self, update: Floats) -> Floats:
        """Return an update after clipping or normalisation, as a multiple of `unit`.

        Args:
            update: the update, of shape (d), for d coordinates.

        Returns:
            The scaled update, of the same shape.

        Guarantees:
            Up to rounding, the ℓ2 norm of a clipped update is at most 1, and that of a normalised one is 1, or 0 for a
            zero update. An update with a coordinate that is not finite becomes zero, unless the scaling is `none`.
        """
        if self.scaling == "normalised":
            return unit_vectors(update)
        if self.clipping_norm is not None:
            clipped: Floats = clip(update, self.clipping_norm).values
            return clipped / self.clipping_norm
        return update

    def mean_message(self, updates: Iterable[Floats], generator: np.random.Generator) -> Floats:
        """Return the noisy mean of clients' messages, by which the server changes its weights.

        Args:
            updates: updates of one or more clients, each of shape (d), for d coordinates.
            generator: source of rounding and noise.

        Returns:
            The mean of the scaled, rounded and noisy updates, in the unit of the weights.
        """
        # The updates are added one at a time, because models are large.
        total = np.zeros(())
        count = 0
        for update in updates:
            total = total + self._message(update, generator)
            count += 1
        if self.noise is not None and self.noise_at == "server":
            total = total + self.noise.draw(len(total), generator)
        grid_steps_in_unit = self.quantization_levels or 1
        return np.asarray(total * (self.unit / (count * grid_steps_in_unit)))

    def _message(self, update: Floats, generator: np.random.Generator) -> Floats | Integers:
        """Return the message that a client sends: its update after scaling, rounding and its own noise, if any.

        Args:
            update: the update of the client.
            generator: source of rounding and noise.

        Returns:
            Numbers of grid steps if updates are rounded; otherwise the scaled update.
        """
        scaled = self.scale(update)
        if self.quantization_levels is None:
            return scaled
        rounded = stochastic_rounding(scaled, self.quantization_levels, seeded(generator))
        if self.noise is None or self.noise_at == "server":
            return rounded
        return rounded + self.noise.draw(len(update), generator)
