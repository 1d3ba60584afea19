from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

if TYPE_CHECKING:
    from ..models.guarantee_answer import GuaranteeAnswer


T = TypeVar("T", bound="GroupParameters")


@_attrs_define
class GroupParameters:
    """Parameters of one group of clients, and their guarantee.

    Attributes:
        clients (int): number of clients in this group
        samples_per_client (int): number of records of each client in this group
        batch_size (int): number of records that each client in this group uses in one round
        lipschitz (float): bound on the ℓ2 norm of a record's gradient of the weighted loss. The weighted loss is the
            loss times p_i N, for the weight p_i of the client among N clients
        noise_std (float): standard deviation per coordinate of the noise that a client adds to the mean of its
            batch_size weighted gradients
        noise_multiplier (float): noise_std divided by contribution_norm
        contribution_norm (float): bound on the ℓ2 norm of one protected contribution to the quantity to which the noise
            is added. The noise has standard deviation noise_multiplier × contribution_norm per coordinate.
            guarantee.sensitivity is contribution_norm for the relations add-or-remove-one and zero-out-one, and 2 ×
            contribution_norm for replace-one
        guarantee (GuaranteeAnswer): The guarantee: protected unit, adversary, and enclosures of ε at the target δ and
            of δ at the target ε.
        printed_noise_std (float | Unset): noise_std by the formula of Theorem 2.1 of Lowy and Razaviyayn at the rounds
            of the answer, with the Lipschitz constant of this group. Absent if clients are protected
    """

    clients: int
    samples_per_client: int
    batch_size: int
    lipschitz: float
    noise_std: float
    noise_multiplier: float
    contribution_norm: float
    guarantee: GuaranteeAnswer
    printed_noise_std: float | Unset = UNSET
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        clients = self.clients

        samples_per_client = self.samples_per_client

        batch_size = self.batch_size

        lipschitz = self.lipschitz

        noise_std = self.noise_std

        noise_multiplier = self.noise_multiplier

        contribution_norm = self.contribution_norm

        guarantee = self.guarantee.to_dict()

        printed_noise_std = self.printed_noise_std

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "clients": clients,
                "samples_per_client": samples_per_client,
                "batch_size": batch_size,
                "lipschitz": lipschitz,
                "noise_std": noise_std,
                "noise_multiplier": noise_multiplier,
                "contribution_norm": contribution_norm,
                "guarantee": guarantee,
            }
        )
        if printed_noise_std is not UNSET:
            field_dict["printed_noise_std"] = printed_noise_std

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        from ..models.guarantee_answer import GuaranteeAnswer

        d = dict(src_dict)
        clients = d.pop("clients")

        samples_per_client = d.pop("samples_per_client")

        batch_size = d.pop("batch_size")

        lipschitz = d.pop("lipschitz")

        noise_std = d.pop("noise_std")

        noise_multiplier = d.pop("noise_multiplier")

        contribution_norm = d.pop("contribution_norm")

        guarantee = GuaranteeAnswer.from_dict(d.pop("guarantee"))

        printed_noise_std = d.pop("printed_noise_std", UNSET)

        group_parameters = cls(
            clients=clients,
            samples_per_client=samples_per_client,
            batch_size=batch_size,
            lipschitz=lipschitz,
            noise_std=noise_std,
            noise_multiplier=noise_multiplier,
            contribution_norm=contribution_norm,
            guarantee=guarantee,
            printed_noise_std=printed_noise_std,
        )

        group_parameters.additional_properties = d
        return group_parameters

    @property
    def additional_keys(self) -> list[str]:
        return list(self.additional_properties.keys())

    def __getitem__(self, key: str) -> Any:
        return self.additional_properties[key]

    def __setitem__(self, key: str, value: Any) -> None:
        self.additional_properties[key] = value

    def __delitem__(self, key: str) -> None:
        del self.additional_properties[key]

    def __contains__(self, key: str) -> bool:
        return key in self.additional_properties
