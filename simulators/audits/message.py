"""Attack on one client's message: one of two known updates, rounded to the grid, with integer noise."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Annotated

import numpy as np

from epsilond.accountants.errors import InvalidInput
from epsilond.accountants.quantities import DecayRate, NoiseLevels, Quantity, request
from epsilond.accountants.quantities.algorithms import QuantizationLevels
from epsilond.mechanisms.discrete_laplace import MOST_NOISE_LEVELS
from epsilond.mechanisms.quantization import quantized_messages
from epsilond.mechanisms.randomness import seeded
from epsilond.simulators.audits.integer_draws import integer_draws
from epsilond.simulators.audits.noise import IntegerNoise
from epsilond.simulators.audits.worlds import FIRST, LOSS_DECIMALS, Attack, Floats

UPDATE = Quantity(description="one of the two updates, with ℓ2 norm at most 1, as a list of its coordinates")
MOST_COORDINATES = 1000
"""Largest number of coordinates of an update."""
ROUNDING = 1e-9
"""Tolerance of the norm of an update."""
WORK_PER_COORDINATE = 0.6
"""Time to round a coordinate and to draw its integer noise, in units of the time to draw one Gaussian number."""


@request
class QuantizedMessage:
    """A client's message for one of two updates. The attacker knows both, and has to find out which was sent.

    Each coordinate is rounded at random to a multiple of 1/s, without bias, where s is `quantization_levels`. Then
    truncated discrete Laplace noise is added.
    """

    first: Annotated[tuple[float, ...], UPDATE]
    second: Annotated[tuple[float, ...], UPDATE]
    quantization_levels: QuantizationLevels
    noise_levels: NoiseLevels
    decay_rate: DecayRate

    def check(self) -> None:
        """Check that both updates are in the unit ball and equally long, and that the levels can be drawn.

        Raises:
            InvalidInput: an update is invalid, a number of levels is above `MOST_NOISE_LEVELS`, or the lengths differ.
                The error names the field.
        """
        self._check_update("first")
        self._check_update("second")
        for name in ("quantization_levels", "noise_levels"):
            if getattr(self, name) > MOST_NOISE_LEVELS:
                raise InvalidInput.at(f"/{name}", "is more than an audit can draw", allowed=f"≤ {MOST_NOISE_LEVELS}")
        if len(self.first) != len(self.second):
            raise InvalidInput.at("/second", "must be as long as the first", allowed=f"{len(self.first)} coordinates")

    def _check_update(self, name: str) -> None:
        """Check that an update has 1 to `MOST_COORDINATES` numbers in [−1, 1] and a norm of at most 1.

        Args:
            name: name of the field with the update, "first" or "second".

        Raises:
            InvalidInput: the update is invalid. The error names the field, or the coordinate outside [−1, 1].
        """
        coordinates: tuple[object, ...] = getattr(self, name)
        if not 1 <= len(coordinates) <= MOST_COORDINATES:
            message = "has too few or too many coordinates"
            raise InvalidInput.at(f"/{name}", message, allowed=f"1 to {MOST_COORDINATES}")
        for index, value in enumerate(coordinates):
            # A bool is an int in Python, but it is not meant as a coordinate.
            if isinstance(value, bool) or not isinstance(value, int | float) or not -1.0 <= value <= 1.0:
                raise InvalidInput.at(f"/{name}/{index}", "is out of range", allowed="≥ -1 and ≤ 1")
        # The tolerance allows for rounding of a norm of 1.
        if math.hypot(*getattr(self, name)) > 1.0 + ROUNDING:
            raise InvalidInput.at(f"/{name}", "has norm above 1", allowed="≤ 1")

    @property
    def distances(self) -> tuple[int, ...]:
        """Largest possible distance between the two rounded updates in each coordinate, in grid steps.

        Both updates are rounded with the same uniform variable. Coordinate j of the rounded updates then differs by at
        most ⌈s|u_j − v_j|⌉, for the updates u and v and s grid steps per unit. The value is computed exactly.
        """
        pairs = zip(self.first, self.second, strict=True)
        differences = (abs(Fraction(first) - Fraction(second)) for first, second in pairs)
        return tuple(math.ceil(self.quantization_levels * difference) for difference in differences)


@dataclass(frozen=True)
class Message:
    """Attack on the message of one client: the exact likelihood ratio of two possible updates.

    Each coordinate of the update is rounded up or down at random and gets noise. The distribution of a sent coordinate
    is therefore a mixture of two shifted noise distributions.

    Attributes:
        spec: the updates `spec.first` and `spec.second`, the grid, and the noise.
        attack: "mathematical" to draw messages from the formula; "implemented" to run the code that clients run.
    """

    spec: QuantizedMessage
    attack: Attack = "implemented"

    @property
    def work(self) -> float:
        """Time to draw one message, in units of the time to draw one Gaussian number."""
        return WORK_PER_COORDINATE * len(self.spec.first)

    def statistics(self, generator: np.random.Generator, count: int, world: int) -> Floats:
        """Draw messages of a client, and return the log likelihood ratio of the two possible updates for each.

        The statistic is log P(message | first update) − log P(message | second update).

        Args:
            generator: source of randomness.
            count: number of messages.
            world: the update that is sent, FIRST or SECOND.

        Returns:
            The statistics, (count,), rounded to `LOSS_DECIMALS` digits; a larger one is evidence for the first update.
        """
        update = self.spec.first if world == FIRST else self.spec.second
        messages = None
        if self.attack == "implemented":
            messages = self._draw_messages(generator, count, update)

        # Coordinates are independent given the update, so their log probabilities add up.
        log_first = np.zeros(count)
        log_second = np.zeros(count)
        for index, value in enumerate(update):
            # The formula is sampled one coordinate at a time, which limits the memory.
            coordinates = self._draw_coordinate(generator, count, value) if messages is None else messages[:, index]
            log_first += self._log_probability(coordinates, self.spec.first[index])
            log_second += self._log_probability(coordinates, self.spec.second[index])
        return np.asarray(np.round(log_first - log_second, LOSS_DECIMALS))

    def _draw_messages(self, generator: np.random.Generator, count: int, update: tuple[float, ...]) -> Floats:
        """Draw messages with the quantiser and the exact sampler that clients run.

        A message is the client's update, rounded at random to a grid, plus truncated discrete Laplace noise.

        Args:
            generator: source of randomness.
            count: number of messages, at least 1.
            update: the client's update, d coordinates with norm at most 1.

        Returns:
            The messages in grid steps, (count, d).
        """
        messages = quantized_messages(
            np.tile(np.asarray(update, dtype=np.float64), count),
            levels=self.spec.quantization_levels,
            noise_levels=self.spec.noise_levels,
            decay_rate=self.spec.decay_rate,
            source=seeded(generator),
        )
        return messages.reshape(count, len(update)).astype(np.float64)

    def _draw_coordinate(self, generator: np.random.Generator, count: int, value: float) -> Floats:
        """Draw one coordinate of each message, by the formula in floating point.

        It is the coordinate of the update, rounded at random to the grid, plus truncated discrete Laplace noise.

        Args:
            generator: source of randomness.
            count: number of messages.
            value: the coordinate of the update.

        Returns:
            The coordinate in each message, in grid steps.
        """
        floor, probability_up = self._round_down(value)
        noise = integer_draws(generator, self.spec.decay_rate, self.spec.noise_levels, count)
        is_rounded_up = generator.random(count) < probability_up
        return floor + is_rounded_up + noise

    def _round_down(self, value: float) -> tuple[int, float]:
        """Return the grid point at or below a coordinate of an update, and the probability of rounding up.

        Random rounding goes to one of the two neighbouring grid points. It is unbiased, since the probability of the
        upper point is the distance from the lower point, in grid steps.

        Args:
            value: the coordinate. A unit has `quantization_levels` grid steps.

        Returns:
            The grid point as a number of grid steps, and the probability of rounding up, in [0, 1].
        """
        grid_steps = Fraction(value) * self.spec.quantization_levels
        floor = math.floor(grid_steps)
        return floor, float(grid_steps - floor)

    def _log_probability(self, coordinates: Floats, value: float) -> Floats:
        """Return the log probability of one coordinate of a message, given the update, up to an added constant.

        The coordinate of the update is rounded at random to one of the two nearest grid points. The probability is
        therefore a mixture of the noise probabilities around both points.

        Args:
            coordinates: the coordinate in each message, in grid steps.
            value: the coordinate of the update, in [−1, 1].

        Returns:
            Log probabilities, of the shape of `coordinates`; −∞ for impossible values.
        """
        floor, probability_up = self._round_down(value)
        noise = IntegerNoise(self.spec.decay_rate, self.spec.noise_levels)
        below = noise.log_density(coordinates - floor)
        above = noise.log_density(coordinates - (floor + 1))
        if probability_up == 0.0:  # the value is on the grid
            return below
        if probability_up == 1.0:  # the value is below a grid point by less than a double can show
            return above
        log_probability_down = math.log1p(-probability_up)
        log_probability_up = math.log(probability_up)
        return np.asarray(np.logaddexp(log_probability_down + below, log_probability_up + above))
