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
"""Nested containers of arrays, as the functions of jax take them."""

_COORDINATES: Final = 128
"""Number of coordinates that the arrays of a pytree share in a sample: enough to see in one step if noise is halved."""
_COORDINATES_EACH: Final = 4
"""Number of coordinates that a sample contains at least of each array, if the array has so many."""
_INTEGERS_EACH: Final = 4
"""Largest number of integers that are read of each array in the state of a noise transformation."""


class Facts(TypedDict, total=False):
    """Settings, shapes and precision of a call of an observed function, which are known before the function runs.

    Attributes:
        bound: norm to which a gradient function clips.
        nan_safe: whether a gradient function clips gradients that are not finite.
        aligned: whether gradients have the shapes of the parameters.
        follows: whether an argument other than the batch and the parameters has as many rows as the batch. It may then
            depend on the records of the batch.
        rows: number of rows of the batch.
        precision: distance from 1 to the next larger number of the values' type.
        groups: indices at which the coordinates of each array begin in the vector that `sample` returns.
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
    """Record of one call of a function of the gradients, the noise or the optimizer.

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

    Outside of `jax.jit`, the program does not wait for the device: an entry refers to arrays that the device may still
    compute. Inside of `jax.jit`, an ordered callback adds an entry at each execution of the compiled function.

    Attributes:
        entries: the recorded calls.
    """

    def __init__(self) -> None:
        self.entries: deque[Entry] = deque()

    def write(self, kind: str, facts: Facts, arrays: Sequence[jax.Array]) -> None:
        """Record a call of an observed function.

        Inside of `jax.jit`, each execution of the compiled function is recorded as one call.

        Args:
            kind: kind of the call, such as "gradient" or "noise".
            facts: values that are known when the function is compiled.
            arrays: values that are known only when the function runs.

        Raises:
            InvalidInput: the call is inside of `jax.jit`, and there are several devices, on which calls have no order.
        """
        # Outside of `jax.jit` there are no tracers, and the arrays are stored without waiting for the device.
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
        """Add the record of one call.

        Args:
            kind: kind of the call, such as "gradient" or "noise".
            facts: values that were known when the function was compiled.
            *arrays: values of the call.
        """
        self.entries.append(Entry(kind=kind, facts=facts, arrays=arrays))

    def take(self, *, keep: int = 0) -> list[Entry]:
        """Remove and return the entries, except for some of the latest ones.

        If `keep` is 0, wait first until compiled functions that still run have recorded their calls.

        Args:
            keep: number of latest entries that remain.

        Returns:
            The removed entries, oldest first.
        """
        if keep == 0:
            jax.effects_barrier()
        return [self.entries.popleft() for _ in range(len(self.entries) - keep)]


def sample(tree: PyTree) -> jax.Array:
    """Return the values of a pytree at fixed coordinates, as one vector of single precision.

    The computation is compiled once for each structure of the pytree.

    Args:
        tree: nested containers of arrays, such as the parameters of a model.
    """
    return _compiled_sample(tree)


def _sample(tree: PyTree) -> jax.Array:
    """Return the values of a pytree at evenly spaced coordinates of each array, in a form that can be compiled.

    Args:
        tree: nested containers of arrays, such as the parameters of a model.

    Returns:
        The values of all arrays in one vector of single precision.
    """
    leaves = [jnp.asarray(leaf) for leaf in jax.tree.leaves(tree)]
    parts = [jnp.zeros(0, jnp.float32)]  # so that a pytree without arrays gives an empty vector
    for leaf in leaves:
        coordinates = _coordinates(leaf.size, len(leaves))
        parts.append(leaf.reshape(-1)[coordinates].astype(jnp.float32))
    return jnp.concatenate(parts)


def group_starts(tree: PyTree) -> tuple[int, ...]:
    """Return the indices of a pytree's `sample` at which the coordinates of each non-empty array begin.

    Args:
        tree: nested containers of arrays.

    Returns:
        The indices in increasing order.
    """
    return _starts(tuple(int(np.size(leaf)) for leaf in jax.tree.leaves(tree)))


@lru_cache
def _starts(sizes: tuple[int, ...]) -> tuple[int, ...]:
    """Return the indices at which the coordinates of each array begin in a sample of a pytree.

    By these indices, the noise of each array is tested separately.

    Args:
        sizes: number of coordinates of each array of the pytree.

    Returns:
        The indices in increasing order, without one for empty arrays.
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
    """Return the evenly spaced coordinates of an array that a sample of its pytree contains.

    Args:
        size: number of coordinates of the array.
        leaves: number of arrays of the pytree, which share about `_COORDINATES` coordinates.

    Returns:
        The positions in the flattened array, without repetition.
    """
    count = min(size, max(_COORDINATES_EACH, _COORDINATES // leaves))
    return np.unique(np.linspace(0, max(size - 1, 0), count).astype(np.int64))


def state_identity(state: PyTree) -> jax.Array:
    """Return the keys and counters of the state of a gradient transformation as one vector of unsigned integers.

    Real numbers are left out, because compiled functions may round the same number differently.

    Args:
        state: state of a transformation, such as one that adds noise, as nested containers of arrays.
    """
    return _compiled_identity(state)


def _state_identity(state: PyTree) -> jax.Array:
    """Return the keys and the first few other integers of a transformation's state, in a form that can be compiled.

    Args:
        state: state of a gradient transformation, as nested containers of arrays.

    Returns:
        One vector of unsigned integers, with all random keys and at most `_INTEGERS_EACH` elements of other arrays.
    """
    parts = [jnp.zeros(0, jnp.uint32)]
    for leaf in jax.tree.leaves(state):
        values = jnp.asarray(leaf)
        if jnp.issubdtype(values.dtype, jax.dtypes.prng_key):
            parts.append(jax.random.key_data(values).reshape(-1).astype(jnp.uint32))
        elif jnp.issubdtype(values.dtype, jnp.integer):
            parts.append(values.reshape(-1)[:_INTEGERS_EACH].astype(jnp.uint32))
    return jnp.concatenate(parts)


def state_buffers(state: PyTree) -> jax.Array:
    """Return the real numbers of a transformation's state at fixed coordinates, as one vector of single precision.

    Args:
        state: state of a gradient transformation, as nested containers of arrays.
    """
    leaves = [jnp.asarray(leaf) for leaf in jax.tree.leaves(state)]
    return sample([leaf for leaf in leaves if jnp.issubdtype(leaf.dtype, jnp.floating)])


class SampledUpdate(NamedTuple):
    """Result of one update of a gradient transformation, with the arrays to record.

    Attributes:
        updates: result of the transformation.
        state: state of the transformation after the update.
        recorded: samples of the input, of the result and of the parameters; then the keys with counters, and a sample
            of the real numbers, of the state before the update; then the same of the state after the update.
    """

    updates: optax.Updates
    state: optax.OptState
    recorded: tuple[jax.Array, ...]


def sampled_update(
    transform: optax.GradientTransformation, *, compiled: bool
) -> Callable[[optax.Updates, optax.OptState, optax.Params | None], SampledUpdate]:
    """Return a function that runs one update of a gradient transformation, and also returns arrays to record.

    Args:
        transform: a gradient transformation of optax.
        compiled: whether to compile the function with `jax.jit`.

    Returns:
        A function with the arguments of `transform.update`: the input, the state and the parameters of the model.
    """

    def evaluate(updates: optax.Updates, state: optax.OptState, params: optax.Params | None) -> SampledUpdate:
        """Run one update of a gradient transformation, and return its result with the arrays to record.

        Args:
            updates: input of the transformation.
            state: state of the transformation before this update.
            params: parameters of the model; None if they are not given.
        """
        result, next_state = transform.update(updates, state, params)
        state_before = (state_identity(state), state_buffers(state))
        state_after = (state_identity(next_state), state_buffers(next_state))
        recorded = (sample(updates), sample(result), sample(params), *state_before, *state_after)
        return SampledUpdate(result, next_state, recorded)

    return jax.jit(evaluate) if compiled else evaluate


def fingerprint_rows(tree: PyTree) -> jax.Array:
    """Return two 32-bit hashes of each row of a batch, computed from up to 128 coordinates of the row in each array.

    Equal rows have equal hashes. Rows that differ at these coordinates, in single precision, most likely have different
    hashes.

    Args:
        tree: arrays with one row per record, at least one array.

    Returns:
        Array of shape (rows, 2).
    """
    return _compiled_fingerprints(tree)


def _fingerprint_rows(tree: PyTree) -> jax.Array:
    """Return two 32-bit hashes of each row of a batch, in a form that can be compiled.

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
        width = leaf.size // rows if rows else 0  # number of coordinates of one row in this array
        columns = _coordinates(width, 1)[:width]
        values = leaf.reshape(rows, width)[:, columns]
        hashes += _hash_rows(_bits(values), seed=index)
    return hashes


def _bits(values: jax.Array) -> jax.Array:
    """Return numbers as 32-bit integers: of a real number the bits in single precision, of an integer the low bits.

    Args:
        values: array of real numbers or integers.
    """
    if jnp.issubdtype(values.dtype, jnp.floating):
        return jax.lax.bitcast_convert_type(values.astype(jnp.float32), jnp.uint32)
    return values.astype(jnp.uint32)


def _hash_rows(bits: jax.Array, *, seed: int) -> jax.Array:
    """Return two 32-bit hashes of each row of integers.

    A hash is a sum over the columns, modulo 2³². The term of a column is the integer times an odd factor, where the
    bits are mixed before and after the multiplication. The factors are pseudorandom.

    Args:
        bits: 32-bit integers of shape (rows, columns).
        seed: seed of the factors.

    Returns:
        Array of shape (rows, 2).
    """
    generator = np.random.default_rng(seed)
    factors = generator.integers(1, 2**32, size=(bits.shape[1], 2), dtype=np.uint32) | 1
    # In a product modulo 2³², a bit affects higher bits only. The shifts let high bits affect lower ones.
    mixed = (bits ^ (bits >> 15))[:, :, None] * jnp.asarray(factors)
    return jnp.sum(mixed ^ (mixed >> 13), axis=1, dtype=jnp.uint32)


_compiled_sample = jax.jit(_sample)
_compiled_identity = jax.jit(_state_identity)
_compiled_fingerprints = jax.jit(_fingerprint_rows)
