"""Every formula that the project's catalogues number can be called: by evaluating a theorem, or else by an account.

Codes are those of the catalogues: F-… of Lowy and Razaviyayn, F… of Das et al. and Asoodeh et al., P… of Bietti et al.,
R… of Reshef and Levy, A… of conversions. Each stands with the theorem that evaluates it and the outputs that it is.
"""

from __future__ import annotations

import math
from typing import Any

import pytest

from epsilond.accountants.account import account
from epsilond.accountants.specs import Gaussian, Repeated, Subsampled
from epsilond.accountants.theorems import THEOREMS

LOWY = {
    "F-01": ("lowy.remark-e.1", "mean_participants rms_participants"),
    "F-02": ("lowy.remark-e.1", "average largest averages_of_largest"),
    "F-03": ("lowy.2.1", "xi psi"),
    "F-04": ("lowy.2.1", "effective_participants average_xi largest_xi average_psi"),
    "F-05": ("lowy.2.1", "prescribed_rounds rounds"),
    "F-06": ("lowy.remark-e.1", "client_sampling_share"),
    "F-08": ("lowy.2.1", "noise_std noise_multiplier epsilon_limit"),
    "F-09": ("lowy.2.1", "minimal_batch_size"),
    "F-10": ("epsilond.mini-batch-sgd-noise", "round_epsilon inner_epsilon amplified_epsilon printed_proof_epsilon"),
    "F-11": ("dwork-roth-2014.3.20", "epsilon delta"),
    "F-11, tight": ("kairouz-oh-viswanath-2015.3.5", "epsilon delta"),
    "F-11, Corollary F.1": ("lowy.corollary-f.1", "epsilon delta"),
    "F-12": ("ullman-2017.amplification", "epsilon delta"),
    "F-13": ("dwork-roth-2014.a.1", "noise_std upper_exact_noise_std"),
    "F-13, concentrated": ("bun-steinke-2016.proposition-1.3", "noise_std upper_exact_noise_std"),
    "F-13, exact": ("balle-wang-2018.8", "delta"),
    "F-15": ("lowy.2.1", "excess_risk_scale"),
    "F-17": ("lowy.2.1", "excess_risk step_size master_term"),
    "F-18": ("lowy.lemma-e.4.strongly-convex", "excess_risk step_size"),
    "F-19": ("lowy.2.1", "averaging_ratio"),
    "F-20": ("lowy.lemma-e.10", "smoothing_gap lipschitz strong_convexity"),
    "F-21": ("lowy.2.2", "excess_risk_scale"),
    "F-22": ("lowy.2.2", "excess_risk envelope_smoothness"),
    "F-24": ("lowy.2.3", "noise_std risk_proof_noise_std epsilon_limit"),
    "F-25": ("lowy.2.3", "rounds"),
    "F-26": ("lowy.2.3", "informal_excess_risk_scale informal_rounds_scale"),
    "F-27": ("lowy.2.3", "batch_optimisation_term batch_sampling_term"),
    "F-28": ("lowy.2.3", "prescribed_batch_size batch_size"),
    "F-29": ("lowy.2.3", "balanced_excess_risk_scale heterogeneity_threshold"),
    "F-33": ("lowy.2.3", "gradient_variance regularization"),
    "F-34": ("lowy.2.3", "clients_needed"),
    "F-35": ("lowy.e.1", "gradient_variance"),
    "F-37": ("lowy.e.1", "excess_risk_scale before_excess_risk_scale regularization prescribed_rounds"),
    "F-39": ("lowy.algorithm-2", "stages aimed_excess_risk"),
    "F-40": ("lowy.algorithm-2.weights", "aggregate_weight iterate_weight alpha eta"),
    "F-42": ("lowy.2.4", "envelope_smoothness excess_risk_scale"),
    "F-44": ("lowy.lemma-e.11", "scale excess_risk"),
    "F-44, E.12": ("lowy.lemma-e.12", "scale excess_risk"),
    "F-45": ("lowy.3.1", "excess_risk_scale statistical_term privacy_term least_clients"),
    "F-46": ("lowy.f.3", "excess_risk_scale"),
    "F-47": ("lowy.f.4", "excess_risk_scale log10_least_round_delta"),
    "F-48": ("lowy.f.5", "excess_risk_scale"),
    "F-49": ("lowy.section-3", "non_private_scale one_record_scale central_scale free_privacy_epsilon"),
    "F-49, Figure 2": ("lowy.figure-2", "identical_convex empirical_convex shuffled_identical_convex"),
    "F-50": ("lowy.lemma-e.1", "excess_risk"),
    "F-51": ("lowy.lemma-e.2", "stability"),
    "F-52": ("lowy.lemma-e.4", "excess_risk"),
    "F-53": ("lowy.lemma-e.5", "gradient_variance sampling_variance client_variance noise_variance"),
    "F-53, empirical": ("lowy.lemma-e.5-erm", "gradient_variance"),
    "F-54": ("lowy.lemma-e.9", "step_size averaging_ratio bound scale"),
    "F-55": ("lowy.lemma-e.6", "variance"),
    "F-56": ("lowy.lemma-e.3", "contraction simple_contraction"),
    "F-56, E.8": ("lowy.lemma-e.8", "squared_gradient_difference"),
    "F-57": ("lowy.f.2", "epsilon formula_epsilon sharp_delta local_epsilon_limit"),
    "F-58": ("lowy.f.2.equation-41", "epsilon delta delta_cap"),
    "F-59": ("lowy.f.1.compositional", "epsilon round_epsilon delta"),
    "F-59, sequential": ("lowy.f.1", "epsilon delta scale"),
    "F-60": ("lowy.lemma-f.3", "epsilon"),
    "F-61": ("lowy.lemma-f.2", "epsilon delta"),
    "F-61, F.4": ("lowy.lemma-f.4", "epsilon delta"),
    "F-61, F.6": ("lowy.lemma-f.6", "delta"),
    "F-61, F.7": ("lowy.lemma-f.7", "epsilon"),
    "F-62": ("lowy.definition-4", "compositionality"),
    "F-62, one pass": ("lowy.definition-4.one-pass", "compositionality"),
    "F-62, advanced composition": ("lowy.definition-4.advanced-composition", "compositionality"),
    "F-63": ("lowy.appendix-f.2", "rounds compositionality"),
    "F-64": ("lowy.4.1", "noise_std_over_root_constant least_participants"),
    "F-64, explicit": ("epsilond.shuffled-sgd-noise", "noise_std"),
    "F-65": ("lowy.4.1", "prescribed_rounds"),
    "F-66": ("lowy.4.1", "excess_risk_scale step_size statistical_term privacy_term"),
    "F-67": ("lowy.appendix-b", "largest_lipschitz smallest_strong_convexity largest_smoothness"),
    "F-68": ("lowy.appendix-d.1", "central_epsilon shuffled_epsilon delta"),
    "F-68, clients": ("lowy.lemma-d.2", "epsilon delta"),
    "F-69": ("lowy.appendix-g.1", "epsilon delta"),
    "F-70": ("lowy.appendix-h", "noise_std batch_size"),
    "F-71": ("lowy.appendix-h.metric", "relative_error"),
    "F-71, sizes": ("lowy.appendix-h.sizes", "samples_per_client"),
    "F-72": ("lowy.appendix-h.settings", "clients epsilons trials tuning_runs"),
}
CONVERSIONS = {
    "A1": ("dong-roth-su-2022.corollary-2-13", "delta"),
    "A2": ("epsilond.gaussian-composition-target", "exact_gaussian_dp_mu"),
    "A3": ("epsilond.gaussian-composition-epsilon", "exact_epsilon"),
    "A4": ("mironov-2017.proposition-3", "epsilon order"),
    "A5": ("reshef.lemma-2.6", "lemma_epsilon order"),
    "A6": ("epsilond.gaussian-composition-target", "lemma_gaussian_dp_mu"),
    "A7": ("canonne-kamath-steinke-2020.corollary-13", "delta"),
    "A8": ("epsilond.gaussian-composition-epsilon", "zcdp_epsilon"),
    "A9": ("epsilond.gaussian-composition-target", "zcdp_gaussian_dp_mu"),
}
BIETTI = {
    "P1": ("epsilond.personalized-sgd-noise", "sensitivity"),
    "P2": ("bietti.4.1", "noise_std"),
    "P3": ("epsilond.personalized-sgd-privacy", "gaussian_dp_mu epsilon"),
    "P5": ("epsilond.personalized-sgd-noise", "noise_std"),
    "P6": ("epsilond.personalized-sgd-noise", "sufficient_noise_std"),
    "P7": ("epsilond.personalized-sgd-noise", "least_constant"),
    "P8": ("epsilond.personalized-sgd-noise", "sharp_constant"),
    "P9": ("bietti.4.5", "weighted_smoothness"),
    "P10": ("bietti.4.5", "variance"),
    "P11": ("bietti.4.5", "step_size excess_risk refined_step_size excess_risk_at_step"),
    "P12": ("bietti.4.5.any-step", "excess_risk simple_excess_risk"),
    "P13": ("bietti.4.5.equation-9", "optimisation_term statistical_term privacy_term"),
    "P14": ("bietti.4.5.local-limit", "excess_risk"),
    "P15": ("bietti.4.5.global-limit", "excess_risk"),
    "P16": ("epsilond.minimal-norm-optimum", "squared_norm shared_share"),
    "P17": ("bietti.lemma-4.6", "variance_term local_variance_term global_variance_term"),
    "P18": ("bietti.lemma-4.6", "threshold_rounds threshold_epsilon"),
    "P19": ("epsilond.optimal-personalization", "personalization excess_risk local_excess_risk global_excess_risk"),
    "P19, by variance": ("epsilond.personalization-by-variance", "personalization"),
    "P20": ("epsilond.optimal-personalization", "personalization excess_risk balanced_excess_risk"),
    "P21": ("bietti.squared-loss", "smoothness"),
    "P23": ("bietti.5.1", "noise_std noise_multiplier"),
    "P25": ("bietti.5.2", "weighted_smoothness proof_weighted_smoothness"),
    "P26": ("bietti.5.2", "shared_variance selection_variance local_variance variance"),
    "P27": ("bietti.5.2", "step_size excess_risk"),
    "P27, (14)": ("bietti.5.2.equation-14", "privacy_term excess_risk"),
    "P28": ("bietti.b.4", "weighted_smoothness"),
    "P29": ("bietti.b.4", "variance coarser_variance"),
    "P30": ("bietti.b.4.equation-36", "excess_risk"),
    "P31": ("bietti.5.1", "heterogeneity_cost"),
    "P32": ("epsilond.coalition-participation", "gaussian_dp_mu epsilon"),
    "P34": ("bietti.appendix-a", "covariance_trace initial_risk global_risk gradient_variance step_sizes"),
    "P34, noise": ("bietti.section-6", "epsilon"),
}
RESHEF = {
    "R1": ("reshef.section-4", "clipping_norm total_gradient_std round_clipping_norm convex_sensitivity"),
    "R2": ("reshef.lemma-2.1", "variance"),
    "R3": ("reshef.lemma-4.2", "variance"),
    "R3, sums": ("reshef.lemma-4.3", "variance mean_variance"),
    "R4": ("reshef.lemma-2.3", "renyi_divergence"),
    "R5": ("reshef.5.1", "gaussian_dp_mu zcdp_rho"),
    "R5'": ("epsilond.noise-cancellation-records", "gaussian_dp_mu"),
    "R6": ("epsilond.noise-cancellation-schedule", "noise_variance base_std"),
    "R7": ("epsilond.noise-cancellation-schedule", "true_gaussian_dp_mu"),
    "R8": ("reshef.5.2", "step_size"),
    "R9": ("reshef.5.2", "excess_risk excess_risk_at_step_size criterion"),
    "R10": ("epsilond.noise-cancellation-excess-risk", "bound_by_norm bound_by_young bound_by_stability"),
    "R11": ("epsilond.independent-noise-excess-risk", "excess_risk gain_of_cancellation noise_std"),
    "R12": ("reshef.lemma-4.1", "cancelled_noise independent_noise"),
    "R13": ("reshef.f.1", "gaussian_dp_mu released_gaussian_dp_mu"),
    "R14": ("reshef.f.2", "noise_std step_size excess_risk"),
    "R15": ("reshef.lower-bounds", "excess_risk_scale"),
    "R16": ("reshef.appendix-g", "factor"),
    "R17": ("reshef.algorithm-1-weights", "weight momentum share"),
    "R18": ("reshef.baseline", "excess_risk step_size noise_std"),
    "R20": ("reshef.experiments", "lipschitz smoothness clipping_norm"),
}
DAS_AND_ASOODEH = {
    "F1": ("das.algorithm-1", "value_below value_above probability_below variance"),
    "F2": ("das.equation-3", "normaliser probability"),
    "F3": ("das.lemma-1", "variance uniform_bound popoviciu_bound"),
    "F4": ("das.equation-3", "escape"),
    "F5": ("das.1", "decay_rate noise_levels log10_claimed_finer_delta log10_delta"),
    "F6": ("epsilond.truncated-discrete-laplace", "delta shift remainder shifted_coordinates"),
    "F7": ("epsilond.levels-at-decay-rate", "noise_levels variance"),
    "F10": ("epsilond.truncated-discrete-laplace-l2", "zcdp_rho escape delta"),
    "F11": ("das.lemma-1", "mean_squared_error"),
    "F12": ("epsilond.discrete-laplace", "pure_epsilon"),
    "F12, Remark 2": ("das.remark-2", "scale reach"),
    "F12, one dimension": ("geng-2020.truncated-laplace", "reach"),
    "F13": ("epsilond.coupled-rounding", "l1_sensitivity linf_sensitivity l2_sensitivity"),
    "F13, but for a chance": ("epsilond.hoeffding-rounding", "l1_sensitivity l2_sensitivity"),
    "F14": ("das.equation-7", "bits_per_coordinate"),
    "F15": ("das.appendix-f", "extra_bits_bound extra_bits"),
    "F16": ("das.corollary-3.1-bits", "extra_bits_per_round binomial_extra_bits_per_round"),
    "F17": ("das.definition-1", "l1_sensitivity linf_sensitivity"),
    "F17, unit vectors": ("epsilond.unit-vector-sensitivity", "l1_sensitivity l2_sensitivity"),
    "F18": ("das.equation-6", "l1_sensitivity linf_sensitivity l2_sensitivity"),
    "F19": ("das.3", "l1_sensitivity failure_probability"),
    "F20": ("das.corollary-3.1", "claimed_epsilon"),
    "F21": ("das.clipped-updates", "l1_sensitivity mean_l1_sensitivity"),
    "F22": ("das.2", "round_epsilon"),
    "F23": ("das.equation-22", "epsilon"),
    "F24": ("das.2", "claimed_epsilon composed_epsilon"),
    "F25": ("epsilond.rounds-of-clients", "round_epsilon epsilon delta printed_form_epsilon"),
    "F26": ("das.2-compression", "compression least_compression"),
    "F27": ("das.equation-39", "local_step_size server_step_size"),
    "F28": ("das.equation-39", "gradient_norm"),
    "F29": ("das.2-utility", "gradient_norm"),
    "F30": ("das.4", "variance_constant squared_gradient_norm local_step_size"),
    "F31, Lemma 2": ("das.lemma-2", "inner_product"),
    "F31, Lemma 3": ("das.lemma-3", "update_norm"),
    "F31, Lemma 4": ("das.lemma-4", "distance"),
    "F31, Lemma 6": ("das.lemma-6", "unit_distance"),
    "F32": ("agarwal-2018.1-epsilon", "epsilon"),
    "F32, trials": ("agarwal-2018.1", "trials mean_squared_error"),
    "F33": ("agarwal-2018.1", "bits_per_coordinate"),
    "F34": ("asoodeh.lemma-1", "theta complement"),
    "F35": ("asoodeh.lemma-1", "shift theta"),
    "F36": ("asoodeh.lemma-2", "theta"),
    "F37": ("asoodeh.1", "coefficient"),
    "F38": ("asoodeh.section-2", "divergence total_variation divergence_after_kernel"),
    "F39": ("asoodeh.2", "delta steps sensitivity_theta contraction_theta"),
    "F40": ("asoodeh.2", "delta steps"),
    "F41": ("epsilond.projected-contraction", "delta contraction_theta"),
    "F44": ("asoodeh.corollary-1", "excess_risk"),
    "F45": ("asoodeh.corollary-1", "delta delta_two_rho delta_eleven"),
    "F46": ("asoodeh.corollary-2", "noise_term"),
    "F47": ("asoodeh.corollary-3", "delta"),
    "F48": ("asoodeh.corollary-3", "delta_twelve"),
    "F50": ("asoodeh.corollary-3", "first_stop"),
    "F51": ("asoodeh.convex-losses", "excess_risk_scale"),
    "F51, with constants": ("epsilond.one-pass-convex-excess-risk", "excess_risk_at_random_stop excess_risk_of_last"),
}
ROWS = [(code, *row) for table in (LOWY, CONVERSIONS, BIETTI, RESHEF, DAS_AND_ASOODEH) for code, row in table.items()]
KNOWN = {theorem.id: theorem for theorem in THEOREMS}


