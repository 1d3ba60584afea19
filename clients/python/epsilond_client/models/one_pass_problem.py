from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self, TypeVar

from attrs import define as _attrs_define

from ..models.observer import Observer
from ..models.reading import Reading
from ..models.relation import Relation
from ..models.sampling import Sampling
from ..models.unit import Unit
from ..types import UNSET, Unset

if TYPE_CHECKING:
    from ..models.client_group import ClientGroup
    from ..models.participation_count import ParticipationCount
    from ..models.windowed_unit import WindowedUnit


T = TypeVar("T", bound="OnePassProblem")


@_attrs_define
class OnePassProblem:
    """The problem of accelerated-mb-sgd for a smooth loss, where each record is used in at most one round.

    If `batch_size` or `rounds` is left out, it is chosen as in mb-sgd. Their product cannot exceed
    `samples_per_client`. The batch of a client group without a batch_size of its own is proportional to its records,
    rounded down, and at least 1. Every client needs records for every round.

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
            smoothness (float): smoothness constant: Lipschitz constant of the gradient of the loss
            advantage (float | Unset): in place of epsilon: largest true minus false positive rate of an attacker
            true_positive_rate (float | Unset): in place of epsilon: largest true positive rate of an attacker at
                false_positive_rate
            false_positive_rate (float | Unset): false positive rate at which true_positive_rate is bounded
            gaussian_dp_mu (float | Unset): in place of epsilon: parameter μ of Gaussian differential privacy; not the ρ of
                zCDP, for which μ = √(2ρ)
            rho (float | Unset): in place of epsilon: parameter ρ of zero-concentrated differential privacy
            epsilon (float | Unset): ε of the (ε, δ) guarantee
            delta (float | Unset): δ of the (ε, δ) guarantee
            log10_delta (float | Unset): log₁₀ δ in place of delta; δ may be below every double
            participants (int | Unset): number of clients in one round
            rounds (int | Unset): number of rounds
            batch_size (int | Unset): number of records that a client uses in one round
            strong_convexity (float | Unset): strong convexity constant of the loss; 0 if the loss is only convex
            initial_distance (float | Unset): bound on the distance between the initial model and a minimiser of the
                objective
            max_gradients (int | Unset): largest number of gradient evaluations of one client, which limits batch_size ·
                rounds
            communication_budget (int | Unset): largest number of bits that all clients together may send during the run
            within (float | Unset): tolerance of the choice of absent rounds or batch_size. The smallest run is chosen whose
                risk bound is at most 1 + within times the least within the budgets
            sampling (Sampling | Unset):
            identically_distributed (bool | Unset): whether the records of all clients come from the same distribution
            heterogeneity (float | Unset): root mean square over clients i of |∇F_i − ∇F|, at the model where it is largest.
                F_i is the expected loss of client i, and F the mean of all F_i
            readings (list[Reading] | Unset): interpretations (readings) of the printed theorem to return; all if absent
            client_groups (list[ClientGroup] | Unset): groups of clients with equal properties. A field that a group leaves
                out has the value given for all clients
            participation (list[ParticipationCount] | Unset): distribution of the number of clients that take part in a
                round. Absent: this number is fixed
            gradient_std (float | Unset): root mean square distance of a record's gradient from the expected gradient of its
                client, at the model where it is largest
            empirical_gradient_std (float | Unset): root mean square over all records of |∇f − ∇F̂|, at the model where it
                is largest. f is the loss of the record, and F̂ the mean loss of all records at hand
            initial_gap (float | Unset): bound on the excess risk of the initial model, before training
    """

    relation: Relation
    unit: Unit | WindowedUnit
    observer: Observer
    samples_per_client: int
    clients: int
    dimension: int
    lipschitz: float
    diameter: float
    smoothness: float
    advantage: float | Unset = UNSET
    true_positive_rate: float | Unset = UNSET
    false_positive_rate: float | Unset = UNSET
    gaussian_dp_mu: float | Unset = UNSET
    rho: float | Unset = UNSET
    epsilon: float | Unset = UNSET
    delta: float | Unset = UNSET
    log10_delta: float | Unset = UNSET
    participants: int | Unset = UNSET
    rounds: int | Unset = UNSET
    batch_size: int | Unset = UNSET
    strong_convexity: float | Unset = UNSET
    initial_distance: float | Unset = UNSET
    max_gradients: int | Unset = UNSET
    communication_budget: int | Unset = UNSET
    within: float | Unset = UNSET
    sampling: Sampling | Unset = UNSET
    identically_distributed: bool | Unset = UNSET
    heterogeneity: float | Unset = UNSET
    readings: list[Reading] | Unset = UNSET
    client_groups: list[ClientGroup] | Unset = UNSET
    participation: list[ParticipationCount] | Unset = UNSET
    gradient_std: float | Unset = UNSET
    empirical_gradient_std: float | Unset = UNSET
    initial_gap: float | Unset = UNSET

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

        smoothness = self.smoothness

        advantage = self.advantage

        true_positive_rate = self.true_positive_rate

        false_positive_rate = self.false_positive_rate

        gaussian_dp_mu = self.gaussian_dp_mu

        rho = self.rho

        epsilon = self.epsilon

        delta = self.delta

        log10_delta = self.log10_delta

        participants = self.participants

        rounds = self.rounds

        batch_size = self.batch_size

        strong_convexity = self.strong_convexity

        initial_distance = self.initial_distance

        max_gradients = self.max_gradients

        communication_budget = self.communication_budget

        within = self.within

        sampling: str | Unset = UNSET
        if not isinstance(self.sampling, Unset):
            sampling = self.sampling.value

        identically_distributed = self.identically_distributed

        heterogeneity = self.heterogeneity

        readings: list[str] | Unset = UNSET
        if not isinstance(self.readings, Unset):
            readings = []
            for readings_item_data in self.readings:
                readings_item = readings_item_data.value
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

        gradient_std = self.gradient_std

        empirical_gradient_std = self.empirical_gradient_std

        initial_gap = self.initial_gap

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
                "smoothness": smoothness,
            }
        )
        if advantage is not UNSET:
            field_dict["advantage"] = advantage
        if true_positive_rate is not UNSET:
            field_dict["true_positive_rate"] = true_positive_rate
        if false_positive_rate is not UNSET:
            field_dict["false_positive_rate"] = false_positive_rate
        if gaussian_dp_mu is not UNSET:
            field_dict["gaussian_dp_mu"] = gaussian_dp_mu
        if rho is not UNSET:
            field_dict["rho"] = rho
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
        if sampling is not UNSET:
            field_dict["sampling"] = sampling
        if identically_distributed is not UNSET:
            field_dict["identically_distributed"] = identically_distributed
        if heterogeneity is not UNSET:
            field_dict["heterogeneity"] = heterogeneity
        if readings is not UNSET:
            field_dict["readings"] = readings
        if client_groups is not UNSET:
            field_dict["client_groups"] = client_groups
        if participation is not UNSET:
            field_dict["participation"] = participation
        if gradient_std is not UNSET:
            field_dict["gradient_std"] = gradient_std
        if empirical_gradient_std is not UNSET:
            field_dict["empirical_gradient_std"] = empirical_gradient_std
        if initial_gap is not UNSET:
            field_dict["initial_gap"] = initial_gap

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        from ..models.client_group import ClientGroup
        from ..models.participation_count import ParticipationCount
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

        smoothness = d.pop("smoothness")

        advantage = d.pop("advantage", UNSET)

        true_positive_rate = d.pop("true_positive_rate", UNSET)

        false_positive_rate = d.pop("false_positive_rate", UNSET)

        gaussian_dp_mu = d.pop("gaussian_dp_mu", UNSET)

        rho = d.pop("rho", UNSET)

        epsilon = d.pop("epsilon", UNSET)

        delta = d.pop("delta", UNSET)

        log10_delta = d.pop("log10_delta", UNSET)

        participants = d.pop("participants", UNSET)

        rounds = d.pop("rounds", UNSET)

        batch_size = d.pop("batch_size", UNSET)

        strong_convexity = d.pop("strong_convexity", UNSET)

        initial_distance = d.pop("initial_distance", UNSET)

        max_gradients = d.pop("max_gradients", UNSET)

        communication_budget = d.pop("communication_budget", UNSET)

        within = d.pop("within", UNSET)

        _sampling = d.pop("sampling", UNSET)
        sampling: Sampling | Unset
        if isinstance(_sampling, Unset):
            sampling = UNSET
        else:
            sampling = Sampling(_sampling)

        identically_distributed = d.pop("identically_distributed", UNSET)

        heterogeneity = d.pop("heterogeneity", UNSET)

        _readings = d.pop("readings", UNSET)
        readings: list[Reading] | Unset = UNSET
        if _readings is not UNSET:
            readings = []
            for readings_item_data in _readings:
                readings_item = Reading(readings_item_data)

                readings.append(readings_item)

        _client_groups = d.pop("client_groups", UNSET)
        client_groups: list[ClientGroup] | Unset = UNSET
        if _client_groups is not UNSET:
            client_groups = []
            for client_groups_item_data in _client_groups:
                client_groups_item = ClientGroup.from_dict(client_groups_item_data)

                client_groups.append(client_groups_item)

        _participation = d.pop("participation", UNSET)
        participation: list[ParticipationCount] | Unset = UNSET
        if _participation is not UNSET:
            participation = []
            for participation_item_data in _participation:
                participation_item = ParticipationCount.from_dict(
                    participation_item_data
                )

                participation.append(participation_item)

        gradient_std = d.pop("gradient_std", UNSET)

        empirical_gradient_std = d.pop("empirical_gradient_std", UNSET)

        initial_gap = d.pop("initial_gap", UNSET)

        one_pass_problem = cls(
            relation=relation,
            unit=unit,
            observer=observer,
            samples_per_client=samples_per_client,
            clients=clients,
            dimension=dimension,
            lipschitz=lipschitz,
            diameter=diameter,
            smoothness=smoothness,
            advantage=advantage,
            true_positive_rate=true_positive_rate,
            false_positive_rate=false_positive_rate,
            gaussian_dp_mu=gaussian_dp_mu,
            rho=rho,
            epsilon=epsilon,
            delta=delta,
            log10_delta=log10_delta,
            participants=participants,
            rounds=rounds,
            batch_size=batch_size,
            strong_convexity=strong_convexity,
            initial_distance=initial_distance,
            max_gradients=max_gradients,
            communication_budget=communication_budget,
            within=within,
            sampling=sampling,
            identically_distributed=identically_distributed,
            heterogeneity=heterogeneity,
            readings=readings,
            client_groups=client_groups,
            participation=participation,
            gradient_std=gradient_std,
            empirical_gradient_std=empirical_gradient_std,
            initial_gap=initial_gap,
        )

        return one_pass_problem
