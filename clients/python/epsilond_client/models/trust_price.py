from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..models.definition import Definition
from ..models.rank_by import RankBy
from ..types import UNSET, Unset

if TYPE_CHECKING:
    from ..models.guarantee_kind import GuaranteeKind


T = TypeVar("T", bound="TrustPrice")


@_attrs_define
class TrustPrice:
    """The best entry of a plan under one kind of trust, and its risk relative to the best kind (`price`).

    Attributes:
        definition (Definition):
        in_words (str): who is trusted, and with what, in words
        best (str | Unset): name of the best entry under this kind of trust. Absent if no entry keeps to the limits and
            is shown to improve on the initial model
        guarantee (GuaranteeKind | Unset): The kind of a guarantee: trust model, protected unit, neighbouring relation
            and adversary.
        remaining_share (float | Unset): remaining_share of the best entry; absent if there is no best entry
        basis (RankBy | Unset):
        price (float | Unset): remaining_share of the best entry, divided by the smallest remaining_share over all kinds
            of trust; 1 is the best
    """

    definition: Definition
    in_words: str
    best: str | Unset = UNSET
    guarantee: GuaranteeKind | Unset = UNSET
    remaining_share: float | Unset = UNSET
    basis: RankBy | Unset = UNSET
    price: float | Unset = UNSET
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        definition = self.definition.value

        in_words = self.in_words

        best = self.best

        guarantee: dict[str, Any] | Unset = UNSET
        if not isinstance(self.guarantee, Unset):
            guarantee = self.guarantee.to_dict()

        remaining_share = self.remaining_share

        basis: str | Unset = UNSET
        if not isinstance(self.basis, Unset):
            basis = self.basis.value

        price = self.price

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "definition": definition,
                "in_words": in_words,
            }
        )
        if best is not UNSET:
            field_dict["best"] = best
        if guarantee is not UNSET:
            field_dict["guarantee"] = guarantee
        if remaining_share is not UNSET:
            field_dict["remaining_share"] = remaining_share
        if basis is not UNSET:
            field_dict["basis"] = basis
        if price is not UNSET:
            field_dict["price"] = price

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        from ..models.guarantee_kind import GuaranteeKind

        d = dict(src_dict)
        definition = Definition(d.pop("definition"))

        in_words = d.pop("in_words")

        best = d.pop("best", UNSET)

        _guarantee = d.pop("guarantee", UNSET)
        guarantee: GuaranteeKind | Unset
        if isinstance(_guarantee, Unset):
            guarantee = UNSET
        else:
            guarantee = GuaranteeKind.from_dict(_guarantee)

        remaining_share = d.pop("remaining_share", UNSET)

        _basis = d.pop("basis", UNSET)
        basis: RankBy | Unset
        if isinstance(_basis, Unset):
            basis = UNSET
        else:
            basis = RankBy(_basis)

        price = d.pop("price", UNSET)

        trust_price = cls(
            definition=definition,
            in_words=in_words,
            best=best,
            guarantee=guarantee,
            remaining_share=remaining_share,
            basis=basis,
            price=price,
        )

        trust_price.additional_properties = d
        return trust_price

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
