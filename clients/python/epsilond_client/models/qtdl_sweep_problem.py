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

from ..models.observer import Observer, check_observer
from ..models.qtdl_sweep_problem_method import (
    QtdlSweepProblemMethod,
    check_qtdl_sweep_problem_method,
)
from ..models.relation import Relation, check_relation
from ..models.unit import Unit, check_unit
from ..types import UNSET, Unset

if TYPE_CHECKING:
    from ..models.qtdl_sweep_values import QtdlSweepValues
    from ..models.sensitivity_rule import SensitivityRule


T = TypeVar("T", bound="QtdlSweepProblem")


@_attrs_define
class QtdlSweepProblem:
    """The fields of qtdl, but for the one that is swept."""

    sweep: QtdlSweepValues
    """ A field of qtdl and its values. """
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
    method: QtdlSweepProblemMethod | Unset = UNSET
    relation: Relation | Unset = UNSET
    observer: Observer | Unset = UNSET
    readings: list[Literal["statement"]] | Unset = UNSET
    """ printed readings to return, all if absent """
    unit: Unit | Unset = UNSET

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

        unit: str | Unset = UNSET
        if not isinstance(self.unit, Unset):
            unit = self.unit

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
        if unit is not UNSET:
            field_dict["unit"] = unit

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        from ..models.qtdl_sweep_values import QtdlSweepValues
        from ..models.sensitivity_rule import SensitivityRule

        d = dict(src_dict)
        sweep = QtdlSweepValues.from_dict(d.pop("sweep"))

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
        method: QtdlSweepProblemMethod | Unset
        if isinstance(_method, Unset):
            method = UNSET
        else:
            method = check_qtdl_sweep_problem_method(_method)

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

        qtdl_sweep_problem = cls(
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
            unit=unit,
        )

        return qtdl_sweep_problem
