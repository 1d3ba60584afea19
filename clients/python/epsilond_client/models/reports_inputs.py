from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self, TypeVar, cast

from attrs import define as _attrs_define

from ..models.relation import Relation, check_relation
from ..types import UNSET, Unset

T = TypeVar("T", bound="ReportsInputs")


@_attrs_define
class ReportsInputs:
    """The noises of one client's reports, and how far one record moves s in each.

    `sensitivities` are the ℓ2 distances; absent they are 2S for replace-one and S for the other relations. No report
    at all is allowed.

    """

    clipping_norm: float
    """ bound on the ℓ2 norm of one weighted gradient difference s """
    noise_stds: list[float]
    """ σ of the noise drawn in each report of a client, in their order """
    relation: Relation | Unset = UNSET
    sensitivities: list[float] | Unset = UNSET
    """ most that one record moves s in each report of a client, in ℓ2 norm; absent: all alike """

    def to_dict(self) -> dict[str, Any]:
        clipping_norm = self.clipping_norm

        noise_stds = self.noise_stds

        relation: str | Unset = UNSET
        if not isinstance(self.relation, Unset):
            relation = self.relation

        sensitivities: list[float] | Unset = UNSET
        if not isinstance(self.sensitivities, Unset):
            sensitivities = self.sensitivities

        field_dict: dict[str, Any] = {}

        field_dict.update(
            {
                "clipping_norm": clipping_norm,
                "noise_stds": noise_stds,
            }
        )
        if relation is not UNSET:
            field_dict["relation"] = relation
        if sensitivities is not UNSET:
            field_dict["sensitivities"] = sensitivities

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        d = dict(src_dict)
        clipping_norm = d.pop("clipping_norm")

        noise_stds = cast(list[float], d.pop("noise_stds"))

        _relation = d.pop("relation", UNSET)
        relation: Relation | Unset
        if isinstance(_relation, Unset):
            relation = UNSET
        else:
            relation = check_relation(_relation)

        sensitivities = cast(list[float], d.pop("sensitivities", UNSET))

        reports_inputs = cls(
            clipping_norm=clipping_norm,
            noise_stds=noise_stds,
            relation=relation,
            sensitivities=sensitivities,
        )

        return reports_inputs
