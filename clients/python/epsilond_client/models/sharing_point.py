from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..models.unbounded import Unbounded

T = TypeVar("T", bound="SharingPoint")


@_attrs_define
class SharingPoint:
    """Bounds on the excess risk at one degree of sharing α (`personalization`), and the step sizes that they are for.

    `excess_risk` is optimisation + √(statistical² + privacy²), the closed form of the theorem. The other two bounds
    are not larger. α is the step size of the shared part over N times that of a client's own part, for N clients.

        Attributes:
            personalization (float | Unbounded): a number; "unbounded" or "-unbounded" if it is infinite
            excess_risk (float | Unbounded): a number; "unbounded" or "-unbounded" if it is infinite
            optimisation (float | Unbounded): a number; "unbounded" or "-unbounded" if it is infinite
            statistical (float | Unbounded): a number; "unbounded" or "-unbounded" if it is infinite
            privacy (float | Unbounded): a number; "unbounded" or "-unbounded" if it is infinite
            excess_risk_at_step (float | Unbounded): a number; "unbounded" or "-unbounded" if it is infinite
            proved_excess_risk (float | Unbounded): a number; "unbounded" or "-unbounded" if it is infinite
            step_size (float): step size η in the theorem; 0 if only the shared part learns
            shared_step_size (float): step size of the shared part of the model, for the noisy average of the shared
                gradients
            local_step_size (float): step size of a client's own part: step_size divided by participation_rate and by the
                sum of the clients' weights
    """

    personalization: float | Unbounded
    excess_risk: float | Unbounded
    optimisation: float | Unbounded
    statistical: float | Unbounded
    privacy: float | Unbounded
    excess_risk_at_step: float | Unbounded
    proved_excess_risk: float | Unbounded
    step_size: float
    shared_step_size: float
    local_step_size: float
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        personalization: float | str
        if isinstance(self.personalization, Unbounded):
            personalization = self.personalization.value
        else:
            personalization = self.personalization

        excess_risk: float | str
        if isinstance(self.excess_risk, Unbounded):
            excess_risk = self.excess_risk.value
        else:
            excess_risk = self.excess_risk

        optimisation: float | str
        if isinstance(self.optimisation, Unbounded):
            optimisation = self.optimisation.value
        else:
            optimisation = self.optimisation

        statistical: float | str
        if isinstance(self.statistical, Unbounded):
            statistical = self.statistical.value
        else:
            statistical = self.statistical

        privacy: float | str
        if isinstance(self.privacy, Unbounded):
            privacy = self.privacy.value
        else:
            privacy = self.privacy

        excess_risk_at_step: float | str
        if isinstance(self.excess_risk_at_step, Unbounded):
            excess_risk_at_step = self.excess_risk_at_step.value
        else:
            excess_risk_at_step = self.excess_risk_at_step

        proved_excess_risk: float | str
        if isinstance(self.proved_excess_risk, Unbounded):
            proved_excess_risk = self.proved_excess_risk.value
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

        def _parse_personalization(data: object) -> float | Unbounded:
            try:
                if not isinstance(data, str):
                    raise TypeError()
                componentsschemas_figure_type_1 = Unbounded(data)

                return componentsschemas_figure_type_1
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(float | Unbounded, data)

        personalization = _parse_personalization(d.pop("personalization"))

        def _parse_excess_risk(data: object) -> float | Unbounded:
            try:
                if not isinstance(data, str):
                    raise TypeError()
                componentsschemas_figure_type_1 = Unbounded(data)

                return componentsschemas_figure_type_1
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(float | Unbounded, data)

        excess_risk = _parse_excess_risk(d.pop("excess_risk"))

        def _parse_optimisation(data: object) -> float | Unbounded:
            try:
                if not isinstance(data, str):
                    raise TypeError()
                componentsschemas_figure_type_1 = Unbounded(data)

                return componentsschemas_figure_type_1
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(float | Unbounded, data)

        optimisation = _parse_optimisation(d.pop("optimisation"))

        def _parse_statistical(data: object) -> float | Unbounded:
            try:
                if not isinstance(data, str):
                    raise TypeError()
                componentsschemas_figure_type_1 = Unbounded(data)

                return componentsschemas_figure_type_1
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(float | Unbounded, data)

        statistical = _parse_statistical(d.pop("statistical"))

        def _parse_privacy(data: object) -> float | Unbounded:
            try:
                if not isinstance(data, str):
                    raise TypeError()
                componentsschemas_figure_type_1 = Unbounded(data)

                return componentsschemas_figure_type_1
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(float | Unbounded, data)

        privacy = _parse_privacy(d.pop("privacy"))

        def _parse_excess_risk_at_step(data: object) -> float | Unbounded:
            try:
                if not isinstance(data, str):
                    raise TypeError()
                componentsschemas_figure_type_1 = Unbounded(data)

                return componentsschemas_figure_type_1
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(float | Unbounded, data)

        excess_risk_at_step = _parse_excess_risk_at_step(d.pop("excess_risk_at_step"))

        def _parse_proved_excess_risk(data: object) -> float | Unbounded:
            try:
                if not isinstance(data, str):
                    raise TypeError()
                componentsschemas_figure_type_1 = Unbounded(data)

                return componentsschemas_figure_type_1
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(float | Unbounded, data)

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
