from __future__ import annotations

from collections.abc import Mapping
from typing import (
    Any,
    Literal,
    Self,
    TypeVar,
    cast,
)

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..models.sharing_point_excess_risk_at_step_type_0_type_1 import (
    SharingPointExcessRiskAtStepType0Type1,
    check_sharing_point_excess_risk_at_step_type_0_type_1,
)
from ..models.sharing_point_excess_risk_at_step_type_1 import (
    SharingPointExcessRiskAtStepType1,
    check_sharing_point_excess_risk_at_step_type_1,
)
from ..models.sharing_point_excess_risk_type_1 import (
    SharingPointExcessRiskType1,
    check_sharing_point_excess_risk_type_1,
)
from ..models.sharing_point_optimisation_type_1 import (
    SharingPointOptimisationType1,
    check_sharing_point_optimisation_type_1,
)
from ..models.sharing_point_privacy_type_1 import (
    SharingPointPrivacyType1,
    check_sharing_point_privacy_type_1,
)
from ..models.sharing_point_proved_excess_risk_type_0_type_1 import (
    SharingPointProvedExcessRiskType0Type1,
    check_sharing_point_proved_excess_risk_type_0_type_1,
)
from ..models.sharing_point_proved_excess_risk_type_1 import (
    SharingPointProvedExcessRiskType1,
    check_sharing_point_proved_excess_risk_type_1,
)
from ..models.sharing_point_statistical_type_1 import (
    SharingPointStatisticalType1,
    check_sharing_point_statistical_type_1,
)

T = TypeVar("T", bound="SharingPoint")


