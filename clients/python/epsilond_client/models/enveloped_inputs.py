from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self, TypeVar

from attrs import define as _attrs_define

from ..models.enveloped_inputs_sampling import (
    EnvelopedInputsSampling,
    check_enveloped_inputs_sampling,
)
from ..models.enveloped_inputs_variant import (
    EnvelopedInputsVariant,
    check_enveloped_inputs_variant,
)
from ..types import UNSET, Unset

T = TypeVar("T", bound="EnvelopedInputs")


@_attrs_define
class EnvelopedInputs:
    """Equal clients with a Lipschitz loss. Absent: rounds are as prescribed, Δ is LD."""

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
    participants: int
    """ clients that report in one round """
    delta: float | Unset = UNSET
    """ failure probability δ of (ε, δ) """
    log10_delta: float | Unset = UNSET
    """ base-10 logarithm of δ, for a δ below any double """
    strong_convexity: float | Unset = 0.0
    """ strong convexity, 0 if only convex """
    variant: EnvelopedInputsVariant | Unset = UNSET
    rounds: int | Unset = UNSET
    """ communication rounds """
    sampling: EnvelopedInputsSampling | Unset = UNSET
    empirical_heterogeneity: float | Unset = 0.0
    """ root mean square over clients of |∇F̂_i − ∇F̂| on the data at hand, at its largest over the domain """
    initial_gap: float | Unset = UNSET
    """ bound on the excess risk of the start """

    def to_dict(self) -> dict[str, Any]:
        epsilon = self.epsilon

        samples_per_client = self.samples_per_client

        clients = self.clients

        dimension = self.dimension

        lipschitz = self.lipschitz

        diameter = self.diameter

        batch_size = self.batch_size

        participants = self.participants

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

        empirical_heterogeneity = self.empirical_heterogeneity

        initial_gap = self.initial_gap

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
                "participants": participants,
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
        if empirical_heterogeneity is not UNSET:
            field_dict["empirical_heterogeneity"] = empirical_heterogeneity
        if initial_gap is not UNSET:
            field_dict["initial_gap"] = initial_gap

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        d = dict(src_dict)
        epsilon = d.pop("epsilon")

        samples_per_client = d.pop("samples_per_client")

        clients = d.pop("clients")

        dimension = d.pop("dimension")

        lipschitz = d.pop("lipschitz")

        diameter = d.pop("diameter")

        batch_size = d.pop("batch_size")

        participants = d.pop("participants")

        delta = d.pop("delta", UNSET)

        log10_delta = d.pop("log10_delta", UNSET)

        strong_convexity = d.pop("strong_convexity", UNSET)

        _variant = d.pop("variant", UNSET)
        variant: EnvelopedInputsVariant | Unset
        if isinstance(_variant, Unset):
            variant = UNSET
        else:
            variant = check_enveloped_inputs_variant(_variant)

        rounds = d.pop("rounds", UNSET)

        _sampling = d.pop("sampling", UNSET)
        sampling: EnvelopedInputsSampling | Unset
        if isinstance(_sampling, Unset):
            sampling = UNSET
        else:
            sampling = check_enveloped_inputs_sampling(_sampling)

        empirical_heterogeneity = d.pop("empirical_heterogeneity", UNSET)

        initial_gap = d.pop("initial_gap", UNSET)

        enveloped_inputs = cls(
            epsilon=epsilon,
            samples_per_client=samples_per_client,
            clients=clients,
            dimension=dimension,
            lipschitz=lipschitz,
            diameter=diameter,
            batch_size=batch_size,
            participants=participants,
            delta=delta,
            log10_delta=log10_delta,
            strong_convexity=strong_convexity,
            variant=variant,
            rounds=rounds,
            sampling=sampling,
            empirical_heterogeneity=empirical_heterogeneity,
            initial_gap=initial_gap,
        )

        return enveloped_inputs
