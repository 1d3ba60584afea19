from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self, TypeVar

from attrs import define as _attrs_define

T = TypeVar("T", bound="RunInputs")


@_attrs_define
class RunInputs:
    """A run of K rounds with r of n clients each."""

    epsilon: float
    """ privacy loss bound ε of (ε, δ), natural logs """
    delta: float
    """ failure probability δ of (ε, δ) """
    rounds: int
    """ communication rounds """
    clients: int
    """ clients in the federation """
    participants: int
    """ clients that report in one round """
    dimension: int
    """ coordinates of the model """

    def to_dict(self) -> dict[str, Any]:
        epsilon = self.epsilon

        delta = self.delta

        rounds = self.rounds

        clients = self.clients

        participants = self.participants

        dimension = self.dimension

        field_dict: dict[str, Any] = {}

        field_dict.update(
            {
                "epsilon": epsilon,
                "delta": delta,
                "rounds": rounds,
                "clients": clients,
                "participants": participants,
                "dimension": dimension,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        d = dict(src_dict)
        epsilon = d.pop("epsilon")

        delta = d.pop("delta")

        rounds = d.pop("rounds")

        clients = d.pop("clients")

        participants = d.pop("participants")

        dimension = d.pop("dimension")

        run_inputs = cls(
            epsilon=epsilon,
            delta=delta,
            rounds=rounds,
            clients=clients,
            participants=participants,
            dimension=dimension,
        )

        return run_inputs
