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

T = TypeVar("T", bound="ShuffledMbSgdRun")


@_attrs_define
class ShuffledMbSgdRun:
    """Algorithm 1, its batches drawn without replacement."""

    rounds: int
    """ communication rounds """
    batch_size: int
    """ records of one client per round """
    algorithm: Literal["shuffled-mb-sgd"]
    """ noisy mini-batch SGD with a shuffler """
    participants: int | Unset = UNSET
    """ clients that report in one round """
    step_size: float | Unset = UNSET
    """ step size """
    averaging_ratio: float | Unset = UNSET
    """ weight of an iterate over that of the one before; absent: 1/(1 − ημ), which the bound asks for """
    noise_std: float | Unset = UNSET
    """ standard deviation per coordinate of the Gaussian noise added to what is sent """

    def to_dict(self) -> dict[str, Any]:
        rounds = self.rounds

        batch_size = self.batch_size

        algorithm = self.algorithm

        participants = self.participants

        step_size = self.step_size

        averaging_ratio = self.averaging_ratio

        noise_std = self.noise_std

        field_dict: dict[str, Any] = {}

        field_dict.update(
            {
                "rounds": rounds,
                "batch_size": batch_size,
                "algorithm": algorithm,
            }
        )
        if participants is not UNSET:
            field_dict["participants"] = participants
        if step_size is not UNSET:
            field_dict["step_size"] = step_size
        if averaging_ratio is not UNSET:
            field_dict["averaging_ratio"] = averaging_ratio
        if noise_std is not UNSET:
            field_dict["noise_std"] = noise_std

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        d = dict(src_dict)
        rounds = d.pop("rounds")

        batch_size = d.pop("batch_size")

        algorithm = cast(Literal["shuffled-mb-sgd"], d.pop("algorithm"))
        if algorithm != "shuffled-mb-sgd":
            raise ValueError(f"algorithm must match const 'shuffled-mb-sgd', got '{algorithm}'")

        participants = d.pop("participants", UNSET)

        step_size = d.pop("step_size", UNSET)

        averaging_ratio = d.pop("averaging_ratio", UNSET)

        noise_std = d.pop("noise_std", UNSET)

        shuffled_mb_sgd_run = cls(
            rounds=rounds,
            batch_size=batch_size,
            algorithm=algorithm,
            participants=participants,
            step_size=step_size,
            averaging_ratio=averaging_ratio,
            noise_std=noise_std,
        )

        return shuffled_mb_sgd_run
