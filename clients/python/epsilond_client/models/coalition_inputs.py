from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self, TypeVar

from attrs import define as _attrs_define

from ..models.relation import Relation, check_relation
from ..types import UNSET, Unset

T = TypeVar("T", bound="CoalitionInputs")


@_attrs_define
class CoalitionInputs:
    """Rounds with Q of N clients each, and where to read the curve: at ε, at δ, or both. Absent k is that expected."""

    clients: int
    """ clients in the federation """
    participants: int
    """ clients that report in one round """
    rounds: int
    """ communication rounds """
    noise_multiplier: float
    """ σ over the bound on the ℓ2 norm of one contribution to the noisy quantity, never over the sensitivity """
    rounds_of_client: int | Unset = UNSET
    """ rounds that the client took part in """
    epsilon: float | Unset = UNSET
    """ privacy loss bound ε of (ε, δ), natural logs """
    delta: float | Unset = UNSET
    """ failure probability δ of (ε, δ) """
    log10_delta: float | Unset = UNSET
    """ base-10 logarithm of δ, for a δ below any double """
    relation: Relation | Unset = UNSET

    def to_dict(self) -> dict[str, Any]:
        clients = self.clients

        participants = self.participants

        rounds = self.rounds

        noise_multiplier = self.noise_multiplier

        rounds_of_client = self.rounds_of_client

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
                "participants": participants,
                "rounds": rounds,
                "noise_multiplier": noise_multiplier,
            }
        )
        if rounds_of_client is not UNSET:
            field_dict["rounds_of_client"] = rounds_of_client
        if epsilon is not UNSET:
            field_dict["epsilon"] = epsilon
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

        participants = d.pop("participants")

        rounds = d.pop("rounds")

        noise_multiplier = d.pop("noise_multiplier")

        rounds_of_client = d.pop("rounds_of_client", UNSET)

        epsilon = d.pop("epsilon", UNSET)

        delta = d.pop("delta", UNSET)

        log10_delta = d.pop("log10_delta", UNSET)

        _relation = d.pop("relation", UNSET)
        relation: Relation | Unset
        if isinstance(_relation, Unset):
            relation = UNSET
        else:
            relation = check_relation(_relation)

        coalition_inputs = cls(
            clients=clients,
            participants=participants,
            rounds=rounds,
            noise_multiplier=noise_multiplier,
            rounds_of_client=rounds_of_client,
            epsilon=epsilon,
            delta=delta,
            log10_delta=log10_delta,
            relation=relation,
        )

        return coalition_inputs
