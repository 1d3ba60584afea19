from typing import Literal

ExcessRiskInputsObjective = Literal["empirical", "population"]

EXCESS_RISK_INPUTS_OBJECTIVE_VALUES: set[ExcessRiskInputsObjective] = {
    "empirical",
    "population",
}


def check_excess_risk_inputs_objective(value: str) -> ExcessRiskInputsObjective:
    if value in EXCESS_RISK_INPUTS_OBJECTIVE_VALUES:
        return value
    raise TypeError(f"Unexpected value {value!r}. Expected one of {EXCESS_RISK_INPUTS_OBJECTIVE_VALUES!r}")
