"""Whether each step added fresh noise of the recorded size, read from the gradients before and after the noise."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, TypeAlias

import numpy as np
import torch

from epsilond.runs.noise_samples import NoiseSamples
from epsilond.runs.premises import NOISE

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray
    from opacus.optimizers import DPOptimizer

    from epsilond.integrations.opacus.watching.generators import GeneratorWatches
    from epsilond.integrations.opacus.watching.reporting import Reporter

Values: TypeAlias = "NDArray[np.float64] | torch.Tensor"
"""Values at the chosen coordinates: an array, or a tensor on its device."""

SEED_REMEDY: Final = "Seed once, before make_private, and with another seed after a resumption."

_LARGEST_SAMPLE: Final = 128
"""Number of coordinates, over all parameters together, at which noise is read; repeated noise shows from 80 on."""

_LARGEST_ERROR: Final = 0.01
"""Largest rounding error of the noise that is read, as a share of its standard deviation."""

_ROUNDINGS: Final = 4.0
"""Roundings between the noisy sum and the noise that is read."""

_LARGEST_PRECISION: Final = 1e-6
"""Largest precision of gradients for the test of noise; half precision rounds different noise to equal values."""

_CHUNK: Final = 16
"""Steps that are tested together, because tests one by one cost more time; the first steps are tested at once."""

_READABLE: Final = {torch.float32, torch.float64}
"""Types of numbers that numpy reads without a copy."""

_randomness = np.random.default_rng()


@dataclass(frozen=True)
class _StepNoise:
    """Values of one optimizer step at a few coordinates, from which the noise of the step is computed.

    The noise is noisy_mean · divisor − clipped_sum. It should have the standard deviation `noise_std`.

    Attributes:
        noisy_mean: noisy sum of the clipped gradients, divided by the divisor.
        clipped_sum: sum of the clipped gradients.
        divisor: number by which the noisy sum was divided.
        noise_std: recorded standard deviation of the noise, the noise multiplier times the clipping norm.
    """

    noisy_mean: Values
    clipped_sum: Values
    divisor: float
    noise_std: float


class NoiseCheck:
    """Checks the noise of each step at a fixed random sample of coordinates.

    The noise is the noisy sum minus the clipped sum. It must be new Gaussian noise of the recorded standard deviation,
    and its random generator must not have been reset.
    """

    def __init__(self, reporter: Reporter, generators: GeneratorWatches) -> None:
        """Prepare the check, before the first step of the run.

        Args:
            reporter: receiver of observations that contradict the recorded run.
            generators: observed states of the random generators of the run.
        """
        self._reporter = reporter
        self._generators = generators

        # Tested values of the noise, the steps that were not tested yet, and the number of all steps.
        self._samples = NoiseSamples()
        self._waiting: list[_StepNoise] = []
        self._steps = 0

        # The identities of the parameters, and the coordinates of each one at which noise is tested.
        self._identities: list[int] = []
        self._coordinates: list[NDArray[np.int64]] = []
        self._device_coordinates: list[torch.Tensor] = []

        # Where the coordinates of each parameter begin, the coarsest machine epsilon, and whether numpy can read all.
        self._groups: NDArray[np.intp] = np.zeros(0, dtype=np.intp)
        self._precision = 0.0
        self._reads_memory = False

    def check_noise(
        self, optimizer: DPOptimizer, parameters: list[torch.nn.Parameter], *, divisor: float, observe_generator: bool
    ) -> bool:
        """Test whether the noise of a step is Gaussian, fresh and of the recorded size, and report a deviation.

        Most steps are only stored here, and are tested later together. So the result may come some steps late.

        Args:
            optimizer: the private optimizer, after it has added the noise.
            parameters: its parameters, with the clipped sum in `summed_grad` and the divided noisy sum in `grad`.
            divisor: number by which the noisy sum was divided.
            observe_generator: whether to check the generator of the noise for a reset. It is unnecessary if the same
                generator draws the batches, because it is then checked before each draw.

        Returns:
            Whether no test has rejected the noise so far.
        """
        reset = self._generators.observe(generator_of(optimizer, parameters), "noise") if observe_generator else None
        if reset is not None:
            message = f"the random generator of the noise {reset}"
            self._reporter.contradict(NOISE, "reset", message, remedy=SEED_REMEDY)
        noise_std = float(optimizer.noise_multiplier) * float(optimizer.max_grad_norm)
        if noise_std > 0.0:
            self._store_step(parameters, divisor=divisor, noise_std=noise_std)
        return reset is None and self._samples.alarm is None

    def _store_step(self, parameters: list[torch.nn.Parameter], *, divisor: float, noise_std: float) -> None:
        """Store the values from which the noise of a step is computed, and test the stored steps if there are enough.

        Tests of several steps together take less time. At the beginning of a run, each step is tested at once.

        Args:
            parameters: parameters of the private optimizer, with their sums and gradients.
            divisor: number by which the noisy sum was divided.
            noise_std: recorded standard deviation of the noise in the sum.
        """
        if [id(parameter) for parameter in parameters] != self._identities:
            self._choose_coordinates(parameters)
        clipped_sum = self._copy_values([parameter.summed_grad for parameter in parameters])
        noisy_mean = self._copy_values([parameter.grad for parameter in parameters])
        self._waiting.append(_StepNoise(noisy_mean, clipped_sum, divisor, noise_std))
        self._steps += 1
        # The first steps are tested at once to find errors early, unless their values are on a device.
        is_early = self._reads_memory and self._steps <= _CHUNK
        if is_early or len(self._waiting) >= _CHUNK:
            self.flush()

    def flush(self) -> None:
        """Test the noise of the stored steps, and report a deviation.

        The noise of a step is the noisy mean times the divisor, minus the clipped sum. Divided by its recorded standard
        deviation, it should be standard normal. It is not tested if rounding errors are too large for this.
        """
        for step in self._waiting:
            clipped_sum = _to_array(step.clipped_sum)
            rounding_error = _ROUNDINGS * self._precision * (float(np.abs(clipped_sum).max()) + step.noise_std)
            is_precise = rounding_error <= _LARGEST_ERROR * step.noise_std  # False for sums that are not finite
            # Half precision is excluded, because it rounds different noise to equal values.
            if self._precision > _LARGEST_PRECISION or not is_precise:
                reason = "the noise is too small to be read next to the sum of gradients"
                self._reporter.rest_on_caller(NOISE, reason)
            elif self._samples.alarm is None:
                noise = _to_array(step.noisy_mean) * step.divisor - clipped_sum
                self._samples.observe(noise / step.noise_std, self._groups)
                self._report_alarm()
        self._waiting = []

    def _report_alarm(self) -> None:
        """Report a contradiction of the recorded run if the tests have rejected the noise."""
        alarm = self._samples.alarm
        if alarm is not None:
            remedy = "Use the optimizer as make_private returned it, and do not seed during the run."
            self._reporter.contradict(NOISE, "noise", alarm, remedy=remedy)

    def _choose_coordinates(self, parameters: Sequence[torch.nn.Parameter]) -> None:
        """Choose the coordinates at which noise is tested, at random, and start the tests anew.

        Each parameter gets the same number of coordinates, or all of its coordinates if it has fewer. An earlier
        rejection of the noise remains.

        Args:
            parameters: parameters of the optimizer.
        """
        self.flush()
        self._identities = [id(parameter) for parameter in parameters]
        sizes = [parameter.numel() for parameter in parameters]
        share = max(1, _LARGEST_SAMPLE // len(sizes))
        coordinates = [np.sort(_randomness.choice(size, min(size, share), replace=False)) for size in sizes]
        self._groups = np.cumsum([0, *(len(indices) for indices in coordinates[:-1])]).astype(np.intp)
        self._precision = max(torch.finfo(parameter.dtype).eps for parameter in parameters)
        self._reads_memory = all(_is_readable(parameter) for parameter in parameters)
        self._coordinates = coordinates

        # Values that numpy cannot read are copied on the device of the parameters.
        device = parameters[0].device
        self._device_coordinates = []
        if not self._reads_memory:
            self._device_coordinates = [torch.as_tensor(indices, device=device) for indices in coordinates]
        earlier_alarm = self._samples.alarm
        self._samples = NoiseSamples()
        self._samples.alarm = earlier_alarm

    def _copy_values(self, tensors: list[torch.Tensor]) -> Values:
        """Copy the values of tensors at the chosen coordinates, in double precision.

        Args:
            tensors: one tensor for each parameter, such as its gradient.

        Returns:
            The values of all tensors in one array: in memory if possible, otherwise on the device of the first tensor.
        """
        if self._reads_memory:
            pairs = zip(tensors, self._coordinates, strict=True)
            return np.concatenate([tensor.numpy().take(coordinates) for tensor, coordinates in pairs], dtype=np.float64)
        chosen = [
            tensor.detach().reshape(-1)[coordinates.to(tensor.device)]
            for tensor, coordinates in zip(tensors, self._device_coordinates, strict=True)
        ]
        return torch.cat([tensor.to(device=chosen[0].device, dtype=torch.float64) for tensor in chosen])


def generator_of(optimizer: DPOptimizer, parameters: Sequence[torch.nn.Parameter]) -> torch.Generator:
    """Return the random generator from which the noise of an optimizer comes.

    Args:
        optimizer: the private optimizer. It may have a generator of its own.
        parameters: its parameters. Without a generator of its own, torch's default generator of their device is used.

    Returns:
        The generator; its state is observed.
    """
    if isinstance(optimizer.generator, torch.Generator):
        return optimizer.generator
    device = next((parameter.device for parameter in parameters), torch.device("cpu"))
    if device.type == "cuda":
        return torch.cuda.default_generators[device.index or 0]
    return torch.default_generator


def _is_readable(parameter: torch.nn.Parameter) -> bool:
    """Return whether numpy reads the values of a parameter without a copy."""
    return parameter.device.type == "cpu" and parameter.dtype in _READABLE


def _to_array(values: Values) -> NDArray[np.float64]:
    """Return values as an array in memory, also if they are on a device."""
    array: NDArray[np.float64] = values.cpu().numpy() if isinstance(values, torch.Tensor) else values
    return array
