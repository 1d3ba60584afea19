from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self, TypeVar

from attrs import define as _attrs_define

from ..models.observer import Observer
from ..models.qtdl_method import QtdlMethod
from ..models.reading import Reading
from ..models.relation import Relation
from ..models.unit import Unit
from ..types import UNSET, Unset

if TYPE_CHECKING:
    from ..models.sensitivity_rule import SensitivityRule
    from ..models.windowed_unit import WindowedUnit


T = TypeVar("T", bound="NormFedavgProblem")


@_attrs_define
class NormFedavgProblem:
    """A run of DP-NormFedAvg. The adversary sees every message (`server`) or every model (`released-models`).

    The observer `released-models` does not see who took part. If clients are protected, and the sensitivities are those
    of replacing all data of a client, the random draw of clients then amplifies privacy. Absent sensitivities are those
    of any two unit vectors. If `participants` is absent, all clients take part. Absent `local_steps` are the root of
    `rounds`, rounded. An absent `step_ratio` is the one with the smallest bound on the gradient norm.

        Attributes:
            epsilon (float): ε of the (ε, δ) guarantee
            relation (Relation): replace-one: One unit's data is replaced by any other data, and the number of units is the
                same. add-or-remove-one: One unit is in one of the data sets and absent from the other. zero-out-one: One unit's
                contribution counts as zero in one of the data sets.
            unit (Unit | WindowedUnit): protected unit, in which neighbours differ
            observer (Observer): server: The server itself is the adversary and sees every message by name; each client must
                add its own noise. shuffled-server: The server is the adversary and sees every message, but a trusted shuffler
                hides who sent it. released-models: The adversary sees the model after every round; a trusted curator trains it,
                as in central DP-SGD. final-model: The adversary sees only the last model. other-clients: All other clients
                together are the adversary and see every model that a trusted server sends them.
            dimension (int): number of coordinates of the model
            quantization_levels (int): number s of grid steps in a unit: coordinates in [−1, 1] are rounded to multiples of
                1/s
            rounds (int): number of rounds
            clients (int): number of clients in the federation
            smoothness (float): smoothness constant: Lipschitz constant of the gradient of the loss
            quasar_convexity (float): quasar-convexity constant of every client's loss; 1 if the losses are convex
            initial_distance (float): bound on the distance between the initial model and a minimiser of the objective
            delta (float | Unset): δ of the (ε, δ) guarantee
            log10_delta (float | Unset): log₁₀ δ in place of delta; δ may be below every double
            l1_sensitivity (float | Unset): ℓ1 sensitivity: largest ℓ1 distance between the integer vectors of two
                neighbouring data sets, in grid steps
            linf_sensitivity (float | Unset): ℓ∞ sensitivity: largest difference in one coordinate between the integer
                vectors of two neighbouring data sets, in grid steps
            l2_sensitivity (float | Unset): ℓ2 sensitivity: largest ℓ2 distance between the integer vectors of two
                neighbouring data sets, in grid steps
            sensitivity_rule (SensitivityRule | Unset): A rule from which the sensitivities are computed. The kind decides
                which of the other fields are needed.
            method (QtdlMethod | Unset):
            readings (list[Reading] | Unset): interpretations (readings) of the printed theorem to return; all if absent
            participants (int | Unset): number of clients in one round
            client_optimum_distance (float | Unset): bound on the distance between the minimiser of a client's own loss and
                the minimiser of the mean loss
            growth_ratio (float | Unset): largest ratio of the norm of a record's gradient to the norm of its client's mean
                gradient
            samples_per_client (int | Unset): number of records of one client
            local_steps (int | Unset): number of gradient steps of one client in a round
            step_ratio (float | Unset): step size of the server, divided by the step size of the clients
    """

    epsilon: float
    relation: Relation
    unit: Unit | WindowedUnit
    observer: Observer
    dimension: int
    quantization_levels: int
    rounds: int
    clients: int
    smoothness: float
    quasar_convexity: float
    initial_distance: float
    delta: float | Unset = UNSET
    log10_delta: float | Unset = UNSET
    l1_sensitivity: float | Unset = UNSET
    linf_sensitivity: float | Unset = UNSET
    l2_sensitivity: float | Unset = UNSET
    sensitivity_rule: SensitivityRule | Unset = UNSET
    method: QtdlMethod | Unset = UNSET
    readings: list[Reading] | Unset = UNSET
    participants: int | Unset = UNSET
    client_optimum_distance: float | Unset = UNSET
    growth_ratio: float | Unset = UNSET
    samples_per_client: int | Unset = UNSET
    local_steps: int | Unset = UNSET
    step_ratio: float | Unset = UNSET

    def to_dict(self) -> dict[str, Any]:
        epsilon = self.epsilon

        relation = self.relation.value

        unit: dict[str, Any] | str
        if isinstance(self.unit, Unit):
            unit = self.unit.value
        else:
            unit = self.unit.to_dict()

        observer = self.observer.value

        dimension = self.dimension

        quantization_levels = self.quantization_levels

        rounds = self.rounds

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
            method = self.method.value

        readings: list[str] | Unset = UNSET
        if not isinstance(self.readings, Unset):
            readings = []
            for readings_item_data in self.readings:
                readings_item = readings_item_data.value
                readings.append(readings_item)

        participants = self.participants

        client_optimum_distance = self.client_optimum_distance

        growth_ratio = self.growth_ratio

        samples_per_client = self.samples_per_client

        local_steps = self.local_steps

        step_ratio = self.step_ratio

        field_dict: dict[str, Any] = {}

        field_dict.update(
            {
                "epsilon": epsilon,
                "relation": relation,
                "unit": unit,
                "observer": observer,
                "dimension": dimension,
                "quantization_levels": quantization_levels,
                "rounds": rounds,
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
        if readings is not UNSET:
            field_dict["readings"] = readings
        if participants is not UNSET:
            field_dict["participants"] = participants
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
        from ..models.windowed_unit import WindowedUnit

        d = dict(src_dict)
        epsilon = d.pop("epsilon")

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

        dimension = d.pop("dimension")

        quantization_levels = d.pop("quantization_levels")

        rounds = d.pop("rounds")

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
        method: QtdlMethod | Unset
        if isinstance(_method, Unset):
            method = UNSET
        else:
            method = QtdlMethod(_method)

        _readings = d.pop("readings", UNSET)
        readings: list[Reading] | Unset = UNSET
        if _readings is not UNSET:
            readings = []
            for readings_item_data in _readings:
                readings_item = Reading(readings_item_data)

                readings.append(readings_item)

        participants = d.pop("participants", UNSET)

        client_optimum_distance = d.pop("client_optimum_distance", UNSET)

        growth_ratio = d.pop("growth_ratio", UNSET)

        samples_per_client = d.pop("samples_per_client", UNSET)

        local_steps = d.pop("local_steps", UNSET)

        step_ratio = d.pop("step_ratio", UNSET)

        norm_fedavg_problem = cls(
            epsilon=epsilon,
            relation=relation,
            unit=unit,
            observer=observer,
            dimension=dimension,
            quantization_levels=quantization_levels,
            rounds=rounds,
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
            readings=readings,
            participants=participants,
            client_optimum_distance=client_optimum_distance,
            growth_ratio=growth_ratio,
            samples_per_client=samples_per_client,
            local_steps=local_steps,
            step_ratio=step_ratio,
        )

        return norm_fedavg_problem
