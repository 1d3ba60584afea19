from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self, TypeVar

from attrs import define as _attrs_define

from ..models.observer import Observer
from ..models.reading import Reading
from ..models.relation import Relation
from ..models.unit import Unit
from ..types import UNSET, Unset

if TYPE_CHECKING:
    from ..models.windowed_unit import WindowedUnit


T = TypeVar("T", bound="ShuffledMbSgdProblem")


@_attrs_define
class ShuffledMbSgdProblem:
    """The target (ε, δ), the federation and the learning problem. The guarantee is for the shuffled reports.

    If `batch_size` or `rounds` is left out, it is chosen: the fewest rounds, and then the smallest batch. Their
    certified bound on the excess risk must be at most 1 + `within` times the least predicted bound. The runs that are
    compared keep to `max_gradients` and `communication_budget`.

        Attributes:
            relation (Relation): replace-one: One unit's data is replaced by any other data, and the number of units is the
                same. add-or-remove-one: One unit is in one of the data sets and absent from the other. zero-out-one: One unit's
                contribution counts as zero in one of the data sets.
            unit (Unit | WindowedUnit): protected unit, in which neighbours differ
            observer (Observer): server: The server itself is the adversary and sees every message by name; each client must
                add its own noise. shuffled-server: The server is the adversary and sees every message, but a trusted shuffler
                hides who sent it. released-models: The adversary sees the model after every round; a trusted curator trains it,
                as in central DP-SGD. final-model: The adversary sees only the last model. other-clients: All other clients
                together are the adversary and see every model that a trusted server sends them.
            samples_per_client (int): number of records of one client
            clients (int): number of clients in the federation
            dimension (int): number of coordinates of the model
            lipschitz (float): bound on the ℓ2 norm of one record's gradient
            diameter (float): diameter of the domain, to which the model is restricted
            advantage (float | Unset): in place of epsilon: largest true minus false positive rate of an attacker
            true_positive_rate (float | Unset): in place of epsilon: largest true positive rate of an attacker at
                false_positive_rate
            false_positive_rate (float | Unset): false positive rate at which true_positive_rate is bounded
            epsilon (float | Unset): ε of the (ε, δ) guarantee
            delta (float | Unset): δ of the (ε, δ) guarantee
            log10_delta (float | Unset): log₁₀ δ in place of delta; δ may be below every double
            participants (int | Unset): number of clients in one round
            rounds (int | Unset): number of rounds
            batch_size (int | Unset): number of records that a client uses in one round
            smoothness (float | Unset): smoothness constant: Lipschitz constant of the gradient of the loss
            strong_convexity (float | Unset): strong convexity constant of the loss; 0 if the loss is only convex
            initial_distance (float | Unset): bound on the distance between the initial model and a minimiser of the
                objective
            max_gradients (int | Unset): largest number of gradient evaluations of one client, which limits batch_size ·
                rounds
            communication_budget (int | Unset): largest number of bits that all clients together may send during the run
            within (float | Unset): tolerance of the choice of absent rounds or batch_size. The smallest run is chosen whose
                risk bound is at most 1 + within times the least within the budgets
            noise_constant (float | Unset): constant factor in the noise of Theorem 4.1 of Lowy and Razaviyayn, which the
                paper does not specify
            readings (list[Reading] | Unset): interpretations (readings) of the printed theorem to return; all if absent
    """

    relation: Relation
    unit: Unit | WindowedUnit
    observer: Observer
    samples_per_client: int
    clients: int
    dimension: int
    lipschitz: float
    diameter: float
    advantage: float | Unset = UNSET
    true_positive_rate: float | Unset = UNSET
    false_positive_rate: float | Unset = UNSET
    epsilon: float | Unset = UNSET
    delta: float | Unset = UNSET
    log10_delta: float | Unset = UNSET
    participants: int | Unset = UNSET
    rounds: int | Unset = UNSET
    batch_size: int | Unset = UNSET
    smoothness: float | Unset = UNSET
    strong_convexity: float | Unset = UNSET
    initial_distance: float | Unset = UNSET
    max_gradients: int | Unset = UNSET
    communication_budget: int | Unset = UNSET
    within: float | Unset = UNSET
    noise_constant: float | Unset = UNSET
    readings: list[Reading] | Unset = UNSET

    def to_dict(self) -> dict[str, Any]:
        relation = self.relation.value

        unit: dict[str, Any] | str
        if isinstance(self.unit, Unit):
            unit = self.unit.value
        else:
            unit = self.unit.to_dict()

        observer = self.observer.value

        samples_per_client = self.samples_per_client

        clients = self.clients

        dimension = self.dimension

        lipschitz = self.lipschitz

        diameter = self.diameter

        advantage = self.advantage

        true_positive_rate = self.true_positive_rate

        false_positive_rate = self.false_positive_rate

        epsilon = self.epsilon

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

        readings: list[str] | Unset = UNSET
        if not isinstance(self.readings, Unset):
            readings = []
            for readings_item_data in self.readings:
                readings_item = readings_item_data.value
                readings.append(readings_item)

        field_dict: dict[str, Any] = {}

        field_dict.update(
            {
                "relation": relation,
                "unit": unit,
                "observer": observer,
                "samples_per_client": samples_per_client,
                "clients": clients,
                "dimension": dimension,
                "lipschitz": lipschitz,
                "diameter": diameter,
            }
        )
        if advantage is not UNSET:
            field_dict["advantage"] = advantage
        if true_positive_rate is not UNSET:
            field_dict["true_positive_rate"] = true_positive_rate
        if false_positive_rate is not UNSET:
            field_dict["false_positive_rate"] = false_positive_rate
        if epsilon is not UNSET:
            field_dict["epsilon"] = epsilon
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
        if readings is not UNSET:
            field_dict["readings"] = readings

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        from ..models.windowed_unit import WindowedUnit

        d = dict(src_dict)
        relation = Relation(d.pop("relation"))

        def _parse_unit(data: object) -> Unit | WindowedUnit:
            try:
                if not isinstance(data, str):
                    raise TypeError()
                unit_type_0 = Unit(data)

                return unit_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            if not isinstance(data, dict):
                raise TypeError()
            unit_type_1 = WindowedUnit.from_dict(data)

            return unit_type_1

        unit = _parse_unit(d.pop("unit"))

        observer = Observer(d.pop("observer"))

        samples_per_client = d.pop("samples_per_client")

        clients = d.pop("clients")

        dimension = d.pop("dimension")

        lipschitz = d.pop("lipschitz")

        diameter = d.pop("diameter")

        advantage = d.pop("advantage", UNSET)

        true_positive_rate = d.pop("true_positive_rate", UNSET)

        false_positive_rate = d.pop("false_positive_rate", UNSET)

        epsilon = d.pop("epsilon", UNSET)

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

        _readings = d.pop("readings", UNSET)
        readings: list[Reading] | Unset = UNSET
        if _readings is not UNSET:
            readings = []
            for readings_item_data in _readings:
                readings_item = Reading(readings_item_data)

                readings.append(readings_item)

        shuffled_mb_sgd_problem = cls(
            relation=relation,
            unit=unit,
            observer=observer,
            samples_per_client=samples_per_client,
            clients=clients,
            dimension=dimension,
            lipschitz=lipschitz,
            diameter=diameter,
            advantage=advantage,
            true_positive_rate=true_positive_rate,
            false_positive_rate=false_positive_rate,
            epsilon=epsilon,
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
            readings=readings,
        )

        return shuffled_mb_sgd_problem
