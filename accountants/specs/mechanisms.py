"""The list of kinds of mechanism.

A new kind is its spec here, its theorem and its sentence in `accountants/kinds`, and three lines of this file.
"""

from __future__ import annotations

from typing import Union

from epsilond.accountants.specs.declared.approximate import Approximate
from epsilond.accountants.specs.declared.profile import DeclaredProfile
from epsilond.accountants.specs.declared.rdp import Rdp
from epsilond.accountants.specs.declared.zcdp import Zcdp
from epsilond.accountants.specs.gaussian import Gaussian
from epsilond.accountants.specs.gaussian_mixture import GaussianMixture
from epsilond.accountants.specs.integers.discrete_gaussian import DiscreteGaussian
from epsilond.accountants.specs.integers.discrete_laplace import DiscreteLaplace
from epsilond.accountants.specs.integers.poisson_binomial import PoissonBinomial
from epsilond.accountants.specs.integers.skellam import Skellam
from epsilond.accountants.specs.integers.truncated_discrete_laplace import TruncatedDiscreteLaplace
from epsilond.accountants.specs.laplace import Laplace
from epsilond.accountants.specs.randomized_response import RandomizedResponse
from epsilond.accountants.specs.selection.exponential import Exponential
from epsilond.accountants.specs.selection.permute_and_flip import PermuteAndFlip
from epsilond.accountants.specs.selection.report_noisy_max import ReportNoisyMax
from epsilond.accountants.specs.selection.sparse_vector import SparseVector

__all__ = [
    "Approximate",
    "DiscreteGaussian",
    "DiscreteLaplace",
    "Exponential",
    "Gaussian",
    "GaussianMixture",
    "Laplace",
    "DeclaredProfile",
    "RandomizedResponse",
    "Rdp",
    "PermuteAndFlip",
    "PoissonBinomial",
    "ReportNoisyMax",
    "Skellam",
    "SparseVector",
    "TruncatedDiscreteLaplace",
    "Zcdp",
]

Mechanism = Union[
    Gaussian,
    Laplace,
    DiscreteLaplace,
    TruncatedDiscreteLaplace,
    RandomizedResponse,
    Approximate,
    GaussianMixture,
    Zcdp,
    Rdp,
    DeclaredProfile,
    Exponential,
    PermuteAndFlip,
    ReportNoisyMax,
    DiscreteGaussian,
    Skellam,
    SparseVector,
    PoissonBinomial,
]
"""Every kind, in the order in which theorems and documents list them."""
