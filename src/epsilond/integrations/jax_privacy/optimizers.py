"""The optimizer of a run, observed at each update, and the order of its states."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np
import optax
from numpy.typing import NDArray

from epsilond.integrations.jax_privacy.journal import Journal, sampled_update, state_buffers, state_identity
from epsilond.runs.evidence import Evidence
from epsilond.runs.premises import PARAMETERS

_TOLERANCE: Final = 1e-4
"""Relative difference of a state's real numbers that compilers may make."""


def observe_optimizer(
    optimizer: optax.GradientTransformation, journal: Journal, *, compiled: bool
) -> optax.GradientTransformation:
    """Return an optimizer with the same results that also records its first state and each update.

    The update of the result takes only the gradient, the state and the parameters. Further arguments, such as a loss,
    could contain private data without noise.

    Args:
        optimizer: a gradient transformation of optax.
        journal: record of the calls.
        compiled: whether to compile the update with `jax.jit`.

    Returns:
        A transformation with the same results.
    """
    compute = sampled_update(optimizer, compiled=compiled)

    def init(params: optax.Params) -> optax.OptState:
        """Return the first state of the optimizer."""
        state = optimizer.init(params)
        journal.write("optimizer-init", {}, (state_identity(state), state_buffers(state)))
        return state

    def update(
        updates: optax.Updates, state: optax.OptState, params: optax.Params | None = None
    ) -> tuple[optax.Updates, optax.OptState]:
        """Return the change of the parameters and the next state of the optimizer.

        Args:
            updates: the noisy sum of gradients.
            state: the state that `init` or the last update returned.
            params: parameters of the model; None if the optimizer does not need them.

        Returns:
            The change of the parameters, and the state for the next update.
        """
        step, later, arrays = compute(updates, state, params)
        journal.write("optimizer", {}, arrays)
        return step, later

    return optax.GradientTransformation(init, update)


class OptimizerStates:
    """Checks that each update of the optimizer starts from the state that the update before returned.

    Otherwise the state may have been computed from private data, and the caller must vouch for it.

    Args:
        evidence: record of the conditions of the guarantee, in which the check notes that the caller must vouch.
    """

    def __init__(self, evidence: Evidence) -> None:
        self._evidence = evidence
        self._expected: list[tuple[NDArray[np.uint32], NDArray[np.float32]]] = []
        self._began = False

    def observe_start(self, identity: NDArray[np.uint32], buffers: NDArray[np.float32]) -> None:
        """Accept a state that `init` returned as the start of the first update; after that update, ignore it.

        Args:
            identity: integers of the state, such as its counters.
            buffers: some of its real numbers.
        """
        if not self._began:
            self._expected.append((identity, buffers))

    def observe_update(
        self,
        identity: NDArray[np.uint32],
        buffers: NDArray[np.float32],
        later_identity: NDArray[np.uint32],
        later_buffers: NDArray[np.float32],
    ) -> None:
        """Check that an update starts from the state that the previous update returned.

        If it does not, the caller must vouch for the changes of the parameters.

        Args:
            identity: integers of the state before the update.
            buffers: some real numbers of the state before the update.
            later_identity: integers of the state after the update.
            later_buffers: some real numbers of the state after the update.
        """
        self._began = True
        if not any(_equal(identity, buffers, *expected) for expected in self._expected):
            reason = "the optimizer was given another state than the one that its last update returned"
            self._evidence.rest_on_caller(PARAMETERS, reason)
        # From now on, only this state may start the next update.
        self._expected = [(later_identity, later_buffers)]

    def state_dict(self) -> list[list[list[float]]]:
        """Return the states that the next update may start from as JSON values."""
        return [[identity.tolist(), buffers.tolist()] for identity, buffers in self._expected]

    def load_state_dict(self, state: Sequence[Sequence[Sequence[float]]]) -> None:
        """Continue from a checkpoint: the next update must start from one of its states.

        If the checkpoint has no state, the caller must vouch for the next update.

        Args:
            state: value of `state_dict`.
        """
        self._began = True
        self._expected = [
            (np.asarray(identity, dtype=np.uint32), np.asarray(buffers, dtype=np.float32))
            for identity, buffers in state
        ]


def _equal(
    identity: NDArray[np.uint32],
    buffers: NDArray[np.float32],
    expected_identity: NDArray[np.uint32],
    expected_buffers: NDArray[np.float32],
) -> bool:
    """Return whether two states of an optimizer are equal: integers exactly, and real numbers up to rounding.

    Args:
        identity: integers of the first state.
        buffers: some real numbers of the first state.
        expected_identity: integers of the second state.
        expected_buffers: the same real numbers of the second state.

    Returns:
        True if the states are equal, so that no update was left out or repeated.
    """
    if not np.array_equal(identity, expected_identity) or buffers.shape != expected_buffers.shape:
        return False
    largest = float(np.max(np.abs(expected_buffers), initial=0.0))
    # Numbers that are far smaller than the largest one may differ by rounding errors of sums with larger numbers.
    absolute_tolerance = _TOLERANCE**2 * largest
    return np.allclose(buffers, expected_buffers, rtol=_TOLERANCE, atol=absolute_tolerance, equal_nan=True)
