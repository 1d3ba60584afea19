from typing import Literal

PlanProblemRankBy = Literal["bits", "noise", "risk", "rounds"]

PLAN_PROBLEM_RANK_BY_VALUES: set[PlanProblemRankBy] = {
    "bits",
    "noise",
    "risk",
    "rounds",
}


def check_plan_problem_rank_by(value: str) -> PlanProblemRankBy:
    if value in PLAN_PROBLEM_RANK_BY_VALUES:
        return value
    raise TypeError(f"Unexpected value {value!r}. Expected one of {PLAN_PROBLEM_RANK_BY_VALUES!r}")
