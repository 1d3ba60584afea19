"""Contains all the data models used in inputs/outputs"""

from .accelerated_mb_sgd_problem import AcceleratedMbSgdProblem
from .account_answer import AccountAnswer
from .account_guarantee import AccountGuarantee
from .account_problem import AccountProblem
from .adaptive_clipping import AdaptiveClipping
from .aggregates_answer import AggregatesAnswer
from .algorithm import Algorithm
from .algorithm_list import AlgorithmList
from .amend_asked import AmendAsked
from .api_key import ApiKey
from .api_key_list import ApiKeyList
from .at_value import AtValue
from .averaging import Averaging
from .baseline import Baseline
from .batches import Batches
from .bayes_error import BayesError
from .by_conversion import ByConversion
from .calibrate_asked import CalibrateAsked
from .calibration import Calibration
from .canary_training import CanaryTraining
from .capacity import Capacity
from .caution import Caution
from .charge_answer import ChargeAnswer
from .checkpoint_answer import CheckpointAnswer
from .claim_answer import ClaimAnswer
from .client_group import ClientGroup
from .client_report import ClientReport
from .commit_asked import CommitAsked
from .communication import Communication
from .communication_beside import CommunicationBeside
from .condition import Condition
from .considered_answer import ConsideredAnswer
from .considered_bound import ConsideredBound
from .constant_kind import ConstantKind
from .contradict_asked import ContradictAsked
from .convergence_answer import ConvergenceAnswer
from .conversion_answer import ConversionAnswer
from .declaration import Declaration
from .declared_asked import DeclaredAsked
from .definition import Definition
from .delta_of_direction import DeltaOfDirection
from .derivation_step import DerivationStep
from .directions import Directions
from .dp_fedavg_problem import DpFedavgProblem
from .ends import Ends
from .entry_list import EntryList
from .erratum import Erratum
from .evaluation_answer import EvaluationAnswer
from .evaluation_request import EvaluationRequest
from .feasible import Feasible
from .field_error import FieldError
from .gaussian_problem import GaussianProblem
from .grade import Grade
from .group_parameters import GroupParameters
from .guarantee_answer import GuaranteeAnswer
from .guarantee_kind import GuaranteeKind
from .guarantee_of_ledger import GuaranteeOfLedger
from .holding_answer import HoldingAnswer
from .item_answer import ItemAnswer
from .job import Job
from .job_links import JobLinks
from .job_list import JobList
from .job_state import JobState
from .json_object import JsonObject
from .key_list import KeyList
from .kind import Kind
from .learning_problem import LearningProblem
from .ledger import Ledger
from .ledger_list import LedgerList
from .log_proof import LogProof
from .mb_sgd_problem import MbSgdProblem
from .meaning_answer import MeaningAnswer
from .mu_2_sgd_problem import Mu2SgdProblem
from .norm_fedavg_problem import NormFedavgProblem
from .numbers import Numbers
from .numerical_answer import NumericalAnswer
from .objective import Objective
from .observation import Observation
from .observer import Observer
from .one_pass_problem import OnePassProblem
from .open_ledger import OpenLedger
from .over_windows import OverWindows
from .parameters import Parameters
from .participating_group import ParticipatingGroup
from .participation import Participation
from .participation_count import ParticipationCount
from .participation_figures import ParticipationFigures
from .pending_move import PendingMove
from .plan_answer import PlanAnswer
from .plan_change import PlanChange
from .plan_entry import PlanEntry
from .plan_group import PlanGroup
from .plan_problem import PlanProblem
from .point import Point
from .ppsgd_problem import PpsgdProblem
from .prescribed_risk import PrescribedRisk
from .printed_claims import PrintedClaims
from .printed_entry import PrintedEntry
from .problem import Problem
from .problem_list import ProblemList
from .progress import Progress
from .projected_sgd_problem import ProjectedSgdProblem
from .qtdl_method import QtdlMethod
from .qtdl_problem import QtdlProblem
from .quantized_message import QuantizedMessage
from .query import Query
from .rank_by import RankBy
from .ratio_answer import RatioAnswer
from .reach import Reach
from .reached import Reached
from .reading import Reading
from .reading_details import ReadingDetails
from .reason import Reason
from .receipt import Receipt
from .receipt_answer import ReceiptAnswer
from .recommendation import Recommendation
from .reconcile_asked import ReconcileAsked
from .reference_answer import ReferenceAnswer
from .relation import Relation
from .release import Release
from .renyi_divergence import RenyiDivergence
from .repetitions import Repetitions
from .repetitions_kind import RepetitionsKind
from .report_request import ReportRequest
from .reservation_answer import ReservationAnswer
from .reserve_asked import ReserveAsked
from .resource_answer import ResourceAnswer
from .risk import Risk
from .risk_bound import RiskBound
from .risk_bounds_answer import RiskBoundsAnswer
from .risk_problem import RiskProblem
from .run import Run
from .run_algorithm import RunAlgorithm
from .run_answer import RunAnswer
from .run_choice import RunChoice
from .sampling import Sampling
from .schedule import Schedule
from .schedule_answer import ScheduleAnswer
from .schedule_kind import ScheduleKind
from .sensitivity_rule import SensitivityRule
from .server import Server
from .sharing import Sharing
from .sharing_point import SharingPoint
from .sharing_threshold import SharingThreshold
from .shuffled_mb_sgd_problem import ShuffledMbSgdProblem
from .simulation_request import SimulationRequest
from .simulation_request_kind import SimulationRequestKind
from .slot_answer import SlotAnswer
from .slot_asked import SlotAsked
from .slot_kind import SlotKind
from .solve_for import SolveFor
from .source import Source
from .spec import Spec
from .spec_kind import SpecKind
from .spec_sampling import SpecSampling
from .stage import Stage
from .statement import Statement
from .status import Status
from .sweep import Sweep
from .sweep_answer import SweepAnswer
from .sweep_problem import SweepProblem
from .target import Target
from .texts import Texts
from .theorem_detail import TheoremDetail
from .theorem_list import TheoremList
from .tightness import Tightness
from .tried import Tried
from .true_at_printed import TrueAtPrinted
from .true_positive_rate import TruePositiveRate
from .trust_price import TrustPrice
from .unbounded import Unbounded
from .unit import Unit
from .values import Values
from .verdict import Verdict
from .void_asked import VoidAsked
from .weighting import Weighting
from .what_if_answer import WhatIfAnswer
from .what_if_answer_held_by_others import WhatIfAnswerHeldByOthers
from .windowed_unit import WindowedUnit
from .within_answer import WithinAnswer

