from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self, TypeVar

from attrs import define as _attrs_define

from ..models.accelerated_mb_sgd_sweep_problem_readings_item import (
    AcceleratedMbSgdSweepProblemReadingsItem,
    check_accelerated_mb_sgd_sweep_problem_readings_item,
)
from ..models.observer import Observer, check_observer
from ..models.relation import Relation, check_relation
from ..models.sampling import Sampling, check_sampling
from ..models.unit import Unit, check_unit
from ..types import UNSET, Unset

if TYPE_CHECKING:
    from ..models.accelerated_mb_sgd_sweep_values import AcceleratedMbSgdSweepValues


T = TypeVar("T", bound="AcceleratedMbSgdSweepProblem")


@_attrs_define
class AcceleratedMbSgdSweepProblem:
    """The fields of accelerated-mb-sgd, but for the one that is swept."""

    sweep: AcceleratedMbSgdSweepValues
    """ A field of accelerated-mb-sgd and its values. """
    epsilon: float | Unset = UNSET
    """ privacy loss bound ε of (ε, δ), natural logs """
    delta: float | Unset = UNSET
    """ failure probability δ of (ε, δ) """
    log10_delta: float | Unset = UNSET
    """ base-10 logarithm of δ, for a δ below any double """
    samples_per_client: int | Unset = UNSET
    """ records of one client """
    clients: int | Unset = UNSET
    """ clients in the federation """
    participants: int | Unset = UNSET
    """ clients that report in one round """
    dimension: int | Unset = UNSET
    """ coordinates of the model """
    lipschitz: float | Unset = UNSET
    """ bound on the ℓ2 norm of one record's gradient """
    diameter: float | Unset = UNSET
    """ diameter of the domain """
    rounds: int | Unset = UNSET
    """ communication rounds """
    batch_size: int | Unset = UNSET
    """ records of one client per round """
    smoothness: float | Unset = UNSET
    """ Lipschitz constant of the gradient """
    strong_convexity: float | Unset = UNSET
    """ strong convexity, 0 if only convex """
    sampling: Sampling | Unset = UNSET
    initial_distance: float | Unset = UNSET
    """ bound on the distance from the start to a minimiser """
    identically_distributed: bool | Unset = UNSET
    """ whether all clients draw from one distribution """
    heterogeneity: float | Unset = UNSET
    """ root mean square over clients of |∇F_i − ∇F|, at its largest """
    max_gradients: int | Unset = UNSET
    """ gradient evaluations one client may spend, batch_size times rounds """
    communication_budget: int | Unset = UNSET
    """ bits all clients together may send over the run """
    within: float | Unset = UNSET
    """ where rounds or batch_size are left open: how far the bound on the excess risk may be above the least one
    within the budgets, as a share of it; the smallest run that is no further is chosen """
    relation: Relation | Unset = UNSET
    unit: Unit | Unset = UNSET
    observer: Observer | Unset = UNSET
    readings: list[AcceleratedMbSgdSweepProblemReadingsItem] | Unset = UNSET
    """ which readings of the printed theorem to return """
    gradient_std: float | Unset = UNSET
    """ root mean square distance of a record's gradient from its client's expected one, at its largest """
    empirical_gradient_std: float | Unset = UNSET
    """ root mean square over all records of |∇f − ∇F̂| on the data at hand, at its largest over the domain """
    initial_gap: float | Unset = UNSET
    """ bound on the excess risk of the start """

    def to_dict(self) -> dict[str, Any]:
        sweep = self.sweep.to_dict()

        epsilon = self.epsilon

        delta = self.delta

        log10_delta = self.log10_delta

        samples_per_client = self.samples_per_client

        clients = self.clients

        participants = self.participants

        dimension = self.dimension

        lipschitz = self.lipschitz

        diameter = self.diameter

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

        gradient_std = self.gradient_std

        empirical_gradient_std = self.empirical_gradient_std

        initial_gap = self.initial_gap

        field_dict: dict[str, Any] = {}

        field_dict.update(
            {
                "sweep": sweep,
            }
        )
        if epsilon is not UNSET:
            field_dict["epsilon"] = epsilon
        if delta is not UNSET:
            field_dict["delta"] = delta
        if log10_delta is not UNSET:
            field_dict["log10_delta"] = log10_delta
        if samples_per_client is not UNSET:
            field_dict["samples_per_client"] = samples_per_client
        if clients is not UNSET:
            field_dict["clients"] = clients
        if participants is not UNSET:
            field_dict["participants"] = participants
        if dimension is not UNSET:
            field_dict["dimension"] = dimension
        if lipschitz is not UNSET:
            field_dict["lipschitz"] = lipschitz
        if diameter is not UNSET:
            field_dict["diameter"] = diameter
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
        if gradient_std is not UNSET:
            field_dict["gradient_std"] = gradient_std
        if empirical_gradient_std is not UNSET:
            field_dict["empirical_gradient_std"] = empirical_gradient_std
        if initial_gap is not UNSET:
            field_dict["initial_gap"] = initial_gap

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        from ..models.accelerated_mb_sgd_sweep_values import AcceleratedMbSgdSweepValues

        d = dict(src_dict)
        sweep = AcceleratedMbSgdSweepValues.from_dict(d.pop("sweep"))

        epsilon = d.pop("epsilon", UNSET)

        delta = d.pop("delta", UNSET)

        log10_delta = d.pop("log10_delta", UNSET)

        samples_per_client = d.pop("samples_per_client", UNSET)

        clients = d.pop("clients", UNSET)

        participants = d.pop("participants", UNSET)

        dimension = d.pop("dimension", UNSET)

        lipschitz = d.pop("lipschitz", UNSET)

        diameter = d.pop("diameter", UNSET)

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
        readings: list[AcceleratedMbSgdSweepProblemReadingsItem] | Unset = UNSET
        if _readings is not UNSET:
            readings = []
            for readings_item_data in _readings:
                readings_item = check_accelerated_mb_sgd_sweep_problem_readings_item(readings_item_data)

                readings.append(readings_item)

        gradient_std = d.pop("gradient_std", UNSET)

        empirical_gradient_std = d.pop("empirical_gradient_std", UNSET)

        initial_gap = d.pop("initial_gap", UNSET)

        accelerated_mb_sgd_sweep_problem = cls(
            sweep=sweep,
            epsilon=epsilon,
            delta=delta,
            log10_delta=log10_delta,
            samples_per_client=samples_per_client,
            clients=clients,
            participants=participants,
            dimension=dimension,
            lipschitz=lipschitz,
            diameter=diameter,
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
            gradient_std=gradient_std,
            empirical_gradient_std=empirical_gradient_std,
            initial_gap=initial_gap,
        )

        return accelerated_mb_sgd_sweep_problem
