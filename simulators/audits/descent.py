"""Projected SGD of which one model is seen: the whole run on losses that carry one bit, on a line.

Every record's loss is linear, or quadratic where strong convexity is said to hold; only the victim's gradient differs
between the worlds. The attacker's statistic is the model itself: an attack need not be the best to be valid.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from epsilond.accountants.errors import InvalidInput
from epsilond.accountants.specs import ProjectedSgd
from epsilond.simulators.audits.worlds import FIRST, AttackSetting, Floats

Bools = npt.NDArray[np.bool_]


@dataclass(frozen=True)
class Descent:
    """Victim's gradient at 0: −g in FIRST, and g (replace-one) or nothing (zero-out-one) in SECOND. Others': nothing.

    g = L, less λρ for strongly convex losses, whose gradient λw − g must stay within L on the ball. The start is 0.
    """

    spec: ProjectedSgd
    setting: AttackSetting

    @property
    def work(self) -> float:
        """A step costs less than a whole release with its densities."""
        return 0.4 * self.spec.steps

    def statistics(self, generator: np.random.Generator, count: int, world: int) -> Floats:
        """The released models of `count` runs."""
        spec = self.spec
        steps, m = spec.steps, spec.participants
        sizes, noises = spec.step_schedule.at(1, steps), spec.noise_schedule.at(1, steps)
        stops = generator.integers(spec.first_stop, steps + 1, size=count)
        places = self._places(generator, count)
        pull = self._pull(world)
        model = np.zeros(count)
        released = np.zeros(count)
        for step in range(1, steps + 1):
            used = self._used(generator, step, places)
            gradient = spec.strong_convexity * model - np.where(used, pull / m, 0.0)
            noise = noises[step - 1] / math.sqrt(m) * generator.standard_normal(count)
            model = np.clip(model - sizes[step - 1] * (gradient + noise), -spec.radius, spec.radius)
            released = np.where(stops == step, model, released)
        return released

    def _pull(self, world: int) -> float:
        """What the victim's gradient pulls the model by, before the mean over the batch."""
        strength = max(self.spec.lipschitz - self.spec.strong_convexity * self.spec.radius, 0.0)
        if world == FIRST:
            return strength
        return -strength if self.setting.relation == "replace-one" else 0.0

    def _places(self, generator: np.random.Generator, count: int) -> npt.NDArray[np.int64]:
        """Which batch of the partition the victim is in, 0, …, n − 1 over m; beyond the last batch it has no part.

        Of a partition known in advance the worst place is that of the last step.
        """
        spec = self.spec
        if spec.batches == "cyclic":
            return np.full(count, (spec.steps - 1) % spec.period)
        return generator.integers(spec.clients, size=count) // spec.participants

    def _used(self, generator: np.random.Generator, step: int, places: npt.NDArray[np.int64]) -> Bools:
        spec = self.spec
        if spec.batches == "without-replacement":
            return np.asarray(generator.random(places.size) < spec.participants / spec.clients)
        return np.asarray(places == (step - 1) % spec.period)


def descent(spec: ProjectedSgd, setting: AttackSetting) -> Descent:
    """The target of a spec.

    Raises:
        InvalidInput: a relation that changes the number of clients, or an observer who sees more than one model.
    """
    if setting.relation == "add-or-remove-one":
        raise InvalidInput.at("/relation", "batches have a fixed size", allowed="replace-one, zero-out-one")
    if setting.observer != "final-model":
        raise InvalidInput.at("/observer", "of this run one model is seen", allowed="final-model")
    return Descent(spec, setting)
