from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

if TYPE_CHECKING:
    from ..models.constant import Constant
    from ..models.explicit import Explicit
    from ..models.feasible import Feasible
    from ..models.inverse_time import InverseTime


T = TypeVar("T", bound="ProjectedSgdParameters")


@_attrs_define
class ProjectedSgdParameters:
    """What to run with."""

    noise_std: float
    """ σ per coordinate of one client's noise, the least of all steps; their mean carries σ/√m """
    noise_multiplier: float
    """ that σ over the norm bound of one client's gradient """
    mean_noise_std: float
    """ σ/√m, what the mean of a batch carries in that step """
    participants: int
    """ clients in a batch """
    rounds: int
    """ steps of the pass: whole batches, clients left over never take part """
    step_size: float
    """ the largest step size """
    step_schedule: Constant | Explicit | InverseTime
    noise_schedule: Constant | Explicit | InverseTime
    feasible_participants: list[Feasible] | Unset = UNSET
    """ solved for participants: all batch sizes found that meet the target """
    every_batch_size_tried: bool | Unset = UNSET
    """ whether no other batch size does """
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        from ..models.constant import Constant
        from ..models.inverse_time import InverseTime

        noise_std = self.noise_std

        noise_multiplier = self.noise_multiplier

        mean_noise_std = self.mean_noise_std

        participants = self.participants

        rounds = self.rounds

        step_size = self.step_size

        step_schedule: dict[str, Any]
        if isinstance(self.step_schedule, Constant) or isinstance(self.step_schedule, InverseTime):
            step_schedule = self.step_schedule.to_dict()
        else:
            step_schedule = self.step_schedule.to_dict()

        noise_schedule: dict[str, Any]
        if isinstance(self.noise_schedule, Constant) or isinstance(self.noise_schedule, InverseTime):
            noise_schedule = self.noise_schedule.to_dict()
        else:
            noise_schedule = self.noise_schedule.to_dict()

        feasible_participants: list[dict[str, Any]] | Unset = UNSET
        if not isinstance(self.feasible_participants, Unset):
            feasible_participants = []
            for feasible_participants_item_data in self.feasible_participants:
                feasible_participants_item = feasible_participants_item_data.to_dict()
                feasible_participants.append(feasible_participants_item)

        every_batch_size_tried = self.every_batch_size_tried

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "noise_std": noise_std,
                "noise_multiplier": noise_multiplier,
                "mean_noise_std": mean_noise_std,
                "participants": participants,
                "rounds": rounds,
                "step_size": step_size,
                "step_schedule": step_schedule,
                "noise_schedule": noise_schedule,
            }
        )
        if feasible_participants is not UNSET:
            field_dict["feasible_participants"] = feasible_participants
        if every_batch_size_tried is not UNSET:
            field_dict["every_batch_size_tried"] = every_batch_size_tried

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        from ..models.constant import Constant
        from ..models.explicit import Explicit
        from ..models.feasible import Feasible
        from ..models.inverse_time import InverseTime

        d = dict(src_dict)
        noise_std = d.pop("noise_std")

        noise_multiplier = d.pop("noise_multiplier")

        mean_noise_std = d.pop("mean_noise_std")

        participants = d.pop("participants")

        rounds = d.pop("rounds")

        step_size = d.pop("step_size")

        def _parse_step_schedule(data: object) -> Constant | Explicit | InverseTime:
            try:
                if not isinstance(data, dict):
                    raise TypeError()
                componentsschemas_schedule_type_0 = Constant.from_dict(data)

                return componentsschemas_schedule_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            try:
                if not isinstance(data, dict):
                    raise TypeError()
                componentsschemas_schedule_type_1 = InverseTime.from_dict(data)

                return componentsschemas_schedule_type_1
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            if not isinstance(data, dict):
                raise TypeError()
            componentsschemas_schedule_type_2 = Explicit.from_dict(data)

            return componentsschemas_schedule_type_2

        step_schedule = _parse_step_schedule(d.pop("step_schedule"))

        def _parse_noise_schedule(data: object) -> Constant | Explicit | InverseTime:
            try:
                if not isinstance(data, dict):
                    raise TypeError()
                componentsschemas_schedule_type_0 = Constant.from_dict(data)

                return componentsschemas_schedule_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            try:
                if not isinstance(data, dict):
                    raise TypeError()
                componentsschemas_schedule_type_1 = InverseTime.from_dict(data)

                return componentsschemas_schedule_type_1
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            if not isinstance(data, dict):
                raise TypeError()
            componentsschemas_schedule_type_2 = Explicit.from_dict(data)

            return componentsschemas_schedule_type_2

        noise_schedule = _parse_noise_schedule(d.pop("noise_schedule"))

        _feasible_participants = d.pop("feasible_participants", UNSET)
        feasible_participants: list[Feasible] | Unset = UNSET
        if _feasible_participants is not UNSET:
            feasible_participants = []
            for feasible_participants_item_data in _feasible_participants:
                feasible_participants_item = Feasible.from_dict(feasible_participants_item_data)

                feasible_participants.append(feasible_participants_item)

        every_batch_size_tried = d.pop("every_batch_size_tried", UNSET)

        projected_sgd_parameters = cls(
            noise_std=noise_std,
            noise_multiplier=noise_multiplier,
            mean_noise_std=mean_noise_std,
            participants=participants,
            rounds=rounds,
            step_size=step_size,
            step_schedule=step_schedule,
            noise_schedule=noise_schedule,
            feasible_participants=feasible_participants,
            every_batch_size_tried=every_batch_size_tried,
        )

        projected_sgd_parameters.additional_properties = d
        return projected_sgd_parameters

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
