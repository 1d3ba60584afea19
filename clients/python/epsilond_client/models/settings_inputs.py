from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self, TypeVar

from attrs import define as _attrs_define

from ..models.settings_inputs_experiment import (
    SettingsInputsExperiment,
    check_settings_inputs_experiment,
)

T = TypeVar("T", bound="SettingsInputs")


@_attrs_define
class SettingsInputs:
    """One of the experiments."""

    experiment: SettingsInputsExperiment

    def to_dict(self) -> dict[str, Any]:
        experiment: str = self.experiment

        field_dict: dict[str, Any] = {}

        field_dict.update(
            {
                "experiment": experiment,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        d = dict(src_dict)
        experiment = check_settings_inputs_experiment(d.pop("experiment"))

        settings_inputs = cls(
            experiment=experiment,
        )

        return settings_inputs
