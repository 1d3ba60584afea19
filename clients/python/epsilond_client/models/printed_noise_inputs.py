from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self, TypeVar

from attrs import define as _attrs_define

from ..models.relation import Relation, check_relation
from ..types import UNSET, Unset

T = TypeVar("T", bound="PrintedNoiseInputs")


@_attrs_define
class PrintedNoiseInputs:
    """A run with all clients in every round, its target, and the constant to print (4) with."""

    clients: int
    """ clients in the federation """
    rounds: int
    """ communication rounds """
    clipping_norm: float
    """ bound on the ℓ2 norm of what one client sends in a round """
    epsilon: float
    """ privacy loss bound ε of (ε, δ), natural logs """
    noise_constant: float
    """ the constant that a printed noise leaves open: c in (4), c₂ in (12) """
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

        noise_constant = self.noise_constant

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
                "noise_constant": noise_constant,
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

        noise_constant = d.pop("noise_constant")

        delta = d.pop("delta", UNSET)

        log10_delta = d.pop("log10_delta", UNSET)

        _relation = d.pop("relation", UNSET)
        relation: Relation | Unset
        if isinstance(_relation, Unset):
            relation = UNSET
        else:
            relation = check_relation(_relation)

        printed_noise_inputs = cls(
            clients=clients,
            rounds=rounds,
            clipping_norm=clipping_norm,
            epsilon=epsilon,
            noise_constant=noise_constant,
            delta=delta,
            log10_delta=log10_delta,
            relation=relation,
        )

        return printed_noise_inputs
