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

from ..types import UNSET, Unset

T = TypeVar("T", bound="FedavgRun")


@_attrs_define
class FedavgRun:
    """Absent: the step of Das et al., Theorem 4: η = ζ/(c̄LE); losses are convex, ζ = 1. There is no noise."""

    algorithm: Literal["fedavg"]
    """ which algorithm this is """
    participants: int
    """ clients that report in one round """
    rounds: int
    """ communication rounds """
    local_steps: int
    """ gradient steps of one client per round """
    local_step_size: float | Unset = UNSET
    """ step size """

    def to_dict(self) -> dict[str, Any]:
        algorithm = self.algorithm

        participants = self.participants

        rounds = self.rounds

        local_steps = self.local_steps

        local_step_size = self.local_step_size

        field_dict: dict[str, Any] = {}

        field_dict.update(
            {
                "algorithm": algorithm,
                "participants": participants,
                "rounds": rounds,
                "local_steps": local_steps,
            }
        )
        if local_step_size is not UNSET:
            field_dict["local_step_size"] = local_step_size

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        d = dict(src_dict)
        algorithm = cast(Literal["fedavg"], d.pop("algorithm"))
        if algorithm != "fedavg":
            raise ValueError(f"algorithm must match const 'fedavg', got '{algorithm}'")

        participants = d.pop("participants")

        rounds = d.pop("rounds")

        local_steps = d.pop("local_steps")

        local_step_size = d.pop("local_step_size", UNSET)

        fedavg_run = cls(
            algorithm=algorithm,
            participants=participants,
            rounds=rounds,
            local_steps=local_steps,
            local_step_size=local_step_size,
        )

        return fedavg_run
