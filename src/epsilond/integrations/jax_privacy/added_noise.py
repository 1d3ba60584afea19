"""The noise that updates added, freed of its correlation and compared with the recorded distribution."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, TypedDict

import numpy as np
from numpy.typing import NDArray

from epsilond.integrations.jax_privacy.plans import PlanReading
from epsilond.runs.evidence import Evidence
from epsilond.runs.noise_samples import NoiseSamples
from epsilond.runs.premises import CORRELATION, EVENT, NOISE, SAME_PARTS, Premise

_COARSEST: Final = 0.01
"""Largest rounding error of a noisy sum, over the standard deviation of the noise, at which the noise is compared."""
_STATE_RTOL: Final = 1e-4
_STATE_ATOL: Final = 1e-6
"""Tolerances of the real numbers of a noise state, which compilers may round in different places."""
_UNREADABLE: Final = (
    "the noise transformation is not one of jax_privacy's, and correlates the noise of several iterations"
)
_NOISE_REMEDY: Final = "Use the plan's noise_addition_transform, and give each update the state of the one before."
_STATE_REMEDY: Final = "Give each update the noise state that the update before returned; call init once."


class NoiseState(TypedDict):
    """State of the checks of a run's noise (`AddedNoise`), as JSON values for a checkpoint.

    A noise state, the state of the noise transformation, is identified by its random keys and counters.

    Attributes:
        updates: number of updates so far.
        history: noise of the latest updates at the sampled coordinates, latest first.
        spent: identities of the noise states that updates have used, in hexadecimal digits.
        expected: identity of the noise state that the next update must use; None before the first update.
    """

    updates: int
    history: Sequence[Sequence[float]]
    spent: Sequence[str]
    expected: str | None


class AddedNoise:
    """Checks of a training run's noise: its distribution, and that no state of the noise transformation is used twice.

    Args:
        reading: the plan of the run, with the standard deviation and the strategy matrix C of its noise.
        evidence: record of the observations, to which contradictions are reported.

    Attributes:
        updates: number of updates so far.
    """

    def __init__(self, reading: PlanReading, evidence: Evidence) -> None:
        self.updates = 0
        self._reading, self._evidence = reading, evidence
        self._samples = NoiseSamples()
        self._history: list[NDArray[np.float64]] = []
        self._initial: set[bytes] = set()
        self._spent: set[bytes] = set()
        # Identity of the noise state that the last update returned, and some of its real numbers (None after a
        # checkpoint).
        self._expected: tuple[bytes, NDArray[np.float64] | None] | None = None

    def observe_start(self, identity: NDArray[np.uint32]) -> None:
        """Note a noise state that `init` returned, so that the first update may start from it.

        Args:
            identity: random keys and counters of the noise state.
        """
        self._initial.add(identity.tobytes())

    def observe_update(self, noise: NDArray[np.float64], *, error: float, groups: tuple[int, ...]) -> set[Premise]:
        """Test whether the noise of an update is fresh Gaussian noise of the planned size and correlation.

        Correlated noise is transformed to independent noise first. Statistical tests then compare it with a normal
        distribution. A contradiction is reported to the record of observations.

        Args:
            noise: noisy sum minus sum, at the sampled coordinates.
            error: largest rounding error of the noisy sum.
            groups: index in `noise` at which the coordinates of each array begin.

        Returns:
            The premises, that is, conditions of the privacy theorem, that count as observed in this update. A premise
            that cannot be tested is left out, and the reason is noted.
        """
        iterations = self._reading.steps.iterations
        self.updates += 1
        if self.updates > iterations:
            message = f"the run has more updates than the {iterations} iterations of its plan"
            remedy = f"Stop after {iterations} updates, or make a plan of more iterations."
            self._evidence.contradict(EVENT, message, remedy=remedy)
            return {NOISE, CORRELATION}
        sample = self._decorrelate(noise)
        if sample is None:
            self._evidence.rest_on_caller(CORRELATION, _UNREADABLE)
            self._evidence.rest_on_caller(NOISE, _UNREADABLE)
            return {EVENT}
        # Rounding errors above `_COARSEST` times the noise would distort its distribution.
        if not len(sample) or error > _COARSEST * self._stddev:
            reason = "the noisy sums have too few digits, or none, to compare the noise"
            self._evidence.rest_on_caller(NOISE, reason)
            self._evidence.rest_on_caller(CORRELATION, reason)
            return {EVENT}
        # The tests are sequential: their probability of a false alarm is bounded over the whole run.
        self._samples.observe(sample, np.asarray(groups, dtype=np.intp))
        if self._samples.alarm is not None:
            self._evidence.contradict(NOISE, self._samples.alarm, remedy=_NOISE_REMEDY)
        return {EVENT, NOISE, CORRELATION}

    def observe_states(
        self,
        before: NDArray[np.uint32],
        after: NDArray[np.uint32],
        numbers: tuple[NDArray[np.float64], NDArray[np.float64]],
    ) -> set[Premise]:
        """Check that an update used the noise state that the previous update returned.

        A noise state that is used twice gives the same noise twice, which the difference of two noisy sums removes.
        A contradiction is reported to the record of observations.

        Args:
            before: random keys and counters of the state before the update.
            after: random keys and counters of the state after the update.
            numbers: some real numbers of the state before and after the update.

        Returns:
            The premise `SAME_PARTS`, that no part of the run was replaced or reset, if it was checked. The set is empty
            if the state has neither keys nor counters.
        """
        numbers_before, numbers_after = numbers
        expected = self._expected
        self._expected = (after.tobytes(), numbers_after)
        if not before.size:
            reason = "the noise state has neither a key nor a counter"
            self._evidence.rest_on_caller(SAME_PARTS, reason)
            return set()
        identity = before.tobytes()
        self._check_state(identity, numbers_before, expected)
        self._spent.add(identity)
        return {SAME_PARTS}

    def _check_state(
        self,
        identity: bytes,
        numbers: NDArray[np.float64],
        expected: tuple[bytes, NDArray[np.float64] | None] | None,
    ) -> None:
        """Report a contradiction if an update did not start from the noise state that the last update returned.

        A noise state holds the keys of the random generator. Two updates from the same state have equal noise. The
        first update must start from a state that `init` returned.

        Args:
            identity: random keys and counters of the state before the update.
            numbers: some real numbers of the same state.
            expected: identity and real numbers of the state that the last update returned; None for the first update.
        """
        if identity in self._spent:
            message = "an update used the noise state of an earlier one, so that its noise repeats"
            self._evidence.contradict(NOISE, message, remedy=_STATE_REMEDY)
        elif expected is None:
            if identity not in self._initial:
                message = "the first noise state was not returned by the plan's noise_addition_transform.init"
                remedy = f"{_STATE_REMEDY} A resumed run loads the state of its account first."
                self._evidence.contradict(SAME_PARTS, message, remedy=remedy)
        elif not _continues(expected, identity, numbers):
            message = "the noise state of an update is not the one that the update before returned"
            self._evidence.contradict(SAME_PARTS, message, remedy=_STATE_REMEDY)

    @property
    def _stddev(self) -> float:
        """Standard deviation σ of the independent Gaussian noise from which correlated noise is computed."""
        reading = self._reading
        if reading.noise is None:
            # The noise transformation is not known. Its noise must have the size that the plan's event states.
            return reading.multiplier * reading.norm_bound
        return reading.noise.stddev

    def _decorrelate(self, noise: NDArray[np.float64]) -> NDArray[np.float64] | None:
        """Compute independent standard Gaussian variables from the correlated noise of the latest updates.

        The noise of all updates is n = C⁻¹ z, for the strategy matrix C with b bands. The entries of z are independent
        and Gaussian with standard deviation σ. In update t, therefore:

            z_t = Σ_i C[t, t − i] n_{t − i}    for the lags i = 0, …, b − 1.

        Args:
            noise: noise n_t of the latest update, at the sampled coordinates.

        Returns:
            The variables z_t/σ, one for each coordinate. None if C is not known, or if the noise has changed its shape.
        """
        reading = self._reading
        if reading.noise is None and reading.bands == 1:
            return noise / self._stddev  # independent noise needs no strategy matrix
        if reading.noise is None:
            return None
        self._history = [noise, *self._history][: reading.bands]
        columns = reading.noise.columns
        has_changed_shape = any(earlier.shape != noise.shape for earlier in self._history)
        if not columns.size or has_changed_shape:
            return None
        # The band matrix is stored by its columns: columns[j, i] is C[j + i, j].
        row = self.updates - 1
        terms = [columns[row - lag, lag] * past_noise for lag, past_noise in enumerate(self._history)]
        return np.asarray(sum(terms) / self._stddev)

    def state_dict(self) -> NoiseState:
        """Return the state of the checks as JSON values, for a checkpoint."""
        expected_digits = None
        if self._expected is not None:
            expected_identity, _ = self._expected
            expected_digits = expected_identity.hex()
        return {
            "updates": self.updates,
            "history": [noise.tolist() for noise in self._history],
            "spent": sorted(identity.hex() for identity in self._spent),
            "expected": expected_digits,
        }

    def load_state_dict(self, state: NoiseState) -> None:
        """Continue the checks after the updates of a checkpoint.

        Args:
            state: value that `state_dict` returned.
        """
        self.updates = int(state["updates"])
        self._history = [np.asarray(noise, dtype=np.float64) for noise in state["history"]]
        self._spent = {bytes.fromhex(identity) for identity in state["spent"]}
        expected_digits = state["expected"]
        self._expected = None
        if expected_digits is not None:
            # A checkpoint has no real numbers of the state, so that only keys and counters are compared.
            self._expected = (bytes.fromhex(expected_digits), None)


def _continues(
    expected: tuple[bytes, NDArray[np.float64] | None], identity: bytes, numbers: NDArray[np.float64]
) -> bool:
    """Return whether the state of a noise transformation is the one that the last update returned.

    Args:
        expected: random keys and counters of the state that the last update returned, and some of its real numbers.
            The numbers are None after a checkpoint, which does not store them.
        identity: random keys and counters of the state.
        numbers: some real numbers of the state.

    Returns:
        True if the keys and counters are equal, and the real numbers agree or are not known.
    """
    expected_identity, expected_numbers = expected
    if identity != expected_identity:
        return False
    if expected_numbers is None:
        return True
    if expected_numbers.shape != numbers.shape:
        return False
    # Compilers may round the real numbers in different places.
    return bool(np.allclose(expected_numbers, numbers, rtol=_STATE_RTOL, atol=_STATE_ATOL, equal_nan=True))
