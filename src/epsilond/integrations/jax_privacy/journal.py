"""Calls of the observed functions of a plan, in the order of the program, also from inside `jax.jit`."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache, partial
from typing import TYPE_CHECKING, Final, NamedTuple, TypeAlias, TypedDict

import jax
import jax.numpy as jnp
import numpy as np
from jax.experimental import io_callback

from epsilond.accountants.errors import InvalidInput

if TYPE_CHECKING:
    import optax
    from numpy.typing import NDArray

PyTree: TypeAlias = object
"""Arrays in nested containers, as jax's functions take them."""

_COORDINATES: Final = 128
"""Number of coordinates of a pytree that are compared, about: enough to see half the noise in one step."""
_LEAST: Final = 4
"""Smallest number of coordinates of an array, so that each array of a model of many is compared."""


class Facts(TypedDict, total=False):
    """Facts about a call of an observed function that are known before it runs: settings, shapes and precision.

    Attributes:
        bound: norm to which a gradient function clips.
        nan_safe: whether a gradient function clips gradients that are not finite.
        aligned: whether gradients have the shapes of the parameters.
        follows: whether an argument other than the batch has as many rows, and so may depend on the batch's records.
        rows: number of rows of the batch.
        precision: distance from 1 to the next number of the values' type.
        groups: index at which the coordinates of each array begin in a sample, the vector that `sample` returns.
    """

    bound: float
    nan_safe: bool
    aligned: bool
    follows: bool
    rows: int
    precision: float
    groups: tuple[int, ...]


@dataclass(frozen=True, kw_only=True)
class Entry:
    """Record of one call of an observed function: of the gradients, the noise or the optimizer.

    Attributes:
        kind: "init", "gradient", "noise", "optimizer-init" or "optimizer".
        facts: values that are known when the function is called or compiled.
        arrays: values of the call; they may still be computed on the device.
    """

    kind: str
    facts: Facts
    arrays: tuple[jax.Array, ...]


class Journal:
    """Record of the calls of observed functions, in the order of the program.

    Outside of `jax.jit`, an entry keeps references to arrays that the device may still compute, so that the program
    does not wait. Inside, an ordered callback adds an entry at each execution of the compiled function.

    Attributes:
        entries: the recorded calls.
    """

    def __init__(self) -> None:
        self.entries: deque[Entry] = deque()

    def write(self, kind: str, facts: Facts, arrays: Sequence[jax.Array]) -> None:
        """Record a call; inside `jax.jit`, record one call at each execution of the compiled function.

        Args:
            kind: kind of the call, such as "gradient" or "noise".
            facts: values that are known when the function is compiled.
            arrays: values that are known only when the function runs.

        Raises:
            InvalidInput: the caller compiles the function for several devices, where calls have no order.
        """
        # Outside of `jax.jit` the values are known now, and are stored without waiting for the device.
        if not any(isinstance(array, jax.core.Tracer) for array in arrays):
            self.entries.append(Entry(kind=kind, facts=facts, arrays=tuple(arrays)))
            return
        if jax.device_count() > 1:
            message = "is called inside jax.jit on several devices, where calls cannot be observed in their order"
            allowed = "observe(plan, jit=True), and the functions of the plan outside of jax.jit"
            raise InvalidInput.at("/jit", message, allowed=allowed)
        # The compiled function calls back at each execution, in the order of the program.
        io_callback(partial(self._append, kind, facts), None, *arrays, ordered=True)

    def _append(self, kind: str, facts: Facts, *arrays: jax.Array) -> None:
        """Add the record of one call, with values that are known now.

        Args:
            kind: kind of the call, such as "gradient" or "noise".
            facts: values that were known when the function was compiled.
            *arrays: values of the call.
        """
        self.entries.append(Entry(kind=kind, facts=facts, arrays=arrays))

    def take(self, *, keep: int = 0) -> list[Entry]:
        """Remove and return all entries except for the latest ones; with `keep` 0, wait for the device first.

        Args:
            keep: number of latest entries that remain.

        Returns:
            The removed entries, oldest first.
        """
        if keep == 0:
            jax.effects_barrier()
        return [self.entries.popleft() for _ in range(len(self.entries) - keep)]


