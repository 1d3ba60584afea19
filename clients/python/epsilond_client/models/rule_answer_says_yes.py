from typing import Literal

RuleAnswerSaysYes = Literal["at-or-above", "at-or-below"]

RULE_ANSWER_SAYS_YES_VALUES: set[RuleAnswerSaysYes] = {
    "at-or-above",
    "at-or-below",
}


def check_rule_answer_says_yes(value: str) -> RuleAnswerSaysYes:
    if value in RULE_ANSWER_SAYS_YES_VALUES:
        return value
    raise TypeError(f"Unexpected value {value!r}. Expected one of {RULE_ANSWER_SAYS_YES_VALUES!r}")
