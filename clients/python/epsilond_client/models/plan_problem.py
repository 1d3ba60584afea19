from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self, TypeVar, cast

from attrs import define as _attrs_define

from ..models.definition import Definition
from ..models.objective import Objective
from ..models.observer import Observer
from ..models.rank_by import RankBy
from ..models.relation import Relation
from ..models.sampling import Sampling
from ..models.unit import Unit
from ..types import UNSET, Unset

if TYPE_CHECKING:
    from ..models.reach import Reach
    from ..models.windowed_unit import WindowedUnit


T = TypeVar("T", bound="PlanProblem")


@_attrs_define
class PlanProblem:
    """The target, the federation and the learning problem, of which each algorithm uses the fields that it needs.

    Losses are convex. All algorithms need only the target and the number of clients. An entry that lacks another field
    says which. Leave out `rounds` or `batch_size` where an algorithm shall choose them. Limits on rounds, traffic and
    participation restrict this choice. An entry that exceeds a limit is never ranked or recommended.

        Attributes:
            relation (Relation): replace-one: One unit's data is replaced by any other data, and the number of units is the
                same. add-or-remove-one: One unit is in one of the data sets and absent from the other. zero-out-one: One unit's
                contribution counts as zero in one of the data sets.
            unit (Unit | WindowedUnit): protected unit, in which neighbours differ
            observers (list[Observer]): adversaries that are accepted. An algorithm applies if the adversary of its
                guarantee is in the list by name. List stronger ones too
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
            clients (int | Unset): number of clients in the federation
            samples_per_client (int | Unset): number of records of one client
            participants (int | Unset): number of clients in one round
            client_sampling (Sampling | Unset):
            dimension (int | Unset): number of coordinates of the model
            lipschitz (float | Unset): bound on the ℓ2 norm of one record's gradient
            diameter (float | Unset): diameter of the domain, to which the model is restricted
            smoothness (float | Unset): smoothness constant: Lipschitz constant of the gradient of the loss
            strong_convexity (float | Unset): strong convexity constant of the loss; 0 if the loss is only convex
            initial_distance (float | Unset): bound on the distance between the initial model and a minimiser of the
                objective
            initial_gap (float | Unset): bound on the excess risk of the initial model, before training
            identically_distributed (bool | Unset): whether the records of all clients come from the same distribution
            heterogeneity (float | Unset): root mean square over clients i of |∇F_i − ∇F|, at the model where it is largest.
                F_i is the expected loss of client i, and F the mean of all F_i
            gradient_std (float | Unset): root mean square distance of a record's gradient from the expected gradient of its
                client, at the model where it is largest
            empirical_gradient_std (float | Unset): root mean square over all records of |∇f − ∇F̂|, at the model where it
                is largest. f is the loss of the record, and F̂ the mean loss of all records at hand
            rounds (int | Unset): number of rounds
            batch_size (int | Unset): number of records that a client uses in one round
            sampling (Sampling | Unset):
            step_size (float | Unset): step size of a gradient step
            max_gradients (int | Unset): largest number of gradient evaluations of one client, which limits batch_size ·
                rounds
            communication_budget (int | Unset): largest number of bits that all clients together may send during the run
            max_rounds (int | Unset): largest number of rounds that may be chosen, if rounds is absent
            max_bytes_per_client (int | Unset): largest expected number of bytes that one client sends during the run, over
                the random draw of participants
            max_reports_per_client (float | Unset): largest expected number of rounds in which one client takes part, over
                the random draw of participants
            within (float | Unset): tolerance of the choice of absent rounds or batch_size. The smallest run is chosen whose
                risk bound is at most 1 + within times the least within the budgets
            quantization_levels (int | Unset): number s of grid steps in a unit: coordinates in [−1, 1] are rounded to
                multiples of 1/s
            clipping_norm (float | Unset): bound on the ℓ2 norm of one client's message in a round
            shared_dimension (int | Unset): number of coordinates of the shared part of the model
            shared_gradient_std (float | Unset): root mean square distance of a record's gradient in the shared part from
                the expected gradient of its client, at the optimum
            local_gradient_std (float | Unset): root mean square norm of a record's gradient in its client's own part of the
                model, at the optimum
            shared_gradient_norm (float | Unset): bound on the norm of a client's expected gradient in the shared part, at
                the optimum. It is 0 if a client's model is the sum of shared and own part
            optimum_norm (float | Unset): distance between the initial model and the mean of the clients' own optimal models
            optimum_spread (float | Unset): root mean square distance of the clients' own optimal models from their mean; 0
                if they are all equal
            trust (list[Definition] | Unset): trust models that are accepted; all if absent. local: no other party is
                trusted. shuffle: a shuffler is trusted. central: the server is trusted, and others see models only. joint: the
                server is trusted, and a client's own model stays with the client
            algorithms (list[str] | Unset): names of the algorithms to consider; absent: all
            objective (Objective | Unset):
            rank_by (RankBy | Unset):
            reach (Reach | Unset): A question for the smallest value of one field at which the upper bound on the excess
                risk is at most `risk`.
    """

    relation: Relation
    unit: Unit | WindowedUnit
    observers: list[Observer]
    advantage: float | Unset = UNSET
    true_positive_rate: float | Unset = UNSET
    false_positive_rate: float | Unset = UNSET
    gaussian_dp_mu: float | Unset = UNSET
    rho: float | Unset = UNSET
    epsilon: float | Unset = UNSET
    delta: float | Unset = UNSET
    log10_delta: float | Unset = UNSET
    clients: int | Unset = UNSET
    samples_per_client: int | Unset = UNSET
    participants: int | Unset = UNSET
    client_sampling: Sampling | Unset = UNSET
    dimension: int | Unset = UNSET
    lipschitz: float | Unset = UNSET
    diameter: float | Unset = UNSET
    smoothness: float | Unset = UNSET
    strong_convexity: float | Unset = UNSET
    initial_distance: float | Unset = UNSET
    initial_gap: float | Unset = UNSET
    identically_distributed: bool | Unset = UNSET
    heterogeneity: float | Unset = UNSET
    gradient_std: float | Unset = UNSET
    empirical_gradient_std: float | Unset = UNSET
    rounds: int | Unset = UNSET
    batch_size: int | Unset = UNSET
    sampling: Sampling | Unset = UNSET
    step_size: float | Unset = UNSET
    max_gradients: int | Unset = UNSET
    communication_budget: int | Unset = UNSET
    max_rounds: int | Unset = UNSET
    max_bytes_per_client: int | Unset = UNSET
    max_reports_per_client: float | Unset = UNSET
    within: float | Unset = UNSET
    quantization_levels: int | Unset = UNSET
    clipping_norm: float | Unset = UNSET
    shared_dimension: int | Unset = UNSET
    shared_gradient_std: float | Unset = UNSET
    local_gradient_std: float | Unset = UNSET
    shared_gradient_norm: float | Unset = UNSET
    optimum_norm: float | Unset = UNSET
    optimum_spread: float | Unset = UNSET
    trust: list[Definition] | Unset = UNSET
    algorithms: list[str] | Unset = UNSET
    objective: Objective | Unset = UNSET
    rank_by: RankBy | Unset = UNSET
    reach: Reach | Unset = UNSET

    def to_dict(self) -> dict[str, Any]:
        relation = self.relation.value

        unit: dict[str, Any] | str
        if isinstance(self.unit, Unit):
            unit = self.unit.value
        else:
            unit = self.unit.to_dict()

        observers = []
        for observers_item_data in self.observers:
            observers_item = observers_item_data.value
            observers.append(observers_item)

        advantage = self.advantage

        true_positive_rate = self.true_positive_rate

        false_positive_rate = self.false_positive_rate

        gaussian_dp_mu = self.gaussian_dp_mu

        rho = self.rho

        epsilon = self.epsilon

        delta = self.delta

        log10_delta = self.log10_delta

        clients = self.clients

        samples_per_client = self.samples_per_client

        participants = self.participants

        client_sampling: str | Unset = UNSET
        if not isinstance(self.client_sampling, Unset):
            client_sampling = self.client_sampling.value

        dimension = self.dimension

        lipschitz = self.lipschitz

        diameter = self.diameter

        smoothness = self.smoothness

        strong_convexity = self.strong_convexity

        initial_distance = self.initial_distance

        initial_gap = self.initial_gap

        identically_distributed = self.identically_distributed

        heterogeneity = self.heterogeneity

        gradient_std = self.gradient_std

        empirical_gradient_std = self.empirical_gradient_std

        rounds = self.rounds

        batch_size = self.batch_size

        sampling: str | Unset = UNSET
        if not isinstance(self.sampling, Unset):
            sampling = self.sampling.value

        step_size = self.step_size

        max_gradients = self.max_gradients

        communication_budget = self.communication_budget

        max_rounds = self.max_rounds

        max_bytes_per_client = self.max_bytes_per_client

        max_reports_per_client = self.max_reports_per_client

        within = self.within

        quantization_levels = self.quantization_levels

        clipping_norm = self.clipping_norm

        shared_dimension = self.shared_dimension

        shared_gradient_std = self.shared_gradient_std

        local_gradient_std = self.local_gradient_std

        shared_gradient_norm = self.shared_gradient_norm

        optimum_norm = self.optimum_norm

        optimum_spread = self.optimum_spread

        trust: list[str] | Unset = UNSET
        if not isinstance(self.trust, Unset):
            trust = []
            for trust_item_data in self.trust:
                trust_item = trust_item_data.value
                trust.append(trust_item)

        algorithms: list[str] | Unset = UNSET
        if not isinstance(self.algorithms, Unset):
            algorithms = self.algorithms

        objective: str | Unset = UNSET
        if not isinstance(self.objective, Unset):
            objective = self.objective.value

        rank_by: str | Unset = UNSET
        if not isinstance(self.rank_by, Unset):
            rank_by = self.rank_by.value

        reach: dict[str, Any] | Unset = UNSET
        if not isinstance(self.reach, Unset):
            reach = self.reach.to_dict()

        field_dict: dict[str, Any] = {}

        field_dict.update(
            {
                "relation": relation,
                "unit": unit,
                "observers": observers,
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
        if clients is not UNSET:
            field_dict["clients"] = clients
        if samples_per_client is not UNSET:
            field_dict["samples_per_client"] = samples_per_client
        if participants is not UNSET:
            field_dict["participants"] = participants
        if client_sampling is not UNSET:
            field_dict["client_sampling"] = client_sampling
        if dimension is not UNSET:
            field_dict["dimension"] = dimension
        if lipschitz is not UNSET:
            field_dict["lipschitz"] = lipschitz
        if diameter is not UNSET:
            field_dict["diameter"] = diameter
        if smoothness is not UNSET:
            field_dict["smoothness"] = smoothness
        if strong_convexity is not UNSET:
            field_dict["strong_convexity"] = strong_convexity
        if initial_distance is not UNSET:
            field_dict["initial_distance"] = initial_distance
        if initial_gap is not UNSET:
            field_dict["initial_gap"] = initial_gap
        if identically_distributed is not UNSET:
            field_dict["identically_distributed"] = identically_distributed
        if heterogeneity is not UNSET:
            field_dict["heterogeneity"] = heterogeneity
        if gradient_std is not UNSET:
            field_dict["gradient_std"] = gradient_std
        if empirical_gradient_std is not UNSET:
            field_dict["empirical_gradient_std"] = empirical_gradient_std
        if rounds is not UNSET:
            field_dict["rounds"] = rounds
        if batch_size is not UNSET:
            field_dict["batch_size"] = batch_size
        if sampling is not UNSET:
            field_dict["sampling"] = sampling
        if step_size is not UNSET:
            field_dict["step_size"] = step_size
        if max_gradients is not UNSET:
            field_dict["max_gradients"] = max_gradients
        if communication_budget is not UNSET:
            field_dict["communication_budget"] = communication_budget
        if max_rounds is not UNSET:
            field_dict["max_rounds"] = max_rounds
        if max_bytes_per_client is not UNSET:
            field_dict["max_bytes_per_client"] = max_bytes_per_client
        if max_reports_per_client is not UNSET:
            field_dict["max_reports_per_client"] = max_reports_per_client
        if within is not UNSET:
            field_dict["within"] = within
        if quantization_levels is not UNSET:
            field_dict["quantization_levels"] = quantization_levels
        if clipping_norm is not UNSET:
            field_dict["clipping_norm"] = clipping_norm
        if shared_dimension is not UNSET:
            field_dict["shared_dimension"] = shared_dimension
        if shared_gradient_std is not UNSET:
            field_dict["shared_gradient_std"] = shared_gradient_std
        if local_gradient_std is not UNSET:
            field_dict["local_gradient_std"] = local_gradient_std
        if shared_gradient_norm is not UNSET:
            field_dict["shared_gradient_norm"] = shared_gradient_norm
        if optimum_norm is not UNSET:
            field_dict["optimum_norm"] = optimum_norm
        if optimum_spread is not UNSET:
            field_dict["optimum_spread"] = optimum_spread
        if trust is not UNSET:
            field_dict["trust"] = trust
        if algorithms is not UNSET:
            field_dict["algorithms"] = algorithms
        if objective is not UNSET:
            field_dict["objective"] = objective
        if rank_by is not UNSET:
            field_dict["rank_by"] = rank_by
        if reach is not UNSET:
            field_dict["reach"] = reach

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        from ..models.reach import Reach
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

        observers = []
        _observers = d.pop("observers")
        for observers_item_data in _observers:
            observers_item = Observer(observers_item_data)

            observers.append(observers_item)

        advantage = d.pop("advantage", UNSET)

        true_positive_rate = d.pop("true_positive_rate", UNSET)

        false_positive_rate = d.pop("false_positive_rate", UNSET)

        gaussian_dp_mu = d.pop("gaussian_dp_mu", UNSET)

        rho = d.pop("rho", UNSET)

        epsilon = d.pop("epsilon", UNSET)

        delta = d.pop("delta", UNSET)

        log10_delta = d.pop("log10_delta", UNSET)

        clients = d.pop("clients", UNSET)

        samples_per_client = d.pop("samples_per_client", UNSET)

        participants = d.pop("participants", UNSET)

        _client_sampling = d.pop("client_sampling", UNSET)
        client_sampling: Sampling | Unset
        if isinstance(_client_sampling, Unset):
            client_sampling = UNSET
        else:
            client_sampling = Sampling(_client_sampling)

        dimension = d.pop("dimension", UNSET)

        lipschitz = d.pop("lipschitz", UNSET)

        diameter = d.pop("diameter", UNSET)

        smoothness = d.pop("smoothness", UNSET)

        strong_convexity = d.pop("strong_convexity", UNSET)

        initial_distance = d.pop("initial_distance", UNSET)

        initial_gap = d.pop("initial_gap", UNSET)

        identically_distributed = d.pop("identically_distributed", UNSET)

        heterogeneity = d.pop("heterogeneity", UNSET)

        gradient_std = d.pop("gradient_std", UNSET)

        empirical_gradient_std = d.pop("empirical_gradient_std", UNSET)

        rounds = d.pop("rounds", UNSET)

        batch_size = d.pop("batch_size", UNSET)

        _sampling = d.pop("sampling", UNSET)
        sampling: Sampling | Unset
        if isinstance(_sampling, Unset):
            sampling = UNSET
        else:
            sampling = Sampling(_sampling)

        step_size = d.pop("step_size", UNSET)

        max_gradients = d.pop("max_gradients", UNSET)

        communication_budget = d.pop("communication_budget", UNSET)

        max_rounds = d.pop("max_rounds", UNSET)

        max_bytes_per_client = d.pop("max_bytes_per_client", UNSET)

        max_reports_per_client = d.pop("max_reports_per_client", UNSET)

        within = d.pop("within", UNSET)

        quantization_levels = d.pop("quantization_levels", UNSET)

        clipping_norm = d.pop("clipping_norm", UNSET)

        shared_dimension = d.pop("shared_dimension", UNSET)

        shared_gradient_std = d.pop("shared_gradient_std", UNSET)

        local_gradient_std = d.pop("local_gradient_std", UNSET)

        shared_gradient_norm = d.pop("shared_gradient_norm", UNSET)

        optimum_norm = d.pop("optimum_norm", UNSET)

        optimum_spread = d.pop("optimum_spread", UNSET)

        _trust = d.pop("trust", UNSET)
        trust: list[Definition] | Unset = UNSET
        if _trust is not UNSET:
            trust = []
            for trust_item_data in _trust:
                trust_item = Definition(trust_item_data)

                trust.append(trust_item)

        algorithms = cast(list[str], d.pop("algorithms", UNSET))

        _objective = d.pop("objective", UNSET)
        objective: Objective | Unset
        if isinstance(_objective, Unset):
            objective = UNSET
        else:
            objective = Objective(_objective)

        _rank_by = d.pop("rank_by", UNSET)
        rank_by: RankBy | Unset
        if isinstance(_rank_by, Unset):
            rank_by = UNSET
        else:
            rank_by = RankBy(_rank_by)

        _reach = d.pop("reach", UNSET)
        reach: Reach | Unset
        if isinstance(_reach, Unset):
            reach = UNSET
        else:
            reach = Reach.from_dict(_reach)

        plan_problem = cls(
            relation=relation,
            unit=unit,
            observers=observers,
            advantage=advantage,
            true_positive_rate=true_positive_rate,
            false_positive_rate=false_positive_rate,
            gaussian_dp_mu=gaussian_dp_mu,
            rho=rho,
            epsilon=epsilon,
            delta=delta,
            log10_delta=log10_delta,
            clients=clients,
            samples_per_client=samples_per_client,
            participants=participants,
            client_sampling=client_sampling,
            dimension=dimension,
            lipschitz=lipschitz,
            diameter=diameter,
            smoothness=smoothness,
            strong_convexity=strong_convexity,
            initial_distance=initial_distance,
            initial_gap=initial_gap,
            identically_distributed=identically_distributed,
            heterogeneity=heterogeneity,
            gradient_std=gradient_std,
            empirical_gradient_std=empirical_gradient_std,
            rounds=rounds,
            batch_size=batch_size,
            sampling=sampling,
            step_size=step_size,
            max_gradients=max_gradients,
            communication_budget=communication_budget,
            max_rounds=max_rounds,
            max_bytes_per_client=max_bytes_per_client,
            max_reports_per_client=max_reports_per_client,
            within=within,
            quantization_levels=quantization_levels,
            clipping_norm=clipping_norm,
            shared_dimension=shared_dimension,
            shared_gradient_std=shared_gradient_std,
            local_gradient_std=local_gradient_std,
            shared_gradient_norm=shared_gradient_norm,
            optimum_norm=optimum_norm,
            optimum_spread=optimum_spread,
            trust=trust,
            algorithms=algorithms,
            objective=objective,
            rank_by=rank_by,
            reach=reach,
        )

        return plan_problem
