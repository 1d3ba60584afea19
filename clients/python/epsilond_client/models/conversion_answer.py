from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..models.unbounded import Unbounded

if TYPE_CHECKING:
    from ..models.by_conversion import ByConversion


T = TypeVar("T", bound="ConversionAnswer")


@_attrs_define
class ConversionAnswer:
    """Three conversions between (ε, δ) and the parameter μ of Gaussian differential privacy.

    The exact conversion needs the least noise. The last two fields say how much more noise the others need.

        Attributes:
            gaussian_dp_mu (ByConversion): One number, computed by three conversions between (ε, δ) and Gaussian
                differential privacy.
            epsilon (ByConversion): One number, computed by three conversions between (ε, δ) and Gaussian differential
                privacy.
            noise_over_exact (float | Unbounded): a number; "unbounded" or "-unbounded" if it is infinite
            zcdp_noise_over_exact (float | Unbounded): a number; "unbounded" or "-unbounded" if it is infinite
    """

    gaussian_dp_mu: ByConversion
    epsilon: ByConversion
    noise_over_exact: float | Unbounded
    zcdp_noise_over_exact: float | Unbounded
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        gaussian_dp_mu = self.gaussian_dp_mu.to_dict()

        epsilon = self.epsilon.to_dict()

        noise_over_exact: float | str
        if isinstance(self.noise_over_exact, Unbounded):
            noise_over_exact = self.noise_over_exact.value
        else:
            noise_over_exact = self.noise_over_exact

        zcdp_noise_over_exact: float | str
        if isinstance(self.zcdp_noise_over_exact, Unbounded):
            zcdp_noise_over_exact = self.zcdp_noise_over_exact.value
        else:
            zcdp_noise_over_exact = self.zcdp_noise_over_exact

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "gaussian_dp_mu": gaussian_dp_mu,
                "epsilon": epsilon,
                "noise_over_exact": noise_over_exact,
                "zcdp_noise_over_exact": zcdp_noise_over_exact,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        from ..models.by_conversion import ByConversion

        d = dict(src_dict)
        gaussian_dp_mu = ByConversion.from_dict(d.pop("gaussian_dp_mu"))

        epsilon = ByConversion.from_dict(d.pop("epsilon"))

        def _parse_noise_over_exact(data: object) -> float | Unbounded:
            try:
                if not isinstance(data, str):
                    raise TypeError()
                componentsschemas_figure_type_1 = Unbounded(data)

                return componentsschemas_figure_type_1
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(float | Unbounded, data)

        noise_over_exact = _parse_noise_over_exact(d.pop("noise_over_exact"))

        def _parse_zcdp_noise_over_exact(data: object) -> float | Unbounded:
            try:
                if not isinstance(data, str):
                    raise TypeError()
                componentsschemas_figure_type_1 = Unbounded(data)

                return componentsschemas_figure_type_1
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(float | Unbounded, data)

        zcdp_noise_over_exact = _parse_zcdp_noise_over_exact(
            d.pop("zcdp_noise_over_exact")
        )

        conversion_answer = cls(
            gaussian_dp_mu=gaussian_dp_mu,
            epsilon=epsilon,
            noise_over_exact=noise_over_exact,
            zcdp_noise_over_exact=zcdp_noise_over_exact,
        )

        conversion_answer.additional_properties = d
        return conversion_answer

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
