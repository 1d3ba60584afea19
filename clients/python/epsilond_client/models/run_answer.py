from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

T = TypeVar("T", bound="RunAnswer")


@_attrs_define
class RunAnswer:
    """The run whose risk is bounded.

    Attributes:
        noise_std (float): standard deviation of the noise per coordinate, as in the request; the smallest if it varies
            over steps. With client groups its root mean square over clients
        noise_source (str): given: the request has this noise and no guarantee is certified. certified: the run is
            certified to meet the target
        rounds (int):
        batch_size (int | Unset): number of records in a client's batch, or of clients in a step; absent where the
            algorithm has neither
        step_size (float | Unset): step size of the request, or else the one that minimises the explicit upper bound;
            absent if there is neither
        envelope_smoothness (float | Unset): smoothness constant of the Moreau envelope that replaces the loss; absent
            if the loss is smooth
    """

    noise_std: float
    noise_source: str
    rounds: int
    batch_size: int | Unset = UNSET
    step_size: float | Unset = UNSET
    envelope_smoothness: float | Unset = UNSET
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        noise_std = self.noise_std

        noise_source = self.noise_source

        rounds = self.rounds

        batch_size = self.batch_size

        step_size = self.step_size

        envelope_smoothness = self.envelope_smoothness

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "noise_std": noise_std,
                "noise_source": noise_source,
                "rounds": rounds,
            }
        )
        if batch_size is not UNSET:
            field_dict["batch_size"] = batch_size
        if step_size is not UNSET:
            field_dict["step_size"] = step_size
        if envelope_smoothness is not UNSET:
            field_dict["envelope_smoothness"] = envelope_smoothness

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        d = dict(src_dict)
        noise_std = d.pop("noise_std")

        noise_source = d.pop("noise_source")

        rounds = d.pop("rounds")

        batch_size = d.pop("batch_size", UNSET)

        step_size = d.pop("step_size", UNSET)

        envelope_smoothness = d.pop("envelope_smoothness", UNSET)

        run_answer = cls(
            noise_std=noise_std,
            noise_source=noise_source,
            rounds=rounds,
            batch_size=batch_size,
            step_size=step_size,
            envelope_smoothness=envelope_smoothness,
        )

        run_answer.additional_properties = d
        return run_answer

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
