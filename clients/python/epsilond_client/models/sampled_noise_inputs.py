from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self, TypeVar

from attrs import define as _attrs_define

from ..models.sampled_noise_inputs_weighting import (
    SampledNoiseInputsWeighting,
    check_sampled_noise_inputs_weighting,
)
from ..types import UNSET, Unset

if TYPE_CHECKING:
    from ..models.batches import Batches


T = TypeVar("T", bound="SampledNoiseInputs")


@_attrs_define
class SampledNoiseInputs:
    """Rounds of clients drawn independently at rate q, a target, and the constant to print (12) with."""

    client_groups: list[Batches]
    """ clients that are alike, as counts; what a group leaves out is as for all """
    rounds: int
    """ communication rounds """
    participation_rate: float
    """ probability that a given record, or client where clients are drawn, is in a batch """
    clipping_norm: float
    """ bound on the ℓ2 norm of what one client sends in a round """
    epsilon: float
    """ privacy loss bound ε of (ε, δ), natural logs """
    noise_constant: float
    """ the constant that a printed noise leaves open: c in (4), c₂ in (12) """
    weighting: SampledNoiseInputsWeighting | Unset = UNSET
    delta: float | Unset = UNSET
    """ failure probability δ of (ε, δ) """
    log10_delta: float | Unset = UNSET
    """ base-10 logarithm of δ, for a δ below any double """
    range_constant: float | Unset = UNSET
    """ the constant of the printed range ε < c₁q²T, which is hidden """

    def to_dict(self) -> dict[str, Any]:
        client_groups = []
        for client_groups_item_data in self.client_groups:
            client_groups_item = client_groups_item_data.to_dict()
            client_groups.append(client_groups_item)

        rounds = self.rounds

        participation_rate = self.participation_rate

        clipping_norm = self.clipping_norm

        epsilon = self.epsilon

        noise_constant = self.noise_constant

        weighting: str | Unset = UNSET
        if not isinstance(self.weighting, Unset):
            weighting = self.weighting

        delta = self.delta

        log10_delta = self.log10_delta

        range_constant = self.range_constant

        field_dict: dict[str, Any] = {}

        field_dict.update(
            {
                "client_groups": client_groups,
                "rounds": rounds,
                "participation_rate": participation_rate,
                "clipping_norm": clipping_norm,
                "epsilon": epsilon,
                "noise_constant": noise_constant,
            }
        )
        if weighting is not UNSET:
            field_dict["weighting"] = weighting
        if delta is not UNSET:
            field_dict["delta"] = delta
        if log10_delta is not UNSET:
            field_dict["log10_delta"] = log10_delta
        if range_constant is not UNSET:
            field_dict["range_constant"] = range_constant

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        from ..models.batches import Batches

        d = dict(src_dict)
        client_groups = []
        _client_groups = d.pop("client_groups")
        for client_groups_item_data in _client_groups:
            client_groups_item = Batches.from_dict(client_groups_item_data)

            client_groups.append(client_groups_item)

        rounds = d.pop("rounds")

        participation_rate = d.pop("participation_rate")

        clipping_norm = d.pop("clipping_norm")

        epsilon = d.pop("epsilon")

        noise_constant = d.pop("noise_constant")

        _weighting = d.pop("weighting", UNSET)
        weighting: SampledNoiseInputsWeighting | Unset
        if isinstance(_weighting, Unset):
            weighting = UNSET
        else:
            weighting = check_sampled_noise_inputs_weighting(_weighting)

        delta = d.pop("delta", UNSET)

        log10_delta = d.pop("log10_delta", UNSET)

        range_constant = d.pop("range_constant", UNSET)

        sampled_noise_inputs = cls(
            client_groups=client_groups,
            rounds=rounds,
            participation_rate=participation_rate,
            clipping_norm=clipping_norm,
            epsilon=epsilon,
            noise_constant=noise_constant,
            weighting=weighting,
            delta=delta,
            log10_delta=log10_delta,
            range_constant=range_constant,
        )

        return sampled_noise_inputs
