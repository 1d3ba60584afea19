from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self, TypeVar

from attrs import define as _attrs_define

from ..models.nonsmooth_inputs_sampling import (
    NonsmoothInputsSampling,
    check_nonsmooth_inputs_sampling,
)
from ..models.nonsmooth_inputs_variant import (
    NonsmoothInputsVariant,
    check_nonsmooth_inputs_variant,
)
from ..types import UNSET, Unset

if TYPE_CHECKING:
    from ..models.client_group_request import ClientGroupRequest
    from ..models.participation_count import ParticipationCount


T = TypeVar("T", bound="NonsmoothInputs")


@_attrs_define
class NonsmoothInputs:
    """A Lipschitz loss. Absent: rounds as prescribed, participants all clients. Give one of delta and log10_delta."""

    epsilon: float
    """ privacy loss bound ε of (ε, δ), natural logs """
    samples_per_client: int
    """ records of one client """
    clients: int
    """ clients in the federation """
    dimension: int
    """ coordinates of the model """
    lipschitz: float
    """ bound on the ℓ2 norm of one record's gradient """
    diameter: float
    """ diameter of the domain """
    batch_size: int
    """ records of one client per round """
    delta: float | Unset = UNSET
    """ failure probability δ of (ε, δ) """
    log10_delta: float | Unset = UNSET
    """ base-10 logarithm of δ, for a δ below any double """
    strong_convexity: float | Unset = 0.0
    """ strong convexity, 0 if only convex """
    variant: NonsmoothInputsVariant | Unset = UNSET
    rounds: int | Unset = UNSET
    """ communication rounds """
    sampling: NonsmoothInputsSampling | Unset = UNSET
    participants: int | Unset = UNSET
    """ clients that report in one round """
    client_groups: list[ClientGroupRequest] | Unset = UNSET
    """ clients that are alike, as counts; what a group leaves out is as for all """
    participation: list[ParticipationCount] | Unset = UNSET
    """ law of the number of clients that report in one round """

    def to_dict(self) -> dict[str, Any]:
        epsilon = self.epsilon

        samples_per_client = self.samples_per_client

        clients = self.clients

        dimension = self.dimension

        lipschitz = self.lipschitz

        diameter = self.diameter

        batch_size = self.batch_size

        delta = self.delta

        log10_delta = self.log10_delta

        strong_convexity = self.strong_convexity

        variant: str | Unset = UNSET
        if not isinstance(self.variant, Unset):
            variant = self.variant

        rounds = self.rounds

        sampling: str | Unset = UNSET
        if not isinstance(self.sampling, Unset):
            sampling = self.sampling

        participants = self.participants

        client_groups: list[dict[str, Any]] | Unset = UNSET
        if not isinstance(self.client_groups, Unset):
            client_groups = []
            for client_groups_item_data in self.client_groups:
                client_groups_item = client_groups_item_data.to_dict()
                client_groups.append(client_groups_item)

        participation: list[dict[str, Any]] | Unset = UNSET
        if not isinstance(self.participation, Unset):
            participation = []
            for participation_item_data in self.participation:
                participation_item = participation_item_data.to_dict()
                participation.append(participation_item)

        field_dict: dict[str, Any] = {}

        field_dict.update(
            {
                "epsilon": epsilon,
                "samples_per_client": samples_per_client,
                "clients": clients,
                "dimension": dimension,
                "lipschitz": lipschitz,
                "diameter": diameter,
                "batch_size": batch_size,
            }
        )
        if delta is not UNSET:
            field_dict["delta"] = delta
        if log10_delta is not UNSET:
            field_dict["log10_delta"] = log10_delta
        if strong_convexity is not UNSET:
            field_dict["strong_convexity"] = strong_convexity
        if variant is not UNSET:
            field_dict["variant"] = variant
        if rounds is not UNSET:
            field_dict["rounds"] = rounds
        if sampling is not UNSET:
            field_dict["sampling"] = sampling
        if participants is not UNSET:
            field_dict["participants"] = participants
        if client_groups is not UNSET:
            field_dict["client_groups"] = client_groups
        if participation is not UNSET:
            field_dict["participation"] = participation

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        from ..models.client_group_request import ClientGroupRequest
        from ..models.participation_count import ParticipationCount

        d = dict(src_dict)
        epsilon = d.pop("epsilon")

        samples_per_client = d.pop("samples_per_client")

        clients = d.pop("clients")

        dimension = d.pop("dimension")

        lipschitz = d.pop("lipschitz")

        diameter = d.pop("diameter")

        batch_size = d.pop("batch_size")

        delta = d.pop("delta", UNSET)

        log10_delta = d.pop("log10_delta", UNSET)

        strong_convexity = d.pop("strong_convexity", UNSET)

        _variant = d.pop("variant", UNSET)
        variant: NonsmoothInputsVariant | Unset
        if isinstance(_variant, Unset):
            variant = UNSET
        else:
            variant = check_nonsmooth_inputs_variant(_variant)

        rounds = d.pop("rounds", UNSET)

        _sampling = d.pop("sampling", UNSET)
        sampling: NonsmoothInputsSampling | Unset
        if isinstance(_sampling, Unset):
            sampling = UNSET
        else:
            sampling = check_nonsmooth_inputs_sampling(_sampling)

        participants = d.pop("participants", UNSET)

        _client_groups = d.pop("client_groups", UNSET)
        client_groups: list[ClientGroupRequest] | Unset = UNSET
        if _client_groups is not UNSET:
            client_groups = []
            for client_groups_item_data in _client_groups:
                client_groups_item = ClientGroupRequest.from_dict(client_groups_item_data)

                client_groups.append(client_groups_item)

        _participation = d.pop("participation", UNSET)
        participation: list[ParticipationCount] | Unset = UNSET
        if _participation is not UNSET:
            participation = []
            for participation_item_data in _participation:
                participation_item = ParticipationCount.from_dict(participation_item_data)

                participation.append(participation_item)

        nonsmooth_inputs = cls(
            epsilon=epsilon,
            samples_per_client=samples_per_client,
            clients=clients,
            dimension=dimension,
            lipschitz=lipschitz,
            diameter=diameter,
            batch_size=batch_size,
            delta=delta,
            log10_delta=log10_delta,
            strong_convexity=strong_convexity,
            variant=variant,
            rounds=rounds,
            sampling=sampling,
            participants=participants,
            client_groups=client_groups,
            participation=participation,
        )

        return nonsmooth_inputs
