"""THE list of theorems. A new family is one file here and one line in `FAMILIES`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from accountants.theorems import (
    approximate,
    classical,
    classical_composition,
    composition,
    contraction,
    contraction_asoodeh,
    contraction_inverse_time,
    contraction_stopping,
    contraction_utility,
    conversions,
    discrete_laplace,
    gaussian,
    laplace,
    lowy_2_1,
    lowy_convergence,
    lowy_noise,
    lowy_shuffling,
    lowy_shuffling_lemmas,
    lowy_stability,
    lowy_step_size,
    lowy_variance_lemmas,
    minimum,
    optimal_composition,
    poisson_replacement,
    projected_sgd,
    randomized_response,
    renyi,
    shifted_interpolation,
    shifted_interpolation_printed,
    shifted_interpolation_sampled,
    shuffling,
    shuffling_batches,
    subsampling,
    truncated_discrete_laplace,
    two_level,
    with_replacement,
)

if TYPE_CHECKING:
    from accountants.rule import Rule
    from accountants.theorem import Theorem

FAMILIES = (
    gaussian,
    laplace,
    discrete_laplace,
    truncated_discrete_laplace,
    randomized_response,
    approximate,
    subsampling,
    with_replacement,
    poisson_replacement,
    shuffling_batches,
    two_level,
    shuffling,
    composition,
    optimal_composition,
    renyi,
    classical,
    classical_composition,
    conversions,
    lowy_2_1,
    lowy_noise,
    lowy_convergence,
    lowy_stability,
    lowy_variance_lemmas,
    lowy_step_size,
    lowy_shuffling,
    lowy_shuffling_lemmas,
    minimum,
    contraction,
    contraction_asoodeh,
    contraction_inverse_time,
    contraction_stopping,
    contraction_utility,
    shifted_interpolation,
    shifted_interpolation_printed,
    shifted_interpolation_sampled,
    projected_sgd,
)

THEOREMS: tuple[Theorem, ...] = tuple(theorem for family in FAMILIES for theorem in family.THEOREMS)
RULES: tuple[Rule, ...] = tuple(rule for family in FAMILIES for rule in getattr(family, "RULES", ()))
