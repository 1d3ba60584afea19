from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..models.rule_answer_positives import (
    RuleAnswerPositives,
    check_rule_answer_positives,
)
from ..models.rule_answer_says_yes import RuleAnswerSaysYes, check_rule_answer_says_yes
from ..models.rule_answer_threshold_type_0_type_1 import (
    RuleAnswerThresholdType0Type1,
    check_rule_answer_threshold_type_0_type_1,
)
from ..models.rule_answer_threshold_type_1 import (
    RuleAnswerThresholdType1,
    check_rule_answer_threshold_type_1,
)

T = TypeVar("T", bound="RuleAnswer")


@_attrs_define
class RuleAnswer:
    """The test that gave a bound, and its counts on the half of the samples that did not choose it."""

    threshold: float | RuleAnswerThresholdType0Type1 | RuleAnswerThresholdType1
    """ of the attacker's statistic """
    says_yes: RuleAnswerSaysYes
    positives: RuleAnswerPositives
    true_positives: int
    false_positives: int
    trials: int
    """ runs on each data set that were counted """
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        threshold: float | str
        if isinstance(self.threshold, str) or isinstance(self.threshold, str):
            threshold = self.threshold
        else:
            threshold = self.threshold

        says_yes: str = self.says_yes

        positives: str = self.positives

        true_positives = self.true_positives

        false_positives = self.false_positives

        trials = self.trials

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "threshold": threshold,
                "says_yes": says_yes,
                "positives": positives,
                "true_positives": true_positives,
                "false_positives": false_positives,
                "trials": trials,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        d = dict(src_dict)

        def _parse_threshold(data: object) -> float | RuleAnswerThresholdType0Type1 | RuleAnswerThresholdType1:
            try:
                if not isinstance(data, str):
                    raise TypeError()
                threshold_type_0_type_1 = check_rule_answer_threshold_type_0_type_1(data)

                return threshold_type_0_type_1
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            try:
                if not isinstance(data, str):
                    raise TypeError()
                threshold_type_1 = check_rule_answer_threshold_type_1(data)

                return threshold_type_1
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(float | RuleAnswerThresholdType0Type1 | RuleAnswerThresholdType1, data)

        threshold = _parse_threshold(d.pop("threshold"))

        says_yes = check_rule_answer_says_yes(d.pop("says_yes"))

        positives = check_rule_answer_positives(d.pop("positives"))

        true_positives = d.pop("true_positives")

        false_positives = d.pop("false_positives")

        trials = d.pop("trials")

        rule_answer = cls(
            threshold=threshold,
            says_yes=says_yes,
            positives=positives,
            true_positives=true_positives,
            false_positives=false_positives,
            trials=trials,
        )

        rule_answer.additional_properties = d
        return rule_answer

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
