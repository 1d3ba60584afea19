from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self, TypeVar, cast

from attrs import define as _attrs_define

T = TypeVar("T", bound="RandomizerInputs")


@_attrs_define
class RandomizerInputs:
    """Any randomizer with finitely many inputs and outcomes."""

    clients: int
    """ clients in the federation """
    probabilities: list[list[float]]
    """ probability of each outcome, one row for each input, each row summing to 1 """
    epsilon: float
    """ privacy loss bound ε of (ε, δ), natural logs """

    def to_dict(self) -> dict[str, Any]:
        clients = self.clients

        probabilities = []
        for probabilities_item_data in self.probabilities:
            probabilities_item = probabilities_item_data

            probabilities.append(probabilities_item)

        epsilon = self.epsilon

        field_dict: dict[str, Any] = {}

        field_dict.update(
            {
                "clients": clients,
                "probabilities": probabilities,
                "epsilon": epsilon,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        d = dict(src_dict)
        clients = d.pop("clients")

        probabilities = []
        _probabilities = d.pop("probabilities")
        for probabilities_item_data in _probabilities:
            probabilities_item = cast(list[float], probabilities_item_data)

            probabilities.append(probabilities_item)

        epsilon = d.pop("epsilon")

        randomizer_inputs = cls(
            clients=clients,
            probabilities=probabilities,
            epsilon=epsilon,
        )

        return randomizer_inputs
