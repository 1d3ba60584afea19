from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self, TypeVar

from attrs import define as _attrs_define

from ..models.observer import Observer
from ..models.relation import Relation
from ..models.sampling import Sampling
from ..models.unit import Unit
from ..types import UNSET, Unset

if TYPE_CHECKING:
    from ..models.adaptive_clipping import AdaptiveClipping
    from ..models.windowed_unit import WindowedUnit


T = TypeVar("T", bound="DpFedavgProblem")


@_attrs_define
class DpFedavgProblem:
    """The target, the clients, the size of a round, and limits on the run.

    `participants` is the number of participants of a round; for `poisson` the expected number. If it is absent, all
    clients take part. If `rounds` is absent, it is chosen within the limits. A bound on the excess risk needs
    `lipschitz` and `diameter`, and is for one gradient step of a client in each round.

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
            dimension (int): number of coordinates of the model
            clipping_norm (float): bound on the ℓ2 norm of one client's update. With adaptive clipping it is the bound in
                the present round
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
            sampling (Sampling | Unset):
            adaptive_clipping (AdaptiveClipping | Unset): Adaptive clipping by Andrew et al. 2021: every round releases a
                noisy share of the updates that were not clipped. Each participant sends a bit, ½ if its update was not clipped
                and −½ otherwise.
            max_rounds (int | Unset): largest number of rounds that may be chosen, if rounds is absent. Absent: assumed to
                be 2000
            communication_budget (int | Unset): largest number of bits that all clients together may send during the run
            max_bytes_per_client (int | Unset): largest expected number of bytes that one client sends during the run, over
                the random draw of participants
            max_reports_per_client (float | Unset): largest expected number of rounds in which one client takes part, over
                the random draw of participants
            lipschitz (float | Unset): bound on the ℓ2 norm of one record's gradient
            diameter (float | Unset): diameter of the domain, to which the model is restricted
    """

    relation: Relation
    unit: Unit | WindowedUnit
    observer: Observer
    clients: int
    dimension: int
    clipping_norm: float
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
    sampling: Sampling | Unset = UNSET
    adaptive_clipping: AdaptiveClipping | Unset = UNSET
    max_rounds: int | Unset = UNSET
    communication_budget: int | Unset = UNSET
    max_bytes_per_client: int | Unset = UNSET
    max_reports_per_client: float | Unset = UNSET
    lipschitz: float | Unset = UNSET
    diameter: float | Unset = UNSET

    def to_dict(self) -> dict[str, Any]:
        relation = self.relation.value

        unit: dict[str, Any] | str
        if isinstance(self.unit, Unit):
            unit = self.unit.value
        else:
            unit = self.unit.to_dict()

        observer = self.observer.value

        clients = self.clients

        dimension = self.dimension

        clipping_norm = self.clipping_norm

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

        sampling: str | Unset = UNSET
        if not isinstance(self.sampling, Unset):
            sampling = self.sampling.value

        adaptive_clipping: dict[str, Any] | Unset = UNSET
        if not isinstance(self.adaptive_clipping, Unset):
            adaptive_clipping = self.adaptive_clipping.to_dict()

        max_rounds = self.max_rounds

        communication_budget = self.communication_budget

        max_bytes_per_client = self.max_bytes_per_client

        max_reports_per_client = self.max_reports_per_client

        lipschitz = self.lipschitz

        diameter = self.diameter

        field_dict: dict[str, Any] = {}

        field_dict.update(
            {
                "relation": relation,
                "unit": unit,
                "observer": observer,
                "clients": clients,
                "dimension": dimension,
                "clipping_norm": clipping_norm,
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
        if sampling is not UNSET:
            field_dict["sampling"] = sampling
        if adaptive_clipping is not UNSET:
            field_dict["adaptive_clipping"] = adaptive_clipping
        if max_rounds is not UNSET:
            field_dict["max_rounds"] = max_rounds
        if communication_budget is not UNSET:
            field_dict["communication_budget"] = communication_budget
        if max_bytes_per_client is not UNSET:
            field_dict["max_bytes_per_client"] = max_bytes_per_client
        if max_reports_per_client is not UNSET:
            field_dict["max_reports_per_client"] = max_reports_per_client
        if lipschitz is not UNSET:
            field_dict["lipschitz"] = lipschitz
        if diameter is not UNSET:
            field_dict["diameter"] = diameter

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        from ..models.adaptive_clipping import AdaptiveClipping
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

        dimension = d.pop("dimension")

        clipping_norm = d.pop("clipping_norm")

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

        _sampling = d.pop("sampling", UNSET)
        sampling: Sampling | Unset
        if isinstance(_sampling, Unset):
            sampling = UNSET
        else:
            sampling = Sampling(_sampling)

        _adaptive_clipping = d.pop("adaptive_clipping", UNSET)
        adaptive_clipping: AdaptiveClipping | Unset
        if isinstance(_adaptive_clipping, Unset):
            adaptive_clipping = UNSET
        else:
            adaptive_clipping = AdaptiveClipping.from_dict(_adaptive_clipping)

        max_rounds = d.pop("max_rounds", UNSET)

        communication_budget = d.pop("communication_budget", UNSET)

        max_bytes_per_client = d.pop("max_bytes_per_client", UNSET)

        max_reports_per_client = d.pop("max_reports_per_client", UNSET)

        lipschitz = d.pop("lipschitz", UNSET)

        diameter = d.pop("diameter", UNSET)

        dp_fedavg_problem = cls(
            relation=relation,
            unit=unit,
            observer=observer,
            clients=clients,
            dimension=dimension,
            clipping_norm=clipping_norm,
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
            sampling=sampling,
            adaptive_clipping=adaptive_clipping,
            max_rounds=max_rounds,
            communication_budget=communication_budget,
            max_bytes_per_client=max_bytes_per_client,
            max_reports_per_client=max_reports_per_client,
            lipschitz=lipschitz,
            diameter=diameter,
        )

        return dp_fedavg_problem