@_attrs_define
class SharingPoint:
    """The bound on the excess risk at one α: optimisation + √(statistical² + privacy²), and the steps it is for."""

    personalization: float | Literal["unbounded"]
    """ α: 0 learns locally only, unbounded globally only """
    excess_risk: float | SharingPointExcessRiskType1
    """ a number, or unbounded """
    optimisation: float | SharingPointOptimisationType1
    """ a number, or unbounded """
    statistical: float | SharingPointStatisticalType1
    """ a number, or unbounded """
    privacy: float | SharingPointPrivacyType1
    """ a number, or unbounded """
    excess_risk_at_step: float | SharingPointExcessRiskAtStepType0Type1 | SharingPointExcessRiskAtStepType1
    """ a smaller bound, at these very steps """
    proved_excess_risk: float | SharingPointProvedExcessRiskType0Type1 | SharingPointProvedExcessRiskType1
    """ the least that is proved at these very steps, by bietti.4.5.any-step """
    step_size: float
    """ η of the theorem, 0 where only the shared part learns """
    shared_step_size: float
    """ αη, of the noisy average of the shared gradients """
    local_step_size: float
    """ η/(qW), of one client's message for its own part """
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        personalization: float | Literal["unbounded"]
        personalization = self.personalization

        excess_risk: float | str
        if isinstance(self.excess_risk, str):
            excess_risk = self.excess_risk
        else:
            excess_risk = self.excess_risk

        optimisation: float | str
        if isinstance(self.optimisation, str):
            optimisation = self.optimisation
        else:
            optimisation = self.optimisation

        statistical: float | str
        if isinstance(self.statistical, str):
            statistical = self.statistical
        else:
            statistical = self.statistical

        privacy: float | str
        if isinstance(self.privacy, str):
            privacy = self.privacy
        else:
            privacy = self.privacy

        excess_risk_at_step: float | str
        if isinstance(self.excess_risk_at_step, str) or isinstance(self.excess_risk_at_step, str):
            excess_risk_at_step = self.excess_risk_at_step
        else:
            excess_risk_at_step = self.excess_risk_at_step

        proved_excess_risk: float | str
        if isinstance(self.proved_excess_risk, str) or isinstance(self.proved_excess_risk, str):
            proved_excess_risk = self.proved_excess_risk
        else:
            proved_excess_risk = self.proved_excess_risk

        step_size = self.step_size

        shared_step_size = self.shared_step_size

        local_step_size = self.local_step_size

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "personalization": personalization,
                "excess_risk": excess_risk,
                "optimisation": optimisation,
                "statistical": statistical,
                "privacy": privacy,
                "excess_risk_at_step": excess_risk_at_step,
                "proved_excess_risk": proved_excess_risk,
                "step_size": step_size,
                "shared_step_size": shared_step_size,
                "local_step_size": local_step_size,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        d = dict(src_dict)

        def _parse_personalization(data: object) -> float | Literal["unbounded"]:
            personalization_type_1 = cast(Literal["unbounded"], data)
            if personalization_type_1 != "unbounded":
                raise ValueError(f"personalization_type_1 must match const 'unbounded', got '{personalization_type_1}'")
            return personalization_type_1
            return cast(float | Literal["unbounded"], data)

        personalization = _parse_personalization(d.pop("personalization"))

        def _parse_excess_risk(data: object) -> float | SharingPointExcessRiskType1:
            try:
                if not isinstance(data, str):
                    raise TypeError()
                excess_risk_type_1 = check_sharing_point_excess_risk_type_1(data)

                return excess_risk_type_1
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(float | SharingPointExcessRiskType1, data)

        excess_risk = _parse_excess_risk(d.pop("excess_risk"))

        def _parse_optimisation(data: object) -> float | SharingPointOptimisationType1:
            try:
                if not isinstance(data, str):
                    raise TypeError()
                optimisation_type_1 = check_sharing_point_optimisation_type_1(data)

                return optimisation_type_1
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(float | SharingPointOptimisationType1, data)

        optimisation = _parse_optimisation(d.pop("optimisation"))

        def _parse_statistical(data: object) -> float | SharingPointStatisticalType1:
            try:
                if not isinstance(data, str):
                    raise TypeError()
                statistical_type_1 = check_sharing_point_statistical_type_1(data)

                return statistical_type_1
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(float | SharingPointStatisticalType1, data)

        statistical = _parse_statistical(d.pop("statistical"))

        def _parse_privacy(data: object) -> float | SharingPointPrivacyType1:
            try:
                if not isinstance(data, str):
                    raise TypeError()
                privacy_type_1 = check_sharing_point_privacy_type_1(data)

                return privacy_type_1
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(float | SharingPointPrivacyType1, data)

        privacy = _parse_privacy(d.pop("privacy"))

        def _parse_excess_risk_at_step(
            data: object,
        ) -> float | SharingPointExcessRiskAtStepType0Type1 | SharingPointExcessRiskAtStepType1:
            try:
                if not isinstance(data, str):
                    raise TypeError()
                excess_risk_at_step_type_0_type_1 = check_sharing_point_excess_risk_at_step_type_0_type_1(data)

                return excess_risk_at_step_type_0_type_1
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            try:
                if not isinstance(data, str):
                    raise TypeError()
                excess_risk_at_step_type_1 = check_sharing_point_excess_risk_at_step_type_1(data)

                return excess_risk_at_step_type_1
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(float | SharingPointExcessRiskAtStepType0Type1 | SharingPointExcessRiskAtStepType1, data)

        excess_risk_at_step = _parse_excess_risk_at_step(d.pop("excess_risk_at_step"))

        def _parse_proved_excess_risk(
            data: object,
        ) -> float | SharingPointProvedExcessRiskType0Type1 | SharingPointProvedExcessRiskType1:
            try:
                if not isinstance(data, str):
                    raise TypeError()
                proved_excess_risk_type_0_type_1 = check_sharing_point_proved_excess_risk_type_0_type_1(data)

                return proved_excess_risk_type_0_type_1
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            try:
                if not isinstance(data, str):
                    raise TypeError()
                proved_excess_risk_type_1 = check_sharing_point_proved_excess_risk_type_1(data)

                return proved_excess_risk_type_1
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(float | SharingPointProvedExcessRiskType0Type1 | SharingPointProvedExcessRiskType1, data)

        proved_excess_risk = _parse_proved_excess_risk(d.pop("proved_excess_risk"))

        step_size = d.pop("step_size")

        shared_step_size = d.pop("shared_step_size")

        local_step_size = d.pop("local_step_size")

        sharing_point = cls(
            personalization=personalization,
            excess_risk=excess_risk,
            optimisation=optimisation,
            statistical=statistical,
            privacy=privacy,
            excess_risk_at_step=excess_risk_at_step,
            proved_excess_risk=proved_excess_risk,
            step_size=step_size,
            shared_step_size=shared_step_size,
            local_step_size=local_step_size,
        )

        sharing_point.additional_properties = d
        return sharing_point

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
