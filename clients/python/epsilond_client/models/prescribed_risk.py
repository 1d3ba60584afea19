from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..models.prescribed_risk_certified_noise_type_1 import (
    PrescribedRiskCertifiedNoiseType1,
    check_prescribed_risk_certified_noise_type_1,
)
from ..models.prescribed_risk_printed_noise_type_1 import (
    PrescribedRiskPrintedNoiseType1,
    check_prescribed_risk_printed_noise_type_1,
)
from ..models.prescribed_risk_ratio_type_1 import (
    PrescribedRiskRatioType1,
    check_prescribed_risk_ratio_type_1,
)
from ..models.reading import Reading, check_reading
from ..types import UNSET, Unset

T = TypeVar("T", bound="PrescribedRisk")


@_attrs_define
class PrescribedRisk:
    """Our bound on the risk of the run that the theorem's corrected reading prescribes at the answer's batch size."""

    theorem: str
    reading: Reading
    batch_size: int
    rounds: int
    step_size: float
    within_budget: bool
    """ whether the request's budgets pay for its rounds """
    certified_noise: float | PrescribedRiskCertifiedNoiseType1
    """ bound at its certified noise """
    printed_noise: float | PrescribedRiskPrintedNoiseType1
    """ bound at the noise that the reading prescribes """
    ratio: float | PrescribedRiskRatioType1
    """ bound at its certified noise over the answer's bound """
    envelope_smoothness: float | Unset = UNSET
    """ of the envelope it runs on """
    vacuous: bool | Unset = UNSET
    """ whether the bound at its certified noise is no better than the baseline """
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        theorem = self.theorem

        reading: str = self.reading

        batch_size = self.batch_size

        rounds = self.rounds

        step_size = self.step_size

        within_budget = self.within_budget

        certified_noise: float | str
        if isinstance(self.certified_noise, str):
            certified_noise = self.certified_noise
        else:
            certified_noise = self.certified_noise

        printed_noise: float | str
        if isinstance(self.printed_noise, str):
            printed_noise = self.printed_noise
        else:
            printed_noise = self.printed_noise

        ratio: float | str
        if isinstance(self.ratio, str):
            ratio = self.ratio
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

        reading = check_reading(d.pop("reading"))

        batch_size = d.pop("batch_size")

        rounds = d.pop("rounds")

        step_size = d.pop("step_size")

        within_budget = d.pop("within_budget")

        def _parse_certified_noise(data: object) -> float | PrescribedRiskCertifiedNoiseType1:
            try:
                if not isinstance(data, str):
                    raise TypeError()
                certified_noise_type_1 = check_prescribed_risk_certified_noise_type_1(data)

                return certified_noise_type_1
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(float | PrescribedRiskCertifiedNoiseType1, data)

        certified_noise = _parse_certified_noise(d.pop("certified_noise"))

        def _parse_printed_noise(data: object) -> float | PrescribedRiskPrintedNoiseType1:
            try:
                if not isinstance(data, str):
                    raise TypeError()
                printed_noise_type_1 = check_prescribed_risk_printed_noise_type_1(data)

                return printed_noise_type_1
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(float | PrescribedRiskPrintedNoiseType1, data)

        printed_noise = _parse_printed_noise(d.pop("printed_noise"))

        def _parse_ratio(data: object) -> float | PrescribedRiskRatioType1:
            try:
                if not isinstance(data, str):
                    raise TypeError()
                ratio_type_1 = check_prescribed_risk_ratio_type_1(data)

                return ratio_type_1
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(float | PrescribedRiskRatioType1, data)

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
