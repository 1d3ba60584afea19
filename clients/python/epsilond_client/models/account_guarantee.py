from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..models.observer import Observer, check_observer
from ..models.relation import Relation, check_relation
from ..models.tightness import Tightness, check_tightness
from ..models.unit import Unit, check_unit

if TYPE_CHECKING:
    from ..models.ends import Ends


T = TypeVar("T", bound="AccountGuarantee")


@_attrs_define
class AccountGuarantee:
    """What is guaranteed at the first point asked."""

    in_words: str
    """ what is protected, against whom, who is trusted and what the draws hide """
    unit: Unit
    relation: Relation
    observer: Observer
    tight: Tightness
    epsilon: Ends
    """ A two-sided enclosure: lower ≤ truth ≤ upper. """
    delta: Ends
    """ A two-sided enclosure: lower ≤ truth ≤ upper. """
    log10_delta: Ends
    """ A two-sided enclosure: lower ≤ truth ≤ upper. """
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        in_words = self.in_words

        unit: str = self.unit

        relation: str = self.relation

        observer: str = self.observer

        tight: str = self.tight

        epsilon = self.epsilon.to_dict()

        delta = self.delta.to_dict()

        log10_delta = self.log10_delta.to_dict()

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "in_words": in_words,
                "unit": unit,
                "relation": relation,
                "observer": observer,
                "tight": tight,
                "epsilon": epsilon,
                "delta": delta,
                "log10_delta": log10_delta,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        from ..models.ends import Ends

        d = dict(src_dict)
        in_words = d.pop("in_words")

        unit = check_unit(d.pop("unit"))

        relation = check_relation(d.pop("relation"))

        observer = check_observer(d.pop("observer"))

        tight = check_tightness(d.pop("tight"))

        epsilon = Ends.from_dict(d.pop("epsilon"))

        delta = Ends.from_dict(d.pop("delta"))

        log10_delta = Ends.from_dict(d.pop("log10_delta"))

        account_guarantee = cls(
            in_words=in_words,
            unit=unit,
            relation=relation,
            observer=observer,
            tight=tight,
            epsilon=epsilon,
            delta=delta,
            log10_delta=log10_delta,
        )

        account_guarantee.additional_properties = d
        return account_guarantee

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
