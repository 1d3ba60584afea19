from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

if TYPE_CHECKING:
    from ..models.ends import Ends


T = TypeVar("T", bound="OverWindows")


@_attrs_define
class OverWindows:
    """The guarantee for all windows of a record or client together, at the first requested point, by group privacy.

    Attributes:
        windows (int):
        epsilon (Ends): A lower and an upper bound, between which the true value is.
        delta (Ends): A lower and an upper bound, between which the true value is.
        log10_delta (Ends): A lower and an upper bound, between which the true value is.
        theorem (str):
        in_words (str):
    """

    windows: int
    epsilon: Ends
    delta: Ends
    log10_delta: Ends
    theorem: str
    in_words: str
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        windows = self.windows

        epsilon = self.epsilon.to_dict()

        delta = self.delta.to_dict()

        log10_delta = self.log10_delta.to_dict()

        theorem = self.theorem

        in_words = self.in_words

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "windows": windows,
                "epsilon": epsilon,
                "delta": delta,
                "log10_delta": log10_delta,
                "theorem": theorem,
                "in_words": in_words,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        from ..models.ends import Ends

        d = dict(src_dict)
        windows = d.pop("windows")

        epsilon = Ends.from_dict(d.pop("epsilon"))

        delta = Ends.from_dict(d.pop("delta"))

        log10_delta = Ends.from_dict(d.pop("log10_delta"))

        theorem = d.pop("theorem")

        in_words = d.pop("in_words")

        over_windows = cls(
            windows=windows,
            epsilon=epsilon,
            delta=delta,
            log10_delta=log10_delta,
            theorem=theorem,
            in_words=in_words,
        )

        over_windows.additional_properties = d
        return over_windows

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
