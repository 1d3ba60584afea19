from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

if TYPE_CHECKING:
    from ..models.account_guarantee import AccountGuarantee
    from ..models.caution import Caution
    from ..models.claim_answer import ClaimAnswer
    from ..models.condition import Condition
    from ..models.considered_answer import ConsideredAnswer
    from ..models.derivation_step import DerivationStep
    from ..models.meaning_answer import MeaningAnswer
    from ..models.numerical_answer import NumericalAnswer
    from ..models.point import Point


T = TypeVar("T", bound="AccountAnswer")


@_attrs_define
class AccountAnswer:
    """The whole answer.

    Attributes:
        guarantee (AccountGuarantee): The guarantee at the first requested point.
        derivation (list[DerivationStep]):
        considered (list[ConsideredAnswer]):
        declared_conditions (list[Condition]): conditions that the spec sets for the data and the program
        warnings (list[Caution]):
        engine_version (str):
        numerical (NumericalAnswer): How exactly the bound itself was computed; not what is known of the mechanism.
        meaning (MeaningAnswer): What it means to an attacker who tells two neighbours apart.
        claim (ClaimAnswer | Unset): Verdict on a claim: `undecidable` between the proved upper bound and the witnessed
            lower bound.
        points (list[Point] | Unset): where several were requested
    """

    guarantee: AccountGuarantee
    derivation: list[DerivationStep]
    considered: list[ConsideredAnswer]
    declared_conditions: list[Condition]
    warnings: list[Caution]
    engine_version: str
    numerical: NumericalAnswer
    meaning: MeaningAnswer
    claim: ClaimAnswer | Unset = UNSET
    points: list[Point] | Unset = UNSET
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        guarantee = self.guarantee.to_dict()

        derivation = []
        for derivation_item_data in self.derivation:
            derivation_item = derivation_item_data.to_dict()
            derivation.append(derivation_item)

        considered = []
        for considered_item_data in self.considered:
            considered_item = considered_item_data.to_dict()
            considered.append(considered_item)

        declared_conditions = []
        for declared_conditions_item_data in self.declared_conditions:
            declared_conditions_item = declared_conditions_item_data.to_dict()
            declared_conditions.append(declared_conditions_item)

        warnings = []
        for warnings_item_data in self.warnings:
            warnings_item = warnings_item_data.to_dict()
            warnings.append(warnings_item)

        engine_version = self.engine_version

        numerical = self.numerical.to_dict()

        meaning = self.meaning.to_dict()

        claim: dict[str, Any] | Unset = UNSET
        if not isinstance(self.claim, Unset):
            claim = self.claim.to_dict()

        points: list[dict[str, Any]] | Unset = UNSET
        if not isinstance(self.points, Unset):
            points = []
            for points_item_data in self.points:
                points_item = points_item_data.to_dict()
                points.append(points_item)

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "guarantee": guarantee,
                "derivation": derivation,
                "considered": considered,
                "declared_conditions": declared_conditions,
                "warnings": warnings,
                "engine_version": engine_version,
                "numerical": numerical,
                "meaning": meaning,
            }
        )
        if claim is not UNSET:
            field_dict["claim"] = claim
        if points is not UNSET:
            field_dict["points"] = points

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        from ..models.account_guarantee import AccountGuarantee
        from ..models.caution import Caution
        from ..models.claim_answer import ClaimAnswer
        from ..models.condition import Condition
        from ..models.considered_answer import ConsideredAnswer
        from ..models.derivation_step import DerivationStep
        from ..models.meaning_answer import MeaningAnswer
        from ..models.numerical_answer import NumericalAnswer
        from ..models.point import Point

        d = dict(src_dict)
        guarantee = AccountGuarantee.from_dict(d.pop("guarantee"))

        derivation = []
        _derivation = d.pop("derivation")
        for derivation_item_data in _derivation:
            derivation_item = DerivationStep.from_dict(derivation_item_data)

            derivation.append(derivation_item)

        considered = []
        _considered = d.pop("considered")
        for considered_item_data in _considered:
            considered_item = ConsideredAnswer.from_dict(considered_item_data)

            considered.append(considered_item)

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

        numerical = NumericalAnswer.from_dict(d.pop("numerical"))

        meaning = MeaningAnswer.from_dict(d.pop("meaning"))

        _claim = d.pop("claim", UNSET)
        claim: ClaimAnswer | Unset
        if isinstance(_claim, Unset):
            claim = UNSET
        else:
            claim = ClaimAnswer.from_dict(_claim)

        _points = d.pop("points", UNSET)
        points: list[Point] | Unset = UNSET
        if _points is not UNSET:
            points = []
            for points_item_data in _points:
                points_item = Point.from_dict(points_item_data)

                points.append(points_item)

        account_answer = cls(
            guarantee=guarantee,
            derivation=derivation,
            considered=considered,
            declared_conditions=declared_conditions,
            warnings=warnings,
            engine_version=engine_version,
            numerical=numerical,
            meaning=meaning,
            claim=claim,
            points=points,
        )

        account_answer.additional_properties = d
        return account_answer

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
