from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

if TYPE_CHECKING:
    from ..models.ends import Ends


T = TypeVar("T", bound="BayesError")


@_attrs_define
class BayesError:
    """The best attacker who guesses which of two neighbours was used. One of them has the prior probability `prior`.

    Attributes:
        prior (float):
        error (Ends): A lower and an upper bound, between which the true value is.
        accuracy (Ends): A lower and an upper bound, between which the true value is.
    """

    prior: float
    error: Ends
    accuracy: Ends
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        prior = self.prior

        error = self.error.to_dict()

        accuracy = self.accuracy.to_dict()

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "prior": prior,
                "error": error,
                "accuracy": accuracy,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        from ..models.ends import Ends

        d = dict(src_dict)
        prior = d.pop("prior")

        error = Ends.from_dict(d.pop("error"))

        accuracy = Ends.from_dict(d.pop("accuracy"))

        bayes_error = cls(
            prior=prior,
            error=error,
            accuracy=accuracy,
        )

        bayes_error.additional_properties = d
        return bayes_error

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
