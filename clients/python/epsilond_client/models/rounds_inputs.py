from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self, TypeVar

from attrs import define as _attrs_define

from ..models.rounds_inputs_amplified import (
    RoundsInputsAmplified,
    check_rounds_inputs_amplified,
)
from ..types import UNSET, Unset

T = TypeVar("T", bound="RoundsInputs")


@_attrs_define
class RoundsInputs:
    """Rounds of a true (ε₀, δ₀), and what the draw of clients does for whom."""

    round_epsilon: float
    """ privacy loss bound ε of (ε, δ), natural logs """
    round_delta: float
    """ δ of what one client sends, beside its ε₀; 0 if pure """
    rounds: int
    """ communication rounds """
    slack_delta: float
    """ failure probability δ of (ε, δ) """
    amplified: RoundsInputsAmplified | Unset = UNSET
    rate: float | Unset = 1.0
    """ probability that a given record, or client where clients are drawn, is in a batch """

    def to_dict(self) -> dict[str, Any]:
        round_epsilon = self.round_epsilon

        round_delta = self.round_delta

        rounds = self.rounds

        slack_delta = self.slack_delta

        amplified: str | Unset = UNSET
        if not isinstance(self.amplified, Unset):
            amplified = self.amplified

        rate = self.rate

        field_dict: dict[str, Any] = {}

        field_dict.update(
            {
                "round_epsilon": round_epsilon,
                "round_delta": round_delta,
                "rounds": rounds,
                "slack_delta": slack_delta,
            }
        )
        if amplified is not UNSET:
            field_dict["amplified"] = amplified
        if rate is not UNSET:
            field_dict["rate"] = rate

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        d = dict(src_dict)
        round_epsilon = d.pop("round_epsilon")

        round_delta = d.pop("round_delta")

        rounds = d.pop("rounds")

        slack_delta = d.pop("slack_delta")

        _amplified = d.pop("amplified", UNSET)
        amplified: RoundsInputsAmplified | Unset
        if isinstance(_amplified, Unset):
            amplified = UNSET
        else:
            amplified = check_rounds_inputs_amplified(_amplified)

        rate = d.pop("rate", UNSET)

        rounds_inputs = cls(
            round_epsilon=round_epsilon,
            round_delta=round_delta,
            rounds=rounds,
            slack_delta=slack_delta,
            amplified=amplified,
            rate=rate,
        )

        return rounds_inputs
