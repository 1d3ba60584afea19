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

from ..models.preset_simulation_preset import (
    PresetSimulationPreset,
    check_preset_simulation_preset,
)
from ..types import UNSET, Unset

T = TypeVar("T", bound="PresetSimulation")


@_attrs_define
class PresetSimulation:
    """An experiment by its name. What is absent is as the experiment has it."""

    kind: Literal["preset"]
    """ which kind of simulation this is """
    preset: PresetSimulationPreset
    repetitions: int | Unset = UNSET
    """ independent repetitions, each with its own randomness """
    seed: int | Unset = 0
    """ the same seed gives the same answer """

    def to_dict(self) -> dict[str, Any]:
        kind = self.kind

        preset: str = self.preset

        repetitions = self.repetitions

        seed = self.seed

        field_dict: dict[str, Any] = {}

        field_dict.update(
            {
                "kind": kind,
                "preset": preset,
            }
        )
        if repetitions is not UNSET:
            field_dict["repetitions"] = repetitions
        if seed is not UNSET:
            field_dict["seed"] = seed

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        d = dict(src_dict)
        kind = cast(Literal["preset"], d.pop("kind"))
        if kind != "preset":
            raise ValueError(f"kind must match const 'preset', got '{kind}'")

        preset = check_preset_simulation_preset(d.pop("preset"))

        repetitions = d.pop("repetitions", UNSET)

        seed = d.pop("seed", UNSET)

        preset_simulation = cls(
            kind=kind,
            preset=preset,
            repetitions=repetitions,
            seed=seed,
        )

        return preset_simulation
