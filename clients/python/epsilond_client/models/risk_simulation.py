from __future__ import annotations

from collections.abc import Mapping
from typing import (
    TYPE_CHECKING,
    Any,
    Literal,
    Self,
    TypeVar,
    cast,
)

from attrs import define as _attrs_define

from ..models.risk_simulation_spacing import (
    RiskSimulationSpacing,
    check_risk_simulation_spacing,
)
from ..types import UNSET, Unset

if TYPE_CHECKING:
    from ..models.accelerated_mb_sgd_run import AcceleratedMbSgdRun
    from ..models.data_set_problem import DataSetProblem
    from ..models.fedavg_run import FedavgRun
    from ..models.huber_problem import HuberProblem
    from ..models.least_squares_problem import LeastSquaresProblem
    from ..models.linear_problem import LinearProblem
    from ..models.logistic_problem import LogisticProblem
    from ..models.mb_sgd_run import MbSgdRun
    from ..models.mean_estimation_problem import MeanEstimationProblem
    from ..models.mu_2_sgd_run import Mu2SgdRun
    from ..models.norm_fedavg_run import NormFedavgRun
    from ..models.one_pass_accelerated_mb_sgd_run import OnePassAcceleratedMbSgdRun
    from ..models.personalized_huber import PersonalizedHuber
    from ..models.personalized_least_squares import PersonalizedLeastSquares
    from ..models.ppsgd_run import PpsgdRun
    from ..models.projected_sgd_run import ProjectedSgdRun
    from ..models.shuffled_mb_sgd_run import ShuffledMbSgdRun


T = TypeVar("T", bound="RiskSimulation")


