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

from ..models.data_set_problem_data_set import (
    DataSetProblemDataSet,
    check_data_set_problem_data_set,
)
from ..models.data_set_problem_objective import (
    DataSetProblemObjective,
    check_data_set_problem_objective,
)
from ..models.data_set_problem_split import (
    DataSetProblemSplit,
    check_data_set_problem_split,
)
from ..types import UNSET, Unset

T = TypeVar("T", bound="DataSetProblem")


@_attrs_define
class DataSetProblem:
    """Classification on real records. A client's population is the records that it is dealt.

    `samples_per_client` absent: as many as it is dealt, which is all that an empirical objective allows.

    """

    kind: Literal["dataset"]
    """ which learning problem this is """
    clients: int
    """ clients in the federation """
    data_set: DataSetProblemDataSet | Unset = UNSET
    samples_per_client: int | Unset = UNSET
    """ records of one client """
    split: DataSetProblemSplit | Unset = UNSET
    diameter: float | Unset = 20.0
    """ diameter of the domain """
    strong_convexity: float | Unset = 0.0
    """ strong convexity: weight of ½‖w‖² in every record's loss """
    objective: DataSetProblemObjective | Unset = UNSET
    seed: int | Unset = 0
    """ seed that the populations are drawn from """

    def to_dict(self) -> dict[str, Any]:
        kind = self.kind

        clients = self.clients

        data_set: str | Unset = UNSET
        if not isinstance(self.data_set, Unset):
            data_set = self.data_set

        samples_per_client = self.samples_per_client

        split: str | Unset = UNSET
        if not isinstance(self.split, Unset):
            split = self.split

        diameter = self.diameter

        strong_convexity = self.strong_convexity

        objective: str | Unset = UNSET
        if not isinstance(self.objective, Unset):
            objective = self.objective

        seed = self.seed

        field_dict: dict[str, Any] = {}

        field_dict.update(
            {
                "kind": kind,
                "clients": clients,
            }
        )
        if data_set is not UNSET:
            field_dict["data_set"] = data_set
        if samples_per_client is not UNSET:
            field_dict["samples_per_client"] = samples_per_client
        if split is not UNSET:
            field_dict["split"] = split
        if diameter is not UNSET:
            field_dict["diameter"] = diameter
        if strong_convexity is not UNSET:
            field_dict["strong_convexity"] = strong_convexity
        if objective is not UNSET:
            field_dict["objective"] = objective
        if seed is not UNSET:
            field_dict["seed"] = seed

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        d = dict(src_dict)
        kind = cast(Literal["dataset"], d.pop("kind"))
        if kind != "dataset":
            raise ValueError(f"kind must match const 'dataset', got '{kind}'")

        clients = d.pop("clients")

        _data_set = d.pop("data_set", UNSET)
        data_set: DataSetProblemDataSet | Unset
        if isinstance(_data_set, Unset):
            data_set = UNSET
        else:
            data_set = check_data_set_problem_data_set(_data_set)

        samples_per_client = d.pop("samples_per_client", UNSET)

        _split = d.pop("split", UNSET)
        split: DataSetProblemSplit | Unset
        if isinstance(_split, Unset):
            split = UNSET
        else:
            split = check_data_set_problem_split(_split)

        diameter = d.pop("diameter", UNSET)

        strong_convexity = d.pop("strong_convexity", UNSET)

        _objective = d.pop("objective", UNSET)
        objective: DataSetProblemObjective | Unset
        if isinstance(_objective, Unset):
            objective = UNSET
        else:
            objective = check_data_set_problem_objective(_objective)

        seed = d.pop("seed", UNSET)

        data_set_problem = cls(
            kind=kind,
            clients=clients,
            data_set=data_set,
            samples_per_client=samples_per_client,
            split=split,
            diameter=diameter,
            strong_convexity=strong_convexity,
            objective=objective,
            seed=seed,
        )

        return data_set_problem
