from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

T = TypeVar("T", bound="GaussianParameters")


@_attrs_define
class GaussianParameters:
    """All five numbers, the solved one among them."""

    noise_multiplier: float
    """ σ over the norm bound of one contribution """
    rounds: int
    """ how often the mechanism is run """
    epsilon: float
    """ certified ε """
    log10_delta: float
    rate: float | Unset = UNSET
    """ probability that a given record, or client where clients are drawn, is in a batch """
    batch_size: int | Unset = UNSET
    """ how many records, or clients where clients are drawn, are in a batch """
    population: int | Unset = UNSET
    """ how many records, or clients where clients are drawn, a batch is drawn from """
    delta: float | Unset = UNSET
    """ certified δ; absent where it is below every double """
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        noise_multiplier = self.noise_multiplier

        rounds = self.rounds

        epsilon = self.epsilon

        log10_delta = self.log10_delta

        rate = self.rate

        batch_size = self.batch_size

        population = self.population

        delta = self.delta

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "noise_multiplier": noise_multiplier,
                "rounds": rounds,
                "epsilon": epsilon,
                "log10_delta": log10_delta,
            }
        )
        if rate is not UNSET:
            field_dict["rate"] = rate
        if batch_size is not UNSET:
            field_dict["batch_size"] = batch_size
        if population is not UNSET:
            field_dict["population"] = population
        if delta is not UNSET:
            field_dict["delta"] = delta

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        d = dict(src_dict)
        noise_multiplier = d.pop("noise_multiplier")

        rounds = d.pop("rounds")

        epsilon = d.pop("epsilon")

        log10_delta = d.pop("log10_delta")

        rate = d.pop("rate", UNSET)

        batch_size = d.pop("batch_size", UNSET)

        population = d.pop("population", UNSET)

        delta = d.pop("delta", UNSET)

        gaussian_parameters = cls(
            noise_multiplier=noise_multiplier,
            rounds=rounds,
            epsilon=epsilon,
            log10_delta=log10_delta,
            rate=rate,
            batch_size=batch_size,
            population=population,
            delta=delta,
        )

        gaussian_parameters.additional_properties = d
        return gaussian_parameters

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
