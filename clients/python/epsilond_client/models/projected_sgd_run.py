from __future__ import annotations

from collections.abc import Mapping
from typing import (
    TYPE_CHECKING,
    Any,
    Literal,
    Self,
    TypeVar,
    cast,
)

from attrs import define as _attrs_define

from ..models.projected_sgd_run_batches import (
    ProjectedSgdRunBatches,
    check_projected_sgd_run_batches,
)
from ..models.projected_sgd_run_release import (
    ProjectedSgdRunRelease,
    check_projected_sgd_run_release,
)
from ..types import UNSET, Unset

if TYPE_CHECKING:
    from ..models.constant import Constant
    from ..models.explicit import Explicit
    from ..models.inverse_time import InverseTime


T = TypeVar("T", bound="ProjectedSgdRun")


@_attrs_define
class ProjectedSgdRun:
    """Absent noise is calibrated, 0 is none. `rounds` absent: one pass of ⌊n/m⌋ steps.

    `batches` and `release` are those of the spec. `noise_schedule` is a shape that is scaled so that its least value is
    `noise_std`.

    """

    algorithm: Literal["projected-sgd"]
    """ which algorithm this is """
    participants: int
    """ clients that report in one round """
    step_schedule: Constant | Explicit | InverseTime
    rounds: int | Unset = UNSET
    """ communication rounds """
    batches: ProjectedSgdRunBatches | Unset = UNSET
    noise_std: float | Unset = UNSET
    """ standard deviation per coordinate of one client's noise, at the step where it is least; the mean of m
    clients carries σ/√m """
    noise_schedule: Constant | Explicit | InverseTime | Unset = UNSET
    release: ProjectedSgdRunRelease | Unset = UNSET
    suffix_fraction: float | Unset = UNSET
    """ the released step is uniform on ⌈αT⌉, …, T (release `suffix` only) """

    def to_dict(self) -> dict[str, Any]:
        from ..models.constant import Constant
        from ..models.inverse_time import InverseTime

        algorithm = self.algorithm

        participants = self.participants

        step_schedule: dict[str, Any]
        if isinstance(self.step_schedule, Constant) or isinstance(self.step_schedule, InverseTime):
            step_schedule = self.step_schedule.to_dict()
        else:
            step_schedule = self.step_schedule.to_dict()

        rounds = self.rounds

        batches: str | Unset = UNSET
        if not isinstance(self.batches, Unset):
            batches = self.batches

        noise_std = self.noise_std

        noise_schedule: dict[str, Any] | Unset
        if isinstance(self.noise_schedule, Unset):
            noise_schedule = UNSET
        elif isinstance(self.noise_schedule, Constant) or isinstance(self.noise_schedule, InverseTime):
            noise_schedule = self.noise_schedule.to_dict()
        else:
            noise_schedule = self.noise_schedule.to_dict()

        release: str | Unset = UNSET
        if not isinstance(self.release, Unset):
            release = self.release

        suffix_fraction = self.suffix_fraction

        field_dict: dict[str, Any] = {}

        field_dict.update(
            {
                "algorithm": algorithm,
                "participants": participants,
                "step_schedule": step_schedule,
            }
        )
        if rounds is not UNSET:
            field_dict["rounds"] = rounds
        if batches is not UNSET:
            field_dict["batches"] = batches
        if noise_std is not UNSET:
            field_dict["noise_std"] = noise_std
        if noise_schedule is not UNSET:
            field_dict["noise_schedule"] = noise_schedule
        if release is not UNSET:
            field_dict["release"] = release
        if suffix_fraction is not UNSET:
            field_dict["suffix_fraction"] = suffix_fraction

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        from ..models.constant import Constant
        from ..models.explicit import Explicit
        from ..models.inverse_time import InverseTime

        d = dict(src_dict)
        algorithm = cast(Literal["projected-sgd"], d.pop("algorithm"))
        if algorithm != "projected-sgd":
            raise ValueError(f"algorithm must match const 'projected-sgd', got '{algorithm}'")

        participants = d.pop("participants")

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

        rounds = d.pop("rounds", UNSET)

        _batches = d.pop("batches", UNSET)
        batches: ProjectedSgdRunBatches | Unset
        if isinstance(_batches, Unset):
            batches = UNSET
        else:
            batches = check_projected_sgd_run_batches(_batches)

        noise_std = d.pop("noise_std", UNSET)

        def _parse_noise_schedule(data: object) -> Constant | Explicit | InverseTime | Unset:
            if isinstance(data, Unset):
                return data
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

        noise_schedule = _parse_noise_schedule(d.pop("noise_schedule", UNSET))

        _release = d.pop("release", UNSET)
        release: ProjectedSgdRunRelease | Unset
        if isinstance(_release, Unset):
            release = UNSET
        else:
            release = check_projected_sgd_run_release(_release)

        suffix_fraction = d.pop("suffix_fraction", UNSET)

        projected_sgd_run = cls(
            algorithm=algorithm,
            participants=participants,
            step_schedule=step_schedule,
            rounds=rounds,
            batches=batches,
            noise_std=noise_std,
            noise_schedule=noise_schedule,
            release=release,
            suffix_fraction=suffix_fraction,
        )

        return projected_sgd_run
