"""The list of kinds of mechanism.

A new kind is its spec here, its theorem and its sentence in `accountants/kinds`, and three lines of this file.
"""

from __future__ import annotations

from typing import Union

from epsilond.accountants.specs.approximate import Approximate
from epsilond.accountants.specs.discrete_laplace import DiscreteLaplace
from epsilond.accountants.specs.gaussian import Gaussian
from epsilond.accountants.specs.laplace import Laplace
from epsilond.accountants.specs.randomized_response import RandomizedResponse
from epsilond.accountants.specs.truncated_discrete_laplace import TruncatedDiscreteLaplace

__all__ = [
    "Approximate",
    "DiscreteLaplace",
    "Gaussian",
    "Laplace",
    "RandomizedResponse",
    "TruncatedDiscreteLaplace",
]

Mechanism = Union[
    Gaussian,
    Laplace,
    DiscreteLaplace,
    TruncatedDiscreteLaplace,
    RandomizedResponse,
    Approximate,
]
"""Every kind, in the order in which theorems and documents list them."""
