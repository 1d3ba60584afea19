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

T = TypeVar("T", bound="MinimalNormInputs")


@_attrs_define
class MinimalNormInputs:
    """Clients whose own optima have a mean of norm `optimum_norm` and a root mean square spread about it."""

    clients: int
    """ clients in the federation """
    personalization: float | Literal["unbounded"]
    """ step size of the shared part over N times that of a client's own part: 0 learns locally only, "unbounded"
    globally only """
    optimum_norm: float
    """ norm of the mean of the clients' own optima, from the start """
    optimum_spread: float | Unset = 0.0
    """ root mean square distance of the clients' own optima from their mean, 0 if all are equal """

    def to_dict(self) -> dict[str, Any]:
        clients = self.clients

        personalization: float | Literal["unbounded"]
        personalization = self.personalization

        optimum_norm = self.optimum_norm

        optimum_spread = self.optimum_spread

        field_dict: dict[str, Any] = {}

        field_dict.update(
            {
                "clients": clients,
                "personalization": personalization,
                "optimum_norm": optimum_norm,
            }
        )
        if optimum_spread is not UNSET:
            field_dict["optimum_spread"] = optimum_spread

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        d = dict(src_dict)
        clients = d.pop("clients")

        def _parse_personalization(data: object) -> float | Literal["unbounded"]:
            personalization_type_1 = cast(Literal["unbounded"], data)
            if personalization_type_1 != "unbounded":
                raise ValueError(f"personalization_type_1 must match const 'unbounded', got '{personalization_type_1}'")
            return personalization_type_1
            return cast(float | Literal["unbounded"], data)

        personalization = _parse_personalization(d.pop("personalization"))

        optimum_norm = d.pop("optimum_norm")

        optimum_spread = d.pop("optimum_spread", UNSET)

        minimal_norm_inputs = cls(
            clients=clients,
            personalization=personalization,
            optimum_norm=optimum_norm,
            optimum_spread=optimum_spread,
        )

        return minimal_norm_inputs
