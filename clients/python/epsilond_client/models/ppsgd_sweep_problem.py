from __future__ import annotations

from collections.abc import Mapping
from typing import (
    TYPE_CHECKING,
    Any,
    Literal,
    Self,
    TypeVar,
    cast,
)

from attrs import define as _attrs_define

from ..models.ppsgd_sweep_problem_readings_item import (
    PpsgdSweepProblemReadingsItem,
    check_ppsgd_sweep_problem_readings_item,
)
from ..models.ppsgd_sweep_problem_sampling import (
    PpsgdSweepProblemSampling,
    check_ppsgd_sweep_problem_sampling,
)
from ..models.ppsgd_sweep_problem_weighting import (
    PpsgdSweepProblemWeighting,
    check_ppsgd_sweep_problem_weighting,
)
from ..models.relation import Relation, check_relation
from ..types import UNSET, Unset

if TYPE_CHECKING:
    from ..models.batches import Batches
    from ..models.ppsgd_sweep_values import PpsgdSweepValues


T = TypeVar("T", bound="PpsgdSweepProblem")


@_attrs_define
class PpsgdSweepProblem:
    """The fields of ppsgd, but for the one that is swept."""

    sweep: PpsgdSweepValues
    """ A field of ppsgd and its values. """
    epsilon: float | Unset = UNSET
    """ privacy loss bound ε of (ε, δ), natural logs """
    delta: float | Unset = UNSET
    """ failure probability δ of (ε, δ) """
    log10_delta: float | Unset = UNSET
    """ base-10 logarithm of δ, for a δ below any double """
    clients: int | Unset = UNSET
    """ clients in the federation """
    rounds: int | Unset = UNSET
    """ communication rounds """
    sampling: PpsgdSweepProblemSampling | Unset = UNSET
    participation_rate: float | Unset = UNSET
    """ probability that a given record, or client where clients are drawn, is in a batch """
    clipping_norm: float | Unset = UNSET
    """ bound on the ℓ2 norm of what one client sends in a round """
    shared_dimension: int | Unset = UNSET
    """ coordinates of the shared part of the model """
    smoothness: float | Unset = UNSET
    """ Lipschitz constant of the gradient """
    lipschitz: float | Unset = UNSET
    """ bound on the ℓ2 norm of one record's gradient """
    batch_size: int | Unset = UNSET
    """ records of one client per round """
    client_groups: list[Batches] | Unset = UNSET
    """ clients that are alike, as counts; what a group leaves out is as for all """
    weighting: PpsgdSweepProblemWeighting | Unset = UNSET
    shared_gradient_std: float | Unset = UNSET
    """ root mean square distance, at the optimum, of a record's shared gradient from its expected one """
    local_gradient_std: float | Unset = UNSET
    """ root mean square norm, at the optimum, of a record's gradient in its client's own part """
    shared_gradient_norm: float | Unset = UNSET
    """ bound on the norm, at the optimum, of a client's expected shared gradient; 0 for models w + θ_i """
    optimum_norm: float | Unset = UNSET
    """ norm of the mean of the clients' own optima, from the start """
    optimum_spread: float | Unset = UNSET
    """ root mean square distance of the clients' own optima from their mean, 0 if all are equal """
    personalization: float | Literal["unbounded"] | Unset = UNSET
    """ step size of the shared part over N times that of a client's own part: 0 learns locally only, "unbounded"
    globally only """
    noise_constant: float | Unset = UNSET
    """ the constant that a printed noise leaves open: c in (4), c₂ in (12) """
    relation: Relation | Unset = UNSET
    unit: Literal["client"] | Unset = UNSET
    """ whose data is protected: one record, or everything of one client """
    observer: Literal["other-clients"] | Unset = UNSET
    """ who sees what: the adversary's view """
    readings: list[PpsgdSweepProblemReadingsItem] | Unset = UNSET
    """ which readings of the printed theorems to return """

    def to_dict(self) -> dict[str, Any]:
        sweep = self.sweep.to_dict()

        epsilon = self.epsilon

        delta = self.delta

        log10_delta = self.log10_delta

        clients = self.clients

        rounds = self.rounds

        sampling: str | Unset = UNSET
        if not isinstance(self.sampling, Unset):
            sampling = self.sampling

        participation_rate = self.participation_rate

        clipping_norm = self.clipping_norm

        shared_dimension = self.shared_dimension

        smoothness = self.smoothness

        lipschitz = self.lipschitz

        batch_size = self.batch_size

        client_groups: list[dict[str, Any]] | Unset = UNSET
        if not isinstance(self.client_groups, Unset):
            client_groups = []
            for client_groups_item_data in self.client_groups:
                client_groups_item = client_groups_item_data.to_dict()
                client_groups.append(client_groups_item)

        weighting: str | Unset = UNSET
        if not isinstance(self.weighting, Unset):
            weighting = self.weighting

        shared_gradient_std = self.shared_gradient_std

        local_gradient_std = self.local_gradient_std

        shared_gradient_norm = self.shared_gradient_norm

        optimum_norm = self.optimum_norm

        optimum_spread = self.optimum_spread

        personalization: float | Literal["unbounded"] | Unset
        if isinstance(self.personalization, Unset):
            personalization = UNSET
        else:
            personalization = self.personalization

        noise_constant = self.noise_constant

        relation: str | Unset = UNSET
        if not isinstance(self.relation, Unset):
            relation = self.relation

        unit = self.unit

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
                "sweep": sweep,
            }
        )
        if epsilon is not UNSET:
            field_dict["epsilon"] = epsilon
        if delta is not UNSET:
            field_dict["delta"] = delta
        if log10_delta is not UNSET:
            field_dict["log10_delta"] = log10_delta
        if clients is not UNSET:
            field_dict["clients"] = clients
        if rounds is not UNSET:
            field_dict["rounds"] = rounds
        if sampling is not UNSET:
            field_dict["sampling"] = sampling
        if participation_rate is not UNSET:
            field_dict["participation_rate"] = participation_rate
        if clipping_norm is not UNSET:
            field_dict["clipping_norm"] = clipping_norm
        if shared_dimension is not UNSET:
            field_dict["shared_dimension"] = shared_dimension
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
        from ..models.batches import Batches
        from ..models.ppsgd_sweep_values import PpsgdSweepValues

        d = dict(src_dict)
        sweep = PpsgdSweepValues.from_dict(d.pop("sweep"))

        epsilon = d.pop("epsilon", UNSET)

        delta = d.pop("delta", UNSET)

        log10_delta = d.pop("log10_delta", UNSET)

        clients = d.pop("clients", UNSET)

        rounds = d.pop("rounds", UNSET)

        _sampling = d.pop("sampling", UNSET)
        sampling: PpsgdSweepProblemSampling | Unset
        if isinstance(_sampling, Unset):
            sampling = UNSET
        else:
            sampling = check_ppsgd_sweep_problem_sampling(_sampling)

        participation_rate = d.pop("participation_rate", UNSET)

        clipping_norm = d.pop("clipping_norm", UNSET)

        shared_dimension = d.pop("shared_dimension", UNSET)

        smoothness = d.pop("smoothness", UNSET)

        lipschitz = d.pop("lipschitz", UNSET)

        batch_size = d.pop("batch_size", UNSET)

        _client_groups = d.pop("client_groups", UNSET)
        client_groups: list[Batches] | Unset = UNSET
        if _client_groups is not UNSET:
            client_groups = []
            for client_groups_item_data in _client_groups:
                client_groups_item = Batches.from_dict(client_groups_item_data)

                client_groups.append(client_groups_item)

        _weighting = d.pop("weighting", UNSET)
        weighting: PpsgdSweepProblemWeighting | Unset
        if isinstance(_weighting, Unset):
            weighting = UNSET
        else:
            weighting = check_ppsgd_sweep_problem_weighting(_weighting)

        shared_gradient_std = d.pop("shared_gradient_std", UNSET)

        local_gradient_std = d.pop("local_gradient_std", UNSET)

        shared_gradient_norm = d.pop("shared_gradient_norm", UNSET)

        optimum_norm = d.pop("optimum_norm", UNSET)

        optimum_spread = d.pop("optimum_spread", UNSET)

        def _parse_personalization(data: object) -> float | Literal["unbounded"] | Unset:
            if isinstance(data, Unset):
                return data
            personalization_type_1 = cast(Literal["unbounded"], data)
            if personalization_type_1 != "unbounded":
                raise ValueError(f"personalization_type_1 must match const 'unbounded', got '{personalization_type_1}'")
            return personalization_type_1
            return cast(float | Literal["unbounded"] | Unset, data)

        personalization = _parse_personalization(d.pop("personalization", UNSET))

        noise_constant = d.pop("noise_constant", UNSET)

        _relation = d.pop("relation", UNSET)
        relation: Relation | Unset
        if isinstance(_relation, Unset):
            relation = UNSET
        else:
            relation = check_relation(_relation)

        unit = cast(Literal["client"] | Unset, d.pop("unit", UNSET))
        if unit != "client" and not isinstance(unit, Unset):
            raise ValueError(f"unit must match const 'client', got '{unit}'")

        observer = cast(Literal["other-clients"] | Unset, d.pop("observer", UNSET))
        if observer != "other-clients" and not isinstance(observer, Unset):
            raise ValueError(f"observer must match const 'other-clients', got '{observer}'")

        _readings = d.pop("readings", UNSET)
        readings: list[PpsgdSweepProblemReadingsItem] | Unset = UNSET
        if _readings is not UNSET:
            readings = []
            for readings_item_data in _readings:
                readings_item = check_ppsgd_sweep_problem_readings_item(readings_item_data)

                readings.append(readings_item)

        ppsgd_sweep_problem = cls(
            sweep=sweep,
            epsilon=epsilon,
            delta=delta,
            log10_delta=log10_delta,
            clients=clients,
            rounds=rounds,
            sampling=sampling,
            participation_rate=participation_rate,
            clipping_norm=clipping_norm,
            shared_dimension=shared_dimension,
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
            relation=relation,
            unit=unit,
            observer=observer,
            readings=readings,
        )

        return ppsgd_sweep_problem