# The functions below read a few values of pytrees. Each is compiled once for each structure of its argument.
def sample(tree: PyTree) -> jax.Array:
    """Return the values of a pytree at fixed coordinates, as one vector of single precision.

    Args:
        tree: nested containers of arrays, such as the parameters of a model.
    """
    return _compiled_sample(tree)


def _sample(tree: PyTree) -> jax.Array:
    """Return the values of a pytree at fixed coordinates; see `sample`, which compiles this function.

    Args:
        tree: nested containers of arrays, such as the parameters of a model.

    Returns:
        The values of all arrays in one vector of single precision.
    """
    leaves = [jnp.asarray(leaf) for leaf in jax.tree.leaves(tree)]
    parts = [jnp.zeros(0, jnp.float32)]  # for a pytree without arrays
    for leaf in leaves:
        coordinates = _coordinates(leaf.size, len(leaves))
        parts.append(leaf.reshape(-1)[coordinates].astype(jnp.float32))
    return jnp.concatenate(parts)


def group_starts(tree: PyTree) -> tuple[int, ...]:
    """Return at which index of a pytree's `sample` the coordinates of each non-empty array begin.

    Args:
        tree: nested containers of arrays.

    Returns:
        The indices in increasing order.
    """
    return _starts(tuple(int(np.size(leaf)) for leaf in jax.tree.leaves(tree)))


@lru_cache
def _starts(sizes: tuple[int, ...]) -> tuple[int, ...]:
    """Return the index at which the coordinates of each array begin in a sample of a pytree's coordinates.

    Statistical tests use these indices to test the noise of each array separately.

    Args:
        sizes: number of coordinates of each array of the pytree.

    Returns:
        The indices in the sample, in increasing order; arrays without coordinates have none.
    """
    starts = []
    start = 0
    for size in sizes:
        count = len(_coordinates(size, len(sizes)))
        if count:
            starts.append(start)
        start += count
    return tuple(starts)


