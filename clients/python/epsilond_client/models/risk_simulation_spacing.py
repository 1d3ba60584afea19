from typing import Literal

RiskSimulationSpacing = Literal["linear", "logarithmic"]

RISK_SIMULATION_SPACING_VALUES: set[RiskSimulationSpacing] = {
    "linear",
    "logarithmic",
}


def check_risk_simulation_spacing(value: str) -> RiskSimulationSpacing:
    if value in RISK_SIMULATION_SPACING_VALUES:
        return value
    raise TypeError(f"Unexpected value {value!r}. Expected one of {RISK_SIMULATION_SPACING_VALUES!r}")
