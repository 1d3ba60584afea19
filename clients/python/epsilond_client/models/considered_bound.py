from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..models.considered_bound_log_10_delta_type_0_type_1 import (
    ConsideredBoundLog10DeltaType0Type1,
    check_considered_bound_log_10_delta_type_0_type_1,
)
from ..models.considered_bound_log_10_delta_type_1 import (
    ConsideredBoundLog10DeltaType1,
    check_considered_bound_log_10_delta_type_1,
)
from ..models.observer import Observer, check_observer
from ..types import UNSET, Unset

T = TypeVar("T", bound="ConsideredBound")


@_attrs_define
class ConsideredBound:
    """A bound that was tried at the answer's parameters; the least of those for the answer's observer is returned."""

    theorem: str
    observer: Observer
    applies: bool
    reason: str | Unset = UNSET
    """ why it does not apply """
    log10_delta: ConsideredBoundLog10DeltaType0Type1 | ConsideredBoundLog10DeltaType1 | float | Unset = UNSET
    """ its upper end at the target ε """
    delta: float | Unset = UNSET
    """ absent where it is below every double """
    least: bool | Unset = UNSET
    """ whether no other bound for this observer is smaller """
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        theorem = self.theorem

        observer: str = self.observer

        applies = self.applies

        reason = self.reason

        log10_delta: float | str | Unset
        if isinstance(self.log10_delta, Unset):
            log10_delta = UNSET
        elif isinstance(self.log10_delta, str) or isinstance(self.log10_delta, str):
            log10_delta = self.log10_delta
        else:
            log10_delta = self.log10_delta

        delta = self.delta

        least = self.least

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "theorem": theorem,
                "observer": observer,
                "applies": applies,
            }
        )
        if reason is not UNSET:
            field_dict["reason"] = reason
        if log10_delta is not UNSET:
            field_dict["log10_delta"] = log10_delta
        if delta is not UNSET:
            field_dict["delta"] = delta
        if least is not UNSET:
            field_dict["least"] = least

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        d = dict(src_dict)
        theorem = d.pop("theorem")

        observer = check_observer(d.pop("observer"))

        applies = d.pop("applies")

        reason = d.pop("reason", UNSET)

        def _parse_log10_delta(
            data: object,
        ) -> ConsideredBoundLog10DeltaType0Type1 | ConsideredBoundLog10DeltaType1 | float | Unset:
            if isinstance(data, Unset):
                return data
            try:
                if not isinstance(data, str):
                    raise TypeError()
                log10_delta_type_0_type_1 = check_considered_bound_log_10_delta_type_0_type_1(data)

                return log10_delta_type_0_type_1
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            try:
                if not isinstance(data, str):
                    raise TypeError()
                log10_delta_type_1 = check_considered_bound_log_10_delta_type_1(data)

                return log10_delta_type_1
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(ConsideredBoundLog10DeltaType0Type1 | ConsideredBoundLog10DeltaType1 | float | Unset, data)

        log10_delta = _parse_log10_delta(d.pop("log10_delta", UNSET))

        delta = d.pop("delta", UNSET)

        least = d.pop("least", UNSET)

        considered_bound = cls(
            theorem=theorem,
            observer=observer,
            applies=applies,
            reason=reason,
            log10_delta=log10_delta,
            delta=delta,
            least=least,
        )

        considered_bound.additional_properties = d
        return considered_bound

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
