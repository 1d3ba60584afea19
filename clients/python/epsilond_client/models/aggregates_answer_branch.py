from typing import Literal

AggregatesAnswerBranch = Literal["average", "largest"]

AGGREGATES_ANSWER_BRANCH_VALUES: set[AggregatesAnswerBranch] = {
    "average",
    "largest",
}


def check_aggregates_answer_branch(value: str) -> AggregatesAnswerBranch:
    if value in AGGREGATES_ANSWER_BRANCH_VALUES:
        return value
    raise TypeError(f"Unexpected value {value!r}. Expected one of {AGGREGATES_ANSWER_BRANCH_VALUES!r}")
