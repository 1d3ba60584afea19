from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

if TYPE_CHECKING:
    from ..models.stage_answer import StageAnswer


T = TypeVar("T", bound="AcceleratedParameters")


@_attrs_define
class AcceleratedParameters:
    """What to run with. Every stage starts at the output of the one before; the last one's output is the model."""

    noise_std: float
    """ σ per coordinate, added by each client to its mean of batch_size gradients """
    noise_multiplier: float
    """ σ over the norm bound of one protected contribution to that mean """
    batch_size: int
    """ records of one client per round """
    rounds: int
    """ communication rounds """
    stages: list[StageAnswer] | Unset = UNSET
    """ absent where no risk bound is proved """
    envelope_smoothness: float | Unset = UNSET
    """ smoothness b of the Moreau envelope that is descended; absent for a smooth loss """
    strong_convexity: float | Unset = UNSET
    """ μ to use in the steps of Algorithm 2 """
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        noise_std = self.noise_std

        noise_multiplier = self.noise_multiplier

        batch_size = self.batch_size

        rounds = self.rounds

        stages: list[dict[str, Any]] | Unset = UNSET
        if not isinstance(self.stages, Unset):
            stages = []
            for stages_item_data in self.stages:
                stages_item = stages_item_data.to_dict()
                stages.append(stages_item)

        envelope_smoothness = self.envelope_smoothness

        strong_convexity = self.strong_convexity

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "noise_std": noise_std,
                "noise_multiplier": noise_multiplier,
                "batch_size": batch_size,
                "rounds": rounds,
            }
        )
        if stages is not UNSET:
            field_dict["stages"] = stages
        if envelope_smoothness is not UNSET:
            field_dict["envelope_smoothness"] = envelope_smoothness
        if strong_convexity is not UNSET:
            field_dict["strong_convexity"] = strong_convexity

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        from ..models.stage_answer import StageAnswer

        d = dict(src_dict)
        noise_std = d.pop("noise_std")

        noise_multiplier = d.pop("noise_multiplier")

        batch_size = d.pop("batch_size")

        rounds = d.pop("rounds")

        _stages = d.pop("stages", UNSET)
        stages: list[StageAnswer] | Unset = UNSET
        if _stages is not UNSET:
            stages = []
            for stages_item_data in _stages:
                stages_item = StageAnswer.from_dict(stages_item_data)

                stages.append(stages_item)

        envelope_smoothness = d.pop("envelope_smoothness", UNSET)

        strong_convexity = d.pop("strong_convexity", UNSET)

        accelerated_parameters = cls(
            noise_std=noise_std,
            noise_multiplier=noise_multiplier,
            batch_size=batch_size,
            rounds=rounds,
            stages=stages,
            envelope_smoothness=envelope_smoothness,
            strong_convexity=strong_convexity,
        )

        accelerated_parameters.additional_properties = d
        return accelerated_parameters

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
