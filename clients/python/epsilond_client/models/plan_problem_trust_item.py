from typing import Literal

PlanProblemTrustItem = Literal["central", "joint", "local", "shuffle"]

PLAN_PROBLEM_TRUST_ITEM_VALUES: set[PlanProblemTrustItem] = {
    "central",
    "joint",
    "local",
    "shuffle",
}


def check_plan_problem_trust_item(value: str) -> PlanProblemTrustItem:
    if value in PLAN_PROBLEM_TRUST_ITEM_VALUES:
        return value
    raise TypeError(f"Unexpected value {value!r}. Expected one of {PLAN_PROBLEM_TRUST_ITEM_VALUES!r}")
