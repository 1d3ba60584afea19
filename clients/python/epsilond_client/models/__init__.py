"""Contains all the data models used in inputs/outputs"""

from .accelerated_mb_sgd_calibration import AcceleratedMbSgdCalibration
from .accelerated_mb_sgd_problem import AcceleratedMbSgdProblem
from .accelerated_mb_sgd_problem_readings_item import (
    AcceleratedMbSgdProblemReadingsItem,
)
from .accelerated_mb_sgd_run import AcceleratedMbSgdRun
from .accelerated_parameters import AcceleratedParameters
from .accelerated_risk_inputs import AcceleratedRiskInputs
from .accelerated_risk_inputs_objective import AcceleratedRiskInputsObjective
from .accelerated_risk_problem import AcceleratedRiskProblem
from .accelerated_risk_problem_problem import AcceleratedRiskProblemProblem
from .accelerated_risk_problem_readings_item import AcceleratedRiskProblemReadingsItem
from .accelerated_risk_problem_trust import AcceleratedRiskProblemTrust
from .account_answer import AccountAnswer
from .account_guarantee import AccountGuarantee
from .account_problem import AccountProblem
from .achieved_inputs import AchievedInputs
from .aggregates_answer import AggregatesAnswer
from .aggregates_answer_branch import AggregatesAnswerBranch
from .algorithm import Algorithm
from .algorithm_example import AlgorithmExample
from .algorithm_links import AlgorithmLinks
from .algorithm_list import AlgorithmList
from .any_one_pass import AnyOnePass
from .any_step_inputs import AnyStepInputs
from .approximate import Approximate
from .approximate_clones_inputs import ApproximateClonesInputs
from .approximate_inputs import ApproximateInputs
from .audit_answer import AuditAnswer
from .audit_answer_attack import AuditAnswerAttack
from .audit_answer_evidence import AuditAnswerEvidence
from .audit_answer_verdict import AuditAnswerVerdict
from .audit_claim import AuditClaim
from .audit_simulation import AuditSimulation
from .audit_simulation_attack import AuditSimulationAttack
from .average_risk import AverageRisk
from .averaging import Averaging
from .averaging_kind import AveragingKind
from .axis import Axis
from .axis_scale import AxisScale
from .baseline_inputs import BaselineInputs
from .batches import Batches
from .billboard_experiment_inputs import BillboardExperimentInputs
from .binomial_inputs import BinomialInputs
from .bits_inputs import BitsInputs
from .blanket_inputs import BlanketInputs
from .bound_answer import BoundAnswer
from .bound_answer_constant import BoundAnswerConstant
from .bound_answer_holds import BoundAnswerHolds
from .bound_answer_ratio_type_0_type_1 import BoundAnswerRatioType0Type1
from .bound_answer_ratio_type_1 import BoundAnswerRatioType1
from .bound_answer_value_type_0_type_1 import BoundAnswerValueType0Type1
from .bound_answer_value_type_1 import BoundAnswerValueType1
from .bound_inputs import BoundInputs
from .budget_inputs import BudgetInputs
from .by_conversion import ByConversion
from .cell_answer import CellAnswer
from .cell_answer_beside import CellAnswerBeside
from .cell_answer_epsilon_lower_type_1 import CellAnswerEpsilonLowerType1
from .cell_answer_kind import CellAnswerKind
from .cell_answer_place import CellAnswerPlace
from .central_empirical_inputs import CentralEmpiricalInputs
from .central_inputs import CentralInputs
from .certified_inputs import CertifiedInputs
from .claim import Claim
from .claim_answer import ClaimAnswer
from .claim_checked import ClaimChecked
from .claim_checked_ratio_type_1 import ClaimCheckedRatioType1
from .claims import Claims
from .client_batches import ClientBatches
from .client_group_request import ClientGroupRequest
from .client_inputs import ClientInputs
from .client_report import ClientReport
from .client_report_described import ClientReportDescribed
from .clones_inputs import ClonesInputs
from .coalition_inputs import CoalitionInputs
from .coercivity_inputs import CoercivityInputs
from .communication import Communication
from .communication_beside import CommunicationBeside
from .composed import Composed
from .composed_inputs import ComposedInputs
from .composition_inputs import CompositionInputs
from .compositional_inputs import CompositionalInputs
from .concentrated_inputs import ConcentratedInputs
from .condition_answer import ConditionAnswer
from .condition_answer_left_type_0_type_1 import ConditionAnswerLeftType0Type1
from .condition_answer_left_type_1 import ConditionAnswerLeftType1
from .condition_answer_right_type_0_type_1 import ConditionAnswerRightType0Type1
from .condition_answer_right_type_1 import ConditionAnswerRightType1
from .condition_document import ConditionDocument
from .condition_document_left_type_0_type_1 import ConditionDocumentLeftType0Type1
from .condition_document_left_type_1 import ConditionDocumentLeftType1
from .condition_document_right_type_0_type_1 import ConditionDocumentRightType0Type1
from .condition_document_right_type_1 import ConditionDocumentRightType1
from .condition_result import ConditionResult
from .considered_answer import ConsideredAnswer
from .considered_bound import ConsideredBound
from .considered_bound_log_10_delta_type_0_type_1 import (
    ConsideredBoundLog10DeltaType0Type1,
)
from .considered_bound_log_10_delta_type_1 import ConsideredBoundLog10DeltaType1
from .constant import Constant
from .constants import Constants
from .constants_inputs import ConstantsInputs
from .contraction_inputs import ContractionInputs
from .convergence_answer import ConvergenceAnswer
from .convergence_inputs import ConvergenceInputs
from .conversion_answer import ConversionAnswer
from .conversion_answer_noise_over_exact_type_0_type_1 import (
    ConversionAnswerNoiseOverExactType0Type1,
)
from .conversion_answer_noise_over_exact_type_1 import (
    ConversionAnswerNoiseOverExactType1,
)
from .conversion_answer_zcdp_noise_over_exact_type_0_type_1 import (
    ConversionAnswerZcdpNoiseOverExactType0Type1,
)
from .conversion_answer_zcdp_noise_over_exact_type_1 import (
    ConversionAnswerZcdpNoiseOverExactType1,
)
from .convex_descent_inputs import ConvexDescentInputs
from .convex_inputs import ConvexInputs
from .corollary_inputs import CorollaryInputs
from .cyclic import Cyclic
from .cyclic_in_ball import CyclicInBall
from .data_set_problem import DataSetProblem
from .data_set_problem_data_set import DataSetProblemDataSet
from .data_set_problem_objective import DataSetProblemObjective
from .data_set_problem_split import DataSetProblemSplit
from .declared_condition import DeclaredCondition
from .deletion_inputs import DeletionInputs
from .derivation_step import DerivationStep
from .derivation_step_inputs import DerivationStepInputs
from .discrete_laplace import DiscreteLaplace
from .discrete_laplace_inputs import DiscreteLaplaceInputs
from .draw_simulation_format import DrawSimulationFormat
from .drawn_inputs import DrawnInputs
from .drawn_inputs_sampling import DrawnInputsSampling
from .drawn_inputs_weighting import DrawnInputsWeighting
from .ends import Ends
from .ends_lower_type_1 import EndsLowerType1
from .ends_upper_type_1 import EndsUpperType1
from .envelope_inputs import EnvelopeInputs
from .enveloped_inputs import EnvelopedInputs
from .enveloped_inputs_sampling import EnvelopedInputsSampling
from .enveloped_inputs_variant import EnvelopedInputsVariant
from .epsilon_bound import EpsilonBound
from .erratum import Erratum
from .error_inputs import ErrorInputs
from .escape import Escape
from .escape_epsilon_lower_type_0_type_1 import EscapeEpsilonLowerType0Type1
from .escape_epsilon_lower_type_1 import EscapeEpsilonLowerType1
from .evaluate_agarwal_20181 import EvaluateAgarwal20181
from .evaluate_agarwal_20181_epsilon import EvaluateAgarwal20181Epsilon
from .evaluate_asoodeh_1 import EvaluateAsoodeh1
from .evaluate_asoodeh_2 import EvaluateAsoodeh2
from .evaluate_asoodeh_corollary_1 import EvaluateAsoodehCorollary1
from .evaluate_asoodeh_corollary_2 import EvaluateAsoodehCorollary2
from .evaluate_asoodeh_corollary_3 import EvaluateAsoodehCorollary3
from .evaluate_asoodeh_lemma_1 import EvaluateAsoodehLemma1
from .evaluate_asoodeh_lemma_2 import EvaluateAsoodehLemma2
from .evaluate_balle_bell_gascon_nissim_2019_lemma_53 import (
    EvaluateBalleBellGasconNissim2019Lemma53,
)
from .evaluate_balle_wang_20188 import EvaluateBalleWang20188
from .evaluate_bietti_41 import EvaluateBietti41
from .evaluate_bietti_45 import EvaluateBietti45
from .evaluate_bietti_45_any_step import EvaluateBietti45AnyStep
from .evaluate_bietti_45_equation_9 import EvaluateBietti45Equation9
from .evaluate_bietti_45_global_limit import EvaluateBietti45GlobalLimit
from .evaluate_bietti_45_local_limit import EvaluateBietti45LocalLimit
from .evaluate_bietti_51 import EvaluateBietti51
from .evaluate_bietti_52 import EvaluateBietti52
from .evaluate_bietti_b4 import EvaluateBiettiB4
from .evaluate_bietti_lemma_46 import EvaluateBiettiLemma46
from .evaluate_bietti_section_6 import EvaluateBiettiSection6
from .evaluate_bok_su_altschuler_2024_noisy_cgd_projected import (
    EvaluateBokSuAltschuler2024NoisyCgdProjected,
)
from .evaluate_bok_su_altschuler_2024_noisy_cgd_strongly_convex import (
    EvaluateBokSuAltschuler2024NoisyCgdStronglyConvex,
)
from .evaluate_bok_su_altschuler_2024_noisy_gd_projected import (
    EvaluateBokSuAltschuler2024NoisyGdProjected,
)
from .evaluate_bok_su_altschuler_2024_noisy_gd_strongly_convex import (
    EvaluateBokSuAltschuler2024NoisyGdStronglyConvex,
)
from .evaluate_bun_steinke_2016_proposition_13 import (
    EvaluateBunSteinke2016Proposition13,
)
from .evaluate_bun_steinke_2016_proposition_14 import (
    EvaluateBunSteinke2016Proposition14,
)
from .evaluate_canonne_kamath_steinke_2020_corollary_13 import (
    EvaluateCanonneKamathSteinke2020Corollary13,
)
from .evaluate_canonne_kamath_steinke_2020_proposition_12 import (
    EvaluateCanonneKamathSteinke2020Proposition12,
)
from .evaluate_das_1 import EvaluateDas1
from .evaluate_das_2 import EvaluateDas2
from .evaluate_das_2_utility import EvaluateDas2Utility
from .evaluate_das_3 import EvaluateDas3
from .evaluate_das_4 import EvaluateDas4
from .evaluate_das_appendix_f import EvaluateDasAppendixF
from .evaluate_das_corollary_31 import EvaluateDasCorollary31
from .evaluate_das_corollary_31_bits import EvaluateDasCorollary31Bits
from .evaluate_das_definition_1 import EvaluateDasDefinition1
from .evaluate_das_equation_3 import EvaluateDasEquation3
from .evaluate_das_equation_6 import EvaluateDasEquation6
from .evaluate_das_equation_7 import EvaluateDasEquation7
from .evaluate_das_equation_22 import EvaluateDasEquation22
from .evaluate_das_equation_39 import EvaluateDasEquation39
from .evaluate_das_lemma_1 import EvaluateDasLemma1
from .evaluate_das_lemma_3 import EvaluateDasLemma3
from .evaluate_das_remark_2 import EvaluateDasRemark2
from .evaluate_dong_roth_su_2022_corollary_213 import EvaluateDongRothSu2022Corollary213
from .evaluate_dwork_roth_2014a1 import EvaluateDworkRoth2014A1
from .evaluate_dwork_roth_2014316 import EvaluateDworkRoth2014316
from .evaluate_dwork_roth_2014320 import EvaluateDworkRoth2014320
from .evaluate_epsilond_accelerated_sgd_excess_risk import (
    EvaluateEpsilondAcceleratedSgdExcessRisk,
)
from .evaluate_epsilond_approximate_clones import EvaluateEpsilondApproximateClones
from .evaluate_epsilond_coalition_participation import (
    EvaluateEpsilondCoalitionParticipation,
)
from .evaluate_epsilond_coupled_rounding import EvaluateEpsilondCoupledRounding
from .evaluate_epsilond_discrete_laplace import EvaluateEpsilondDiscreteLaplace
from .evaluate_epsilond_federated_sgd_excess_risk import (
    EvaluateEpsilondFederatedSgdExcessRisk,
)
from .evaluate_epsilond_gaussian_blanket import EvaluateEpsilondGaussianBlanket
from .evaluate_epsilond_gaussian_composition_epsilon import (
    EvaluateEpsilondGaussianCompositionEpsilon,
)
from .evaluate_epsilond_gaussian_composition_target import (
    EvaluateEpsilondGaussianCompositionTarget,
)
from .evaluate_epsilond_hoeffding_rounding import EvaluateEpsilondHoeffdingRounding
from .evaluate_epsilond_independent_noise_excess_risk import (
    EvaluateEpsilondIndependentNoiseExcessRisk,
)
from .evaluate_epsilond_laplace import EvaluateEpsilondLaplace
from .evaluate_epsilond_mini_batch_sgd_excess_risk import (
    EvaluateEpsilondMiniBatchSgdExcessRisk,
)
from .evaluate_epsilond_mini_batch_sgd_noise import EvaluateEpsilondMiniBatchSgdNoise
from .evaluate_epsilond_minimal_norm_optimum import EvaluateEpsilondMinimalNormOptimum
from .evaluate_epsilond_noise_cancellation_excess_risk import (
    EvaluateEpsilondNoiseCancellationExcessRisk,
)
from .evaluate_epsilond_noise_cancellation_records import (
    EvaluateEpsilondNoiseCancellationRecords,
)
from .evaluate_epsilond_noise_cancellation_schedule import (
    EvaluateEpsilondNoiseCancellationSchedule,
)
from .evaluate_epsilond_optimal_personalization import (
    EvaluateEpsilondOptimalPersonalization,
)
from .evaluate_epsilond_personalized_sgd_excess_risk import (
    EvaluateEpsilondPersonalizedSgdExcessRisk,
)
from .evaluate_epsilond_personalized_sgd_noise import (
    EvaluateEpsilondPersonalizedSgdNoise,
)
from .evaluate_epsilond_personalized_sgd_privacy import (
    EvaluateEpsilondPersonalizedSgdPrivacy,
)
from .evaluate_epsilond_projected_contraction import (
    EvaluateEpsilondProjectedContraction,
)
from .evaluate_epsilond_randomized_response import EvaluateEpsilondRandomizedResponse
from .evaluate_epsilond_rounds_of_clients import EvaluateEpsilondRoundsOfClients
from .evaluate_epsilond_shifted_interpolation import (
    EvaluateEpsilondShiftedInterpolation,
)
from .evaluate_epsilond_shuffled_randomized_response import (
    EvaluateEpsilondShuffledRandomizedResponse,
)
from .evaluate_epsilond_shuffled_sgd_noise import EvaluateEpsilondShuffledSgdNoise
from .evaluate_epsilond_truncated_discrete_laplace import (
    EvaluateEpsilondTruncatedDiscreteLaplace,
)
from .evaluate_epsilond_unit_vector_sensitivity import (
    EvaluateEpsilondUnitVectorSensitivity,
)
from .evaluate_epsilond_zcdp_pair import EvaluateEpsilondZcdpPair
from .evaluate_feldman_mcmillan_talwar_2023_lemma_35 import (
    EvaluateFeldmanMcmillanTalwar2023Lemma35,
)
from .evaluate_feldman_mcmillan_talwar_202131 import EvaluateFeldmanMcmillanTalwar202131
from .evaluate_feldman_mcmillan_talwar_202332 import EvaluateFeldmanMcmillanTalwar202332
from .evaluate_kairouz_oh_viswanath_2015_extremal_pair import (
    EvaluateKairouzOhViswanath2015ExtremalPair,
)
from .evaluate_kairouz_oh_viswanath_201533 import EvaluateKairouzOhViswanath201533
from .evaluate_kairouz_oh_viswanath_201535 import EvaluateKairouzOhViswanath201535
from .evaluate_lowy_21 import EvaluateLowy21
from .evaluate_lowy_22 import EvaluateLowy22
from .evaluate_lowy_23 import EvaluateLowy23
from .evaluate_lowy_24 import EvaluateLowy24
from .evaluate_lowy_31 import EvaluateLowy31
from .evaluate_lowy_41 import EvaluateLowy41
from .evaluate_lowy_algorithm_2 import EvaluateLowyAlgorithm2
from .evaluate_lowy_appendix_b import EvaluateLowyAppendixB
from .evaluate_lowy_appendix_d1 import EvaluateLowyAppendixD1
from .evaluate_lowy_appendix_f2 import EvaluateLowyAppendixF2
from .evaluate_lowy_appendix_g1 import EvaluateLowyAppendixG1
from .evaluate_lowy_appendix_h import EvaluateLowyAppendixH
from .evaluate_lowy_appendix_h_metric import EvaluateLowyAppendixHMetric
from .evaluate_lowy_appendix_h_settings import EvaluateLowyAppendixHSettings
from .evaluate_lowy_appendix_h_sizes import EvaluateLowyAppendixHSizes
from .evaluate_lowy_corollary_f1 import EvaluateLowyCorollaryF1
from .evaluate_lowy_definition_4 import EvaluateLowyDefinition4
from .evaluate_lowy_definition_4_advanced_composition import (
    EvaluateLowyDefinition4AdvancedComposition,
)
from .evaluate_lowy_definition_4_one_pass import EvaluateLowyDefinition4OnePass
from .evaluate_lowy_e1 import EvaluateLowyE1
from .evaluate_lowy_f1 import EvaluateLowyF1
from .evaluate_lowy_f1_compositional import EvaluateLowyF1Compositional
from .evaluate_lowy_f2 import EvaluateLowyF2
from .evaluate_lowy_f2_equation_41 import EvaluateLowyF2Equation41
from .evaluate_lowy_f3 import EvaluateLowyF3
from .evaluate_lowy_f4 import EvaluateLowyF4
from .evaluate_lowy_f5 import EvaluateLowyF5
from .evaluate_lowy_figure_2 import EvaluateLowyFigure2
from .evaluate_lowy_lemma_d2 import EvaluateLowyLemmaD2
from .evaluate_lowy_lemma_e1 import EvaluateLowyLemmaE1
from .evaluate_lowy_lemma_e2 import EvaluateLowyLemmaE2
from .evaluate_lowy_lemma_e3 import EvaluateLowyLemmaE3
from .evaluate_lowy_lemma_e4 import EvaluateLowyLemmaE4
from .evaluate_lowy_lemma_e5 import EvaluateLowyLemmaE5
from .evaluate_lowy_lemma_e5_erm import EvaluateLowyLemmaE5Erm
from .evaluate_lowy_lemma_e6 import EvaluateLowyLemmaE6
from .evaluate_lowy_lemma_e8 import EvaluateLowyLemmaE8
from .evaluate_lowy_lemma_e9 import EvaluateLowyLemmaE9
from .evaluate_lowy_lemma_e10 import EvaluateLowyLemmaE10
from .evaluate_lowy_lemma_e11 import EvaluateLowyLemmaE11
from .evaluate_lowy_lemma_e12 import EvaluateLowyLemmaE12
from .evaluate_lowy_lemma_f2 import EvaluateLowyLemmaF2
from .evaluate_lowy_lemma_f3 import EvaluateLowyLemmaF3
from .evaluate_lowy_lemma_f4 import EvaluateLowyLemmaF4
from .evaluate_lowy_lemma_f6 import EvaluateLowyLemmaF6
from .evaluate_lowy_lemma_f7 import EvaluateLowyLemmaF7
from .evaluate_lowy_section_3 import EvaluateLowySection3
from .evaluate_mironov_2017_proposition_3 import EvaluateMironov2017Proposition3
from .evaluate_mironov_talwar_zhang_2019_sampled_gaussian import (
    EvaluateMironovTalwarZhang2019SampledGaussian,
)
from .evaluate_reshef_51 import EvaluateReshef51
from .evaluate_reshef_52 import EvaluateReshef52
from .evaluate_reshef_appendix_g import EvaluateReshefAppendixG
from .evaluate_reshef_baseline import EvaluateReshefBaseline
from .evaluate_reshef_f1 import EvaluateReshefF1
from .evaluate_reshef_f2 import EvaluateReshefF2
from .evaluate_reshef_lemma_21 import EvaluateReshefLemma21
from .evaluate_reshef_lemma_23 import EvaluateReshefLemma23
from .evaluate_reshef_lemma_26 import EvaluateReshefLemma26
from .evaluate_reshef_lemma_41 import EvaluateReshefLemma41
from .evaluate_reshef_lemma_42 import EvaluateReshefLemma42
from .evaluate_reshef_lemma_43 import EvaluateReshefLemma43
from .evaluate_reshef_lower_bounds import EvaluateReshefLowerBounds
from .evaluate_reshef_section_4 import EvaluateReshefSection4
from .evaluate_ullman_2017_amplification import EvaluateUllman2017Amplification
from .evaluation_answer import EvaluationAnswer
from .evaluation_answer_outputs import EvaluationAnswerOutputs
from .example_inputs import ExampleInputs
from .excess_risk_inputs import ExcessRiskInputs
from .excess_risk_inputs_objective import ExcessRiskInputsObjective
from .experiment_inputs import ExperimentInputs
from .explicit import Explicit
from .explicit_noise_inputs import ExplicitNoiseInputs
from .feasible import Feasible
from .fed_avg_inputs import FedAvgInputs
from .fedavg_run import FedavgRun
from .federated_inputs import FederatedInputs
from .field_error import FieldError
from .figure_inputs import FigureInputs
from .finite_channel import FiniteChannel
from .fresh_variance_inputs import FreshVarianceInputs
from .full_batch import FullBatch
from .full_batch_in_ball import FullBatchInBall
from .gap_inputs import GapInputs
from .gaussian import Gaussian
from .gaussian_bound import GaussianBound
from .gaussian_calibration import GaussianCalibration
from .gaussian_inputs import GaussianInputs
from .gaussian_kernel import GaussianKernel
from .gaussian_parameters import GaussianParameters
from .gaussian_problem import GaussianProblem
from .gaussian_problem_solve_for import GaussianProblemSolveFor
from .gaussian_reports_inputs import GaussianReportsInputs
from .gaussian_target import GaussianTarget
from .generalisation_inputs import GeneralisationInputs
from .global_limit_inputs import GlobalLimitInputs
from .grid_inputs import GridInputs
from .group_inputs import GroupInputs
from .group_of_users import GroupOfUsers
from .group_parameters import GroupParameters
from .group_run import GroupRun
from .growth_inputs import GrowthInputs
from .guarantee_answer import GuaranteeAnswer
from .guarantee_answer_definition import GuaranteeAnswerDefinition
from .guarantee_answer_minimal import GuaranteeAnswerMinimal
from .huber_problem import HuberProblem
from .huber_problem_objective import HuberProblemObjective
from .independent_inputs import IndependentInputs
from .inverse_inputs import InverseInputs
from .inverse_time import InverseTime
from .inverse_time_steps import InverseTimeSteps
from .kind import Kind
from .laplace import Laplace
from .laplace_inputs import LaplaceInputs
from .law_inputs import LawInputs
from .least_noise_inputs import LeastNoiseInputs
from .least_squares_problem import LeastSquaresProblem
from .least_squares_problem_objective import LeastSquaresProblemObjective
from .likely_update_inputs import LikelyUpdateInputs
from .linear_problem import LinearProblem
from .linear_problem_objective import LinearProblemObjective
from .list_simulations_status import ListSimulationsStatus
from .listed_condition import ListedCondition
from .listed_condition_kind import ListedConditionKind
from .listed_steps import ListedSteps
from .local_empirical_inputs import LocalEmpiricalInputs
from .local_inputs import LocalInputs
from .local_limit_inputs import LocalLimitInputs
from .logistic_problem import LogisticProblem
from .logistic_problem_objective import LogisticProblemObjective
from .lower_bound import LowerBound
from .lower_bound_problem import LowerBoundProblem
from .lower_bound_terms import LowerBoundTerms
from .lower_bound_trust import LowerBoundTrust
from .mb_sgd_calibration import MbSgdCalibration
from .mb_sgd_parameters import MbSgdParameters
from .mb_sgd_problem import MbSgdProblem
from .mb_sgd_problem_readings_item import MbSgdProblemReadingsItem
from .mb_sgd_risk_problem import MbSgdRiskProblem
from .mb_sgd_risk_problem_problem import MbSgdRiskProblemProblem
from .mb_sgd_risk_problem_readings_item import MbSgdRiskProblemReadingsItem
from .mb_sgd_risk_problem_trust import MbSgdRiskProblemTrust
from .mb_sgd_run import MbSgdRun
from .mean_estimation_problem import MeanEstimationProblem
from .mean_estimation_problem_objective import MeanEstimationProblemObjective
from .meaning_answer import MeaningAnswer
from .measured import Measured
from .measured_lower_type_1 import MeasuredLowerType1
from .measured_mean_type_1 import MeasuredMeanType1
from .measured_standard_error_type_1 import MeasuredStandardErrorType1
from .measured_upper_type_1 import MeasuredUpperType1
from .metric_inputs import MetricInputs
from .minimal_norm_inputs import MinimalNormInputs
from .mixture_inputs import MixtureInputs
from .mu_2_sgd_calibration import Mu2SgdCalibration
from .mu_2_sgd_parameters import Mu2SgdParameters
from .mu_2_sgd_problem import Mu2SgdProblem
from .mu_2_sgd_problem_readings_item import Mu2SgdProblemReadingsItem
from .mu_2_sgd_problem_server import Mu2SgdProblemServer
from .mu_2_sgd_run import Mu2SgdRun
from .mu_2_sgd_run_method import Mu2SgdRunMethod
from .mu_2_sgd_run_server import Mu2SgdRunServer
from .mu_inputs import MuInputs
from .noise_in_sum_inputs import NoiseInSumInputs
from .noise_inputs import NoiseInputs
from .noise_inputs_sampling import NoiseInputsSampling
from .nonsmooth_inputs import NonsmoothInputs
from .nonsmooth_inputs_sampling import NonsmoothInputsSampling
from .nonsmooth_inputs_variant import NonsmoothInputsVariant
from .norm_fedavg_calibration import NormFedavgCalibration
from .norm_fedavg_parameters import NormFedavgParameters
from .norm_fedavg_parameters_method import NormFedavgParametersMethod
from .norm_fedavg_problem import NormFedavgProblem
from .norm_fedavg_problem_method import NormFedavgProblemMethod
from .norm_fedavg_run import NormFedavgRun
from .numerical_answer import NumericalAnswer
from .observed_inputs import ObservedInputs
from .observer import Observer
from .one_pass import OnePass
from .one_pass_accelerated_mb_sgd_calibration import OnePassAcceleratedMbSgdCalibration
from .one_pass_accelerated_mb_sgd_run import OnePassAcceleratedMbSgdRun
from .one_pass_compositionality_inputs import OnePassCompositionalityInputs
from .one_pass_inputs import OnePassInputs
from .one_pass_problem import OnePassProblem
from .one_pass_problem_readings_item import OnePassProblemReadingsItem
from .one_pass_risk_problem import OnePassRiskProblem
from .one_pass_risk_problem_problem import OnePassRiskProblemProblem
from .one_pass_risk_problem_readings_item import OnePassRiskProblemReadingsItem
from .one_pass_risk_problem_trust import OnePassRiskProblemTrust
from .optimal_inputs import OptimalInputs
from .optimum_inputs import OptimumInputs
from .order_inputs import OrderInputs
from .order_inputs_server import OrderInputsServer
from .pair_inputs import PairInputs
from .participating_group import ParticipatingGroup
from .participation import Participation
from .participation_count import ParticipationCount
from .participation_figures import ParticipationFigures
from .participation_kind import ParticipationKind
from .personalized_constants import PersonalizedConstants
from .personalized_huber import PersonalizedHuber
from .personalized_least_squares import PersonalizedLeastSquares
from .personalized_least_squares_features import PersonalizedLeastSquaresFeatures
from .point import Point
from .point_inputs import PointInputs
from .ppsgd_calibration import PpsgdCalibration
from .ppsgd_parameters import PpsgdParameters
from .ppsgd_problem import PpsgdProblem
from .ppsgd_problem_readings_item import PpsgdProblemReadingsItem
from .ppsgd_problem_sampling import PpsgdProblemSampling
from .ppsgd_problem_weighting import PpsgdProblemWeighting
from .ppsgd_run import PpsgdRun
from .ppsgd_run_sampling import PpsgdRunSampling
from .ppsgd_run_weighting import PpsgdRunWeighting
from .prescribed_risk import PrescribedRisk
from .prescribed_risk_certified_noise_type_1 import PrescribedRiskCertifiedNoiseType1
from .prescribed_risk_printed_noise_type_1 import PrescribedRiskPrintedNoiseType1
from .prescribed_risk_ratio_type_1 import PrescribedRiskRatioType1
from .preset_answer import PresetAnswer
from .preset_simulation import PresetSimulation
from .preset_simulation_preset import PresetSimulationPreset
from .printed_inputs import PrintedInputs
from .printed_noise_inputs import PrintedNoiseInputs
from .printed_reading import PrintedReading
from .printed_reading_parameters import PrintedReadingParameters
from .printed_reading_reading import PrintedReadingReading
from .privacy_cost_inputs import PrivacyCostInputs
from .problem import Problem
from .problem_answer import ProblemAnswer
from .problem_answer_facts import ProblemAnswerFacts
from .problem_answer_objective import ProblemAnswerObjective
from .problem_list import ProblemList
from .problem_nearest import ProblemNearest
from .problem_nearest_additional_property_type_1 import (
    ProblemNearestAdditionalPropertyType1,
)
from .progress import Progress
from .projected_sgd import ProjectedSgd
from .projected_sgd_batches import ProjectedSgdBatches
from .projected_sgd_calibration import ProjectedSgdCalibration
from .projected_sgd_parameters import ProjectedSgdParameters
from .projected_sgd_problem import ProjectedSgdProblem
from .projected_sgd_problem_readings_item import ProjectedSgdProblemReadingsItem
from .projected_sgd_problem_release import ProjectedSgdProblemRelease
from .projected_sgd_problem_solve_for import ProjectedSgdProblemSolveFor
from .projected_sgd_release import ProjectedSgdRelease
from .projected_sgd_run import ProjectedSgdRun
from .projected_sgd_run_batches import ProjectedSgdRunBatches
from .projected_sgd_run_release import ProjectedSgdRunRelease
from .pure_inputs import PureInputs
from .qtdl_calibration import QtdlCalibration
from .qtdl_parameters import QtdlParameters
from .qtdl_parameters_method import QtdlParametersMethod
from .qtdl_problem import QtdlProblem
from .qtdl_problem_method import QtdlProblemMethod
from .quantized_message import QuantizedMessage
from .query import Query
from .random_stop import RandomStop
from .randomized_response import RandomizedResponse
from .randomized_response_inputs import RandomizedResponseInputs
from .randomizer_inputs import RandomizerInputs
from .ratio_answer import RatioAnswer
from .ratio_answer_value_type_0_type_1 import RatioAnswerValueType0Type1
from .ratio_answer_value_type_1 import RatioAnswerValueType1
from .reading import Reading
from .recursion_inputs import RecursionInputs
from .reference_answer import ReferenceAnswer
from .reference_inputs import ReferenceInputs
from .relation import Relation
from .relative_inputs import RelativeInputs
from .renyi_inputs import RenyiInputs
from .repeated import Repeated
from .repeated_inputs import RepeatedInputs
from .reporting_group import ReportingGroup
from .reports_inputs import ReportsInputs
from .response_inputs import ResponseInputs
from .reused_variance_inputs import ReusedVarianceInputs
from .risk import Risk
from .risk_answer import RiskAnswer
from .risk_bound import RiskBound
from .risk_bound_constant import RiskBoundConstant
from .risk_bound_terms import RiskBoundTerms
from .risk_bound_value_type_1 import RiskBoundValueType1
from .risk_bounds_answer import RiskBoundsAnswer
from .risk_simulation import RiskSimulation
from .risk_simulation_spacing import RiskSimulationSpacing
from .roc_point import RocPoint
from .round_inputs import RoundInputs
from .rounds_inputs import RoundsInputs
from .rounds_inputs_amplified import RoundsInputsAmplified
from .rule_answer import RuleAnswer
from .rule_answer_positives import RuleAnswerPositives
from .rule_answer_says_yes import RuleAnswerSaysYes
from .rule_answer_threshold_type_0_type_1 import RuleAnswerThresholdType0Type1
from .rule_answer_threshold_type_1 import RuleAnswerThresholdType1
from .run_answer import RunAnswer
from .run_answer_noise_source import RunAnswerNoiseSource
from .run_inputs import RunInputs
from .run_participation import RunParticipation
from .run_participation_kind import RunParticipationKind
from .sampled_gaussian_inputs import SampledGaussianInputs
from .sampled_inputs import SampledInputs
from .sampled_noise_inputs import SampledNoiseInputs
from .sampled_noise_inputs_weighting import SampledNoiseInputsWeighting
from .sampling import Sampling
from .schedule_answer import ScheduleAnswer
from .schedule_answer_added_by import ScheduleAnswerAddedBy
from .schedule_answer_rule import ScheduleAnswerRule
from .schedule_inputs import ScheduleInputs
from .sensitivity_rule import SensitivityRule
from .sensitivity_rule_kind import SensitivityRuleKind
from .series_answer import SeriesAnswer
from .series_answer_diagnostics import SeriesAnswerDiagnostics
from .series_answer_lower_item_type_1 import SeriesAnswerLowerItemType1
from .series_answer_mean_item_type_1 import SeriesAnswerMeanItemType1
from .series_answer_role import SeriesAnswerRole
from .series_answer_standard_error_item_type_1 import SeriesAnswerStandardErrorItemType1
from .series_answer_upper_item_type_1 import SeriesAnswerUpperItemType1
from .settings_inputs import SettingsInputs
from .settings_inputs_experiment import SettingsInputsExperiment
from .sharing import Sharing
from .sharing_point import SharingPoint
from .sharing_point_excess_risk_at_step_type_0_type_1 import (
    SharingPointExcessRiskAtStepType0Type1,
)
from .sharing_point_excess_risk_at_step_type_1 import SharingPointExcessRiskAtStepType1
from .sharing_point_excess_risk_type_1 import SharingPointExcessRiskType1
from .sharing_point_optimisation_type_1 import SharingPointOptimisationType1
from .sharing_point_privacy_type_1 import SharingPointPrivacyType1
from .sharing_point_statistical_type_1 import SharingPointStatisticalType1
from .sharing_threshold import SharingThreshold
from .sharing_threshold_epsilon_type_0_type_1 import SharingThresholdEpsilonType0Type1
from .sharing_threshold_epsilon_type_1 import SharingThresholdEpsilonType1
from .shuffled import Shuffled
from .shuffled_inputs import ShuffledInputs
from .shuffled_mb_sgd_calibration import ShuffledMbSgdCalibration
from .shuffled_mb_sgd_parameters import ShuffledMbSgdParameters
from .shuffled_mb_sgd_problem import ShuffledMbSgdProblem
from .shuffled_mb_sgd_problem_readings_item import ShuffledMbSgdProblemReadingsItem
from .shuffled_mb_sgd_risk_problem import ShuffledMbSgdRiskProblem
from .shuffled_mb_sgd_risk_problem_problem import ShuffledMbSgdRiskProblemProblem
from .shuffled_mb_sgd_risk_problem_readings_item import (
    ShuffledMbSgdRiskProblemReadingsItem,
)
from .shuffled_mb_sgd_risk_problem_trust import ShuffledMbSgdRiskProblemTrust
from .shuffled_mb_sgd_run import ShuffledMbSgdRun
from .simulation import Simulation
from .simulation_links import SimulationLinks
from .simulation_list import SimulationList
from .simulation_request import SimulationRequest
from .simulation_status import SimulationStatus
from .simulation_summary import SimulationSummary
from .sizes_inputs import SizesInputs
from .smooth_inputs import SmoothInputs
from .smooth_inputs_sampling import SmoothInputsSampling
from .smooth_inputs_variant import SmoothInputsVariant
from .smooth_reused_inputs import SmoothReusedInputs
from .smooth_reused_inputs_sampling import SmoothReusedInputsSampling
from .smooth_reused_inputs_variant import SmoothReusedInputsVariant
from .source import Source
from .spread import Spread
from .spread_inputs import SpreadInputs
from .spread_largest_type_1 import SpreadLargestType1
from .spread_least_type_1 import SpreadLeastType1
from .spread_mean_type_1 import SpreadMeanType1
from .stability_inputs import StabilityInputs
from .stage_answer import StageAnswer
from .stage_request import StageRequest
from .stages_inputs import StagesInputs
from .standard_inputs import StandardInputs
from .stated_inputs import StatedInputs
from .status import Status
from .strongly_convex_inputs import StronglyConvexInputs
from .subsampled import Subsampled
from .subsampled_inputs import SubsampledInputs
from .subsampled_level import SubsampledLevel
from .subset_mean_inputs import SubsetMeanInputs
from .sum_inputs import SumInputs
from .target_answer import TargetAnswer
from .target_inputs import TargetInputs
from .theorem_detail import TheoremDetail
from .theorem_detail_constants import TheoremDetailConstants
from .theorem_detail_examples_item import TheoremDetailExamplesItem
from .theorem_detail_inputs import TheoremDetailInputs
from .theorem_detail_links import TheoremDetailLinks
from .theorem_detail_readings_item import TheoremDetailReadingsItem
from .theorem_list import TheoremList
from .theorem_summary import TheoremSummary
from .theorem_summary_constants import TheoremSummaryConstants
from .theorem_summary_links import TheoremSummaryLinks
from .tightness import Tightness
from .transfer_inputs import TransferInputs
from .trials_inputs import TrialsInputs
from .true_figures import TrueFigures
from .true_positive_rate import TruePositiveRate
from .truncated_discrete_laplace import TruncatedDiscreteLaplace
from .trusted_inputs import TrustedInputs
from .trusted_run_inputs import TrustedRunInputs
from .two_gaussians import TwoGaussians
from .unit import Unit
from .update_inputs import UpdateInputs
from .update_norm_inputs import UpdateNormInputs
from .upper_bound import UpperBound
from .upper_bound_constant import UpperBoundConstant
from .upper_bound_reading import UpperBoundReading
from .upper_bound_terms import UpperBoundTerms
from .upper_bound_value_type_0_type_1 import UpperBoundValueType0Type1
from .upper_bound_value_type_1 import UpperBoundValueType1
from .variance_term_inputs import VarianceTermInputs
from .warning import Warning_
from .weight_inputs import WeightInputs

