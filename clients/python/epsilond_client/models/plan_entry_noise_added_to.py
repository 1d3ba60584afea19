from typing import Literal

PlanEntryNoiseAddedTo = Literal["gradients", "shared-gradient", "unit-updates"]

PLAN_ENTRY_NOISE_ADDED_TO_VALUES: set[PlanEntryNoiseAddedTo] = {
    "gradients",
    "shared-gradient",
    "unit-updates",
}


def check_plan_entry_noise_added_to(value: str) -> PlanEntryNoiseAddedTo:
    if value in PLAN_ENTRY_NOISE_ADDED_TO_VALUES:
        return value
    raise TypeError(f"Unexpected value {value!r}. Expected one of {PLAN_ENTRY_NOISE_ADDED_TO_VALUES!r}")
