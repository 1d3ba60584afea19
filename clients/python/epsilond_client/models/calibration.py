from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

if TYPE_CHECKING:
    from ..models.caution import Caution
    from ..models.communication import Communication
    from ..models.condition import Condition
    from ..models.considered_bound import ConsideredBound
    from ..models.derivation_step import DerivationStep
    from ..models.guarantee_answer import GuaranteeAnswer
    from ..models.numerical_answer import NumericalAnswer
    from ..models.parameters import Parameters
    from ..models.printed_entry import PrintedEntry
    from ..models.risk import Risk
    from ..models.run_choice import RunChoice


T = TypeVar("T", bound="Calibration")


@_attrs_define
class Calibration:
    """The answer to a calibration: the parameters to run with, their certified guarantee, and its proof.

    Attributes:
        algorithm (str):
        parameters (Parameters):
        guarantee (GuaranteeAnswer): The guarantee: protected unit, adversary, and enclosures of ε at the target δ and
            of δ at the target ε.
        numerical (NumericalAnswer): Numerical error of the computed bound. It does not say how close the bound is to
            the truth.
        as_printed (list[PrintedEntry]):
        derivation (list[DerivationStep]):
        declared_conditions (list[Condition]):
        warnings (list[Caution]):
        engine_version (str):
        risk (Risk | Unset): Bounds on the excess risk of the run, its objective, and a bound for the initial model for
            comparison.
        communication (Communication | Unset): Contents and size of the messages.
        frontier (list[RunChoice] | Unset): alternative runs with their risk and traffic, fewest rounds first. Absent
            unless rounds or batch_size was chosen
        considered (list[ConsideredBound] | Unset): theorems that bound δ at these parameters, for comparison
    """

    algorithm: str
    parameters: Parameters
    guarantee: GuaranteeAnswer
    numerical: NumericalAnswer
    as_printed: list[PrintedEntry]
    derivation: list[DerivationStep]
    declared_conditions: list[Condition]
    warnings: list[Caution]
    engine_version: str
    risk: Risk | Unset = UNSET
    communication: Communication | Unset = UNSET
    frontier: list[RunChoice] | Unset = UNSET
    considered: list[ConsideredBound] | Unset = UNSET
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        algorithm = self.algorithm

        parameters = self.parameters.to_dict()

        guarantee = self.guarantee.to_dict()

        numerical = self.numerical.to_dict()

        as_printed = []
        for as_printed_item_data in self.as_printed:
            as_printed_item = as_printed_item_data.to_dict()
            as_printed.append(as_printed_item)

        derivation = []
        for derivation_item_data in self.derivation:
            derivation_item = derivation_item_data.to_dict()
            derivation.append(derivation_item)

        declared_conditions = []
        for declared_conditions_item_data in self.declared_conditions:
            declared_conditions_item = declared_conditions_item_data.to_dict()
            declared_conditions.append(declared_conditions_item)

        warnings = []
        for warnings_item_data in self.warnings:
            warnings_item = warnings_item_data.to_dict()
            warnings.append(warnings_item)

        engine_version = self.engine_version

        risk: dict[str, Any] | Unset = UNSET
        if not isinstance(self.risk, Unset):
            risk = self.risk.to_dict()

        communication: dict[str, Any] | Unset = UNSET
        if not isinstance(self.communication, Unset):
            communication = self.communication.to_dict()

        frontier: list[dict[str, Any]] | Unset = UNSET
        if not isinstance(self.frontier, Unset):
            frontier = []
            for frontier_item_data in self.frontier:
                frontier_item = frontier_item_data.to_dict()
                frontier.append(frontier_item)

        considered: list[dict[str, Any]] | Unset = UNSET
        if not isinstance(self.considered, Unset):
            considered = []
            for considered_item_data in self.considered:
                considered_item = considered_item_data.to_dict()
                considered.append(considered_item)

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "algorithm": algorithm,
                "parameters": parameters,
                "guarantee": guarantee,
                "numerical": numerical,
                "as_printed": as_printed,
                "derivation": derivation,
                "declared_conditions": declared_conditions,
                "warnings": warnings,
                "engine_version": engine_version,
            }
        )
        if risk is not UNSET:
            field_dict["risk"] = risk
        if communication is not UNSET:
            field_dict["communication"] = communication
        if frontier is not UNSET:
            field_dict["frontier"] = frontier
        if considered is not UNSET:
            field_dict["considered"] = considered

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        from ..models.caution import Caution
        from ..models.communication import Communication
        from ..models.condition import Condition
        from ..models.considered_bound import ConsideredBound
        from ..models.derivation_step import DerivationStep
        from ..models.guarantee_answer import GuaranteeAnswer
        from ..models.numerical_answer import NumericalAnswer
        from ..models.parameters import Parameters
        from ..models.printed_entry import PrintedEntry
        from ..models.risk import Risk
        from ..models.run_choice import RunChoice

        d = dict(src_dict)
        algorithm = d.pop("algorithm")

        parameters = Parameters.from_dict(d.pop("parameters"))

        guarantee = GuaranteeAnswer.from_dict(d.pop("guarantee"))

        numerical = NumericalAnswer.from_dict(d.pop("numerical"))

        as_printed = []
        _as_printed = d.pop("as_printed")
        for as_printed_item_data in _as_printed:
            as_printed_item = PrintedEntry.from_dict(as_printed_item_data)

            as_printed.append(as_printed_item)

        derivation = []
        _derivation = d.pop("derivation")
        for derivation_item_data in _derivation:
            derivation_item = DerivationStep.from_dict(derivation_item_data)

            derivation.append(derivation_item)

        declared_conditions = []
        _declared_conditions = d.pop("declared_conditions")
        for declared_conditions_item_data in _declared_conditions:
            declared_conditions_item = Condition.from_dict(
                declared_conditions_item_data
            )

            declared_conditions.append(declared_conditions_item)

        warnings = []
        _warnings = d.pop("warnings")
        for warnings_item_data in _warnings:
            warnings_item = Caution.from_dict(warnings_item_data)

            warnings.append(warnings_item)

        engine_version = d.pop("engine_version")

        _risk = d.pop("risk", UNSET)
        risk: Risk | Unset
        if isinstance(_risk, Unset):
            risk = UNSET
        else:
            risk = Risk.from_dict(_risk)

        _communication = d.pop("communication", UNSET)
        communication: Communication | Unset
        if isinstance(_communication, Unset):
            communication = UNSET
        else:
            communication = Communication.from_dict(_communication)

        _frontier = d.pop("frontier", UNSET)
        frontier: list[RunChoice] | Unset = UNSET
        if _frontier is not UNSET:
            frontier = []
            for frontier_item_data in _frontier:
                frontier_item = RunChoice.from_dict(frontier_item_data)

                frontier.append(frontier_item)

        _considered = d.pop("considered", UNSET)
        considered: list[ConsideredBound] | Unset = UNSET
        if _considered is not UNSET:
            considered = []
            for considered_item_data in _considered:
                considered_item = ConsideredBound.from_dict(considered_item_data)

                considered.append(considered_item)

        calibration = cls(
            algorithm=algorithm,
            parameters=parameters,
            guarantee=guarantee,
            numerical=numerical,
            as_printed=as_printed,
            derivation=derivation,
            declared_conditions=declared_conditions,
            warnings=warnings,
            engine_version=engine_version,
            risk=risk,
            communication=communication,
            frontier=frontier,
            considered=considered,
        )

        calibration.additional_properties = d
        return calibration

    @property
    def additional_keys(self) -> list[str]:
        return list(self.additional_properties.keys())

    def __getitem__(self, key: str) -> Any:
        return self.additional_properties[key]

    def __setitem__(self, key: str, value: Any) -> None:
        self.additional_properties[key] = value

    def __delitem__(self, key: str) -> None:
        del self.additional_properties[key]

    def __contains__(self, key: str) -> bool:
        return key in self.additional_properties
