from typing import Literal

RuleAnswerPositives = Literal["first", "second"]

RULE_ANSWER_POSITIVES_VALUES: set[RuleAnswerPositives] = {
    "first",
    "second",
}


def check_rule_answer_positives(value: str) -> RuleAnswerPositives:
    if value in RULE_ANSWER_POSITIVES_VALUES:
        return value
    raise TypeError(f"Unexpected value {value!r}. Expected one of {RULE_ANSWER_POSITIVES_VALUES!r}")
