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

from ..models.observer import Observer, check_observer
from ..types import UNSET, Unset

T = TypeVar("T", bound="NormFedavgRun")


@_attrs_define
class NormFedavgRun:
    """Absent noise is calibrated; `noise_levels` 0 is none, and with no grid either the unit update is sent as it is.

    Absent steps are those of the paper for the run's own noise: η = ζ/(4LE√(1 + γ/r)) with γ the mean squared error of
    a message, and β/η as makes its bound least; losses are convex, ζ = 1.
    `printed_noise_levels`, `printed_decay_rate` are the noise that the paper's Theorem 1 prescribes, set beside it as
    `as-printed`; `raised_noise_levels`, `raised_decay_rate` are its decay with as many levels as make it true:
    `as-printed-raised`. Both are computed where noise is calibrated.

    """

    algorithm: Literal["norm-fedavg"]
    """ which algorithm this is """
    participants: int
    """ clients that report in one round """
    rounds: int
    """ communication rounds """
    local_steps: int
    """ gradient steps of one client per round """
    local_step_size: float | Unset = UNSET
    """ step size """
    server_step_size: float | Unset = UNSET
    """ the server's step, times a unit update """
    quantization_levels: int | Unset = UNSET
    """ grid steps per unit: coordinates in [−1, 1] are rounded to multiples of 1/s """
    noise_levels: int | Unset = UNSET
    """ largest absolute value of truncated integer noise """
    decay_rate: float | Unset = UNSET
    """ decay of integer noise: its probability at y is proportional to e^(−α|y|) """
    printed_noise_levels: int | Unset = UNSET
    """ largest absolute value of truncated integer noise """
    printed_decay_rate: float | Unset = UNSET
    """ decay of integer noise: its probability at y is proportional to e^(−α|y|) """
    raised_noise_levels: int | Unset = UNSET
    """ largest absolute value of truncated integer noise """
    raised_decay_rate: float | Unset = UNSET
    """ decay of integer noise: its probability at y is proportional to e^(−α|y|) """
    observer: Observer | Unset = UNSET

    def to_dict(self) -> dict[str, Any]:
        algorithm = self.algorithm

        participants = self.participants

        rounds = self.rounds

        local_steps = self.local_steps

        local_step_size = self.local_step_size

        server_step_size = self.server_step_size

        quantization_levels = self.quantization_levels

        noise_levels = self.noise_levels

        decay_rate = self.decay_rate

        printed_noise_levels = self.printed_noise_levels

        printed_decay_rate = self.printed_decay_rate

        raised_noise_levels = self.raised_noise_levels

        raised_decay_rate = self.raised_decay_rate

        observer: str | Unset = UNSET
        if not isinstance(self.observer, Unset):
            observer = self.observer

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
        if server_step_size is not UNSET:
            field_dict["server_step_size"] = server_step_size
        if quantization_levels is not UNSET:
            field_dict["quantization_levels"] = quantization_levels
        if noise_levels is not UNSET:
            field_dict["noise_levels"] = noise_levels
        if decay_rate is not UNSET:
            field_dict["decay_rate"] = decay_rate
        if printed_noise_levels is not UNSET:
            field_dict["printed_noise_levels"] = printed_noise_levels
        if printed_decay_rate is not UNSET:
            field_dict["printed_decay_rate"] = printed_decay_rate
        if raised_noise_levels is not UNSET:
            field_dict["raised_noise_levels"] = raised_noise_levels
        if raised_decay_rate is not UNSET:
            field_dict["raised_decay_rate"] = raised_decay_rate
        if observer is not UNSET:
            field_dict["observer"] = observer

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        d = dict(src_dict)
        algorithm = cast(Literal["norm-fedavg"], d.pop("algorithm"))
        if algorithm != "norm-fedavg":
            raise ValueError(f"algorithm must match const 'norm-fedavg', got '{algorithm}'")

        participants = d.pop("participants")

        rounds = d.pop("rounds")

        local_steps = d.pop("local_steps")

        local_step_size = d.pop("local_step_size", UNSET)

        server_step_size = d.pop("server_step_size", UNSET)

        quantization_levels = d.pop("quantization_levels", UNSET)

        noise_levels = d.pop("noise_levels", UNSET)

        decay_rate = d.pop("decay_rate", UNSET)

        printed_noise_levels = d.pop("printed_noise_levels", UNSET)

        printed_decay_rate = d.pop("printed_decay_rate", UNSET)

        raised_noise_levels = d.pop("raised_noise_levels", UNSET)

        raised_decay_rate = d.pop("raised_decay_rate", UNSET)

        _observer = d.pop("observer", UNSET)
        observer: Observer | Unset
        if isinstance(_observer, Unset):
            observer = UNSET
        else:
            observer = check_observer(_observer)

        norm_fedavg_run = cls(
            algorithm=algorithm,
            participants=participants,
            rounds=rounds,
            local_steps=local_steps,
            local_step_size=local_step_size,
            server_step_size=server_step_size,
            quantization_levels=quantization_levels,
            noise_levels=noise_levels,
            decay_rate=decay_rate,
            printed_noise_levels=printed_noise_levels,
            printed_decay_rate=printed_decay_rate,
            raised_noise_levels=raised_noise_levels,
            raised_decay_rate=raised_decay_rate,
            observer=observer,
        )

        return norm_fedavg_run
