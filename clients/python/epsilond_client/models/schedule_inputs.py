from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self, TypeVar

from attrs import define as _attrs_define

from ..types import UNSET, Unset

T = TypeVar("T", bound="ScheduleInputs")


@_attrs_define
class ScheduleInputs:
    """The schedule for a ρ, read at a client's N-th report. `most_participations` is the cap, T if absent."""

    clipping_norm: float
    """ bound on the ℓ2 norm of one weighted gradient difference s """
    gaussian_dp_mu: float
    """ parameter of Gaussian differential privacy, √(2ρ) of zCDP's ρ; never the latter """
    rounds: int
    """ communication rounds """
    participations: int
    """ how often a client has reported, this round included """
    most_participations: int | Unset = UNSET
    """ how often a client has reported, this round included """

    def to_dict(self) -> dict[str, Any]:
        clipping_norm = self.clipping_norm

        gaussian_dp_mu = self.gaussian_dp_mu

        rounds = self.rounds

        participations = self.participations

        most_participations = self.most_participations

        field_dict: dict[str, Any] = {}

        field_dict.update(
            {
                "clipping_norm": clipping_norm,
                "gaussian_dp_mu": gaussian_dp_mu,
                "rounds": rounds,
                "participations": participations,
            }
        )
        if most_participations is not UNSET:
            field_dict["most_participations"] = most_participations

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        d = dict(src_dict)
        clipping_norm = d.pop("clipping_norm")

        gaussian_dp_mu = d.pop("gaussian_dp_mu")

        rounds = d.pop("rounds")

        participations = d.pop("participations")

        most_participations = d.pop("most_participations", UNSET)

        schedule_inputs = cls(
            clipping_norm=clipping_norm,
            gaussian_dp_mu=gaussian_dp_mu,
            rounds=rounds,
            participations=participations,
            most_participations=most_participations,
        )

        return schedule_inputs