@pytest.mark.parametrize(("code", "theorem", "outputs"), ROWS, ids=[row[0] for row in ROWS])
def test_a_catalogued_formula_is_evaluated(code: str, theorem: str, outputs: str) -> None:
    called = KNOWN[theorem]
    assert called.request is not None, code
    given: dict[str, Any] = {}
    for example in called.examples:
        given |= called.evaluate(called.request(**example)).outputs
    wanted = [given.get(name) for name in outputs.split()]
    assert all(value is not None for value in wanted), f"{code}: {theorem} has {sorted(given)}"
    assert all(not isinstance(value, float) or not math.isnan(value) for value in wanted)


@pytest.mark.parametrize("sampling", ["poisson", "without-replacement", "with-replacement"])
def test_formulas_of_sampled_rounds_are_accounts(sampling: Any) -> None:
    """F-14, and A10 to A12: curves that no closed form gives are computed by `account`."""
    batch = Subsampled(sampling=sampling, batch_size=10, population=100, mechanism=Gaussian(noise_multiplier=4.0))
    curve = account(Repeated(times=3, mechanism=batch), relation="replace-one").guarantee.curve
    told = curve.log_delta(0.5)
    assert told.lower <= told.upper < 0.0
    assert curve.epsilon(told.upper).upper == pytest.approx(0.5, rel=1e-6)