@_attrs_define
class RiskSimulation:
    """An algorithm, a problem, and how often to run it.

    Noise is given in the run, or else left to be calibrated to epsilon with one of delta and log10_delta.

    """

    kind: Literal["risk"]
    """ which kind of simulation this is """
    run: (
        AcceleratedMbSgdRun
        | FedavgRun
        | MbSgdRun
        | Mu2SgdRun
        | NormFedavgRun
        | OnePassAcceleratedMbSgdRun
        | PpsgdRun
        | ProjectedSgdRun
        | ShuffledMbSgdRun
    )
    problem: (
        DataSetProblem
        | HuberProblem
        | LeastSquaresProblem
        | LinearProblem
        | LogisticProblem
        | MeanEstimationProblem
        | PersonalizedHuber
        | PersonalizedLeastSquares
    )
    epsilon: float | Unset = UNSET
    """ privacy loss bound ε of (ε, δ), natural logs """
    delta: float | Unset = UNSET
    """ failure probability δ of (ε, δ) """
    log10_delta: float | Unset = UNSET
    """ base-10 logarithm of δ, for a δ below any double """
    repetitions: int | Unset = 100
    """ independent repetitions, each with its own randomness """
    seed: int | Unset = 0
    """ the same seed gives the same answer """
    points: int | Unset = 50
    """ rounds to measure at, at most """
    spacing: RiskSimulationSpacing | Unset = UNSET
    confidence: float | Unset = 0.95
    """ of the band at each round """
    alternatives: list[str] | Unset = UNSET
    """ which runs to set beside it, by name; absent: all that the algorithm has """

    def to_dict(self) -> dict[str, Any]:
        from ..models.accelerated_mb_sgd_run import AcceleratedMbSgdRun
        from ..models.data_set_problem import DataSetProblem
        from ..models.fedavg_run import FedavgRun
        from ..models.huber_problem import HuberProblem
        from ..models.least_squares_problem import LeastSquaresProblem
        from ..models.linear_problem import LinearProblem
        from ..models.logistic_problem import LogisticProblem
        from ..models.mb_sgd_run import MbSgdRun
        from ..models.mean_estimation_problem import MeanEstimationProblem
        from ..models.norm_fedavg_run import NormFedavgRun
        from ..models.one_pass_accelerated_mb_sgd_run import OnePassAcceleratedMbSgdRun
        from ..models.personalized_least_squares import PersonalizedLeastSquares
        from ..models.ppsgd_run import PpsgdRun
        from ..models.projected_sgd_run import ProjectedSgdRun
        from ..models.shuffled_mb_sgd_run import ShuffledMbSgdRun

        kind = self.kind

        run: dict[str, Any]
        if (
            isinstance(self.run, MbSgdRun)
            or isinstance(self.run, OnePassAcceleratedMbSgdRun)
            or isinstance(self.run, AcceleratedMbSgdRun)
            or isinstance(self.run, ShuffledMbSgdRun)
            or isinstance(self.run, NormFedavgRun)
            or isinstance(self.run, FedavgRun)
            or isinstance(self.run, ProjectedSgdRun)
            or isinstance(self.run, PpsgdRun)
        ):
            run = self.run.to_dict()
        else:
            run = self.run.to_dict()

        problem: dict[str, Any]
        if (
            isinstance(self.problem, MeanEstimationProblem)
            or isinstance(self.problem, LinearProblem)
            or isinstance(self.problem, LeastSquaresProblem)
            or isinstance(self.problem, HuberProblem)
            or isinstance(self.problem, LogisticProblem)
            or isinstance(self.problem, DataSetProblem)
            or isinstance(self.problem, PersonalizedLeastSquares)
        ):
            problem = self.problem.to_dict()
        else:
            problem = self.problem.to_dict()

        epsilon = self.epsilon

        delta = self.delta

        log10_delta = self.log10_delta

        repetitions = self.repetitions

        seed = self.seed

        points = self.points

        spacing: str | Unset = UNSET
        if not isinstance(self.spacing, Unset):
            spacing = self.spacing

        confidence = self.confidence

        alternatives: list[str] | Unset = UNSET
        if not isinstance(self.alternatives, Unset):
            alternatives = self.alternatives

        field_dict: dict[str, Any] = {}

        field_dict.update(
            {
                "kind": kind,
                "run": run,
                "problem": problem,
            }
        )
        if epsilon is not UNSET:
            field_dict["epsilon"] = epsilon
        if delta is not UNSET:
            field_dict["delta"] = delta
        if log10_delta is not UNSET:
            field_dict["log10_delta"] = log10_delta
        if repetitions is not UNSET:
            field_dict["repetitions"] = repetitions
        if seed is not UNSET:
            field_dict["seed"] = seed
        if points is not UNSET:
            field_dict["points"] = points
        if spacing is not UNSET:
            field_dict["spacing"] = spacing
        if confidence is not UNSET:
            field_dict["confidence"] = confidence
        if alternatives is not UNSET:
            field_dict["alternatives"] = alternatives

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        from ..models.accelerated_mb_sgd_run import AcceleratedMbSgdRun
        from ..models.data_set_problem import DataSetProblem
        from ..models.fedavg_run import FedavgRun
        from ..models.huber_problem import HuberProblem
        from ..models.least_squares_problem import LeastSquaresProblem
        from ..models.linear_problem import LinearProblem
        from ..models.logistic_problem import LogisticProblem
        from ..models.mb_sgd_run import MbSgdRun
        from ..models.mean_estimation_problem import MeanEstimationProblem
        from ..models.mu_2_sgd_run import Mu2SgdRun
        from ..models.norm_fedavg_run import NormFedavgRun
        from ..models.one_pass_accelerated_mb_sgd_run import OnePassAcceleratedMbSgdRun
        from ..models.personalized_huber import PersonalizedHuber
        from ..models.personalized_least_squares import PersonalizedLeastSquares
        from ..models.ppsgd_run import PpsgdRun
        from ..models.projected_sgd_run import ProjectedSgdRun
        from ..models.shuffled_mb_sgd_run import ShuffledMbSgdRun

        d = dict(src_dict)
        kind = cast(Literal["risk"], d.pop("kind"))
        if kind != "risk":
            raise ValueError(f"kind must match const 'risk', got '{kind}'")

        def _parse_run(
            data: object,
        ) -> (
            AcceleratedMbSgdRun
            | FedavgRun
            | MbSgdRun
            | Mu2SgdRun
            | NormFedavgRun
            | OnePassAcceleratedMbSgdRun
            | PpsgdRun
            | ProjectedSgdRun
            | ShuffledMbSgdRun
        ):
            try:
                if not isinstance(data, dict):
                    raise TypeError()
                componentsschemas_run_type_0 = MbSgdRun.from_dict(data)

                return componentsschemas_run_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            try:
                if not isinstance(data, dict):
                    raise TypeError()
                componentsschemas_run_type_1 = OnePassAcceleratedMbSgdRun.from_dict(data)

                return componentsschemas_run_type_1
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            try:
                if not isinstance(data, dict):
                    raise TypeError()
                componentsschemas_run_type_2 = AcceleratedMbSgdRun.from_dict(data)

                return componentsschemas_run_type_2
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            try:
                if not isinstance(data, dict):
                    raise TypeError()
                componentsschemas_run_type_3 = ShuffledMbSgdRun.from_dict(data)

                return componentsschemas_run_type_3
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            try:
                if not isinstance(data, dict):
                    raise TypeError()
                componentsschemas_run_type_4 = NormFedavgRun.from_dict(data)

                return componentsschemas_run_type_4
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            try:
                if not isinstance(data, dict):
                    raise TypeError()
                componentsschemas_run_type_5 = FedavgRun.from_dict(data)

                return componentsschemas_run_type_5
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            try:
                if not isinstance(data, dict):
                    raise TypeError()
                componentsschemas_run_type_6 = ProjectedSgdRun.from_dict(data)

                return componentsschemas_run_type_6
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            try:
                if not isinstance(data, dict):
                    raise TypeError()
                componentsschemas_run_type_7 = PpsgdRun.from_dict(data)

                return componentsschemas_run_type_7
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            if not isinstance(data, dict):
                raise TypeError()
            componentsschemas_run_type_8 = Mu2SgdRun.from_dict(data)

            return componentsschemas_run_type_8

        run = _parse_run(d.pop("run"))

        def _parse_problem(
            data: object,
        ) -> (
            DataSetProblem
            | HuberProblem
            | LeastSquaresProblem
            | LinearProblem
            | LogisticProblem
            | MeanEstimationProblem
            | PersonalizedHuber
            | PersonalizedLeastSquares
        ):
            try:
                if not isinstance(data, dict):
                    raise TypeError()
                componentsschemas_any_problem_type_0 = MeanEstimationProblem.from_dict(data)

                return componentsschemas_any_problem_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            try:
                if not isinstance(data, dict):
                    raise TypeError()
                componentsschemas_any_problem_type_1 = LinearProblem.from_dict(data)

                return componentsschemas_any_problem_type_1
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            try:
                if not isinstance(data, dict):
                    raise TypeError()
                componentsschemas_any_problem_type_2 = LeastSquaresProblem.from_dict(data)

                return componentsschemas_any_problem_type_2
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            try:
                if not isinstance(data, dict):
                    raise TypeError()
                componentsschemas_any_problem_type_3 = HuberProblem.from_dict(data)

                return componentsschemas_any_problem_type_3
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            try:
                if not isinstance(data, dict):
                    raise TypeError()
                componentsschemas_any_problem_type_4 = LogisticProblem.from_dict(data)

                return componentsschemas_any_problem_type_4
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            try:
                if not isinstance(data, dict):
                    raise TypeError()
                componentsschemas_any_problem_type_5 = DataSetProblem.from_dict(data)

                return componentsschemas_any_problem_type_5
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            try:
                if not isinstance(data, dict):
                    raise TypeError()
                componentsschemas_any_problem_type_6 = PersonalizedLeastSquares.from_dict(data)

                return componentsschemas_any_problem_type_6
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            if not isinstance(data, dict):
                raise TypeError()
            componentsschemas_any_problem_type_7 = PersonalizedHuber.from_dict(data)

            return componentsschemas_any_problem_type_7

        problem = _parse_problem(d.pop("problem"))

        epsilon = d.pop("epsilon", UNSET)

        delta = d.pop("delta", UNSET)

        log10_delta = d.pop("log10_delta", UNSET)

        repetitions = d.pop("repetitions", UNSET)

        seed = d.pop("seed", UNSET)

        points = d.pop("points", UNSET)

        _spacing = d.pop("spacing", UNSET)
        spacing: RiskSimulationSpacing | Unset
        if isinstance(_spacing, Unset):
            spacing = UNSET
        else:
            spacing = check_risk_simulation_spacing(_spacing)

        confidence = d.pop("confidence", UNSET)

        alternatives = cast(list[str], d.pop("alternatives", UNSET))

        risk_simulation = cls(
            kind=kind,
            run=run,
            problem=problem,
            epsilon=epsilon,
            delta=delta,
            log10_delta=log10_delta,
            repetitions=repetitions,
            seed=seed,
            points=points,
            spacing=spacing,
            confidence=confidence,
            alternatives=alternatives,
        )

        return risk_simulation
