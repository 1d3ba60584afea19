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

from ..models.norm_fedavg_sweep_problem_method import (
    NormFedavgSweepProblemMethod,
    check_norm_fedavg_sweep_problem_method,
)
from ..models.observer import Observer, check_observer
from ..models.relation import Relation, check_relation
from ..models.unit import Unit, check_unit
from ..types import UNSET, Unset

if TYPE_CHECKING:
    from ..models.norm_fedavg_sweep_values import NormFedavgSweepValues
    from ..models.sensitivity_rule import SensitivityRule


T = TypeVar("T", bound="NormFedavgSweepProblem")


@_attrs_define
class NormFedavgSweepProblem:
    """The fields of norm-fedavg, but for the one that is swept."""

    sweep: NormFedavgSweepValues
    """ A field of norm-fedavg and its values. """
    epsilon: float | Unset = UNSET
    """ privacy loss bound ε of (ε, δ), natural logs """
    delta: float | Unset = UNSET
    """ failure probability δ of (ε, δ) """
    log10_delta: float | Unset = UNSET
    """ base-10 logarithm of δ, for a δ below any double """
    dimension: int | Unset = UNSET
    """ coordinates of the model """
    quantization_levels: int | Unset = UNSET
    """ grid steps per unit: coordinates in [−1, 1] are rounded to multiples of 1/s """
    l1_sensitivity: float | Unset = UNSET
    """ ℓ1 distance of the values on neighbouring data """
    linf_sensitivity: float | Unset = UNSET
    """ most that one coordinate differs between them """
    l2_sensitivity: float | Unset = UNSET
    """ ℓ2 distance of the values on neighbouring data """
    sensitivity_rule: SensitivityRule | Unset = UNSET
    """ How the sensitivities follow; which of the other fields are needed depends on the kind. """
    rounds: int | Unset = UNSET
    """ communication rounds """
    participants: int | Unset = UNSET
    """ clients that report in one round """
    method: NormFedavgSweepProblemMethod | Unset = UNSET
    relation: Relation | Unset = UNSET
    observer: Observer | Unset = UNSET
    readings: list[Literal["statement"]] | Unset = UNSET
    """ printed readings to return, all if absent """
    clients: int | Unset = UNSET
    """ clients in the federation """
    unit: Unit | Unset = UNSET
    smoothness: float | Unset = UNSET
    """ Lipschitz constant of the gradient """
    quasar_convexity: float | Unset = UNSET
    """ quasar-convexity of every client's loss, 1 if convex """
    initial_distance: float | Unset = UNSET
    """ bound on the distance from the start to a minimiser """
    client_optimum_distance: float | Unset = UNSET
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
        sweep = self.sweep.to_dict()

        epsilon = self.epsilon

        delta = self.delta

        log10_delta = self.log10_delta

        dimension = self.dimension

        quantization_levels = self.quantization_levels

        l1_sensitivity = self.l1_sensitivity

        linf_sensitivity = self.linf_sensitivity

        l2_sensitivity = self.l2_sensitivity

        sensitivity_rule: dict[str, Any] | Unset = UNSET
        if not isinstance(self.sensitivity_rule, Unset):
            sensitivity_rule = self.sensitivity_rule.to_dict()

        rounds = self.rounds

        participants = self.participants

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

        clients = self.clients

        unit: str | Unset = UNSET
        if not isinstance(self.unit, Unset):
            unit = self.unit

        smoothness = self.smoothness

        quasar_convexity = self.quasar_convexity

        initial_distance = self.initial_distance

        client_optimum_distance = self.client_optimum_distance

        growth_ratio = self.growth_ratio

        samples_per_client = self.samples_per_client

        local_steps = self.local_steps

        step_ratio = self.step_ratio

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
        if dimension is not UNSET:
            field_dict["dimension"] = dimension
        if quantization_levels is not UNSET:
            field_dict["quantization_levels"] = quantization_levels
        if l1_sensitivity is not UNSET:
            field_dict["l1_sensitivity"] = l1_sensitivity
        if linf_sensitivity is not UNSET:
            field_dict["linf_sensitivity"] = linf_sensitivity
        if l2_sensitivity is not UNSET:
            field_dict["l2_sensitivity"] = l2_sensitivity
        if sensitivity_rule is not UNSET:
            field_dict["sensitivity_rule"] = sensitivity_rule
        if rounds is not UNSET:
            field_dict["rounds"] = rounds
        if participants is not UNSET:
            field_dict["participants"] = participants
        if method is not UNSET:
            field_dict["method"] = method
        if relation is not UNSET:
            field_dict["relation"] = relation
        if observer is not UNSET:
            field_dict["observer"] = observer
        if readings is not UNSET:
            field_dict["readings"] = readings
        if clients is not UNSET:
            field_dict["clients"] = clients
        if unit is not UNSET:
            field_dict["unit"] = unit
        if smoothness is not UNSET:
            field_dict["smoothness"] = smoothness
        if quasar_convexity is not UNSET:
            field_dict["quasar_convexity"] = quasar_convexity
        if initial_distance is not UNSET:
            field_dict["initial_distance"] = initial_distance
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
        from ..models.norm_fedavg_sweep_values import NormFedavgSweepValues
        from ..models.sensitivity_rule import SensitivityRule

        d = dict(src_dict)
        sweep = NormFedavgSweepValues.from_dict(d.pop("sweep"))

        epsilon = d.pop("epsilon", UNSET)

        delta = d.pop("delta", UNSET)

        log10_delta = d.pop("log10_delta", UNSET)

        dimension = d.pop("dimension", UNSET)

        quantization_levels = d.pop("quantization_levels", UNSET)

        l1_sensitivity = d.pop("l1_sensitivity", UNSET)

        linf_sensitivity = d.pop("linf_sensitivity", UNSET)

        l2_sensitivity = d.pop("l2_sensitivity", UNSET)

        _sensitivity_rule = d.pop("sensitivity_rule", UNSET)
        sensitivity_rule: SensitivityRule | Unset
        if isinstance(_sensitivity_rule, Unset):
            sensitivity_rule = UNSET
        else:
            sensitivity_rule = SensitivityRule.from_dict(_sensitivity_rule)

        rounds = d.pop("rounds", UNSET)

        participants = d.pop("participants", UNSET)

        _method = d.pop("method", UNSET)
        method: NormFedavgSweepProblemMethod | Unset
        if isinstance(_method, Unset):
            method = UNSET
        else:
            method = check_norm_fedavg_sweep_problem_method(_method)

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

        clients = d.pop("clients", UNSET)

        _unit = d.pop("unit", UNSET)
        unit: Unit | Unset
        if isinstance(_unit, Unset):
            unit = UNSET
        else:
            unit = check_unit(_unit)

        smoothness = d.pop("smoothness", UNSET)

        quasar_convexity = d.pop("quasar_convexity", UNSET)

        initial_distance = d.pop("initial_distance", UNSET)

        client_optimum_distance = d.pop("client_optimum_distance", UNSET)

        growth_ratio = d.pop("growth_ratio", UNSET)

        samples_per_client = d.pop("samples_per_client", UNSET)

        local_steps = d.pop("local_steps", UNSET)

        step_ratio = d.pop("step_ratio", UNSET)

        norm_fedavg_sweep_problem = cls(
            sweep=sweep,
            epsilon=epsilon,
            delta=delta,
            log10_delta=log10_delta,
            dimension=dimension,
            quantization_levels=quantization_levels,
            l1_sensitivity=l1_sensitivity,
            linf_sensitivity=linf_sensitivity,
            l2_sensitivity=l2_sensitivity,
            sensitivity_rule=sensitivity_rule,
            rounds=rounds,
            participants=participants,
            method=method,
            relation=relation,
            observer=observer,
            readings=readings,
            clients=clients,
            unit=unit,
            smoothness=smoothness,
            quasar_convexity=quasar_convexity,
            initial_distance=initial_distance,
            client_optimum_distance=client_optimum_distance,
            growth_ratio=growth_ratio,
            samples_per_client=samples_per_client,
            local_steps=local_steps,
            step_ratio=step_ratio,
        )

        return norm_fedavg_sweep_problem
