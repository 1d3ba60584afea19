from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self, TypeVar

from attrs import define as _attrs_define

from ..models.observer import Observer, check_observer
from ..models.relation import Relation, check_relation
from ..models.shuffled_mb_sgd_risk_problem_problem import (
    ShuffledMbSgdRiskProblemProblem,
    check_shuffled_mb_sgd_risk_problem_problem,
)
from ..models.shuffled_mb_sgd_risk_problem_readings_item import (
    ShuffledMbSgdRiskProblemReadingsItem,
    check_shuffled_mb_sgd_risk_problem_readings_item,
)
from ..models.shuffled_mb_sgd_risk_problem_trust import (
    ShuffledMbSgdRiskProblemTrust,
    check_shuffled_mb_sgd_risk_problem_trust,
)
from ..models.unit import Unit, check_unit
from ..types import UNSET, Unset

T = TypeVar("T", bound="ShuffledMbSgdRiskProblem")


@_attrs_define
class ShuffledMbSgdRiskProblem:
    """A run of shuffled-mb-sgd, and which lower bounds to set beside its upper ones."""

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
    noise_std: float | Unset = UNSET
    """ standard deviation per coordinate of the Gaussian noise added to what is sent """
    gradient_std: float | Unset = UNSET
    """ root mean square distance of a record's gradient from its client's expected one, at its largest """
    trust: ShuffledMbSgdRiskProblemTrust | Unset = UNSET
    problem: ShuffledMbSgdRiskProblemProblem | Unset = UNSET
    compositionality: float | Unset = 1.0
    """ √(Σ(ε₀^r)²)/ε₀ of an algorithm, at least 1; 1 if it is sequential """
    round_epsilon: float | Unset = UNSET
    """ largest ε of one report of one client; absent: ε₀ """
    round_delta: float | Unset = UNSET
    """ least δ of one report of one client """
    radius: float | Unset = UNSET
    """ radius of the domain """
    step_size: float | Unset = UNSET
    """ step size """
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
    initial_distance: float | Unset = UNSET
    """ bound on the distance from the start to a minimiser """
    max_gradients: int | Unset = UNSET
    """ gradient evaluations one client may spend, batch_size times rounds """
    communication_budget: int | Unset = UNSET
    """ bits all clients together may send over the run """
    within: float | Unset = 0.1
    """ where rounds or batch_size are left open: how far the bound on the excess risk may be above the least one
    within the budgets, as a share of it; the smallest run that is no further is chosen """
    noise_constant: float | Unset = UNSET
    """ the constant of Theorem 4.1's noise, which the paper does not give """
    relation: Relation | Unset = UNSET
    unit: Unit | Unset = UNSET
    observer: Observer | Unset = UNSET
    readings: list[ShuffledMbSgdRiskProblemReadingsItem] | Unset = UNSET
    """ which readings of the printed theorem to return """

    def to_dict(self) -> dict[str, Any]:
        epsilon = self.epsilon

        samples_per_client = self.samples_per_client

        clients = self.clients

        dimension = self.dimension

        lipschitz = self.lipschitz

        diameter = self.diameter

        noise_std = self.noise_std

        gradient_std = self.gradient_std

        trust: str | Unset = UNSET
        if not isinstance(self.trust, Unset):
            trust = self.trust

        problem: str | Unset = UNSET
        if not isinstance(self.problem, Unset):
            problem = self.problem

        compositionality = self.compositionality

        round_epsilon = self.round_epsilon

        round_delta = self.round_delta

        radius = self.radius

        step_size = self.step_size

        delta = self.delta

        log10_delta = self.log10_delta

        participants = self.participants

        rounds = self.rounds

        batch_size = self.batch_size

        smoothness = self.smoothness

        strong_convexity = self.strong_convexity

        initial_distance = self.initial_distance

        max_gradients = self.max_gradients

        communication_budget = self.communication_budget

        within = self.within

        noise_constant = self.noise_constant

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
        if noise_std is not UNSET:
            field_dict["noise_std"] = noise_std
        if gradient_std is not UNSET:
            field_dict["gradient_std"] = gradient_std
        if trust is not UNSET:
            field_dict["trust"] = trust
        if problem is not UNSET:
            field_dict["problem"] = problem
        if compositionality is not UNSET:
            field_dict["compositionality"] = compositionality
        if round_epsilon is not UNSET:
            field_dict["round_epsilon"] = round_epsilon
        if round_delta is not UNSET:
            field_dict["round_delta"] = round_delta
        if radius is not UNSET:
            field_dict["radius"] = radius
        if step_size is not UNSET:
            field_dict["step_size"] = step_size
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
        if initial_distance is not UNSET:
            field_dict["initial_distance"] = initial_distance
        if max_gradients is not UNSET:
            field_dict["max_gradients"] = max_gradients
        if communication_budget is not UNSET:
            field_dict["communication_budget"] = communication_budget
        if within is not UNSET:
            field_dict["within"] = within
        if noise_constant is not UNSET:
            field_dict["noise_constant"] = noise_constant
        if relation is not UNSET:
            field_dict["relation"] = relation
        if unit is not UNSET:
            field_dict["unit"] = unit
        if observer is not UNSET:
            field_dict["observer"] = observer
        if readings is not UNSET:
            field_dict["readings"] = readings

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

        noise_std = d.pop("noise_std", UNSET)

        gradient_std = d.pop("gradient_std", UNSET)

        _trust = d.pop("trust", UNSET)
        trust: ShuffledMbSgdRiskProblemTrust | Unset
        if isinstance(_trust, Unset):
            trust = UNSET
        else:
            trust = check_shuffled_mb_sgd_risk_problem_trust(_trust)

        _problem = d.pop("problem", UNSET)
        problem: ShuffledMbSgdRiskProblemProblem | Unset
        if isinstance(_problem, Unset):
            problem = UNSET
        else:
            problem = check_shuffled_mb_sgd_risk_problem_problem(_problem)

        compositionality = d.pop("compositionality", UNSET)

        round_epsilon = d.pop("round_epsilon", UNSET)

        round_delta = d.pop("round_delta", UNSET)

        radius = d.pop("radius", UNSET)

        step_size = d.pop("step_size", UNSET)

        delta = d.pop("delta", UNSET)

        log10_delta = d.pop("log10_delta", UNSET)

        participants = d.pop("participants", UNSET)

        rounds = d.pop("rounds", UNSET)

        batch_size = d.pop("batch_size", UNSET)

        smoothness = d.pop("smoothness", UNSET)

        strong_convexity = d.pop("strong_convexity", UNSET)

        initial_distance = d.pop("initial_distance", UNSET)

        max_gradients = d.pop("max_gradients", UNSET)

        communication_budget = d.pop("communication_budget", UNSET)

        within = d.pop("within", UNSET)

        noise_constant = d.pop("noise_constant", UNSET)

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
        readings: list[ShuffledMbSgdRiskProblemReadingsItem] | Unset = UNSET
        if _readings is not UNSET:
            readings = []
            for readings_item_data in _readings:
                readings_item = check_shuffled_mb_sgd_risk_problem_readings_item(readings_item_data)

                readings.append(readings_item)

        shuffled_mb_sgd_risk_problem = cls(
            epsilon=epsilon,
            samples_per_client=samples_per_client,
            clients=clients,
            dimension=dimension,
            lipschitz=lipschitz,
            diameter=diameter,
            noise_std=noise_std,
            gradient_std=gradient_std,
            trust=trust,
            problem=problem,
            compositionality=compositionality,
            round_epsilon=round_epsilon,
            round_delta=round_delta,
            radius=radius,
            step_size=step_size,
            delta=delta,
            log10_delta=log10_delta,
            participants=participants,
            rounds=rounds,
            batch_size=batch_size,
            smoothness=smoothness,
            strong_convexity=strong_convexity,
            initial_distance=initial_distance,
            max_gradients=max_gradients,
            communication_budget=communication_budget,
            within=within,
            noise_constant=noise_constant,
            relation=relation,
            unit=unit,
            observer=observer,
            readings=readings,
        )

        return shuffled_mb_sgd_risk_problem
