from typing import Literal

ClaimsObjective = Literal["empirical", "personalized", "population"]

CLAIMS_OBJECTIVE_VALUES: set[ClaimsObjective] = {
    "empirical",
    "personalized",
    "population",
}


def check_claims_objective(value: str) -> ClaimsObjective:
    if value in CLAIMS_OBJECTIVE_VALUES:
        return value
    raise TypeError(f"Unexpected value {value!r}. Expected one of {CLAIMS_OBJECTIVE_VALUES!r}")
