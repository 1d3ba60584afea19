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

T = TypeVar("T", bound="RandomizedResponse")


@_attrs_define
class RandomizedResponse:
    """Each record reports its own category with probability e^ε/(e^ε + k − 1), any other one with 1/(e^ε + k − 1).

    `epsilon` is meant for replacing a record's category by another, whatever the request's relation.

    Admits: reports that are seen with the names of their records, so that a batch shows who is in it and a draw only
    thins (δ' = q δ at the same ε). For reports without names or order say `shuffled`. A zeroed record is answered as
    some category would be, fixed or random; an absent one sends nothing, so nothing bounds add-or-remove-one.

    """

    kind: Literal["randomized_response"]
    """ which mechanism this is """
    epsilon: float
    """ privacy loss bound ε of (ε, δ), natural logs """
    categories: int
    """ categories a report is one of """

    def to_dict(self) -> dict[str, Any]:
        kind = self.kind

        epsilon = self.epsilon

        categories = self.categories

        field_dict: dict[str, Any] = {}

        field_dict.update(
            {
                "kind": kind,
                "epsilon": epsilon,
                "categories": categories,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        d = dict(src_dict)
        kind = cast(Literal["randomized_response"], d.pop("kind"))
        if kind != "randomized_response":
            raise ValueError(f"kind must match const 'randomized_response', got '{kind}'")

        epsilon = d.pop("epsilon")

        categories = d.pop("categories")

        randomized_response = cls(
            kind=kind,
            epsilon=epsilon,
            categories=categories,
        )

        return randomized_response
