from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

if TYPE_CHECKING:
    from ..models.ends import Ends


T = TypeVar("T", bound="ParticipationFigures")


@_attrs_define
class ParticipationFigures:
    """ε of a client at the certified noise and the target δ, if a fixed number of clients is drawn in each round.

    The observer is all other clients together. They know who was drawn, so that the draw does not amplify privacy.

        Attributes:
            epsilon_against_other_clients (Ends): A lower and an upper bound, between which the true value is.
            epsilon_of_expected_rounds (Ends): A lower and an upper bound, between which the true value is.
            epsilon_if_unseen (Ends): A lower and an upper bound, between which the true value is.
            expected_rounds (float): expected number of rounds in which a client takes part
    """

    epsilon_against_other_clients: Ends
    epsilon_of_expected_rounds: Ends
    epsilon_if_unseen: Ends
    expected_rounds: float
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        epsilon_against_other_clients = self.epsilon_against_other_clients.to_dict()

        epsilon_of_expected_rounds = self.epsilon_of_expected_rounds.to_dict()

        epsilon_if_unseen = self.epsilon_if_unseen.to_dict()

        expected_rounds = self.expected_rounds

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "epsilon_against_other_clients": epsilon_against_other_clients,
                "epsilon_of_expected_rounds": epsilon_of_expected_rounds,
                "epsilon_if_unseen": epsilon_if_unseen,
                "expected_rounds": expected_rounds,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        from ..models.ends import Ends

        d = dict(src_dict)
        epsilon_against_other_clients = Ends.from_dict(
            d.pop("epsilon_against_other_clients")
        )

        epsilon_of_expected_rounds = Ends.from_dict(d.pop("epsilon_of_expected_rounds"))

        epsilon_if_unseen = Ends.from_dict(d.pop("epsilon_if_unseen"))

        expected_rounds = d.pop("expected_rounds")

        participation_figures = cls(
            epsilon_against_other_clients=epsilon_against_other_clients,
            epsilon_of_expected_rounds=epsilon_of_expected_rounds,
            epsilon_if_unseen=epsilon_if_unseen,
            expected_rounds=expected_rounds,
        )

        participation_figures.additional_properties = d
        return participation_figures

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
