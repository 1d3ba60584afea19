"""Attack on projected SGD that releases one model: the whole run in one dimension.

Every loss is linear, or quadratic if strong convexity is assumed. Two neighbouring data sets differ only in the loss of
one client, the victim. The attacker's statistic is the released model. It need not be the best one for a valid bound.
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
    """Attack on projected noisy gradient descent by the model that it releases, for losses in one dimension.

    The losses are linear, or quadratic with strong convexity λ. FIRST and SECOND are the two neighbouring data sets,
    and only the victim's loss differs between them. Its gradient at 0 is −g in FIRST. In SECOND it is g for replace-one
    and 0 for zero-out-one. All other gradients at 0 are 0, and the descent starts at 0. Without strong convexity, g is
    the Lipschitz constant L. Otherwise g = L − λρ for the radius ρ of the ball, so that |λw − g| ≤ L on the ball.

    Attributes:
        spec: the run: step sizes, noise, batches and constants of the losses.
        setting: neighbouring relation and observer that are attacked.
    """

    spec: ProjectedSgd
    setting: AttackSetting

    @property
    def work(self) -> float:
        """Cost of one run, in units of Gaussian noise on one number with its densities; a step has no densities."""
        return 0.4 * self.spec.steps

    def statistics(self, generator: np.random.Generator, count: int, world: int) -> Floats:
        """Simulate independent runs on one of two neighbouring data sets, and return their released models.

        Each run takes noisy gradient steps in one dimension, with projection onto the interval [−radius, radius]. It
        releases its model after a step that is drawn uniformly from the allowed last steps.

        Args:
            generator: source of randomness.
            count: number of runs, at least 0.
            world: index of the data set, FIRST or SECOND; only the victim's loss (the changed loss) differs.

        Returns:
            The released model of each run, (count,).
        """
        spec = self.spec
        steps = spec.steps
        participants = spec.participants
        sizes = spec.step_schedule.at(1, steps)
        noises = spec.noise_schedule.at(1, steps)
        # The step after which each run releases its model.
        stops = generator.integers(spec.first_stop, steps + 1, size=count)
        batch_of_victim = self._batch_of_victim(generator, count)
        pull = self._pull(world)

        model = np.zeros(count)
        released = np.zeros(count)
        for step in range(1, steps + 1):
            takes_part = self._takes_part(generator, step, batch_of_victim)
            # Only the victim's loss has a gradient at 0; the mean over the participants divides it by their number.
            gradient = spec.strong_convexity * model - np.where(takes_part, pull / participants, 0.0)
            noise = noises[step - 1] / math.sqrt(participants) * generator.standard_normal(count)
            new_model = model - sizes[step - 1] * (gradient + noise)
            model = np.clip(new_model, -spec.radius, spec.radius)
            released = np.where(stops == step, model, released)
        return released

    def _pull(self, world: int) -> float:
        """Return the negative gradient at 0 of the victim's loss, before it is divided by the batch size.

        The victim is the client that differs between the neighbouring data sets. On FIRST the gradient at 0 is the
        largest for which no gradient in the ball exceeds the Lipschitz constant.

        Args:
            world: index of the data set, FIRST or SECOND.

        Returns:
            The gradient with its sign changed. A positive number moves the model up, a negative one down.
        """
        strength = max(self.spec.lipschitz - self.spec.strong_convexity * self.spec.radius, 0.0)
        if world == FIRST:
            return strength
        if self.setting.relation == "replace-one":
            return -strength
        return 0.0

    def _batch_of_victim(self, generator: np.random.Generator, count: int) -> npt.NDArray[np.int64]:
        """Draw the batch that the changed client (the victim) belongs to, in several runs.

        The n clients are partitioned into batches of m. An incomplete last batch never participates. For a partition
        that is known in advance, nothing is drawn. The victim is then in the batch of the last step.

        Args:
            generator: source of randomness.
            count: number of runs.

        Returns:
            Indices of the batches, (count,), from 0 to ⌊(n − 1)/m⌋.
        """
        spec = self.spec
        if spec.batches == "cyclic":
            return np.full(count, (spec.steps - 1) % spec.period)
        return generator.integers(spec.clients, size=count) // spec.participants

    def _takes_part(self, generator: np.random.Generator, step: int, batch_of_victim: npt.NDArray[np.int64]) -> Bools:
        """Return, for each run, whether the changed client (the victim) is in the batch of a step.

        Args:
            generator: source of randomness, for batches that are drawn afresh in each step.
            step: number of the step, from 1 on.
            batch_of_victim: index of the victim's batch in each run, for batches of a partition.

        Returns:
            A mask with one entry per run.
        """
        spec = self.spec
        if spec.batches == "without-replacement":
            return np.asarray(generator.random(batch_of_victim.size) < spec.participants / spec.clients)
        return np.asarray(batch_of_victim == (step - 1) % spec.period)


def attack_descent(spec: ProjectedSgd, setting: AttackSetting) -> Descent:
    """Return the attack on projected noisy gradient descent that releases one model.

    Args:
        spec: the run, with its steps, noise and clients.
        setting: neighbouring relation of the data sets, and observer of the run.

    Raises:
        InvalidInput: the relation changes the number of clients, or the observer sees more than one model.

    Returns:
        The attack. Its statistic is the released model.
    """
    if setting.relation == "add-or-remove-one":
        raise InvalidInput.at("/relation", "batches have a fixed size", allowed="replace-one, zero-out-one")
    if setting.observer != "final-model":
        raise InvalidInput.at("/observer", "of this run one model is seen", allowed="final-model")
    return Descent(spec, setting)
