from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..models.reading import Reading
from ..models.unbounded import Unbounded
from ..types import UNSET, Unset

T = TypeVar("T", bound="PrescribedRisk")


@_attrs_define
class PrescribedRisk:
    """A bound on the excess risk of the run that a theorem prescribes, with the theorem's known errors corrected.

    The prescribed run has the batch size of the answer.

        Attributes:
            theorem (str):
            reading (Reading):
            batch_size (int):
            rounds (int):
            step_size (float):
            within_budget (bool): whether the prescribed run keeps to the limits max_gradients and communication_budget of
                the request
            certified_noise (float | Unbounded): a number; "unbounded" or "-unbounded" if it is infinite
            printed_noise (float | Unbounded): a number; "unbounded" or "-unbounded" if it is infinite
            ratio (float | Unbounded): a number; "unbounded" or "-unbounded" if it is infinite
            envelope_smoothness (float | Unset): smoothness constant of the Moreau envelope that replaces the loss; absent
                if the loss is smooth
            vacuous (bool | Unset): true: certified_noise is not below the baseline and carries no information
    """

    theorem: str
    reading: Reading
    batch_size: int
    rounds: int
    step_size: float
    within_budget: bool
    certified_noise: float | Unbounded
    printed_noise: float | Unbounded
    ratio: float | Unbounded
    envelope_smoothness: float | Unset = UNSET
    vacuous: bool | Unset = UNSET
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        theorem = self.theorem

        reading = self.reading.value

        batch_size = self.batch_size

        rounds = self.rounds

        step_size = self.step_size

        within_budget = self.within_budget

        certified_noise: float | str
        if isinstance(self.certified_noise, Unbounded):
            certified_noise = self.certified_noise.value
        else:
            certified_noise = self.certified_noise

        printed_noise: float | str
        if isinstance(self.printed_noise, Unbounded):
            printed_noise = self.printed_noise.value
        else:
            printed_noise = self.printed_noise

        ratio: float | str
        if isinstance(self.ratio, Unbounded):
            ratio = self.ratio.value
        else:
            ratio = self.ratio

        envelope_smoothness = self.envelope_smoothness

        vacuous = self.vacuous

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "theorem": theorem,
                "reading": reading,
                "batch_size": batch_size,
                "rounds": rounds,
                "step_size": step_size,
                "within_budget": within_budget,
                "certified_noise": certified_noise,
                "printed_noise": printed_noise,
                "ratio": ratio,
            }
        )
        if envelope_smoothness is not UNSET:
            field_dict["envelope_smoothness"] = envelope_smoothness
        if vacuous is not UNSET:
            field_dict["vacuous"] = vacuous

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        d = dict(src_dict)
        theorem = d.pop("theorem")

        reading = Reading(d.pop("reading"))

        batch_size = d.pop("batch_size")

        rounds = d.pop("rounds")

        step_size = d.pop("step_size")

        within_budget = d.pop("within_budget")

        def _parse_certified_noise(data: object) -> float | Unbounded:
            try:
                if not isinstance(data, str):
                    raise TypeError()
                componentsschemas_figure_type_1 = Unbounded(data)

                return componentsschemas_figure_type_1
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(float | Unbounded, data)

        certified_noise = _parse_certified_noise(d.pop("certified_noise"))

        def _parse_printed_noise(data: object) -> float | Unbounded:
            try:
                if not isinstance(data, str):
                    raise TypeError()
                componentsschemas_figure_type_1 = Unbounded(data)

                return componentsschemas_figure_type_1
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(float | Unbounded, data)

        printed_noise = _parse_printed_noise(d.pop("printed_noise"))

        def _parse_ratio(data: object) -> float | Unbounded:
            try:
                if not isinstance(data, str):
                    raise TypeError()
                componentsschemas_figure_type_1 = Unbounded(data)

                return componentsschemas_figure_type_1
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(float | Unbounded, data)

        ratio = _parse_ratio(d.pop("ratio"))

        envelope_smoothness = d.pop("envelope_smoothness", UNSET)

        vacuous = d.pop("vacuous", UNSET)

        prescribed_risk = cls(
            theorem=theorem,
            reading=reading,
            batch_size=batch_size,
            rounds=rounds,
            step_size=step_size,
            within_budget=within_budget,
            certified_noise=certified_noise,
            printed_noise=printed_noise,
            ratio=ratio,
            envelope_smoothness=envelope_smoothness,
            vacuous=vacuous,
        )

        prescribed_risk.additional_properties = d
        return prescribed_risk

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
