from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self, TypeVar

from attrs import define as _attrs_define

from ..models.mb_sgd_problem_readings_item import (
    MbSgdProblemReadingsItem,
    check_mb_sgd_problem_readings_item,
)
from ..models.observer import Observer, check_observer
from ..models.relation import Relation, check_relation
from ..models.sampling import Sampling, check_sampling
from ..models.unit import Unit, check_unit
from ..types import UNSET, Unset

if TYPE_CHECKING:
    from ..models.client_group_request import ClientGroupRequest
    from ..models.participation_count import ParticipationCount


T = TypeVar("T", bound="MbSgdProblem")


@_attrs_define
class MbSgdProblem:
    """The problem of mini-batch algorithms, of clients that may be unlike, or of which a random number reports."""

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
    delta: float | Unset = UNSET
    """ failure probability δ of (ε, δ) """
    log10_delta: float | Unset = UNSET
    """ base-10 logarithm of δ, for a δ below any double """
    participants: int | Unset = UNSET
    """ clients that report in one round """
    rounds: int | Unset = UNSET
    """ communication rounds """
    batch_size: int | Unset = UNSET
    """ records of one client per round """
    smoothness: float | Unset = UNSET
    """ Lipschitz constant of the gradient """
    strong_convexity: float | Unset = 0.0
    """ strong convexity, 0 if only convex """
    sampling: Sampling | Unset = UNSET
    initial_distance: float | Unset = UNSET
    """ bound on the distance from the start to a minimiser """
    identically_distributed: bool | Unset = True
    """ whether all clients draw from one distribution """
    heterogeneity: float | Unset = UNSET
    """ root mean square over clients of |∇F_i − ∇F|, at its largest """
    max_gradients: int | Unset = UNSET
    """ gradient evaluations one client may spend, batch_size times rounds """
    communication_budget: int | Unset = UNSET
    """ bits all clients together may send over the run """
    within: float | Unset = 0.1
    """ where rounds or batch_size are left open: how far the bound on the excess risk may be above the least one
    within the budgets, as a share of it; the smallest run that is no further is chosen """
    relation: Relation | Unset = UNSET
    unit: Unit | Unset = UNSET
    observer: Observer | Unset = UNSET
    readings: list[MbSgdProblemReadingsItem] | Unset = UNSET
    """ which readings of the printed theorem to return """
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

        delta = self.delta

        log10_delta = self.log10_delta

        participants = self.participants

        rounds = self.rounds

        batch_size = self.batch_size

        smoothness = self.smoothness

        strong_convexity = self.strong_convexity

        sampling: str | Unset = UNSET
        if not isinstance(self.sampling, Unset):
            sampling = self.sampling

        initial_distance = self.initial_distance

        identically_distributed = self.identically_distributed

        heterogeneity = self.heterogeneity

        max_gradients = self.max_gradients

        communication_budget = self.communication_budget

        within = self.within

        relation: str | Unset = UNSET
        if not isinstance(self.relation, Unset):
            relation = self.relation

        unit: str | Unset = UNSET
        if not isinstance(self.unit, Unset):
            unit = self.unit

        observer: str | Unset = UNSET
        if not isinstance(self.observer, Unset):
            observer = self.observer

        readings: list[str] | Unset = UNSET
        if not isinstance(self.readings, Unset):
            readings = []
            for readings_item_data in self.readings:
                readings_item: str = readings_item_data
                readings.append(readings_item)

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
            }
        )
        if delta is not UNSET:
            field_dict["delta"] = delta
        if log10_delta is not UNSET:
            field_dict["log10_delta"] = log10_delta
        if participants is not UNSET:
            field_dict["participants"] = participants
        if rounds is not UNSET:
            field_dict["rounds"] = rounds
        if batch_size is not UNSET:
            field_dict["batch_size"] = batch_size
        if smoothness is not UNSET:
            field_dict["smoothness"] = smoothness
        if strong_convexity is not UNSET:
            field_dict["strong_convexity"] = strong_convexity
        if sampling is not UNSET:
            field_dict["sampling"] = sampling
        if initial_distance is not UNSET:
            field_dict["initial_distance"] = initial_distance
        if identically_distributed is not UNSET:
            field_dict["identically_distributed"] = identically_distributed
        if heterogeneity is not UNSET:
            field_dict["heterogeneity"] = heterogeneity
        if max_gradients is not UNSET:
            field_dict["max_gradients"] = max_gradients
        if communication_budget is not UNSET:
            field_dict["communication_budget"] = communication_budget
        if within is not UNSET:
            field_dict["within"] = within
        if relation is not UNSET:
            field_dict["relation"] = relation
        if unit is not UNSET:
            field_dict["unit"] = unit
        if observer is not UNSET:
            field_dict["observer"] = observer
        if readings is not UNSET:
            field_dict["readings"] = readings
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

        delta = d.pop("delta", UNSET)

        log10_delta = d.pop("log10_delta", UNSET)

        participants = d.pop("participants", UNSET)

        rounds = d.pop("rounds", UNSET)

        batch_size = d.pop("batch_size", UNSET)

        smoothness = d.pop("smoothness", UNSET)

        strong_convexity = d.pop("strong_convexity", UNSET)

        _sampling = d.pop("sampling", UNSET)
        sampling: Sampling | Unset
        if isinstance(_sampling, Unset):
            sampling = UNSET
        else:
            sampling = check_sampling(_sampling)

        initial_distance = d.pop("initial_distance", UNSET)

        identically_distributed = d.pop("identically_distributed", UNSET)

        heterogeneity = d.pop("heterogeneity", UNSET)

        max_gradients = d.pop("max_gradients", UNSET)

        communication_budget = d.pop("communication_budget", UNSET)

        within = d.pop("within", UNSET)

        _relation = d.pop("relation", UNSET)
        relation: Relation | Unset
        if isinstance(_relation, Unset):
            relation = UNSET
        else:
            relation = check_relation(_relation)

        _unit = d.pop("unit", UNSET)
        unit: Unit | Unset
        if isinstance(_unit, Unset):
            unit = UNSET
        else:
            unit = check_unit(_unit)

        _observer = d.pop("observer", UNSET)
        observer: Observer | Unset
        if isinstance(_observer, Unset):
            observer = UNSET
        else:
            observer = check_observer(_observer)

        _readings = d.pop("readings", UNSET)
        readings: list[MbSgdProblemReadingsItem] | Unset = UNSET
        if _readings is not UNSET:
            readings = []
            for readings_item_data in _readings:
                readings_item = check_mb_sgd_problem_readings_item(readings_item_data)

                readings.append(readings_item)

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

        mb_sgd_problem = cls(
            epsilon=epsilon,
            samples_per_client=samples_per_client,
            clients=clients,
            dimension=dimension,
            lipschitz=lipschitz,
            diameter=diameter,
            delta=delta,
            log10_delta=log10_delta,
            participants=participants,
            rounds=rounds,
            batch_size=batch_size,
            smoothness=smoothness,
            strong_convexity=strong_convexity,
            sampling=sampling,
            initial_distance=initial_distance,
            identically_distributed=identically_distributed,
            heterogeneity=heterogeneity,
            max_gradients=max_gradients,
            communication_budget=communication_budget,
            within=within,
            relation=relation,
            unit=unit,
            observer=observer,
            readings=readings,
            client_groups=client_groups,
            participation=participation,
        )

        return mb_sgd_problem
