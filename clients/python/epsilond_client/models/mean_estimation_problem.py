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

from ..models.mean_estimation_problem_objective import (
    MeanEstimationProblemObjective,
    check_mean_estimation_problem_objective,
)
from ..types import UNSET, Unset

T = TypeVar("T", bound="MeanEstimationProblem")


@_attrs_define
class MeanEstimationProblem:
    """½‖w − x‖², points x in the unit ball: 1-smooth, 1-strongly convex, least at the mean if the domain holds it."""

    clients: int
    """ clients in the federation """
    samples_per_client: int
    """ records of one client """
    dimension: int
    """ coordinates of the model """
    kind: Literal["mean-estimation"]
    """ which learning problem this is """
    diameter: float | Unset = 2.0
    """ diameter of the domain """
    own_share: float | Unset = 0.0
    """ share of a client's population that follows a model of its own; the rest is every client's """
    population: int | Unset = UNSET
    """ records of each client's population; absent: samples_per_client if empirical, else 50 """
    objective: MeanEstimationProblemObjective | Unset = UNSET
    seed: int | Unset = 0
    """ seed that the populations are drawn from """

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

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        d = dict(src_dict)
        clients = d.pop("clients")

        samples_per_client = d.pop("samples_per_client")

        dimension = d.pop("dimension")

        kind = cast(Literal["mean-estimation"], d.pop("kind"))
        if kind != "mean-estimation":
            raise ValueError(f"kind must match const 'mean-estimation', got '{kind}'")

        diameter = d.pop("diameter", UNSET)

        own_share = d.pop("own_share", UNSET)

        population = d.pop("population", UNSET)

        _objective = d.pop("objective", UNSET)
        objective: MeanEstimationProblemObjective | Unset
        if isinstance(_objective, Unset):
            objective = UNSET
        else:
            objective = check_mean_estimation_problem_objective(_objective)

        seed = d.pop("seed", UNSET)

        mean_estimation_problem = cls(
            clients=clients,
            samples_per_client=samples_per_client,
            dimension=dimension,
            kind=kind,
            diameter=diameter,
            own_share=own_share,
            population=population,
            objective=objective,
            seed=seed,
        )

        return mean_estimation_problem
