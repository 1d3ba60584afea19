from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self, TypeVar, cast

from attrs import define as _attrs_define

from ..models.batches import Batches
from ..models.observer import Observer
from ..models.reading import Reading
from ..models.relation import Relation
from ..models.sampling import Sampling
from ..models.unbounded import Unbounded
from ..models.unit import Unit
from ..models.weighting import Weighting
from ..types import UNSET, Unset

if TYPE_CHECKING:
    from ..models.windowed_unit import WindowedUnit


T = TypeVar("T", bound="PpsgdProblem")


@_attrs_define
class PpsgdProblem:
    """The target, the clients, and for a bound on the excess risk the learning problem.

    A client is protected as a whole, against all other clients together. `participation_rate` is needed unless all
    clients take part. For `without-replacement` it gives the number of participants, as a fraction of `clients`. The
    bound on the excess risk needs `smoothness` and `optimum_norm`. It is for models that are the sum of a shared part
    and a client's own part. If `personalization` is absent, the degree of sharing with the smallest bound is chosen.

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
            clients (int): number of clients in the federation
            rounds (int): number of rounds
            clipping_norm (float): bound on the ℓ2 norm of one client's message in a round
            shared_dimension (int): number of coordinates of the shared part of the model
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
            sampling (Sampling | Unset):
            participation_rate (float | Unset): probability that a given record, or client if clients are drawn, is in a
                batch
            smoothness (float | Unset): smoothness constant: Lipschitz constant of the gradient of the loss
            lipschitz (float | Unset): bound on the ℓ2 norm of one record's gradient. Absent: assumed to be the largest
                value at which clipping_norm clips no message
            batch_size (int | Unset): number of records that a client uses in one round
            client_groups (list[Batches] | Unset): groups of clients with equal properties. A field that a group leaves out
                has the value given for all clients
            weighting (Weighting | Unset):
            shared_gradient_std (float | Unset): root mean square distance of a record's gradient in the shared part from
                the expected gradient of its client, at the optimum. Absent: assumed to be the value of lipschitz
            local_gradient_std (float | Unset): root mean square norm of a record's gradient in its client's own part of the
                model, at the optimum. Absent: assumed to be shared_gradient_std. Both are equal for losses of the sum of shared
                and own part
            shared_gradient_norm (float | Unset): bound on the norm of a client's expected gradient in the shared part, at
                the optimum. It is 0 if a client's model is the sum of shared and own part. Absent: assumed to be the smaller
                one of clipping_norm and lipschitz. It is 0 for losses of the sum of shared and own part, if every client's own
                part is at its optimum
            optimum_norm (float | Unset): distance between the initial model and the mean of the clients' own optimal models
            optimum_spread (float | Unset): root mean square distance of the clients' own optimal models from their mean; 0
                if they are all equal
            personalization (float | Unbounded | Unset): a number; "unbounded" or "-unbounded" if it is infinite
            noise_constant (float | Unset): constant in the paper's formulas for the noise, which it does not specify: c in
                equation (4), c₂ in equation (12)
            readings (list[Reading] | Unset): interpretations (readings) of the printed theorems to return; all if absent
    """

    relation: Relation
    unit: Unit | WindowedUnit
    observer: Observer
    clients: int
    rounds: int
    clipping_norm: float
    shared_dimension: int
    advantage: float | Unset = UNSET
    true_positive_rate: float | Unset = UNSET
    false_positive_rate: float | Unset = UNSET
    gaussian_dp_mu: float | Unset = UNSET
    rho: float | Unset = UNSET
    epsilon: float | Unset = UNSET
    delta: float | Unset = UNSET
    log10_delta: float | Unset = UNSET
    sampling: Sampling | Unset = UNSET
    participation_rate: float | Unset = UNSET
    smoothness: float | Unset = UNSET
    lipschitz: float | Unset = UNSET
    batch_size: int | Unset = UNSET
    client_groups: list[Batches] | Unset = UNSET
    weighting: Weighting | Unset = UNSET
    shared_gradient_std: float | Unset = UNSET
    local_gradient_std: float | Unset = UNSET
    shared_gradient_norm: float | Unset = UNSET
    optimum_norm: float | Unset = UNSET
    optimum_spread: float | Unset = UNSET
    personalization: float | Unbounded | Unset = UNSET
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

        clients = self.clients

        rounds = self.rounds

        clipping_norm = self.clipping_norm

        shared_dimension = self.shared_dimension

        advantage = self.advantage

        true_positive_rate = self.true_positive_rate

        false_positive_rate = self.false_positive_rate

        gaussian_dp_mu = self.gaussian_dp_mu

        rho = self.rho

        epsilon = self.epsilon

        delta = self.delta

        log10_delta = self.log10_delta

        sampling: str | Unset = UNSET
        if not isinstance(self.sampling, Unset):
            sampling = self.sampling.value

        participation_rate = self.participation_rate

        smoothness = self.smoothness

        lipschitz = self.lipschitz

        batch_size = self.batch_size

        client_groups: list[str] | Unset = UNSET
        if not isinstance(self.client_groups, Unset):
            client_groups = []
            for client_groups_item_data in self.client_groups:
                client_groups_item = client_groups_item_data.value
                client_groups.append(client_groups_item)

        weighting: str | Unset = UNSET
        if not isinstance(self.weighting, Unset):
            weighting = self.weighting.value

        shared_gradient_std = self.shared_gradient_std

        local_gradient_std = self.local_gradient_std

        shared_gradient_norm = self.shared_gradient_norm

        optimum_norm = self.optimum_norm

        optimum_spread = self.optimum_spread

        personalization: float | str | Unset
        if isinstance(self.personalization, Unset):
            personalization = UNSET
        elif isinstance(self.personalization, Unbounded):
            personalization = self.personalization.value
        else:
            personalization = self.personalization

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
                "clients": clients,
                "rounds": rounds,
                "clipping_norm": clipping_norm,
                "shared_dimension": shared_dimension,
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
        if sampling is not UNSET:
            field_dict["sampling"] = sampling
        if participation_rate is not UNSET:
            field_dict["participation_rate"] = participation_rate
        if smoothness is not UNSET:
            field_dict["smoothness"] = smoothness
        if lipschitz is not UNSET:
            field_dict["lipschitz"] = lipschitz
        if batch_size is not UNSET:
            field_dict["batch_size"] = batch_size
        if client_groups is not UNSET:
            field_dict["client_groups"] = client_groups
        if weighting is not UNSET:
            field_dict["weighting"] = weighting
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
        if personalization is not UNSET:
            field_dict["personalization"] = personalization
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

        clients = d.pop("clients")

        rounds = d.pop("rounds")

        clipping_norm = d.pop("clipping_norm")

        shared_dimension = d.pop("shared_dimension")

        advantage = d.pop("advantage", UNSET)

        true_positive_rate = d.pop("true_positive_rate", UNSET)

        false_positive_rate = d.pop("false_positive_rate", UNSET)

        gaussian_dp_mu = d.pop("gaussian_dp_mu", UNSET)

        rho = d.pop("rho", UNSET)

        epsilon = d.pop("epsilon", UNSET)

        delta = d.pop("delta", UNSET)

        log10_delta = d.pop("log10_delta", UNSET)

        _sampling = d.pop("sampling", UNSET)
        sampling: Sampling | Unset
        if isinstance(_sampling, Unset):
            sampling = UNSET
        else:
            sampling = Sampling(_sampling)

        participation_rate = d.pop("participation_rate", UNSET)

        smoothness = d.pop("smoothness", UNSET)

        lipschitz = d.pop("lipschitz", UNSET)

        batch_size = d.pop("batch_size", UNSET)

        _client_groups = d.pop("client_groups", UNSET)
        client_groups: list[Batches] | Unset = UNSET
        if _client_groups is not UNSET:
            client_groups = []
            for client_groups_item_data in _client_groups:
                client_groups_item = Batches(client_groups_item_data)

                client_groups.append(client_groups_item)

        _weighting = d.pop("weighting", UNSET)
        weighting: Weighting | Unset
        if isinstance(_weighting, Unset):
            weighting = UNSET
        else:
            weighting = Weighting(_weighting)

        shared_gradient_std = d.pop("shared_gradient_std", UNSET)

        local_gradient_std = d.pop("local_gradient_std", UNSET)

        shared_gradient_norm = d.pop("shared_gradient_norm", UNSET)

        optimum_norm = d.pop("optimum_norm", UNSET)

        optimum_spread = d.pop("optimum_spread", UNSET)

        def _parse_personalization(data: object) -> float | Unbounded | Unset:
            if isinstance(data, Unset):
                return data
            try:
                if not isinstance(data, str):
                    raise TypeError()
                componentsschemas_figure_type_1 = Unbounded(data)

                return componentsschemas_figure_type_1
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(float | Unbounded | Unset, data)

        personalization = _parse_personalization(d.pop("personalization", UNSET))

        noise_constant = d.pop("noise_constant", UNSET)

        _readings = d.pop("readings", UNSET)
        readings: list[Reading] | Unset = UNSET
        if _readings is not UNSET:
            readings = []
            for readings_item_data in _readings:
                readings_item = Reading(readings_item_data)

                readings.append(readings_item)

        ppsgd_problem = cls(
            relation=relation,
            unit=unit,
            observer=observer,
            clients=clients,
            rounds=rounds,
            clipping_norm=clipping_norm,
            shared_dimension=shared_dimension,
            advantage=advantage,
            true_positive_rate=true_positive_rate,
            false_positive_rate=false_positive_rate,
            gaussian_dp_mu=gaussian_dp_mu,
            rho=rho,
            epsilon=epsilon,
            delta=delta,
            log10_delta=log10_delta,
            sampling=sampling,
            participation_rate=participation_rate,
            smoothness=smoothness,
            lipschitz=lipschitz,
            batch_size=batch_size,
            client_groups=client_groups,
            weighting=weighting,
            shared_gradient_std=shared_gradient_std,
            local_gradient_std=local_gradient_std,
            shared_gradient_norm=shared_gradient_norm,
            optimum_norm=optimum_norm,
            optimum_spread=optimum_spread,
            personalization=personalization,
            noise_constant=noise_constant,
            readings=readings,
        )

        return ppsgd_problem
