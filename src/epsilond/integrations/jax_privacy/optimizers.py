"""An optimizer that records each update, and the check that its states follow each other."""

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
"""Largest relative difference of a state's real numbers that is attributed to rounding by compiled functions."""


def observe_optimizer(
    optimizer: optax.GradientTransformation, journal: Journal, *, compiled: bool
) -> optax.GradientTransformation:
    """Return an optimizer with the same results that also records its first state and each update.

    Its update takes only the gradient, the state and the parameters. Further arguments, such as a loss, could contain
    private data without noise.

    Args:
        optimizer: a gradient transformation of optax.
        journal: record of the calls.
        compiled: whether to compile the update with `jax.jit`.
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
        step, next_state, arrays = compute(updates, state, params)
        journal.write("optimizer", {}, arrays)
        return step, next_state

    return optax.GradientTransformation(init, update)


class OptimizerStates:
    """A check that each update of an optimizer starts from the state that the previous update returned.

    Another state may have been computed from private data, so that the caller must vouch for it.

    Args:
        evidence: record of the conditions of the guarantee, in which the check notes that the caller must vouch.
    """

    def __init__(self, evidence: Evidence) -> None:
        self._evidence = evidence
        self._expected: list[tuple[NDArray[np.uint32], NDArray[np.float32]]] = []
        self._began = False

    def observe_start(self, identity: NDArray[np.uint32], buffers: NDArray[np.float32]) -> None:
        """Accept a state that the optimizer's `init` returned as the start of the first update.

        After the first update, the state is ignored.

        Args:
            identity: integers of the state, such as its counters.
            buffers: some real numbers of the state.
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
        self._expected = [(later_identity, later_buffers)]

    def state_dict(self) -> list[list[list[float]]]:
        """Return the states from which the next update may start, as JSON values."""
        return [[identity.tolist(), buffers.tolist()] for identity, buffers in self._expected]

    def load_state_dict(self, state: Sequence[Sequence[Sequence[float]]]) -> None:
        """Continue from a checkpoint, so that the next update must start from one of the checkpoint's states.

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
    """Return whether two states of an optimizer have the same integers, and the same real numbers up to rounding.

    Args:
        identity: integers of the first state.
        buffers: some real numbers of the first state.
        expected_identity: integers of the second state.
        expected_buffers: real numbers of the second state at the same coordinates.
    """
    if not np.array_equal(identity, expected_identity) or buffers.shape != expected_buffers.shape:
        return False
    largest = float(np.max(np.abs(expected_buffers), initial=0.0))
    # A small number may be a difference of large ones, and then has their rounding errors.
    absolute_tolerance = _TOLERANCE**2 * largest
    return np.allclose(buffers, expected_buffers, rtol=_TOLERANCE, atol=absolute_tolerance, equal_nan=True)
