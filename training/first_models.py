"""The models at which training begins, as the caller gives them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from epsilond.accountants.errors import InvalidInput
from epsilond.training.arrays import as_floats

if TYPE_CHECKING:
    from epsilond.training.arrays import Floats


def read_own_start(algorithm: str, values: object) -> Floats | None:
    """Check the start of the clients' own parameters, which only the algorithm ppsgd has, and return it as an array.

    Args:
        algorithm: name of the algorithm.
        values: the start that the caller gave; None if absent.

    Returns:
        The start as doubles, shape (p,), for p own parameters of a client; None if it is absent.

    Raises:
        InvalidInput: the algorithm is not ppsgd, or the values are not a finite vector.
    """
    if values is None:
        return None
    if algorithm != "ppsgd":
        raise InvalidInput.at("/own_start", "is a field of ppsgd only: no other algorithm has clients' own parts")
    own = as_floats(values, pointer="/own_start")
    if own.ndim != 1 or not np.isfinite(own).all():
        raise InvalidInput.at("/own_start", "must be a finite vector")
    return own


def read_start(values: object, dimension: int) -> Floats:
    """Check the first model of a training run, and return it as an array.

    Args:
        values: coordinates of the model that the caller gave; None if absent.
        dimension: number d of coordinates.

    Returns:
        The model as doubles, shape (d,); zeros if it is absent.

    Raises:
        InvalidInput: the values are not a finite vector of this dimension.
    """
    if values is None:
        return np.zeros(dimension)
    start = as_floats(values, pointer="/start")
    if start.shape != (dimension,) or not np.isfinite(start).all():
        raise InvalidInput.at("/start", "must be a finite vector of the model's dimension", allowed=f"({dimension},)")
    return start
