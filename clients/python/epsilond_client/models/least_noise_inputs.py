from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self, TypeVar

from attrs import define as _attrs_define

from ..models.relation import Relation, check_relation
from ..types import UNSET, Unset

T = TypeVar("T", bound="LeastNoiseInputs")


@_attrs_define
class LeastNoiseInputs:
    """A run with all clients in every round, and its target."""

    clients: int
    """ clients in the federation """
    rounds: int
    """ communication rounds """
    clipping_norm: float
    """ bound on the ℓ2 norm of what one client sends in a round """
    epsilon: float
    """ privacy loss bound ε of (ε, δ), natural logs """
    delta: float | Unset = UNSET
    """ failure probability δ of (ε, δ) """
    log10_delta: float | Unset = UNSET
    """ base-10 logarithm of δ, for a δ below any double """
    relation: Relation | Unset = UNSET

    def to_dict(self) -> dict[str, Any]:
        clients = self.clients

        rounds = self.rounds

        clipping_norm = self.clipping_norm

        epsilon = self.epsilon

        delta = self.delta

        log10_delta = self.log10_delta

        relation: str | Unset = UNSET
        if not isinstance(self.relation, Unset):
            relation = self.relation

        field_dict: dict[str, Any] = {}

        field_dict.update(
            {
                "clients": clients,
                "rounds": rounds,
                "clipping_norm": clipping_norm,
                "epsilon": epsilon,
            }
        )
        if delta is not UNSET:
            field_dict["delta"] = delta
        if log10_delta is not UNSET:
            field_dict["log10_delta"] = log10_delta
        if relation is not UNSET:
            field_dict["relation"] = relation

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        d = dict(src_dict)
        clients = d.pop("clients")

        rounds = d.pop("rounds")

        clipping_norm = d.pop("clipping_norm")

        epsilon = d.pop("epsilon")

        delta = d.pop("delta", UNSET)

        log10_delta = d.pop("log10_delta", UNSET)

        _relation = d.pop("relation", UNSET)
        relation: Relation | Unset
        if isinstance(_relation, Unset):
            relation = UNSET
        else:
            relation = check_relation(_relation)

        least_noise_inputs = cls(
            clients=clients,
            rounds=rounds,
            clipping_norm=clipping_norm,
            epsilon=epsilon,
            delta=delta,
            log10_delta=log10_delta,
            relation=relation,
        )

        return least_noise_inputs
