from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..models.objective import Objective

if TYPE_CHECKING:
    from ..models.baseline import Baseline


T = TypeVar("T", bound="ConvergenceAnswer")


@_attrs_define
class ConvergenceAnswer:
    """Bounds on the gradient norm of the clients' mean loss, in units of loss/length.

    `mean_gradient_norm` is the sum of its three terms; `gradient_norm` is not above the baseline.

        Attributes:
            theorem (str): id of the theorem that proves gradient_norm
            objective (Objective):
            baseline (Baseline): A bound on the risk of the initial model, before any training, to compare other bounds
                with.
            vacuous (bool): true: the bound is not below the baseline and carries no information
            gradient_norm (float): upper bound on the smallest expected gradient norm of all rounds, the initial model among
                them. It is at most the baseline
            mean_gradient_norm (float): upper bound on the mean over the rounds of the expected gradient norm, by
                das.equation-39 with the certified noise
            start_term (float): term of mean_gradient_norm for the distance of the initial model from the minimiser
            steps_term (float): term of mean_gradient_norm for the lengths of the steps
            client_optima_term (float): term of mean_gradient_norm for the distances between the clients' minimisers
            without_noise (float): gradient_norm of the same run without rounding and without noise (NormFedAvg)
            fedavg (float): bound on the smallest gradient norm for FedAvg without privacy: the root of the bound of das.4
                on the squared norm. It is at most the baseline
    """

    theorem: str
    objective: Objective
    baseline: Baseline
    vacuous: bool
    gradient_norm: float
    mean_gradient_norm: float
    start_term: float
    steps_term: float
    client_optima_term: float
    without_noise: float
    fedavg: float
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        theorem = self.theorem

        objective = self.objective.value

        baseline = self.baseline.to_dict()

        vacuous = self.vacuous

        gradient_norm = self.gradient_norm

        mean_gradient_norm = self.mean_gradient_norm

        start_term = self.start_term

        steps_term = self.steps_term

        client_optima_term = self.client_optima_term

        without_noise = self.without_noise

        fedavg = self.fedavg

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "theorem": theorem,
                "objective": objective,
                "baseline": baseline,
                "vacuous": vacuous,
                "gradient_norm": gradient_norm,
                "mean_gradient_norm": mean_gradient_norm,
                "start_term": start_term,
                "steps_term": steps_term,
                "client_optima_term": client_optima_term,
                "without_noise": without_noise,
                "fedavg": fedavg,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        from ..models.baseline import Baseline

        d = dict(src_dict)
        theorem = d.pop("theorem")

        objective = Objective(d.pop("objective"))

        baseline = Baseline.from_dict(d.pop("baseline"))

        vacuous = d.pop("vacuous")

        gradient_norm = d.pop("gradient_norm")

        mean_gradient_norm = d.pop("mean_gradient_norm")

        start_term = d.pop("start_term")

        steps_term = d.pop("steps_term")

        client_optima_term = d.pop("client_optima_term")

        without_noise = d.pop("without_noise")

        fedavg = d.pop("fedavg")

        convergence_answer = cls(
            theorem=theorem,
            objective=objective,
            baseline=baseline,
            vacuous=vacuous,
            gradient_norm=gradient_norm,
            mean_gradient_norm=mean_gradient_norm,
            start_term=start_term,
            steps_term=steps_term,
            client_optima_term=client_optima_term,
            without_noise=without_noise,
            fedavg=fedavg,
        )

        convergence_answer.additional_properties = d
        return convergence_answer

    @property
    def additional_keys(self) -> list[str]:
        return list(self.additional_properties.keys())

    def __getitem__(self, key: str) -> Any:
        return self.additional_properties[key]

    def __setitem__(self, key: str, value: Any) -> None:
        self.additional_properties[key] = value

    def __delitem__(self, key: str) -> None:
        del self.additional_properties[key]

    def __contains__(self, key: str) -> bool:
        return key in self.additional_properties
