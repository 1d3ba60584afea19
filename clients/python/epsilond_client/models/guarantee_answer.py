from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..models.guarantee_answer_definition import (
    GuaranteeAnswerDefinition,
    check_guarantee_answer_definition,
)
from ..models.guarantee_answer_minimal import (
    GuaranteeAnswerMinimal,
    check_guarantee_answer_minimal,
)
from ..models.observer import Observer, check_observer
from ..models.relation import Relation, check_relation
from ..models.sampling import Sampling, check_sampling
from ..models.tightness import Tightness, check_tightness
from ..models.unit import Unit, check_unit
from ..types import UNSET, Unset

if TYPE_CHECKING:
    from ..models.ends import Ends
    from ..models.target_answer import TargetAnswer


T = TypeVar("T", bound="GuaranteeAnswer")


@_attrs_define
class GuaranteeAnswer:
    """What is guaranteed: for whom, against whom, and the enclosures of ε at the target δ and of δ at the target ε."""

    definition: GuaranteeAnswerDefinition
    in_words: str
    """ what is protected, against whom, who is trusted and what the draws hide """
    unit: Unit
    relation: Relation
    observer: Observer
    sampling: Sampling
    target: TargetAnswer
    """ What was asked for. """
    epsilon: Ends
    """ A two-sided enclosure: lower ≤ truth ≤ upper. """
    delta: Ends
    """ A two-sided enclosure: lower ≤ truth ≤ upper. """
    log10_delta: Ends
    """ A two-sided enclosure: lower ≤ truth ≤ upper. """
    tight: Tightness
    minimal: GuaranteeAnswerMinimal
    sensitivity: float | Unset = UNSET
    """ most that one neighbour moves the noisy quantity in ℓ2 norm, in its units; absent where client groups differ
    in it, and each has its own in parameters.groups """
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        definition: str = self.definition

        in_words = self.in_words

        unit: str = self.unit

        relation: str = self.relation

        observer: str = self.observer

        sampling: str = self.sampling

        target = self.target.to_dict()

        epsilon = self.epsilon.to_dict()

        delta = self.delta.to_dict()

        log10_delta = self.log10_delta.to_dict()

        tight: str = self.tight

        minimal: str = self.minimal

        sensitivity = self.sensitivity

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "definition": definition,
                "in_words": in_words,
                "unit": unit,
                "relation": relation,
                "observer": observer,
                "sampling": sampling,
                "target": target,
                "epsilon": epsilon,
                "delta": delta,
                "log10_delta": log10_delta,
                "tight": tight,
                "minimal": minimal,
            }
        )
        if sensitivity is not UNSET:
            field_dict["sensitivity"] = sensitivity

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        from ..models.ends import Ends
        from ..models.target_answer import TargetAnswer

        d = dict(src_dict)
        definition = check_guarantee_answer_definition(d.pop("definition"))

        in_words = d.pop("in_words")

        unit = check_unit(d.pop("unit"))

        relation = check_relation(d.pop("relation"))

        observer = check_observer(d.pop("observer"))

        sampling = check_sampling(d.pop("sampling"))

        target = TargetAnswer.from_dict(d.pop("target"))

        epsilon = Ends.from_dict(d.pop("epsilon"))

        delta = Ends.from_dict(d.pop("delta"))

        log10_delta = Ends.from_dict(d.pop("log10_delta"))

        tight = check_tightness(d.pop("tight"))

        minimal = check_guarantee_answer_minimal(d.pop("minimal"))

        sensitivity = d.pop("sensitivity", UNSET)

        guarantee_answer = cls(
            definition=definition,
            in_words=in_words,
            unit=unit,
            relation=relation,
            observer=observer,
            sampling=sampling,
            target=target,
            epsilon=epsilon,
            delta=delta,
            log10_delta=log10_delta,
            tight=tight,
            minimal=minimal,
            sensitivity=sensitivity,
        )

        guarantee_answer.additional_properties = d
        return guarantee_answer

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
