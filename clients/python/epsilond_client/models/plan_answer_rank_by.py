from typing import Literal

PlanAnswerRankBy = Literal["bits", "noise", "risk", "rounds"]

PLAN_ANSWER_RANK_BY_VALUES: set[PlanAnswerRankBy] = {
    "bits",
    "noise",
    "risk",
    "rounds",
}


def check_plan_answer_rank_by(value: str) -> PlanAnswerRankBy:
    if value in PLAN_ANSWER_RANK_BY_VALUES:
        return value
    raise TypeError(f"Unexpected value {value!r}. Expected one of {PLAN_ANSWER_RANK_BY_VALUES!r}")
