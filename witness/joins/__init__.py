"""The joins of all algorithms: each connects a simulation to its calibrator and its bounds."""

from __future__ import annotations

from epsilond.witness.join import Join
from epsilond.witness.joins import (
    accelerated_mb_sgd,
    fedavg,
    grid_fedavg,
    local_sgd,
    mb_sgd,
    mu2_sgd,
    norm_fedavg,
    one_pass_accelerated_mb_sgd,
    ppsgd,
    projected_sgd,
    shuffled_mb_sgd,
)

JOINS: tuple[Join, ...] = (
    mb_sgd.JOIN,
    one_pass_accelerated_mb_sgd.JOIN,
    accelerated_mb_sgd.JOIN,
    shuffled_mb_sgd.JOIN,
    norm_fedavg.JOIN,
    fedavg.JOIN,
    grid_fedavg.JOIN,
    local_sgd.JOIN,
    projected_sgd.JOIN,
    ppsgd.JOIN,
    mu2_sgd.JOIN,
)
"""THE list of joins, one for each algorithm."""


def find_join(algorithm: str) -> Join:
    """Return the functions that calibrate and bound the algorithm with the given name, which must be in the list."""
    return next(join for join in JOINS if join.algorithm == algorithm)
