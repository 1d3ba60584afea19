from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

if TYPE_CHECKING:
    from ..models.prescribed_risk import PrescribedRisk
    from ..models.risk_bound import RiskBound


T = TypeVar("T", bound="Risk")


@_attrs_define
class Risk:
    """Excess risk to expect."""

    upper: RiskBound | Unset = UNSET
    """ One side of the excess risk. A `hidden` constant makes the value a rate, never a bound. """
    lower: RiskBound | Unset = UNSET
    """ One side of the excess risk. A `hidden` constant makes the value a rate, never a bound. """
    as_prescribed: PrescribedRisk | Unset = UNSET
    """ Our bound on the excess risk of the run that the printed theorem prescribes at the answer's batch size. """
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        upper: dict[str, Any] | Unset = UNSET
        if not isinstance(self.upper, Unset):
            upper = self.upper.to_dict()

        lower: dict[str, Any] | Unset = UNSET
        if not isinstance(self.lower, Unset):
            lower = self.lower.to_dict()

        as_prescribed: dict[str, Any] | Unset = UNSET
        if not isinstance(self.as_prescribed, Unset):
            as_prescribed = self.as_prescribed.to_dict()

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update({})
        if upper is not UNSET:
            field_dict["upper"] = upper
        if lower is not UNSET:
            field_dict["lower"] = lower
        if as_prescribed is not UNSET:
            field_dict["as_prescribed"] = as_prescribed

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        from ..models.prescribed_risk import PrescribedRisk
        from ..models.risk_bound import RiskBound

        d = dict(src_dict)
        _upper = d.pop("upper", UNSET)
        upper: RiskBound | Unset
        if isinstance(_upper, Unset):
            upper = UNSET
        else:
            upper = RiskBound.from_dict(_upper)

        _lower = d.pop("lower", UNSET)
        lower: RiskBound | Unset
        if isinstance(_lower, Unset):
            lower = UNSET
        else:
            lower = RiskBound.from_dict(_lower)

        _as_prescribed = d.pop("as_prescribed", UNSET)
        as_prescribed: PrescribedRisk | Unset
        if isinstance(_as_prescribed, Unset):
            as_prescribed = UNSET
        else:
            as_prescribed = PrescribedRisk.from_dict(_as_prescribed)

        risk = cls(
            upper=upper,
            lower=lower,
            as_prescribed=as_prescribed,
        )

        risk.additional_properties = d
        return risk

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