__all__ = (
    "AcceleratedMbSgdCalibration",
    "AcceleratedMbSgdProblem",
    "AcceleratedMbSgdProblemReadingsItem",
    "AcceleratedMbSgdRun",
    "AcceleratedParameters",
    "AcceleratedRiskInputs",
    "AcceleratedRiskInputsObjective",
    "AcceleratedRiskProblem",
    "AcceleratedRiskProblemProblem",
    "AcceleratedRiskProblemReadingsItem",
    "AcceleratedRiskProblemTrust",
    "AccountAnswer",
    "AccountGuarantee",
    "AccountProblem",
    "AchievedInputs",
    "AggregatesAnswer",
    "AggregatesAnswerBranch",
    "Algorithm",
    "AlgorithmExample",
    "AlgorithmLinks",
    "AlgorithmList",
    "AnyOnePass",
    "AnyStepInputs",
    "Approximate",
    "ApproximateClonesInputs",
    "ApproximateInputs",
    "AuditAnswer",
    "AuditAnswerAttack",
    "AuditAnswerEvidence",
    "AuditAnswerVerdict",
    "AuditClaim",
    "AuditSimulation",
    "AuditSimulationAttack",
    "AverageRisk",
    "Averaging",
    "AveragingKind",
    "Axis",
    "AxisScale",
    "BaselineInputs",
    "Batches",
    "BillboardExperimentInputs",
    "BinomialInputs",
    "BitsInputs",
    "BlanketInputs",
    "BoundAnswer",
    "BoundAnswerConstant",
    "BoundAnswerHolds",
    "BoundAnswerRatioType0Type1",
    "BoundAnswerRatioType1",
    "BoundAnswerValueType0Type1",
    "BoundAnswerValueType1",
    "BoundInputs",
    "BudgetInputs",
    "ByConversion",
    "CellAnswer",
    "CellAnswerBeside",
    "CellAnswerEpsilonLowerType1",
    "CellAnswerKind",
    "CellAnswerPlace",
    "CentralEmpiricalInputs",
    "CentralInputs",
    "CertifiedInputs",
    "Claim",
    "ClaimAnswer",
    "ClaimChecked",
    "ClaimCheckedRatioType1",
    "Claims",
    "ClientBatches",
    "ClientGroupRequest",
    "ClientInputs",
    "ClientReport",
    "ClientReportDescribed",
    "ClonesInputs",
    "CoalitionInputs",
    "CoercivityInputs",
    "Communication",
    "CommunicationBeside",
    "Composed",
    "ComposedInputs",
    "CompositionInputs",
    "CompositionalInputs",
    "ConcentratedInputs",
    "ConditionAnswer",
    "ConditionAnswerLeftType0Type1",
    "ConditionAnswerLeftType1",
    "ConditionAnswerRightType0Type1",
    "ConditionAnswerRightType1",
    "ConditionDocument",
    "ConditionDocumentLeftType0Type1",
    "ConditionDocumentLeftType1",
    "ConditionDocumentRightType0Type1",
    "ConditionDocumentRightType1",
    "ConditionResult",
    "ConsideredAnswer",
    "ConsideredBound",
    "ConsideredBoundLog10DeltaType0Type1",
    "ConsideredBoundLog10DeltaType1",
    "Constant",
    "Constants",
    "ConstantsInputs",
    "ContractionInputs",
    "ConvergenceAnswer",
    "ConvergenceInputs",
    "ConversionAnswer",
    "ConversionAnswerNoiseOverExactType0Type1",
    "ConversionAnswerNoiseOverExactType1",
    "ConversionAnswerZcdpNoiseOverExactType0Type1",
    "ConversionAnswerZcdpNoiseOverExactType1",
    "ConvexDescentInputs",
    "ConvexInputs",
    "CorollaryInputs",
    "Cyclic",
    "CyclicInBall",
    "DataSetProblem",
    "DataSetProblemDataSet",
    "DataSetProblemObjective",
    "DataSetProblemSplit",
    "DeclaredCondition",
    "DeletionInputs",
    "DerivationStep",
    "DerivationStepInputs",
    "DiscreteLaplace",
    "DiscreteLaplaceInputs",
    "DrawSimulationFormat",
    "DrawnInputs",
    "DrawnInputsSampling",
    "DrawnInputsWeighting",
    "Ends",
    "EndsLowerType1",
    "EndsUpperType1",
    "EnvelopeInputs",
    "EnvelopedInputs",
    "EnvelopedInputsSampling",
    "EnvelopedInputsVariant",
    "EpsilonBound",
    "Erratum",
    "ErrorInputs",
    "Escape",
    "EscapeEpsilonLowerType0Type1",
    "EscapeEpsilonLowerType1",
    "EvaluateAgarwal20181",
    "EvaluateAgarwal20181Epsilon",
    "EvaluateAsoodeh1",
    "EvaluateAsoodeh2",
    "EvaluateAsoodehCorollary1",
    "EvaluateAsoodehCorollary2",
    "EvaluateAsoodehCorollary3",
    "EvaluateAsoodehLemma1",
    "EvaluateAsoodehLemma2",
    "EvaluateBalleBellGasconNissim2019Lemma53",
    "EvaluateBalleWang20188",
    "EvaluateBietti41",
    "EvaluateBietti45",
    "EvaluateBietti45AnyStep",
    "EvaluateBietti45Equation9",
    "EvaluateBietti45GlobalLimit",
    "EvaluateBietti45LocalLimit",
    "EvaluateBietti51",
    "EvaluateBietti52",
    "EvaluateBiettiB4",
    "EvaluateBiettiLemma46",
    "EvaluateBiettiSection6",
    "EvaluateBokSuAltschuler2024NoisyCgdProjected",
    "EvaluateBokSuAltschuler2024NoisyCgdStronglyConvex",
    "EvaluateBokSuAltschuler2024NoisyGdProjected",
    "EvaluateBokSuAltschuler2024NoisyGdStronglyConvex",
    "EvaluateBunSteinke2016Proposition13",
    "EvaluateBunSteinke2016Proposition14",
    "EvaluateCanonneKamathSteinke2020Corollary13",
    "EvaluateCanonneKamathSteinke2020Proposition12",
    "EvaluateDas1",
    "EvaluateDas2",
    "EvaluateDas2Utility",
    "EvaluateDas3",
    "EvaluateDas4",
    "EvaluateDasAppendixF",
    "EvaluateDasCorollary31",
    "EvaluateDasCorollary31Bits",
    "EvaluateDasDefinition1",
    "EvaluateDasEquation3",
    "EvaluateDasEquation6",
    "EvaluateDasEquation7",
    "EvaluateDasEquation22",
    "EvaluateDasEquation39",
    "EvaluateDasLemma1",
    "EvaluateDasLemma3",
    "EvaluateDasRemark2",
    "EvaluateDongRothSu2022Corollary213",
    "EvaluateDworkRoth2014A1",
    "EvaluateDworkRoth2014316",
    "EvaluateDworkRoth2014320",
    "EvaluateEpsilondAcceleratedSgdExcessRisk",
    "EvaluateEpsilondApproximateClones",
    "EvaluateEpsilondCoalitionParticipation",
    "EvaluateEpsilondCoupledRounding",
    "EvaluateEpsilondDiscreteLaplace",
    "EvaluateEpsilondFederatedSgdExcessRisk",
    "EvaluateEpsilondGaussianBlanket",
    "EvaluateEpsilondGaussianCompositionEpsilon",
    "EvaluateEpsilondGaussianCompositionTarget",
    "EvaluateEpsilondHoeffdingRounding",
    "EvaluateEpsilondIndependentNoiseExcessRisk",
    "EvaluateEpsilondLaplace",
    "EvaluateEpsilondMiniBatchSgdExcessRisk",
    "EvaluateEpsilondMiniBatchSgdNoise",
    "EvaluateEpsilondMinimalNormOptimum",
    "EvaluateEpsilondNoiseCancellationExcessRisk",
    "EvaluateEpsilondNoiseCancellationRecords",
    "EvaluateEpsilondNoiseCancellationSchedule",
    "EvaluateEpsilondOptimalPersonalization",
    "EvaluateEpsilondPersonalizedSgdExcessRisk",
    "EvaluateEpsilondPersonalizedSgdNoise",
    "EvaluateEpsilondPersonalizedSgdPrivacy",
    "EvaluateEpsilondProjectedContraction",
    "EvaluateEpsilondRandomizedResponse",
    "EvaluateEpsilondRoundsOfClients",
    "EvaluateEpsilondShiftedInterpolation",
    "EvaluateEpsilondShuffledRandomizedResponse",
    "EvaluateEpsilondShuffledSgdNoise",
    "EvaluateEpsilondTruncatedDiscreteLaplace",
    "EvaluateEpsilondUnitVectorSensitivity",
    "EvaluateEpsilondZcdpPair",
    "EvaluateFeldmanMcmillanTalwar2023Lemma35",
    "EvaluateFeldmanMcmillanTalwar202131",
    "EvaluateFeldmanMcmillanTalwar202332",
    "EvaluateKairouzOhViswanath2015ExtremalPair",
    "EvaluateKairouzOhViswanath201533",
    "EvaluateKairouzOhViswanath201535",
    "EvaluateLowy21",
    "EvaluateLowy22",
    "EvaluateLowy23",
    "EvaluateLowy24",
    "EvaluateLowy31",
    "EvaluateLowy41",
    "EvaluateLowyAlgorithm2",
    "EvaluateLowyAppendixB",
    "EvaluateLowyAppendixD1",
    "EvaluateLowyAppendixF2",
    "EvaluateLowyAppendixG1",
    "EvaluateLowyAppendixH",
    "EvaluateLowyAppendixHMetric",
    "EvaluateLowyAppendixHSettings",
    "EvaluateLowyAppendixHSizes",
    "EvaluateLowyCorollaryF1",
    "EvaluateLowyDefinition4",
    "EvaluateLowyDefinition4AdvancedComposition",
    "EvaluateLowyDefinition4OnePass",
    "EvaluateLowyE1",
    "EvaluateLowyF1",
    "EvaluateLowyF1Compositional",
    "EvaluateLowyF2",
    "EvaluateLowyF2Equation41",
    "EvaluateLowyF3",
    "EvaluateLowyF4",
    "EvaluateLowyF5",
    "EvaluateLowyFigure2",
    "EvaluateLowyLemmaD2",
    "EvaluateLowyLemmaE1",
    "EvaluateLowyLemmaE2",
    "EvaluateLowyLemmaE3",
    "EvaluateLowyLemmaE4",
    "EvaluateLowyLemmaE5",
    "EvaluateLowyLemmaE5Erm",
    "EvaluateLowyLemmaE6",
    "EvaluateLowyLemmaE8",
    "EvaluateLowyLemmaE9",
    "EvaluateLowyLemmaE10",
    "EvaluateLowyLemmaE11",
    "EvaluateLowyLemmaE12",
    "EvaluateLowyLemmaF2",
    "EvaluateLowyLemmaF3",
    "EvaluateLowyLemmaF4",
    "EvaluateLowyLemmaF6",
    "EvaluateLowyLemmaF7",
    "EvaluateLowySection3",
    "EvaluateMironov2017Proposition3",
    "EvaluateMironovTalwarZhang2019SampledGaussian",
    "EvaluateReshef51",
    "EvaluateReshef52",
    "EvaluateReshefAppendixG",
    "EvaluateReshefBaseline",
    "EvaluateReshefF1",
    "EvaluateReshefF2",
    "EvaluateReshefLemma21",
    "EvaluateReshefLemma23",
    "EvaluateReshefLemma26",
    "EvaluateReshefLemma41",
    "EvaluateReshefLemma42",
    "EvaluateReshefLemma43",
    "EvaluateReshefLowerBounds",
    "EvaluateReshefSection4",
    "EvaluateUllman2017Amplification",
    "EvaluationAnswer",
    "EvaluationAnswerOutputs",
    "ExampleInputs",
    "ExcessRiskInputs",
    "ExcessRiskInputsObjective",
    "ExperimentInputs",
    "Explicit",
    "ExplicitNoiseInputs",
    "Feasible",
    "FedAvgInputs",
    "FedavgRun",
    "FederatedInputs",
    "FieldError",
    "FigureInputs",
    "FiniteChannel",
    "FreshVarianceInputs",
    "FullBatch",
    "FullBatchInBall",
    "GapInputs",
    "Gaussian",
    "GaussianBound",
    "GaussianCalibration",
    "GaussianInputs",
    "GaussianKernel",
    "GaussianParameters",
    "GaussianProblem",
    "GaussianProblemSolveFor",
    "GaussianReportsInputs",
    "GaussianTarget",
    "GeneralisationInputs",
    "GlobalLimitInputs",
    "GridInputs",
    "GroupInputs",
    "GroupOfUsers",
    "GroupParameters",
    "GroupRun",
    "GrowthInputs",
    "GuaranteeAnswer",
    "GuaranteeAnswerDefinition",
    "GuaranteeAnswerMinimal",
    "HuberProblem",
    "HuberProblemObjective",
    "IndependentInputs",
    "InverseInputs",
    "InverseTime",
    "InverseTimeSteps",
    "Kind",
    "Laplace",
    "LaplaceInputs",
    "LawInputs",
    "LeastNoiseInputs",
    "LeastSquaresProblem",
    "LeastSquaresProblemObjective",
    "LikelyUpdateInputs",
    "LinearProblem",
    "LinearProblemObjective",
    "ListSimulationsStatus",
    "ListedCondition",
    "ListedConditionKind",
    "ListedSteps",
    "LocalEmpiricalInputs",
    "LocalInputs",
    "LocalLimitInputs",
    "LogisticProblem",
    "LogisticProblemObjective",
    "LowerBound",
    "LowerBoundProblem",
    "LowerBoundTerms",
    "LowerBoundTrust",
    "MbSgdCalibration",
    "MbSgdParameters",
    "MbSgdProblem",
    "MbSgdProblemReadingsItem",
    "MbSgdRiskProblem",
    "MbSgdRiskProblemProblem",
    "MbSgdRiskProblemReadingsItem",
    "MbSgdRiskProblemTrust",
    "MbSgdRun",
    "MeanEstimationProblem",
    "MeanEstimationProblemObjective",
    "MeaningAnswer",
    "Measured",
    "MeasuredLowerType1",
    "MeasuredMeanType1",
    "MeasuredStandardErrorType1",
    "MeasuredUpperType1",
    "MetricInputs",
    "MinimalNormInputs",
    "MixtureInputs",
    "Mu2SgdCalibration",
    "Mu2SgdParameters",
    "Mu2SgdProblem",
    "Mu2SgdProblemReadingsItem",
    "Mu2SgdProblemServer",
    "Mu2SgdRun",
    "Mu2SgdRunMethod",
    "Mu2SgdRunServer",
    "MuInputs",
    "NoiseInSumInputs",
    "NoiseInputs",
    "NoiseInputsSampling",
    "NonsmoothInputs",
    "NonsmoothInputsSampling",
    "NonsmoothInputsVariant",
    "NormFedavgCalibration",
    "NormFedavgParameters",
    "NormFedavgParametersMethod",
    "NormFedavgProblem",
    "NormFedavgProblemMethod",
    "NormFedavgRun",
    "NumericalAnswer",
    "ObservedInputs",
    "Observer",
    "OnePass",
    "OnePassAcceleratedMbSgdCalibration",
    "OnePassAcceleratedMbSgdRun",
    "OnePassCompositionalityInputs",
    "OnePassInputs",
    "OnePassProblem",
    "OnePassProblemReadingsItem",
    "OnePassRiskProblem",
    "OnePassRiskProblemProblem",
    "OnePassRiskProblemReadingsItem",
    "OnePassRiskProblemTrust",
    "OptimalInputs",
    "OptimumInputs",
    "OrderInputs",
    "OrderInputsServer",
    "PairInputs",
    "ParticipatingGroup",
    "Participation",
    "ParticipationCount",
    "ParticipationFigures",
    "ParticipationKind",
    "PersonalizedConstants",
    "PersonalizedHuber",
    "PersonalizedLeastSquares",
    "PersonalizedLeastSquaresFeatures",
    "Point",
    "PointInputs",
    "PpsgdCalibration",
    "PpsgdParameters",
    "PpsgdProblem",
    "PpsgdProblemReadingsItem",
    "PpsgdProblemSampling",
    "PpsgdProblemWeighting",
    "PpsgdRun",
    "PpsgdRunSampling",
    "PpsgdRunWeighting",
    "PrescribedRisk",
    "PrescribedRiskCertifiedNoiseType1",
    "PrescribedRiskPrintedNoiseType1",
    "PrescribedRiskRatioType1",
    "PresetAnswer",
    "PresetSimulation",
    "PresetSimulationPreset",
    "PrintedInputs",
    "PrintedNoiseInputs",
    "PrintedReading",
    "PrintedReadingParameters",
    "PrintedReadingReading",
    "PrivacyCostInputs",
    "Problem",
    "ProblemAnswer",
    "ProblemAnswerFacts",
    "ProblemAnswerObjective",
    "ProblemList",
    "ProblemNearest",
    "ProblemNearestAdditionalPropertyType1",
    "Progress",
    "ProjectedSgd",
    "ProjectedSgdBatches",
    "ProjectedSgdCalibration",
    "ProjectedSgdParameters",
    "ProjectedSgdProblem",
    "ProjectedSgdProblemReadingsItem",
    "ProjectedSgdProblemRelease",
    "ProjectedSgdProblemSolveFor",
    "ProjectedSgdRelease",
    "ProjectedSgdRun",
    "ProjectedSgdRunBatches",
    "ProjectedSgdRunRelease",
    "PureInputs",
    "QtdlCalibration",
    "QtdlParameters",
    "QtdlParametersMethod",
    "QtdlProblem",
    "QtdlProblemMethod",
    "QuantizedMessage",
    "Query",
    "RandomStop",
    "RandomizedResponse",
    "RandomizedResponseInputs",
    "RandomizerInputs",
    "RatioAnswer",
    "RatioAnswerValueType0Type1",
    "RatioAnswerValueType1",
    "Reading",
    "RecursionInputs",
    "ReferenceAnswer",
    "ReferenceInputs",
    "Relation",
    "RelativeInputs",
    "RenyiInputs",
    "Repeated",
    "RepeatedInputs",
    "ReportingGroup",
    "ReportsInputs",
    "ResponseInputs",
    "ReusedVarianceInputs",
    "Risk",
    "RiskAnswer",
    "RiskBound",
    "RiskBoundConstant",
    "RiskBoundTerms",
    "RiskBoundValueType1",
    "RiskBoundsAnswer",
    "RiskSimulation",
    "RiskSimulationSpacing",
    "RocPoint",
    "RoundInputs",
    "RoundsInputs",
    "RoundsInputsAmplified",
    "RuleAnswer",
    "RuleAnswerPositives",
    "RuleAnswerSaysYes",
    "RuleAnswerThresholdType0Type1",
    "RuleAnswerThresholdType1",
    "RunAnswer",
    "RunAnswerNoiseSource",
    "RunInputs",
    "RunParticipation",
    "RunParticipationKind",
    "SampledGaussianInputs",
    "SampledInputs",
    "SampledNoiseInputs",
    "SampledNoiseInputsWeighting",
    "Sampling",
    "ScheduleAnswer",
    "ScheduleAnswerAddedBy",
    "ScheduleAnswerRule",
    "ScheduleInputs",
    "SensitivityRule",
    "SensitivityRuleKind",
    "SeriesAnswer",
    "SeriesAnswerDiagnostics",
    "SeriesAnswerLowerItemType1",
    "SeriesAnswerMeanItemType1",
    "SeriesAnswerRole",
    "SeriesAnswerStandardErrorItemType1",
    "SeriesAnswerUpperItemType1",
    "SettingsInputs",
    "SettingsInputsExperiment",
    "Sharing",
    "SharingPoint",
    "SharingPointExcessRiskAtStepType0Type1",
    "SharingPointExcessRiskAtStepType1",
    "SharingPointExcessRiskType1",
    "SharingPointOptimisationType1",
    "SharingPointPrivacyType1",
    "SharingPointStatisticalType1",
    "SharingThreshold",
    "SharingThresholdEpsilonType0Type1",
    "SharingThresholdEpsilonType1",
    "Shuffled",
    "ShuffledInputs",
    "ShuffledMbSgdCalibration",
    "ShuffledMbSgdParameters",
    "ShuffledMbSgdProblem",
    "ShuffledMbSgdProblemReadingsItem",
    "ShuffledMbSgdRiskProblem",
    "ShuffledMbSgdRiskProblemProblem",
    "ShuffledMbSgdRiskProblemReadingsItem",
    "ShuffledMbSgdRiskProblemTrust",
    "ShuffledMbSgdRun",
    "Simulation",
    "SimulationLinks",
    "SimulationList",
    "SimulationRequest",
    "SimulationStatus",
    "SimulationSummary",
    "SizesInputs",
    "SmoothInputs",
    "SmoothInputsSampling",
    "SmoothInputsVariant",
    "SmoothReusedInputs",
    "SmoothReusedInputsSampling",
    "SmoothReusedInputsVariant",
    "Source",
    "Spread",
    "SpreadInputs",
    "SpreadLargestType1",
    "SpreadLeastType1",
    "SpreadMeanType1",
    "StabilityInputs",
    "StageAnswer",
    "StageRequest",
    "StagesInputs",
    "StandardInputs",
    "StatedInputs",
    "Status",
    "StronglyConvexInputs",
    "Subsampled",
    "SubsampledInputs",
    "SubsampledLevel",
    "SubsetMeanInputs",
    "SumInputs",
    "TargetAnswer",
    "TargetInputs",
    "TheoremDetail",
    "TheoremDetailConstants",
    "TheoremDetailExamplesItem",
    "TheoremDetailInputs",
    "TheoremDetailLinks",
    "TheoremDetailReadingsItem",
    "TheoremList",
    "TheoremSummary",
    "TheoremSummaryConstants",
    "TheoremSummaryLinks",
    "Tightness",
    "TransferInputs",
    "TrialsInputs",
    "TrueFigures",
    "TruePositiveRate",
    "TruncatedDiscreteLaplace",
    "TrustedInputs",
    "TrustedRunInputs",
    "TwoGaussians",
    "Unit",
    "UpdateInputs",
    "UpdateNormInputs",
    "UpperBound",
    "UpperBoundConstant",
    "UpperBoundReading",
    "UpperBoundTerms",
    "UpperBoundValueType0Type1",
    "UpperBoundValueType1",
    "VarianceTermInputs",
    "Warning_",
    "WeightInputs",
)
