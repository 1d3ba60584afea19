"""Each algorithm's simulation beside its calibrator and its bounds: one file each, and the list of them."""

from __future__ import annotations

from witness.join import Join
from witness.joins import mu2_sgd, ppsgd

JOINS: tuple[Join, ...] = (ppsgd.JOIN, mu2_sgd.JOIN)
"""THE list of joins, one for each algorithm."""


def join_of(algorithm: str) -> Join:
    """The join of the algorithm of that name."""
    return next(join for join in JOINS if join.algorithm == algorithm)
