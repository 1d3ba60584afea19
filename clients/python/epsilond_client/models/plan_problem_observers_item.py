from typing import Literal

PlanProblemObserversItem = Literal["final-model", "other-clients", "released-models", "server", "shuffled-server"]

PLAN_PROBLEM_OBSERVERS_ITEM_VALUES: set[PlanProblemObserversItem] = {
    "final-model",
    "other-clients",
    "released-models",
    "server",
    "shuffled-server",
}


def check_plan_problem_observers_item(value: str) -> PlanProblemObserversItem:
    if value in PLAN_PROBLEM_OBSERVERS_ITEM_VALUES:
        return value
    raise TypeError(f"Unexpected value {value!r}. Expected one of {PLAN_PROBLEM_OBSERVERS_ITEM_VALUES!r}")
