from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self, TypeVar, cast

from attrs import define as _attrs_define

from ..models.relation import Relation, check_relation
from ..types import UNSET, Unset

T = TypeVar("T", bound="TrustedInputs")


@_attrs_define
class TrustedInputs:
    """The noises that a trusted server adds to the mean of m messages. x_1, …, x_T need those of rounds below T."""

    clipping_norm: float
    """ bound on the ℓ2 norm of one weighted gradient difference s """
    participants: int
    """ clients that report in one round """
    noise_stds: list[float]
    """ σ of the noise that the server adds in each round, in their order """
    relation: Relation | Unset = UNSET

    def to_dict(self) -> dict[str, Any]:
        clipping_norm = self.clipping_norm

        participants = self.participants

        noise_stds = self.noise_stds

        relation: str | Unset = UNSET
        if not isinstance(self.relation, Unset):
            relation = self.relation

        field_dict: dict[str, Any] = {}

        field_dict.update(
            {
                "clipping_norm": clipping_norm,
                "participants": participants,
                "noise_stds": noise_stds,
            }
        )
        if relation is not UNSET:
            field_dict["relation"] = relation

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        d = dict(src_dict)
        clipping_norm = d.pop("clipping_norm")

        participants = d.pop("participants")

        noise_stds = cast(list[float], d.pop("noise_stds"))

        _relation = d.pop("relation", UNSET)
        relation: Relation | Unset
        if isinstance(_relation, Unset):
            relation = UNSET
        else:
            relation = check_relation(_relation)

        trusted_inputs = cls(
            clipping_norm=clipping_norm,
            participants=participants,
            noise_stds=noise_stds,
            relation=relation,
        )

        return trusted_inputs
