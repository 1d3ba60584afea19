from typing import Literal

AcceleratedRiskInputsObjective = Literal["empirical", "population"]

ACCELERATED_RISK_INPUTS_OBJECTIVE_VALUES: set[AcceleratedRiskInputsObjective] = {
    "empirical",
    "population",
}


def check_accelerated_risk_inputs_objective(value: str) -> AcceleratedRiskInputsObjective:
    if value in ACCELERATED_RISK_INPUTS_OBJECTIVE_VALUES:
        return value
    raise TypeError(f"Unexpected value {value!r}. Expected one of {ACCELERATED_RISK_INPUTS_OBJECTIVE_VALUES!r}")