__all__ = (
    "AcceleratedMbSgdProblem",
    "AccountAnswer",
    "AccountGuarantee",
    "AccountProblem",
    "AdaptiveClipping",
    "AggregatesAnswer",
    "Algorithm",
    "AlgorithmList",
    "AmendAsked",
    "ApiKey",
    "ApiKeyList",
    "AtValue",
    "Averaging",
    "Baseline",
    "Batches",
    "BayesError",
    "ByConversion",
    "CalibrateAsked",
    "Calibration",
    "CanaryTraining",
    "Capacity",
    "Caution",
    "ChargeAnswer",
    "CheckpointAnswer",
    "ClaimAnswer",
    "ClientGroup",
    "ClientReport",
    "CommitAsked",
    "Communication",
    "CommunicationBeside",
    "Condition",
    "ConsideredAnswer",
    "ConsideredBound",
    "ConstantKind",
    "ContradictAsked",
    "ConvergenceAnswer",
    "ConversionAnswer",
    "Declaration",
    "DeclaredAsked",
    "Definition",
    "DeltaOfDirection",
    "DerivationStep",
    "Directions",
    "DpFedavgProblem",
    "Ends",
    "EntryList",
    "Erratum",
    "EvaluationAnswer",
    "EvaluationRequest",
    "Feasible",
    "FieldError",
    "GaussianProblem",
    "Grade",
    "GroupParameters",
    "GuaranteeAnswer",
    "GuaranteeKind",
    "GuaranteeOfLedger",
    "HoldingAnswer",
    "ItemAnswer",
    "Job",
    "JobLinks",
    "JobList",
    "JobState",
    "JsonObject",
    "KeyList",
    "Kind",
    "LearningProblem",
    "Ledger",
    "LedgerList",
    "LogProof",
    "MbSgdProblem",
    "MeaningAnswer",
    "Mu2SgdProblem",
    "NormFedavgProblem",
    "Numbers",
    "NumericalAnswer",
    "Objective",
    "Observation",
    "Observer",
    "OnePassProblem",
    "OpenLedger",
    "OverWindows",
    "Parameters",
    "ParticipatingGroup",
    "Participation",
    "ParticipationCount",
    "ParticipationFigures",
    "PendingMove",
    "PlanAnswer",
    "PlanChange",
    "PlanEntry",
    "PlanGroup",
    "PlanProblem",
    "Point",
    "PpsgdProblem",
    "PrescribedRisk",
    "PrintedClaims",
    "PrintedEntry",
    "Problem",
    "ProblemList",
    "Progress",
    "ProjectedSgdProblem",
    "QtdlMethod",
    "QtdlProblem",
    "QuantizedMessage",
    "Query",
    "RankBy",
    "RatioAnswer",
    "Reach",
    "Reached",
    "Reading",
    "ReadingDetails",
    "Reason",
    "Receipt",
    "ReceiptAnswer",
    "Recommendation",
    "ReconcileAsked",
    "ReferenceAnswer",
    "Relation",
    "Release",
    "RenyiDivergence",
    "Repetitions",
    "RepetitionsKind",
    "ReportRequest",
    "ReservationAnswer",
    "ReserveAsked",
    "ResourceAnswer",
    "Risk",
    "RiskBound",
    "RiskBoundsAnswer",
    "RiskProblem",
    "Run",
    "RunAlgorithm",
    "RunAnswer",
    "RunChoice",
    "Sampling",
    "Schedule",
    "ScheduleAnswer",
    "ScheduleKind",
    "SensitivityRule",
    "Server",
    "Sharing",
    "SharingPoint",
    "SharingThreshold",
    "ShuffledMbSgdProblem",
    "SimulationRequest",
    "SimulationRequestKind",
    "SlotAnswer",
    "SlotAsked",
    "SlotKind",
    "SolveFor",
    "Source",
    "Spec",
    "SpecKind",
    "SpecSampling",
    "Stage",
    "Statement",
    "Status",
    "Sweep",
    "SweepAnswer",
    "SweepProblem",
    "Target",
    "Texts",
    "TheoremDetail",
    "TheoremList",
    "Tightness",
    "Tried",
    "TrueAtPrinted",
    "TruePositiveRate",
    "TrustPrice",
    "Unbounded",
    "Unit",
    "Values",
    "Verdict",
    "VoidAsked",
    "Weighting",
    "WhatIfAnswer",
    "WhatIfAnswerHeldByOthers",
    "WindowedUnit",
    "WithinAnswer",
)