def _coordinates(size: int, leaves: int) -> NDArray[np.int64]:
    """Return evenly spaced coordinates of an array that a sample of a pytree contains.

    Args:
        size: number of coordinates of the array.
        leaves: number of arrays of the pytree, which share about `_COORDINATES` coordinates.

    Returns:
        The positions in the flattened array, without repetition.
    """
    # Each array gets an equal share of all coordinates, but at least a few.
    count = min(size, max(_LEAST, _COORDINATES // leaves))
    return np.unique(np.linspace(0, max(size - 1, 0), count).astype(np.int64))


def state_identity(state: PyTree) -> jax.Array:
    """Return the keys and counters of a noise state as one vector of whole numbers.

    Buffers of real numbers are left out: a compiler may round them differently in two places.

    Args:
        state: state of a noise transformation, as nested containers of arrays.
    """
    return _compiled_identity(state)


def _state_identity(state: PyTree) -> jax.Array:
    """Return the keys and counters of a noise state; see `state_identity`, which compiles this function.

    The result has at most the first `_LEAST` elements of each array of integers.

    Args:
        state: state of a noise transformation, as nested containers of arrays.

    Returns:
        The numbers as one vector of unsigned integers.
    """
    parts = [jnp.zeros(0, jnp.uint32)]
    for leaf in jax.tree.leaves(state):
        values = jnp.asarray(leaf)
        if jnp.issubdtype(values.dtype, jax.dtypes.prng_key):
            parts.append(jax.random.key_data(values).reshape(-1).astype(jnp.uint32))
        elif jnp.issubdtype(values.dtype, jnp.integer):
            parts.append(values.reshape(-1)[:_LEAST].astype(jnp.uint32))
    return jnp.concatenate(parts)


def state_buffers(state: PyTree) -> jax.Array:
    """Return the real numbers of a noise state at fixed coordinates, as one vector of single precision.

    Args:
        state: state of a noise transformation, as nested containers of arrays.
    """
    leaves = [jnp.asarray(leaf) for leaf in jax.tree.leaves(state)]
    return sample([leaf for leaf in leaves if jnp.issubdtype(leaf.dtype, jnp.floating)])


class SampledUpdate(NamedTuple):
    """Result of one update of a gradient transformation, such as one that adds noise, with the arrays to record.

    Attributes:
        updates: result of the transformation.
        state: state of the transformation after the update.
        recorded: first, values at fixed coordinates of the input, the result and the parameters. Then, of the state
            before the update and of the state after it, keys with counters and some real numbers.
    """

    updates: optax.Updates
    state: optax.OptState
    recorded: tuple[jax.Array, ...]


def sampled_update(
    transform: optax.GradientTransformation, *, compiled: bool
) -> Callable[[optax.Updates, optax.OptState, optax.Params | None], SampledUpdate]:
    """Return a function that runs one update of a gradient transformation and returns arrays to record of it.

    The recorded arrays are samples of the input, of the output and of the parameters. Keys, counters and some real
    numbers of the state before and after the update follow.

    Args:
        transform: a gradient transformation of optax.
        compiled: whether to compile the function with `jax.jit`.

    Returns:
        A function with the arguments of `transform.update`: the input, the state and the parameters of the model. It
        returns the transformed input, the next state, and the arrays to record.
    """

    def evaluate(updates: optax.Updates, state: optax.OptState, params: optax.Params | None) -> SampledUpdate:
        """Run one update of a gradient transformation, and return its result with the arrays that are recorded of it.

        Args:
            updates: input of the transformation.
            state: state of the transformation before this update.
            params: parameters of the model.

        Returns:
            The transformed updates, the next state, and the recorded arrays.
        """
        result, next_state = transform.update(updates, state, params)
        state_before = (state_identity(state), state_buffers(state))
        state_after = (state_identity(next_state), state_buffers(next_state))
        recorded = (sample(updates), sample(result), sample(params), *state_before, *state_after)
        return SampledUpdate(result, next_state, recorded)

    return jax.jit(evaluate) if compiled else evaluate


def fingerprint_rows(tree: PyTree) -> jax.Array:
    """Return two 32-bit hashes for each row of some arrays.

    Equal rows have equal hashes. Different rows have different ones with high probability.

    Args:
        tree: arrays with one row per record, at least one array.

    Returns:
        Array of shape (rows, 2).
    """
    return _compiled_fingerprints(tree)


def _fingerprint_rows(tree: PyTree) -> jax.Array:
    """Return two 32-bit hashes of each row, computed from up to 128 coordinates of the row in each array.

    By these hashes, later checks count how many different rows a run has used, without storing the data.

    Args:
        tree: arrays with one row per record, at least one array.

    Returns:
        Array of shape (rows, 2). Equal rows have equal hashes.
    """
    leaves = [jnp.asarray(leaf) for leaf in jax.tree.leaves(tree)]
    rows = leaves[0].shape[0]
    hashes = jnp.zeros((rows, 2), jnp.uint32)
    for index, leaf in enumerate(leaves):
        # Coordinates of one row in this array, and a fixed choice of them.
        width = leaf.size // rows if rows else 0
        columns = _coordinates(width, 1)[:width]
        values = leaf.reshape(rows, width)[:, columns]
        hashes += _hash_rows(_bits(values), seed=index)
    return hashes


def _bits(values: jax.Array) -> jax.Array:
    """Return numbers as 32-bit integers: real numbers by their single-precision bits.

    Args:
        values: array of real numbers or integers.
    """
    if jnp.issubdtype(values.dtype, jnp.floating):
        return jax.lax.bitcast_convert_type(values.astype(jnp.float32), jnp.uint32)
    return values.astype(jnp.uint32)


def _hash_rows(bits: jax.Array, *, seed: int) -> jax.Array:
    """Return two 32-bit hashes of each row of integers.

    A hash is the sum of the row's mixed integers, each times a random odd factor, modulo 2^32.

    Args:
        bits: 32-bit integers of shape (rows, columns).
        seed: seed of the factors.

    Returns:
        Array of shape (rows, 2).
    """
    generator = np.random.default_rng(seed)
    factors = generator.integers(1, 2**32, size=(bits.shape[1], 2), dtype=np.uint32) | 1
    # A product modulo 2^32 carries bits upwards only. The shifts carry high bits down again.
    mixed = (bits ^ (bits >> 15))[:, :, None] * jnp.asarray(factors)
    return jnp.sum(mixed ^ (mixed >> 13), axis=1, dtype=jnp.uint32)


_compiled_sample = jax.jit(_sample)
_compiled_identity = jax.jit(_state_identity)
_compiled_fingerprints = jax.jit(_fingerprint_rows)
