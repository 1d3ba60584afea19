from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

if TYPE_CHECKING:
    from ..models.averaging import Averaging
    from ..models.group_parameters import GroupParameters


T = TypeVar("T", bound="MbSgdParameters")


@_attrs_define
class MbSgdParameters:
    """What to run with. A figure in which client groups differ stands in `groups` alone: none of them is everyone's."""

    batch_size: int
    """ records of one client per round, of a client with samples_per_client records """
    rounds: int
    """ communication rounds """
    noise_std: float | Unset = UNSET
    """ σ per coordinate, added by each client to its mean of batch_size gradients; absent if groups differ """
    noise_multiplier: float | Unset = UNSET
    """ σ over the norm bound of one protected contribution to that mean; absent if groups differ """
    step_size: float | Unset = UNSET
    """ absent where no risk bound applies """
    averaging: Averaging | Unset = UNSET
    """ The iterates w_1, …, w_R are averaged with weights growing by `ratio` from one to the next. """
    envelope_smoothness: float | Unset = UNSET
    """ without smoothness: b of the Moreau envelope of each (weighted) loss, whose gradients are sent """
    groups: list[GroupParameters] | Unset = UNSET
    """ what each of client_groups is to run with """
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        batch_size = self.batch_size

        rounds = self.rounds

        noise_std = self.noise_std

        noise_multiplier = self.noise_multiplier

        step_size = self.step_size

        averaging: dict[str, Any] | Unset = UNSET
        if not isinstance(self.averaging, Unset):
            averaging = self.averaging.to_dict()

        envelope_smoothness = self.envelope_smoothness

        groups: list[dict[str, Any]] | Unset = UNSET
        if not isinstance(self.groups, Unset):
            groups = []
            for groups_item_data in self.groups:
                groups_item = groups_item_data.to_dict()
                groups.append(groups_item)

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "batch_size": batch_size,
                "rounds": rounds,
            }
        )
        if noise_std is not UNSET:
            field_dict["noise_std"] = noise_std
        if noise_multiplier is not UNSET:
            field_dict["noise_multiplier"] = noise_multiplier
        if step_size is not UNSET:
            field_dict["step_size"] = step_size
        if averaging is not UNSET:
            field_dict["averaging"] = averaging
        if envelope_smoothness is not UNSET:
            field_dict["envelope_smoothness"] = envelope_smoothness
        if groups is not UNSET:
            field_dict["groups"] = groups

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        from ..models.averaging import Averaging
        from ..models.group_parameters import GroupParameters

        d = dict(src_dict)
        batch_size = d.pop("batch_size")

        rounds = d.pop("rounds")

        noise_std = d.pop("noise_std", UNSET)

        noise_multiplier = d.pop("noise_multiplier", UNSET)

        step_size = d.pop("step_size", UNSET)

        _averaging = d.pop("averaging", UNSET)
        averaging: Averaging | Unset
        if isinstance(_averaging, Unset):
            averaging = UNSET
        else:
            averaging = Averaging.from_dict(_averaging)

        envelope_smoothness = d.pop("envelope_smoothness", UNSET)

        _groups = d.pop("groups", UNSET)
        groups: list[GroupParameters] | Unset = UNSET
        if _groups is not UNSET:
            groups = []
            for groups_item_data in _groups:
                groups_item = GroupParameters.from_dict(groups_item_data)

                groups.append(groups_item)

        mb_sgd_parameters = cls(
            batch_size=batch_size,
            rounds=rounds,
            noise_std=noise_std,
            noise_multiplier=noise_multiplier,
            step_size=step_size,
            averaging=averaging,
            envelope_smoothness=envelope_smoothness,
            groups=groups,
        )

        mb_sgd_parameters.additional_properties = d
        return mb_sgd_parameters

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
