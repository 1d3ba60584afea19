"""The gradient function and the noise transformation of a plan, observed at each call."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import jax
import numpy as np
import optax

from epsilond.integrations.jax_privacy.journal import (
    Facts,
    Journal,
    PyTree,
    fingerprint_rows,
    group_starts,
    sample,
    sampled_update,
    state_identity,
)

if TYPE_CHECKING:
    from jax_privacy.clipping import AuxiliaryOutput, BoundedSensitivityCallable


def observe_clipped_grad(
    clipped_grad: Callable[..., BoundedSensitivityCallable], journal: Journal, *, compiled: bool
) -> Callable[..., ObservedGradient]:
    """Wrap a plan's `clipped_grad` so that the gradient functions it makes record their calls.

    `clipped_grad` makes a function that computes clipped gradients from a loss function. The gradients do not change.

    Args:
        clipped_grad: the plan's own function.
        journal: record of the calls.
        compiled: whether to compile the gradient functions with `jax.jit`.

    Returns:
        A function with the parameters of `clipped_grad`.
    """

    @functools.wraps(clipped_grad)
    def make_gradient(fun: Callable[..., PyTree], *args: Any, **options: Any) -> ObservedGradient:
        """Return the observed function that computes the clipped gradients of a loss function."""
        return ObservedGradient(clipped_grad, journal, (fun, *args), options, compiled=compiled)

    return make_gradient


class ObservedGradient:
    """A gradient function of a plan, which returns the sum of clipped gradients and records each call.

    Attributes:
        plain: the plan's own gradient function with the same arguments.
    """

    def __init__(
        self,
        clipped_grad: Callable[..., BoundedSensitivityCallable],
        journal: Journal,
        args: tuple[Any, ...],
        options: dict[str, Any],
        *,
        compiled: bool,
    ) -> None:
        """Make the gradient functions, and find out which arguments of a call are parameters and which are records.

        Two functions are made. `plain` has the options of the caller. The other one also returns the loss of each
        record. It computes the results of all calls, so that the losses can be recorded.

        Args:
            clipped_grad: the plan's function that makes gradient functions.
            journal: record of the calls.
            args: positional arguments of `clipped_grad`, the first of which is the loss.
            options: keyword arguments of `clipped_grad`.
            compiled: whether to compile the function with `jax.jit`.
        """
        self.plain = clipped_grad(*args, **options)
        self._with_values = clipped_grad(*args, **{**options, "return_values": True})
        self._returns_values = bool(options.get("return_values", False))

        # jax_privacy takes argument 0 for the parameters and argument 1 for the batch by default.
        positional_argnums = args[1] if len(args) > 1 else 0
        argnums = options.get("argnums", positional_argnums)
        self._argnums = argnums if isinstance(argnums, int) else tuple(argnums)
        batch_argnums = options.get("batch_argnums", 1)
        self._batch_argnums = {batch_argnums} if isinstance(batch_argnums, int) else set(batch_argnums)

        self._nan_safe = bool(options.get("nan_safe", True))
        self._journal = journal
        self._compute = jax.jit(self._evaluate) if compiled else self._evaluate

    def __getattr__(self, name: str) -> Any:
        """Return an attribute of the plan's own gradient function, such as its norm bound.

        Args:
            name: name of an attribute that this object does not have itself.
        """
        return getattr(self.__dict__["plain"], name)

    def __call__(self, *args: PyTree, **kwargs: PyTree) -> PyTree:
        """Return the result of the plan's own gradient function, and record the call in the journal.

        The journal stores samples of the arrays and some properties of the call, which are checked later.

        Args:
            *args: arguments of the gradient function: the parameters, the batch, and constants.
            **kwargs: keyword arguments of the gradient function, such as `is_padding_example`.

        Returns:
            The clipped gradient, with the auxiliary values if the plan's function has them.
        """
        value, aux, arrays = self._compute(*args, **kwargs)
        parameters = self._parameters(args)
        losses = arrays[2]
        rows = int(np.shape(losses)[0])
        # These properties depend on shapes and types only. They are known even while the caller's code is traced.
        facts: Facts = {
            "bound": float(self.plain.l2_norm_bound),
            "nan_safe": self._nan_safe,
            "aligned": _shapes(value) == _shapes(parameters),
            "follows": self._has_constant_with_rows(args, rows),
            "rows": rows,
            "precision": _precision(parameters),
        }
        self._journal.write("gradient", facts, arrays)
        return (value, aux) if self.plain.has_aux else value

    def _evaluate(self, *args: PyTree, **kwargs: PyTree) -> tuple[PyTree, AuxiliaryOutput, tuple[jax.Array, ...]]:
        """Compute the sum of clipped gradients, and the arrays that are recorded for the call.

        Args:
            *args: arguments of the gradient function.
            **kwargs: keyword arguments of the gradient function.

        Returns:
            The sum, the auxiliary output, and five arrays: samples of the parameters, samples of the sum, and for each
            row of the batch its loss, whether it is padding (empty without padding), and a hash.
        """
        value, aux = self._with_values(*args, **kwargs)
        losses = aux.values
        padding = kwargs.get("is_padding_example")
        if padding is None:
            padding = np.zeros(0, dtype=bool)
        batch = [args[index] for index in sorted(self._batch_argnums)]
        arrays = (sample(self._parameters(args)), sample(value), losses, padding, fingerprint_rows(batch))
        if not self._returns_values:  # the caller has not requested the losses
            aux = aux._replace(values=None)
        return value, aux, arrays

    def _parameters(self, args: tuple[PyTree, ...]) -> PyTree:
        """Return the arguments for which gradients are computed: one argument, or a tuple of several."""
        if isinstance(self._argnums, int):
            return args[self._argnums]
        return tuple(args[index] for index in self._argnums)

    def _has_constant_with_rows(self, args: tuple[PyTree, ...], rows: int) -> bool:
        """Return whether an argument that is neither parameters nor batch has an array with as many rows as the batch.

        Such an argument may contain records. An array that has this number of rows by chance also counts.

        Args:
            args: arguments of the call.
            rows: number of rows of the batch.
        """
        parameter_argnums = {self._argnums} if isinstance(self._argnums, int) else set(self._argnums)
        known_argnums = self._batch_argnums | parameter_argnums
        constants = [value for index, value in enumerate(args) if index not in known_argnums]
        return any(np.shape(leaf)[:1] == (rows,) for leaf in jax.tree.leaves(constants))


def observe_noise(
    transform: optax.GradientTransformation, journal: Journal, *, compiled: bool
) -> optax.GradientTransformation:
    """Wrap the noise transformation of a plan so that it records its first state and each update.

    The record shows later whether the noise was fresh, of the planned size, and added to the clipped gradients.

    Args:
        transform: the noise transformation of a plan.
        journal: record of the calls.
        compiled: whether to compile the update with `jax.jit`.

    Returns:
        A transformation with the same results as `transform`.
    """
    compute = sampled_update(transform, compiled=compiled)

    def init(params: optax.Params) -> optax.OptState:
        """Return the first state of the noise."""
        state = transform.init(params)
        journal.write("init", {}, (state_identity(state),))
        return state

    def update(
        sum_of_clipped_grads: optax.Updates, noise_state: optax.OptState, params: optax.Params | None = None
    ) -> tuple[optax.Updates, optax.OptState]:
        """Return the noisy sum and the next state of the noise.

        Args:
            sum_of_clipped_grads: the sum that the noise is added to.
            noise_state: state of the noise before this update.
            params: parameters of the model, for transformations that read them.

        Returns:
            The sum with noise, and the state for the next update.
        """
        noisy_sum, next_state, arrays = compute(sum_of_clipped_grads, noise_state, params)
        facts: Facts = {"groups": group_starts(noisy_sum), "precision": _precision(noisy_sum)}
        journal.write("noise", facts, arrays)
        return noisy_sum, next_state

    return optax.GradientTransformation(init, update)


def _precision(tree: PyTree) -> float:
    """Return the machine epsilon of the coarsest floating-point type in a pytree.

    It bounds the relative rounding errors of all arrays. The machine epsilon of a type is the distance from 1 to the
    next larger number.

    Args:
        tree: pytree of arrays.

    Returns:
        The largest machine epsilon; 0 if no array has floating-point numbers.
    """
    epsilons = [0.0]
    for leaf in jax.tree.leaves(tree):
        dtype = np.dtype(jax.dtypes.canonicalize_dtype(jax.numpy.result_type(leaf)))
        if jax.numpy.issubdtype(dtype, jax.numpy.floating):
            epsilons.append(float(jax.numpy.finfo(dtype).eps))
    return max(epsilons)


def _shapes(tree: PyTree) -> tuple[jax.tree_util.PyTreeDef, list[tuple[int, ...]]]:
    """Return the structure of a pytree, and the shapes of its arrays, to compare two pytrees.

    Args:
        tree: arrays in nested containers.
    """
    return jax.tree.structure(tree), [np.shape(leaf) for leaf in jax.tree.leaves(tree)]
