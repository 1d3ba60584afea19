from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

T = TypeVar("T", bound="AggregatesAnswer")


@_attrs_define
class AggregatesAnswer:
    """Statistics of unequal clients in the theorems of Lowy and Razaviyayn, at the rounds of the run (Appendix E.1).

    M_r is the random number of participants of a round. ξ_i is the privacy cost of client i, from its ε, δ, number of
    records and the rounds. L is the Lipschitz constant.

        Attributes:
            participants (float): M = 1/E[1/M_r], the harmonic mean of the number of participants of a round
            rms_participants (float): M' = 1/√E[1/M_r²], an average of the number of participants of a round
            average_xi (float): Ξ: root mean square over M_r of the mean of the M_r largest ξ_i
            largest_xi (float): ξ_max: the largest ξ_i of a client
            average_psi (float): Ψ = L²Ξ, for the largest Lipschitz constant L of a client's weighted loss
            largest_psi (float): ψ_max = L²ξ_max, for the largest Lipschitz constant L of a client's weighted loss
            branch (str): average: Ξ/M' is the smaller one and is used in the bound. largest: ξ_max/M is
    """

    participants: float
    rms_participants: float
    average_xi: float
    largest_xi: float
    average_psi: float
    largest_psi: float
    branch: str
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        participants = self.participants

        rms_participants = self.rms_participants

        average_xi = self.average_xi

        largest_xi = self.largest_xi

        average_psi = self.average_psi

        largest_psi = self.largest_psi

        branch = self.branch

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "participants": participants,
                "rms_participants": rms_participants,
                "average_xi": average_xi,
                "largest_xi": largest_xi,
                "average_psi": average_psi,
                "largest_psi": largest_psi,
                "branch": branch,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        d = dict(src_dict)
        participants = d.pop("participants")

        rms_participants = d.pop("rms_participants")

        average_xi = d.pop("average_xi")

        largest_xi = d.pop("largest_xi")

        average_psi = d.pop("average_psi")

        largest_psi = d.pop("largest_psi")

        branch = d.pop("branch")

        aggregates_answer = cls(
            participants=participants,
            rms_participants=rms_participants,
            average_xi=average_xi,
            largest_xi=largest_xi,
            average_psi=average_psi,
            largest_psi=largest_psi,
            branch=branch,
        )

        aggregates_answer.additional_properties = d
        return aggregates_answer

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
