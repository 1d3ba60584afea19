from typing import Literal

RuleAnswerThresholdType0Type1 = Literal["-unbounded", "unbounded"]

RULE_ANSWER_THRESHOLD_TYPE_0_TYPE_1_VALUES: set[RuleAnswerThresholdType0Type1] = {
    "-unbounded",
    "unbounded",
}


def check_rule_answer_threshold_type_0_type_1(value: str) -> RuleAnswerThresholdType0Type1:
    if value in RULE_ANSWER_THRESHOLD_TYPE_0_TYPE_1_VALUES:
        return value
    raise TypeError(f"Unexpected value {value!r}. Expected one of {RULE_ANSWER_THRESHOLD_TYPE_0_TYPE_1_VALUES!r}")
