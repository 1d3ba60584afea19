from typing import Literal

PlanProblemClientSampling = Literal["poisson", "without-replacement"]

PLAN_PROBLEM_CLIENT_SAMPLING_VALUES: set[PlanProblemClientSampling] = {
    "poisson",
    "without-replacement",
}


def check_plan_problem_client_sampling(value: str) -> PlanProblemClientSampling:
    if value in PLAN_PROBLEM_CLIENT_SAMPLING_VALUES:
        return value
    raise TypeError(f"Unexpected value {value!r}. Expected one of {PLAN_PROBLEM_CLIENT_SAMPLING_VALUES!r}")
