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

from ..models.norm_fedavg_problem_method import (
    NormFedavgProblemMethod,
    check_norm_fedavg_problem_method,
)
from ..models.observer import Observer, check_observer
from ..models.relation import Relation, check_relation
from ..models.unit import Unit, check_unit
from ..types import UNSET, Unset

if TYPE_CHECKING:
    from ..models.sensitivity_rule import SensitivityRule


T = TypeVar("T", bound="NormFedavgProblem")


@_attrs_define
class NormFedavgProblem:
    """`observer` `server` draws the participants and sees every message; `released-models` sees the models alone.

    The models alone hide who took part: a client (the unit, unless `unit` says record) then gains from the draw, if the
    sensitivities are those of replacing all of its data. Absent sensitivities: any two unit vectors. Absent: E = √K
    rounded, and β/η by the least bound.

    """

    epsilon: float
    """ privacy loss bound ε of (ε, δ), natural logs """
    dimension: int
    """ coordinates of the model """
    quantization_levels: int
    """ grid steps per unit: coordinates in [−1, 1] are rounded to multiples of 1/s """
    rounds: int
    """ communication rounds """
    participants: int
    """ clients that report in one round """
    clients: int
    """ clients in the federation """
    smoothness: float
    """ Lipschitz constant of the gradient """
    quasar_convexity: float
    """ quasar-convexity of every client's loss, 1 if convex """
    initial_distance: float
    """ bound on the distance from the start to a minimiser """
    delta: float | Unset = UNSET
    """ failure probability δ of (ε, δ) """
    log10_delta: float | Unset = UNSET
    """ base-10 logarithm of δ, for a δ below any double """
    l1_sensitivity: float | Unset = UNSET
    """ ℓ1 distance of the values on neighbouring data """
    linf_sensitivity: float | Unset = UNSET
    """ most that one coordinate differs between them """
    l2_sensitivity: float | Unset = UNSET
    """ ℓ2 distance of the values on neighbouring data """
    sensitivity_rule: SensitivityRule | Unset = UNSET
    """ How the sensitivities follow; which of the other fields are needed depends on the kind. """
    method: NormFedavgProblemMethod | Unset = UNSET
    relation: Relation | Unset = UNSET
    observer: Observer | Unset = UNSET
    readings: list[Literal["statement"]] | Unset = UNSET
    """ printed readings to return, all if absent """
    unit: Unit | Unset = UNSET
    client_optimum_distance: float | Unset = 0.0
    """ distance of a client's own minimiser from the common one """
    growth_ratio: float | Unset = UNSET
    """ largest norm of a record's gradient over that of its client's mean one """
    samples_per_client: int | Unset = UNSET
    """ records of one client """
    local_steps: int | Unset = UNSET
    """ gradient steps of one client per round """
    step_ratio: float | Unset = UNSET
    """ step of the server over the clients' step """

    def to_dict(self) -> dict[str, Any]:
        epsilon = self.epsilon

        dimension = self.dimension

        quantization_levels = self.quantization_levels

        rounds = self.rounds

        participants = self.participants

        clients = self.clients

        smoothness = self.smoothness

        quasar_convexity = self.quasar_convexity

        initial_distance = self.initial_distance

        delta = self.delta

        log10_delta = self.log10_delta

        l1_sensitivity = self.l1_sensitivity

        linf_sensitivity = self.linf_sensitivity

        l2_sensitivity = self.l2_sensitivity

        sensitivity_rule: dict[str, Any] | Unset = UNSET
        if not isinstance(self.sensitivity_rule, Unset):
            sensitivity_rule = self.sensitivity_rule.to_dict()

        method: str | Unset = UNSET
        if not isinstance(self.method, Unset):
            method = self.method

        relation: str | Unset = UNSET
        if not isinstance(self.relation, Unset):
            relation = self.relation

        observer: str | Unset = UNSET
        if not isinstance(self.observer, Unset):
            observer = self.observer

        readings: list[Literal["statement"]] | Unset = UNSET
        if not isinstance(self.readings, Unset):
            readings = self.readings

        unit: str | Unset = UNSET
        if not isinstance(self.unit, Unset):
            unit = self.unit

        client_optimum_distance = self.client_optimum_distance

        growth_ratio = self.growth_ratio

        samples_per_client = self.samples_per_client

        local_steps = self.local_steps

        step_ratio = self.step_ratio

        field_dict: dict[str, Any] = {}

        field_dict.update(
            {
                "epsilon": epsilon,
                "dimension": dimension,
                "quantization_levels": quantization_levels,
                "rounds": rounds,
                "participants": participants,
                "clients": clients,
                "smoothness": smoothness,
                "quasar_convexity": quasar_convexity,
                "initial_distance": initial_distance,
            }
        )
        if delta is not UNSET:
            field_dict["delta"] = delta
        if log10_delta is not UNSET:
            field_dict["log10_delta"] = log10_delta
        if l1_sensitivity is not UNSET:
            field_dict["l1_sensitivity"] = l1_sensitivity
        if linf_sensitivity is not UNSET:
            field_dict["linf_sensitivity"] = linf_sensitivity
        if l2_sensitivity is not UNSET:
            field_dict["l2_sensitivity"] = l2_sensitivity
        if sensitivity_rule is not UNSET:
            field_dict["sensitivity_rule"] = sensitivity_rule
        if method is not UNSET:
            field_dict["method"] = method
        if relation is not UNSET:
            field_dict["relation"] = relation
        if observer is not UNSET:
            field_dict["observer"] = observer
        if readings is not UNSET:
            field_dict["readings"] = readings
        if unit is not UNSET:
            field_dict["unit"] = unit
        if client_optimum_distance is not UNSET:
            field_dict["client_optimum_distance"] = client_optimum_distance
        if growth_ratio is not UNSET:
            field_dict["growth_ratio"] = growth_ratio
        if samples_per_client is not UNSET:
            field_dict["samples_per_client"] = samples_per_client
        if local_steps is not UNSET:
            field_dict["local_steps"] = local_steps
        if step_ratio is not UNSET:
            field_dict["step_ratio"] = step_ratio

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        from ..models.sensitivity_rule import SensitivityRule

        d = dict(src_dict)
        epsilon = d.pop("epsilon")

        dimension = d.pop("dimension")

        quantization_levels = d.pop("quantization_levels")

        rounds = d.pop("rounds")

        participants = d.pop("participants")

        clients = d.pop("clients")

        smoothness = d.pop("smoothness")

        quasar_convexity = d.pop("quasar_convexity")

        initial_distance = d.pop("initial_distance")

        delta = d.pop("delta", UNSET)

        log10_delta = d.pop("log10_delta", UNSET)

        l1_sensitivity = d.pop("l1_sensitivity", UNSET)

        linf_sensitivity = d.pop("linf_sensitivity", UNSET)

        l2_sensitivity = d.pop("l2_sensitivity", UNSET)

        _sensitivity_rule = d.pop("sensitivity_rule", UNSET)
        sensitivity_rule: SensitivityRule | Unset
        if isinstance(_sensitivity_rule, Unset):
            sensitivity_rule = UNSET
        else:
            sensitivity_rule = SensitivityRule.from_dict(_sensitivity_rule)

        _method = d.pop("method", UNSET)
        method: NormFedavgProblemMethod | Unset
        if isinstance(_method, Unset):
            method = UNSET
        else:
            method = check_norm_fedavg_problem_method(_method)

        _relation = d.pop("relation", UNSET)
        relation: Relation | Unset
        if isinstance(_relation, Unset):
            relation = UNSET
        else:
            relation = check_relation(_relation)

        _observer = d.pop("observer", UNSET)
        observer: Observer | Unset
        if isinstance(_observer, Unset):
            observer = UNSET
        else:
            observer = check_observer(_observer)

        _readings = d.pop("readings", UNSET)
        readings: list[Literal["statement"]] | Unset = UNSET
        if _readings is not UNSET:
            readings = []
            for readings_item_data in _readings:
                readings_item = cast(Literal["statement"], readings_item_data)
                if readings_item != "statement":
                    raise ValueError(f"readings_item must match const 'statement', got '{readings_item}'")
                readings.append(readings_item)

        _unit = d.pop("unit", UNSET)
        unit: Unit | Unset
        if isinstance(_unit, Unset):
            unit = UNSET
        else:
            unit = check_unit(_unit)

        client_optimum_distance = d.pop("client_optimum_distance", UNSET)

        growth_ratio = d.pop("growth_ratio", UNSET)

        samples_per_client = d.pop("samples_per_client", UNSET)

        local_steps = d.pop("local_steps", UNSET)

        step_ratio = d.pop("step_ratio", UNSET)

        norm_fedavg_problem = cls(
            epsilon=epsilon,
            dimension=dimension,
            quantization_levels=quantization_levels,
            rounds=rounds,
            participants=participants,
            clients=clients,
            smoothness=smoothness,
            quasar_convexity=quasar_convexity,
            initial_distance=initial_distance,
            delta=delta,
            log10_delta=log10_delta,
            l1_sensitivity=l1_sensitivity,
            linf_sensitivity=linf_sensitivity,
            l2_sensitivity=l2_sensitivity,
            sensitivity_rule=sensitivity_rule,
            method=method,
            relation=relation,
            observer=observer,
            readings=readings,
            unit=unit,
            client_optimum_distance=client_optimum_distance,
            growth_ratio=growth_ratio,
            samples_per_client=samples_per_client,
            local_steps=local_steps,
            step_ratio=step_ratio,
        )

        return norm_fedavg_problem
