"""The numbers of a run over all repetitions, collected from its blocks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from epsilond.simulators.algorithms.algorithm import AnyRun
from epsilond.simulators.problems.problem import Floats

BlockOfRun = tuple[Floats, Mapping[str, Floats], Mapping[str, Floats], Floats | None]
"""Numbers of one block of repetitions of a run: excess risk, diagnostics, scores, and a model.

The excess risk has the shape (repetitions, rounds). Diagnostics, and scores on held-out records, have one value for
each repetition, by name. The model is that of the first repetition, for the first block and if it was requested.
"""


@dataclass(frozen=True, kw_only=True)
class Measurement:
    """The measurements of all repetitions of one run.

    A block of repetitions has four results: excess risks, diagnostics, scores, and a model. Diagnostics are numbers
    such as the largest gradient norm of a training.

    Attributes:
        name: name of the run among those that are compared; `private` for the run that was requested.
        run: the parameters of the algorithm.
        rounds: rounds after which the excess risk was measured, ascending.
        blocks: results for successive blocks of repetitions; at least one.
    """

    name: str
    run: AnyRun
    rounds: tuple[int, ...]
    blocks: Sequence[BlockOfRun]

    def excess(self) -> Floats:
        """Return the excess risks, of shape (repetitions, rounds)."""
        return np.concatenate([excess for excess, _, _, _ in self.blocks])

    def diagnostics(self) -> Mapping[str, Floats]:
        """Return the diagnostics by name, in alphabetical order, with one value for each repetition."""
        return _concatenate([diagnostics for _, diagnostics, _, _ in self.blocks])

    def scores(self) -> Mapping[str, Floats]:
        """Return the scores on held-out records by name, in alphabetical order, with one value for each repetition."""
        return _concatenate([scores for _, _, scores, _ in self.blocks])

    def model(self) -> tuple[tuple[float, ...], ...] | None:
        """Return the weights of the models that the first repetition returned.

        Returns:
            One tuple of weights for each model. None if they were not requested or are not finite.
        """
        _, _, _, model = self.blocks[0]
        if model is None or not np.all(np.isfinite(model)):
            return None
        rows = np.atleast_2d(model)
        return tuple(as_floats(row) for row in rows)


def _concatenate(blocks: Sequence[Mapping[str, Floats]]) -> Mapping[str, Floats]:
    """Join the values of all blocks.

    Args:
        blocks: values of each block by name, one for each repetition; at least one block.

    Returns:
        The values of all repetitions by name, in alphabetical order of the names.
    """
    names = sorted(blocks[0])
    return {name: np.concatenate([values[name] for values in blocks]) for name in names}


def as_floats(values: Floats) -> tuple[float, ...]:
    """Return the numbers of a one-dimensional array as Python floats."""
    return tuple(float(value) for value in values)
