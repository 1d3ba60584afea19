from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self, TypeVar

from attrs import define as _attrs_define

from ..models.observer import Observer
from ..models.reading import Reading
from ..models.relation import Relation
from ..models.server import Server
from ..models.unit import Unit
from ..types import UNSET, Unset

if TYPE_CHECKING:
    from ..models.participation import Participation
    from ..models.windowed_unit import WindowedUnit


T = TypeVar("T", bound="Mu2SgdProblem")


@_attrs_define
class Mu2SgdProblem:
    """The target, the federation and the losses, who adds the noise, and who takes part.

    Give `epsilon` with one of `delta` and `log10_delta`, or a risk such as `gaussian_dp_mu`. With a risk, δ is only the
    point at which ε is returned.

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
            dimension (int): number of coordinates of the model
            lipschitz (float): bound on the ℓ2 norm of one record's gradient
            smoothness (float): smoothness constant: Lipschitz constant of the gradient of the loss; 0 for linear losses
            diameter (float): diameter of the domain, to which the model is restricted
            advantage (float | Unset): in place of epsilon: largest true minus false positive rate of an attacker
            true_positive_rate (float | Unset): in place of epsilon: largest true positive rate of an attacker at
                false_positive_rate
            false_positive_rate (float | Unset): false positive rate at which true_positive_rate is bounded
            gaussian_dp_mu (float | Unset): parameter μ of Gaussian differential privacy. It is not the parameter ρ of zCDP,
                for which μ = √(2ρ)
            rho (float | Unset): in place of epsilon: parameter ρ of zero-concentrated differential privacy
            epsilon (float | Unset): ε of the (ε, δ) guarantee
            delta (float | Unset): δ of the (ε, δ) guarantee
            log10_delta (float | Unset): log₁₀ δ in place of delta; δ may be below every double
            participants (int | Unset): number of clients in one round
            server (Server | Unset):
            gradient_std (float | Unset): root mean square distance of a record's gradient from the expected gradient of its
                client, at the model where it is largest. Absent: the value of lipschitz
            heterogeneity (float | Unset): root mean square over clients of the distance of a client's expected gradient
                from the mean over all clients. Absent: the value of lipschitz
            smoothness_std (float | Unset): Lipschitz constant, as a function of the model, of a record's gradient minus the
                expected gradient of its client. Absent: the value of smoothness
            smoothness_heterogeneity (float | Unset): Lipschitz constant, as a function of the model, of a client's expected
                gradient minus the mean over all clients. Absent: the value of smoothness
            optimum_gradient_norm (float | Unset): norm of the expected loss's gradient at the minimiser in the domain; 0 if
                the minimiser is an interior point. Absent: the value of lipschitz
            participation (Participation | Unset): The clients that take part in each round: drawn uniformly, or in groups.

                No client reports more often than `most_participations`. If it is absent, the limit is the number of rounds T
                or,
                with groups, the most reports of any group.
            readings (list[Reading] | Unset): interpretations (readings) of the printed theorem to return; all if absent
    """

    relation: Relation
    unit: Unit | WindowedUnit
    observer: Observer
    clients: int
    rounds: int
    dimension: int
    lipschitz: float
    smoothness: float
    diameter: float
    advantage: float | Unset = UNSET
    true_positive_rate: float | Unset = UNSET
    false_positive_rate: float | Unset = UNSET
    gaussian_dp_mu: float | Unset = UNSET
    rho: float | Unset = UNSET
    epsilon: float | Unset = UNSET
    delta: float | Unset = UNSET
    log10_delta: float | Unset = UNSET
    participants: int | Unset = UNSET
    server: Server | Unset = UNSET
    gradient_std: float | Unset = UNSET
    heterogeneity: float | Unset = UNSET
    smoothness_std: float | Unset = UNSET
    smoothness_heterogeneity: float | Unset = UNSET
    optimum_gradient_norm: float | Unset = UNSET
    participation: Participation | Unset = UNSET
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

        dimension = self.dimension

        lipschitz = self.lipschitz

        smoothness = self.smoothness

        diameter = self.diameter

        advantage = self.advantage

        true_positive_rate = self.true_positive_rate

        false_positive_rate = self.false_positive_rate

        gaussian_dp_mu = self.gaussian_dp_mu

        rho = self.rho

        epsilon = self.epsilon

        delta = self.delta

        log10_delta = self.log10_delta

        participants = self.participants

        server: str | Unset = UNSET
        if not isinstance(self.server, Unset):
            server = self.server.value

        gradient_std = self.gradient_std

        heterogeneity = self.heterogeneity

        smoothness_std = self.smoothness_std

        smoothness_heterogeneity = self.smoothness_heterogeneity

        optimum_gradient_norm = self.optimum_gradient_norm

        participation: dict[str, Any] | Unset = UNSET
        if not isinstance(self.participation, Unset):
            participation = self.participation.to_dict()

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
                "dimension": dimension,
                "lipschitz": lipschitz,
                "smoothness": smoothness,
                "diameter": diameter,
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
        if server is not UNSET:
            field_dict["server"] = server
        if gradient_std is not UNSET:
            field_dict["gradient_std"] = gradient_std
        if heterogeneity is not UNSET:
            field_dict["heterogeneity"] = heterogeneity
        if smoothness_std is not UNSET:
            field_dict["smoothness_std"] = smoothness_std
        if smoothness_heterogeneity is not UNSET:
            field_dict["smoothness_heterogeneity"] = smoothness_heterogeneity
        if optimum_gradient_norm is not UNSET:
            field_dict["optimum_gradient_norm"] = optimum_gradient_norm
        if participation is not UNSET:
            field_dict["participation"] = participation
        if readings is not UNSET:
            field_dict["readings"] = readings

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        from ..models.participation import Participation
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

        dimension = d.pop("dimension")

        lipschitz = d.pop("lipschitz")

        smoothness = d.pop("smoothness")

        diameter = d.pop("diameter")

        advantage = d.pop("advantage", UNSET)

        true_positive_rate = d.pop("true_positive_rate", UNSET)

        false_positive_rate = d.pop("false_positive_rate", UNSET)

        gaussian_dp_mu = d.pop("gaussian_dp_mu", UNSET)

        rho = d.pop("rho", UNSET)

        epsilon = d.pop("epsilon", UNSET)

        delta = d.pop("delta", UNSET)

        log10_delta = d.pop("log10_delta", UNSET)

        participants = d.pop("participants", UNSET)

        _server = d.pop("server", UNSET)
        server: Server | Unset
        if isinstance(_server, Unset):
            server = UNSET
        else:
            server = Server(_server)

        gradient_std = d.pop("gradient_std", UNSET)

        heterogeneity = d.pop("heterogeneity", UNSET)

        smoothness_std = d.pop("smoothness_std", UNSET)

        smoothness_heterogeneity = d.pop("smoothness_heterogeneity", UNSET)

        optimum_gradient_norm = d.pop("optimum_gradient_norm", UNSET)

        _participation = d.pop("participation", UNSET)
        participation: Participation | Unset
        if isinstance(_participation, Unset):
            participation = UNSET
        else:
            participation = Participation.from_dict(_participation)

        _readings = d.pop("readings", UNSET)
        readings: list[Reading] | Unset = UNSET
        if _readings is not UNSET:
            readings = []
            for readings_item_data in _readings:
                readings_item = Reading(readings_item_data)

                readings.append(readings_item)

        mu_2_sgd_problem = cls(
            relation=relation,
            unit=unit,
            observer=observer,
            clients=clients,
            rounds=rounds,
            dimension=dimension,
            lipschitz=lipschitz,
            smoothness=smoothness,
            diameter=diameter,
            advantage=advantage,
            true_positive_rate=true_positive_rate,
            false_positive_rate=false_positive_rate,
            gaussian_dp_mu=gaussian_dp_mu,
            rho=rho,
            epsilon=epsilon,
            delta=delta,
            log10_delta=log10_delta,
            participants=participants,
            server=server,
            gradient_std=gradient_std,
            heterogeneity=heterogeneity,
            smoothness_std=smoothness_std,
            smoothness_heterogeneity=smoothness_heterogeneity,
            optimum_gradient_norm=optimum_gradient_norm,
            participation=participation,
            readings=readings,
        )

        return mu_2_sgd_problem
