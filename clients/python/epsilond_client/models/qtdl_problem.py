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


T = TypeVar("T", bound="QtdlProblem")


@_attrs_define
class QtdlProblem:
    """The target (ε, δ) for quantised updates with truncated discrete Laplace noise.

    The guarantee is for all `rounds` messages of one client, against an observer of every message.

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
            rounds (int | Unset): number of rounds
            method (QtdlMethod | Unset):
            readings (list[Reading] | Unset): interpretations (readings) of the printed theorem to return; all if absent
            participants (int | Unset): number of clients in one round
    """

    epsilon: float
    relation: Relation
    unit: Unit | WindowedUnit
    observer: Observer
    dimension: int
    quantization_levels: int
    delta: float | Unset = UNSET
    log10_delta: float | Unset = UNSET
    l1_sensitivity: float | Unset = UNSET
    linf_sensitivity: float | Unset = UNSET
    l2_sensitivity: float | Unset = UNSET
    sensitivity_rule: SensitivityRule | Unset = UNSET
    rounds: int | Unset = UNSET
    method: QtdlMethod | Unset = UNSET
    readings: list[Reading] | Unset = UNSET
    participants: int | Unset = UNSET

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

        delta = self.delta

        log10_delta = self.log10_delta

        l1_sensitivity = self.l1_sensitivity

        linf_sensitivity = self.linf_sensitivity

        l2_sensitivity = self.l2_sensitivity

        sensitivity_rule: dict[str, Any] | Unset = UNSET
        if not isinstance(self.sensitivity_rule, Unset):
            sensitivity_rule = self.sensitivity_rule.to_dict()

        rounds = self.rounds

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

        field_dict: dict[str, Any] = {}

        field_dict.update(
            {
                "epsilon": epsilon,
                "relation": relation,
                "unit": unit,
                "observer": observer,
                "dimension": dimension,
                "quantization_levels": quantization_levels,
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
        if rounds is not UNSET:
            field_dict["rounds"] = rounds
        if method is not UNSET:
            field_dict["method"] = method
        if readings is not UNSET:
            field_dict["readings"] = readings
        if participants is not UNSET:
            field_dict["participants"] = participants

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

        rounds = d.pop("rounds", UNSET)

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

        qtdl_problem = cls(
            epsilon=epsilon,
            relation=relation,
            unit=unit,
            observer=observer,
            dimension=dimension,
            quantization_levels=quantization_levels,
            delta=delta,
            log10_delta=log10_delta,
            l1_sensitivity=l1_sensitivity,
            linf_sensitivity=linf_sensitivity,
            l2_sensitivity=l2_sensitivity,
            sensitivity_rule=sensitivity_rule,
            rounds=rounds,
            method=method,
            readings=readings,
            participants=participants,
        )

        return qtdl_problem
