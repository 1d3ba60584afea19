"""THE list of theorems. A new family is one file here and one line in `FAMILIES`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from epsilond.accountants.theorems.composition import (
    classical as classical_composition,
)
from epsilond.accountants.theorems.composition import (
    minimum,
    one_large_step,
)
from epsilond.accountants.theorems.composition import (
    optimal as optimal_composition,
)
from epsilond.accountants.theorems.composition import (
    rounds as composition,
)
from epsilond.accountants.theorems.conversions import escape, renyi
from epsilond.accountants.theorems.conversions import groups as conversions
from epsilond.accountants.theorems.hidden_states import (
    contraction,
    projected_contraction,
    projected_sgd,
    shift_then_contract,
    shifted_interpolation,
    shifted_interpolation_printed,
    shifted_interpolation_sampled,
)
from epsilond.accountants.theorems.mechanisms import (
    approximate,
    binomial,
    discrete_laplace,
    gaussian,
    laplace,
    randomized_response,
    truncated_discrete_laplace,
)
from epsilond.accountants.theorems.mechanisms import (
    gaussian_calibration as classical,
)
from epsilond.accountants.theorems.papers.asoodeh import (
    inverse_time_steps as contraction_inverse_time,
)
from epsilond.accountants.theorems.papers.asoodeh import (
    one_pass as contraction_asoodeh,
)
from epsilond.accountants.theorems.papers.bietti import (
    billboard as bietti_billboard,
)
from epsilond.accountants.theorems.papers.bietti import (
    noise as bietti_noise,
)
from epsilond.accountants.theorems.papers.bietti import (
    sampled_noise as bietti_sampling,
)
from epsilond.accountants.theorems.papers.das import (
    composed_rounds as das_2,
)
from epsilond.accountants.theorems.papers.das import (
    noise_law as das_law,
)
from epsilond.accountants.theorems.papers.das import (
    sensitivity as das_sensitivity,
)
from epsilond.accountants.theorems.papers.das import (
    small_movement as das_3,
)
from epsilond.accountants.theorems.papers.das import (
    truncated_noise as das_1,
)
from epsilond.accountants.theorems.papers.lowy_razaviyayn import (
    experiment_noise as lowy_appendix_h,
)
from epsilond.accountants.theorems.papers.lowy_razaviyayn import (
    experiment_settings as lowy_experiments,
)
from epsilond.accountants.theorems.papers.lowy_razaviyayn import (
    noise as lowy_noise,
)
from epsilond.accountants.theorems.papers.lowy_razaviyayn import (
    shuffled_lemmas as lowy_shuffling_lemmas,
)
from epsilond.accountants.theorems.papers.lowy_razaviyayn import (
    shuffled_mb_sgd as lowy_4_1,
)
from epsilond.accountants.theorems.papers.lowy_razaviyayn import (
    shuffled_noise as lowy_4_1_noise,
)
from epsilond.accountants.theorems.papers.lowy_razaviyayn import (
    shuffled_rounds as lowy_shuffling,
)
from epsilond.accountants.theorems.papers.lowy_razaviyayn import (
    transformations as lowy_transformations,
)
from epsilond.accountants.theorems.papers.reshef_levy import (
    conversions as reshef_conversions,
)
from epsilond.accountants.theorems.papers.reshef_levy import (
    noise_cancellation as reshef_privacy,
)
from epsilond.accountants.theorems.papers.reshef_levy import weighted_differences as reshef_differences
from epsilond.accountants.theorems.risk import start
from epsilond.accountants.theorems.risk.asoodeh import one_pass as contraction_utility
from epsilond.accountants.theorems.risk.bietti import (
    full_participation as bietti_bound,
)
from epsilond.accountants.theorems.risk.bietti import (
    personalization as bietti_personalization,
)
from epsilond.accountants.theorems.risk.bietti import privacy_cost as bietti_privacy_cost
from epsilond.accountants.theorems.risk.bietti import (
    sampled_participation as bietti_sampled_bound,
)
from epsilond.accountants.theorems.risk.das import convergence as das_convergence
from epsilond.accountants.theorems.risk.lowy_razaviyayn import (
    accelerated_bound as lowy_accelerated_bound,
)
from epsilond.accountants.theorems.risk.lowy_razaviyayn import (
    accelerated_nonsmooth as lowy_2_4,
)
from epsilond.accountants.theorems.risk.lowy_razaviyayn import (
    accelerated_smooth as lowy_e_1,
)
from epsilond.accountants.theorems.risk.lowy_razaviyayn import (
    accelerated_stages as lowy_algorithm_2,
)
from epsilond.accountants.theorems.risk.lowy_razaviyayn import (
    acceleration_lemmas as lowy_acceleration,
)
from epsilond.accountants.theorems.risk.lowy_razaviyayn import (
    convergence as lowy_convergence,
)
from epsilond.accountants.theorems.risk.lowy_razaviyayn import (
    descent_lemmas as lowy_descent_lemmas,
)
from epsilond.accountants.theorems.risk.lowy_razaviyayn import (
    envelope as lowy_envelope,
)
from epsilond.accountants.theorems.risk.lowy_razaviyayn import (
    federated_risk as lowy_federated_risk,
)
from epsilond.accountants.theorems.risk.lowy_razaviyayn import (
    lower_bounds as lowy_lower_bounds,
)
from epsilond.accountants.theorems.risk.lowy_razaviyayn import (
    nonsmooth_losses as lowy_2_2,
)
from epsilond.accountants.theorems.risk.lowy_razaviyayn import (
    one_pass as lowy_2_3,
)
from epsilond.accountants.theorems.risk.lowy_razaviyayn import (
    rates as lowy_rates,
)
from epsilond.accountants.theorems.risk.lowy_razaviyayn import (
    smooth_losses as lowy_2_1,
)
from epsilond.accountants.theorems.risk.lowy_razaviyayn import (
    stability as lowy_stability,
)
from epsilond.accountants.theorems.risk.lowy_razaviyayn import (
    step_size as lowy_step_size,
)
from epsilond.accountants.theorems.risk.lowy_razaviyayn import (
    variance_lemmas as lowy_variance_lemmas,
)
from epsilond.accountants.theorems.risk.reshef_levy import certified_bound as reshef_certified
from epsilond.accountants.theorems.risk.reshef_levy import (
    trusted_server as reshef_f_2,
)
from epsilond.accountants.theorems.risk.reshef_levy import (
    untrusted_server as reshef_5_2,
)
from epsilond.accountants.theorems.risk.reshef_levy import (
    variance as reshef_variance,
)
from epsilond.accountants.theorems.sampling import (
    poisson_comonotone,
    poisson_replacement,
    subsampling,
    thinning,
    two_level,
    with_replacement,
)
from epsilond.accountants.theorems.shuffling import batches as shuffling_batches
from epsilond.accountants.theorems.shuffling import reports as shuffling

if TYPE_CHECKING:
    from epsilond.accountants.rule import Rule
    from epsilond.accountants.theorem import Theorem

FAMILIES = (
    gaussian,
    laplace,
    discrete_laplace,
    escape,
    truncated_discrete_laplace,
    randomized_response,
    approximate,
    subsampling,
    with_replacement,
    poisson_comonotone,
    poisson_replacement,
    shuffling_batches,
    two_level,
    thinning,
    shuffling,
    composition,
    one_large_step,
    optimal_composition,
    renyi,
    classical,
    classical_composition,
    conversions,
    lowy_2_1,
    lowy_2_2,
    lowy_appendix_h,
    lowy_2_3,
    lowy_2_4,
    lowy_e_1,
    lowy_algorithm_2,
    lowy_acceleration,
    lowy_accelerated_bound,
    lowy_noise,
    lowy_convergence,
    lowy_stability,
    lowy_variance_lemmas,
    lowy_step_size,
    lowy_envelope,
    lowy_federated_risk,
    lowy_descent_lemmas,
    lowy_shuffling,
    lowy_shuffling_lemmas,
    lowy_4_1,
    lowy_4_1_noise,
    lowy_lower_bounds,
    lowy_rates,
    lowy_transformations,
    lowy_experiments,
    minimum,
    contraction,
    projected_contraction,
    contraction_asoodeh,
    contraction_inverse_time,
    contraction_utility,
    shifted_interpolation,
    shifted_interpolation_printed,
    shifted_interpolation_sampled,
    projected_sgd,
    shift_then_contract,
    bietti_noise,
    bietti_billboard,
    bietti_bound,
    bietti_privacy_cost,
    bietti_personalization,
    bietti_sampling,
    bietti_sampled_bound,
    reshef_conversions,
    reshef_differences,
    reshef_privacy,
    reshef_variance,
    reshef_5_2,
    reshef_certified,
    reshef_f_2,
    das_1,
    das_2,
    das_3,
    das_law,
    das_sensitivity,
    das_convergence,
    binomial,
    start,
)

THEOREMS: tuple[Theorem, ...] = tuple(theorem for family in FAMILIES for theorem in family.THEOREMS)
RULES: tuple[Rule, ...] = tuple(rule for family in FAMILIES for rule in getattr(family, "RULES", ()))
