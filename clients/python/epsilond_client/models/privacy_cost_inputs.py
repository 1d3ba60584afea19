from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self, TypeVar

from attrs import define as _attrs_define

from ..models.relation import Relation, check_relation
from ..types import UNSET, Unset

T = TypeVar("T", bound="PrivacyCostInputs")


@_attrs_define
class PrivacyCostInputs:
    """(9): the bound at the noise of a target. Absent `noise_constant`: the least that does at this target."""

    clients: int
    """ clients in the federation """
    rounds: int
    """ communication rounds """
    smoothness: float
    """ Lipschitz constant of the gradient """
    personalization: float
    """ step size of the shared part over N times that of a client's own part """
    shared_gradient_std: float
    """ root mean square distance, at the optimum, of a record's shared gradient from its expected one """
    local_gradient_std: float
    """ root mean square norm, at the optimum, of a record's gradient in its client's own part """
    shared_dimension: int
    """ coordinates of the shared part of the model """
    lipschitz: float
    """ bound on the ℓ2 norm of one record's gradient """
    epsilon: float
    """ privacy loss bound ε of (ε, δ), natural logs """
    weighted_optimum_norm: float | Unset = UNSET
    """ √(‖w*‖²/α + Σ‖θ_i*‖²), the distance that the bound pays for """
    optimum_norm: float | Unset = UNSET
    """ older name of weighted_optimum_norm here, √(‖w*‖²/α + Σ‖θ_i*‖²); give one of the two. Elsewhere optimum_norm
    is ‖v̄‖, the norm of the mean of the clients' own optima """
    delta: float | Unset = UNSET
    """ failure probability δ of (ε, δ) """
    log10_delta: float | Unset = UNSET
    """ base-10 logarithm of δ, for a δ below any double """
    relation: Relation | Unset = UNSET
    noise_constant: float | Unset = UNSET
    """ the constant that a printed noise leaves open: c in (4), c₂ in (12) """

    def to_dict(self) -> dict[str, Any]:
        clients = self.clients

        rounds = self.rounds

        smoothness = self.smoothness

        personalization = self.personalization

        shared_gradient_std = self.shared_gradient_std

        local_gradient_std = self.local_gradient_std

        shared_dimension = self.shared_dimension

        lipschitz = self.lipschitz

        epsilon = self.epsilon

        weighted_optimum_norm = self.weighted_optimum_norm

        optimum_norm = self.optimum_norm

        delta = self.delta

        log10_delta = self.log10_delta

        relation: str | Unset = UNSET
        if not isinstance(self.relation, Unset):
            relation = self.relation

        noise_constant = self.noise_constant

        field_dict: dict[str, Any] = {}

        field_dict.update(
            {
                "clients": clients,
                "rounds": rounds,
                "smoothness": smoothness,
                "personalization": personalization,
                "shared_gradient_std": shared_gradient_std,
                "local_gradient_std": local_gradient_std,
                "shared_dimension": shared_dimension,
                "lipschitz": lipschitz,
                "epsilon": epsilon,
            }
        )
        if weighted_optimum_norm is not UNSET:
            field_dict["weighted_optimum_norm"] = weighted_optimum_norm
        if optimum_norm is not UNSET:
            field_dict["optimum_norm"] = optimum_norm
        if delta is not UNSET:
            field_dict["delta"] = delta
        if log10_delta is not UNSET:
            field_dict["log10_delta"] = log10_delta
        if relation is not UNSET:
            field_dict["relation"] = relation
        if noise_constant is not UNSET:
            field_dict["noise_constant"] = noise_constant

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        d = dict(src_dict)
        clients = d.pop("clients")

        rounds = d.pop("rounds")

        smoothness = d.pop("smoothness")

        personalization = d.pop("personalization")

        shared_gradient_std = d.pop("shared_gradient_std")

        local_gradient_std = d.pop("local_gradient_std")

        shared_dimension = d.pop("shared_dimension")

        lipschitz = d.pop("lipschitz")

        epsilon = d.pop("epsilon")

        weighted_optimum_norm = d.pop("weighted_optimum_norm", UNSET)

        optimum_norm = d.pop("optimum_norm", UNSET)

        delta = d.pop("delta", UNSET)

        log10_delta = d.pop("log10_delta", UNSET)

        _relation = d.pop("relation", UNSET)
        relation: Relation | Unset
        if isinstance(_relation, Unset):
            relation = UNSET
        else:
            relation = check_relation(_relation)

        noise_constant = d.pop("noise_constant", UNSET)

        privacy_cost_inputs = cls(
            clients=clients,
            rounds=rounds,
            smoothness=smoothness,
            personalization=personalization,
            shared_gradient_std=shared_gradient_std,
            local_gradient_std=local_gradient_std,
            shared_dimension=shared_dimension,
            lipschitz=lipschitz,
            epsilon=epsilon,
            weighted_optimum_norm=weighted_optimum_norm,
            optimum_norm=optimum_norm,
            delta=delta,
            log10_delta=log10_delta,
            relation=relation,
            noise_constant=noise_constant,
        )

        return privacy_cost_inputs
