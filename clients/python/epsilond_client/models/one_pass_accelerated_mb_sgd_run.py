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

from ..types import UNSET, Unset

if TYPE_CHECKING:
    from ..models.stage_request import StageRequest


T = TypeVar("T", bound="OnePassAcceleratedMbSgdRun")


@_attrs_define
class OnePassAcceleratedMbSgdRun:
    """Algorithm 2, with batch_size · rounds ≤ samples_per_client."""

    rounds: int
    """ communication rounds """
    batch_size: int
    """ records of one client per round """
    algorithm: Literal["one-pass-accelerated-mb-sgd"]
    """ accelerated noisy mini-batch SGD in one pass """
    participants: int | Unset = UNSET
    """ clients that report in one round """
    stages: list[StageRequest] | Unset = UNSET
    """ stages, whose rounds add up to the run's """
    strong_convexity: float | Unset = UNSET
    """ μ in the steps of Algorithm 2; absent: that of the problem """
    noise_std: float | Unset = UNSET
    """ standard deviation per coordinate of the Gaussian noise added to what is sent """

    def to_dict(self) -> dict[str, Any]:
        rounds = self.rounds

        batch_size = self.batch_size

        algorithm = self.algorithm

        participants = self.participants

        stages: list[dict[str, Any]] | Unset = UNSET
        if not isinstance(self.stages, Unset):
            stages = []
            for stages_item_data in self.stages:
                stages_item = stages_item_data.to_dict()
                stages.append(stages_item)

        strong_convexity = self.strong_convexity

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
        if stages is not UNSET:
            field_dict["stages"] = stages
        if strong_convexity is not UNSET:
            field_dict["strong_convexity"] = strong_convexity
        if noise_std is not UNSET:
            field_dict["noise_std"] = noise_std

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        from ..models.stage_request import StageRequest

        d = dict(src_dict)
        rounds = d.pop("rounds")

        batch_size = d.pop("batch_size")

        algorithm = cast(Literal["one-pass-accelerated-mb-sgd"], d.pop("algorithm"))
        if algorithm != "one-pass-accelerated-mb-sgd":
            raise ValueError(f"algorithm must match const 'one-pass-accelerated-mb-sgd', got '{algorithm}'")

        participants = d.pop("participants", UNSET)

        _stages = d.pop("stages", UNSET)
        stages: list[StageRequest] | Unset = UNSET
        if _stages is not UNSET:
            stages = []
            for stages_item_data in _stages:
                stages_item = StageRequest.from_dict(stages_item_data)

                stages.append(stages_item)

        strong_convexity = d.pop("strong_convexity", UNSET)

        noise_std = d.pop("noise_std", UNSET)

        one_pass_accelerated_mb_sgd_run = cls(
            rounds=rounds,
            batch_size=batch_size,
            algorithm=algorithm,
            participants=participants,
            stages=stages,
            strong_convexity=strong_convexity,
            noise_std=noise_std,
        )

        return one_pass_accelerated_mb_sgd_run
