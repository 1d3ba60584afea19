from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

T = TypeVar("T", bound="ConvergenceAnswer")


@_attrs_define
class ConvergenceAnswer:
    """Bounds on the mean over rounds of the gradient norm, in loss/length."""

    theorem: str
    """ the theorem of the bound """
    gradient_norm: float
    """ bound with the certified noise """
    start_term: float
    """ part of it from the start """
    steps_term: float
    """ part of it from the steps """
    client_optima_term: float
    """ part of it from clients that want different models """
    without_noise: float
    """ the same bound for NormFedAvg, without rounding and noise """
    fedavg: float
    """ bound of das.4 for FedAvg, without privacy: √ of that on the least squared norm """
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        theorem = self.theorem

        gradient_norm = self.gradient_norm

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
                "gradient_norm": gradient_norm,
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
        d = dict(src_dict)
        theorem = d.pop("theorem")

        gradient_norm = d.pop("gradient_norm")

        start_term = d.pop("start_term")

        steps_term = d.pop("steps_term")

        client_optima_term = d.pop("client_optima_term")

        without_noise = d.pop("without_noise")

        fedavg = d.pop("fedavg")

        convergence_answer = cls(
            theorem=theorem,
            gradient_norm=gradient_norm,
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
