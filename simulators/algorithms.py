"""THE list of algorithms that can be run, and the union of their runs."""

from __future__ import annotations

from typing import Any

from accountants.errors import InvalidInput
from simulators.algorithm import Algorithm

ALGORITHMS: tuple[Algorithm, ...] = ()
"""THE list of algorithms."""

Run = Any
"""The runs of all algorithms, told apart by `algorithm`."""


def algorithm_of(run: Any) -> Algorithm:
    """The algorithm that a run is of.

    Raises:
        InvalidInput: it is of none.
    """
    for algorithm in ALGORITHMS:
        if isinstance(run, algorithm.run):
            return algorithm
    names = ", ".join(algorithm.name for algorithm in ALGORITHMS)
    raise InvalidInput.at("/run/algorithm", "there is no such algorithm", allowed=names)
