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

from ..models.sampling import Sampling, check_sampling
from ..types import UNSET, Unset

T = TypeVar("T", bound="MbSgdRun")


@_attrs_define
class MbSgdRun:
    """Algorithm 1, and how it draws batches."""

    rounds: int
    """ communication rounds """
    batch_size: int
    """ records of one client per round """
    algorithm: Literal["mb-sgd"]
    """ noisy mini-batch SGD """
    participants: int | Unset = UNSET
    """ clients that report in one round """
    step_size: float | Unset = UNSET
    """ step size """
    averaging_ratio: float | Unset = UNSET
    """ weight of an iterate over that of the one before; absent: 1/(1 − ημ), which the bound asks for """
    noise_std: float | Unset = UNSET
    """ standard deviation per coordinate of the Gaussian noise added to what is sent """
    sampling: Sampling | Unset = UNSET

    def to_dict(self) -> dict[str, Any]:
        rounds = self.rounds

        batch_size = self.batch_size

        algorithm = self.algorithm

        participants = self.participants

        step_size = self.step_size

        averaging_ratio = self.averaging_ratio

        noise_std = self.noise_std

        sampling: str | Unset = UNSET
        if not isinstance(self.sampling, Unset):
            sampling = self.sampling

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
        if sampling is not UNSET:
            field_dict["sampling"] = sampling

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        d = dict(src_dict)
        rounds = d.pop("rounds")

        batch_size = d.pop("batch_size")

        algorithm = cast(Literal["mb-sgd"], d.pop("algorithm"))
        if algorithm != "mb-sgd":
            raise ValueError(f"algorithm must match const 'mb-sgd', got '{algorithm}'")

        participants = d.pop("participants", UNSET)

        step_size = d.pop("step_size", UNSET)

        averaging_ratio = d.pop("averaging_ratio", UNSET)

        noise_std = d.pop("noise_std", UNSET)

        _sampling = d.pop("sampling", UNSET)
        sampling: Sampling | Unset
        if isinstance(_sampling, Unset):
            sampling = UNSET
        else:
            sampling = check_sampling(_sampling)

        mb_sgd_run = cls(
            rounds=rounds,
            batch_size=batch_size,
            algorithm=algorithm,
            participants=participants,
            step_size=step_size,
            averaging_ratio=averaging_ratio,
            noise_std=noise_std,
            sampling=sampling,
        )

        return mb_sgd_run
