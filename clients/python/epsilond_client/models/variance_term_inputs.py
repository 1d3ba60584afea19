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

from ..models.relation import Relation, check_relation
from ..types import UNSET, Unset

T = TypeVar("T", bound="VarianceTermInputs")


@_attrs_define
class VarianceTermInputs:
    """Equal clients of one optimum, all in every round; `gradient_std` is one record's, of a batch of `batch_size`."""

    clients: int
    """ clients in the federation """
    rounds: int
    """ communication rounds """
    personalization: float | Literal["unbounded"]
    """ step size of the shared part over N times that of a client's own part: 0 learns locally only, "unbounded"
    globally only """
    optimum_norm: float
    """ norm of the mean of the clients' own optima, from the start """
    gradient_std: float
    """ root mean square distance, at the optimum, of a record's shared gradient from its expected one """
    shared_dimension: int
    """ coordinates of the shared part of the model """
    lipschitz: float
    """ bound on the ℓ2 norm of one record's gradient """
    epsilon: float
    """ privacy loss bound ε of (ε, δ), natural logs """
    batch_size: int | Unset = 1
    """ records of one client per round """
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

        personalization: float | Literal["unbounded"]
        personalization = self.personalization

        optimum_norm = self.optimum_norm

        gradient_std = self.gradient_std

        shared_dimension = self.shared_dimension

        lipschitz = self.lipschitz

        epsilon = self.epsilon

        batch_size = self.batch_size

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
                "personalization": personalization,
                "optimum_norm": optimum_norm,
                "gradient_std": gradient_std,
                "shared_dimension": shared_dimension,
                "lipschitz": lipschitz,
                "epsilon": epsilon,
            }
        )
        if batch_size is not UNSET:
            field_dict["batch_size"] = batch_size
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

        def _parse_personalization(data: object) -> float | Literal["unbounded"]:
            personalization_type_1 = cast(Literal["unbounded"], data)
            if personalization_type_1 != "unbounded":
                raise ValueError(f"personalization_type_1 must match const 'unbounded', got '{personalization_type_1}'")
            return personalization_type_1
            return cast(float | Literal["unbounded"], data)

        personalization = _parse_personalization(d.pop("personalization"))

        optimum_norm = d.pop("optimum_norm")

        gradient_std = d.pop("gradient_std")

        shared_dimension = d.pop("shared_dimension")

        lipschitz = d.pop("lipschitz")

        epsilon = d.pop("epsilon")

        batch_size = d.pop("batch_size", UNSET)

        delta = d.pop("delta", UNSET)

        log10_delta = d.pop("log10_delta", UNSET)

        _relation = d.pop("relation", UNSET)
        relation: Relation | Unset
        if isinstance(_relation, Unset):
            relation = UNSET
        else:
            relation = check_relation(_relation)

        noise_constant = d.pop("noise_constant", UNSET)

        variance_term_inputs = cls(
            clients=clients,
            rounds=rounds,
            personalization=personalization,
            optimum_norm=optimum_norm,
            gradient_std=gradient_std,
            shared_dimension=shared_dimension,
            lipschitz=lipschitz,
            epsilon=epsilon,
            batch_size=batch_size,
            delta=delta,
            log10_delta=log10_delta,
            relation=relation,
            noise_constant=noise_constant,
        )

        return variance_term_inputs
