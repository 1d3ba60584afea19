from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self, TypeVar

from attrs import define as _attrs_define

T = TypeVar("T", bound="ParticipationCount")


@_attrs_define
class ParticipationCount:
    """How many clients may report in a round, and with what probability.

    Attributes:
        participants (int): number of clients in one round
        probability (float): probability that this number of clients takes part in a round
    """

    participants: int
    probability: float

    def to_dict(self) -> dict[str, Any]:
        participants = self.participants

        probability = self.probability

        field_dict: dict[str, Any] = {}

        field_dict.update(
            {
                "participants": participants,
                "probability": probability,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        d = dict(src_dict)
        participants = d.pop("participants")

        probability = d.pop("probability")

        participation_count = cls(
            participants=participants,
            probability=probability,
        )

        return participation_count
