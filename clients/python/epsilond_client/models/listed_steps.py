from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self, TypeVar, cast

from attrs import define as _attrs_define

from ..types import UNSET, Unset

T = TypeVar("T", bound="ListedSteps")


@_attrs_define
class ListedSteps:
    """The steps of a run, in order. `initial_distance`: of the two starts, 0 for a common one."""

    contractions: list[float]
    """ Lipschitz constant of each step's map, in order """
    shifts: list[float]
    """ most that each step's maps on neighbouring data differ """
    noises: list[float]
    """ noise per coordinate that each step adds to the model """
    initial_distance: float | Unset = 0.0
    """ distance of two means """

    def to_dict(self) -> dict[str, Any]:
        contractions = self.contractions

        shifts = self.shifts

        noises = self.noises

        initial_distance = self.initial_distance

        field_dict: dict[str, Any] = {}

        field_dict.update(
            {
                "contractions": contractions,
                "shifts": shifts,
                "noises": noises,
            }
        )
        if initial_distance is not UNSET:
            field_dict["initial_distance"] = initial_distance

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        d = dict(src_dict)
        contractions = cast(list[float], d.pop("contractions"))

        shifts = cast(list[float], d.pop("shifts"))

        noises = cast(list[float], d.pop("noises"))

        initial_distance = d.pop("initial_distance", UNSET)

        listed_steps = cls(
            contractions=contractions,
            shifts=shifts,
            noises=noises,
            initial_distance=initial_distance,
        )

        return listed_steps
