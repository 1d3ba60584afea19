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

from ..models.least_squares_problem_objective import (
    LeastSquaresProblemObjective,
    check_least_squares_problem_objective,
)
from ..types import UNSET, Unset

T = TypeVar("T", bound="LeastSquaresProblem")


@_attrs_define
class LeastSquaresProblem:
    """½(⟨x, w⟩ − y)², targets in [−1, 1]."""

    clients: int
    """ clients in the federation """
    samples_per_client: int
    """ records of one client """
    dimension: int
    """ coordinates of the model """
    kind: Literal["least-squares"]
    """ which learning problem this is """
    diameter: float | Unset = 2.0
    """ diameter of the domain """
    own_share: float | Unset = 0.0
    """ share of a client's population that follows a model of its own; the rest is every client's """
    population: int | Unset = UNSET
    """ records of each client's population; absent: samples_per_client if empirical, else 50 """
    objective: LeastSquaresProblemObjective | Unset = UNSET
    seed: int | Unset = 0
    """ seed that the populations are drawn from """
    strong_convexity: float | Unset = 0.0
    """ strong convexity: weight of ½‖w‖² in every record's loss """
    target_noise: float | Unset = 0.2
    """ standard deviation of targets about the model's, before clipping to 1 """

    def to_dict(self) -> dict[str, Any]:
        clients = self.clients

        samples_per_client = self.samples_per_client

        dimension = self.dimension

        kind = self.kind

        diameter = self.diameter

        own_share = self.own_share

        population = self.population

        objective: str | Unset = UNSET
        if not isinstance(self.objective, Unset):
            objective = self.objective

        seed = self.seed

        strong_convexity = self.strong_convexity

        target_noise = self.target_noise

        field_dict: dict[str, Any] = {}

        field_dict.update(
            {
                "clients": clients,
                "samples_per_client": samples_per_client,
                "dimension": dimension,
                "kind": kind,
            }
        )
        if diameter is not UNSET:
            field_dict["diameter"] = diameter
        if own_share is not UNSET:
            field_dict["own_share"] = own_share
        if population is not UNSET:
            field_dict["population"] = population
        if objective is not UNSET:
            field_dict["objective"] = objective
        if seed is not UNSET:
            field_dict["seed"] = seed
        if strong_convexity is not UNSET:
            field_dict["strong_convexity"] = strong_convexity
        if target_noise is not UNSET:
            field_dict["target_noise"] = target_noise

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        d = dict(src_dict)
        clients = d.pop("clients")

        samples_per_client = d.pop("samples_per_client")

        dimension = d.pop("dimension")

        kind = cast(Literal["least-squares"], d.pop("kind"))
        if kind != "least-squares":
            raise ValueError(f"kind must match const 'least-squares', got '{kind}'")

        diameter = d.pop("diameter", UNSET)

        own_share = d.pop("own_share", UNSET)

        population = d.pop("population", UNSET)

        _objective = d.pop("objective", UNSET)
        objective: LeastSquaresProblemObjective | Unset
        if isinstance(_objective, Unset):
            objective = UNSET
        else:
            objective = check_least_squares_problem_objective(_objective)

        seed = d.pop("seed", UNSET)

        strong_convexity = d.pop("strong_convexity", UNSET)

        target_noise = d.pop("target_noise", UNSET)

        least_squares_problem = cls(
            clients=clients,
            samples_per_client=samples_per_client,
            dimension=dimension,
            kind=kind,
            diameter=diameter,
            own_share=own_share,
            population=population,
            objective=objective,
            seed=seed,
            strong_convexity=strong_convexity,
            target_noise=target_noise,
        )

        return least_squares_problem
