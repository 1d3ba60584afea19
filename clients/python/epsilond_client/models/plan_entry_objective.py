from typing import Literal

PlanEntryObjective = Literal["empirical", "personalized", "population"]

PLAN_ENTRY_OBJECTIVE_VALUES: set[PlanEntryObjective] = {
    "empirical",
    "personalized",
    "population",
}


def check_plan_entry_objective(value: str) -> PlanEntryObjective:
    if value in PLAN_ENTRY_OBJECTIVE_VALUES:
        return value
    raise TypeError(f"Unexpected value {value!r}. Expected one of {PLAN_ENTRY_OBJECTIVE_VALUES!r}")
