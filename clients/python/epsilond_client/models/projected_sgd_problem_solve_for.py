from typing import Literal

ProjectedSgdProblemSolveFor = Literal["noise_std", "participants", "step_size"]

PROJECTED_SGD_PROBLEM_SOLVE_FOR_VALUES: set[ProjectedSgdProblemSolveFor] = {
    "noise_std",
    "participants",
    "step_size",
}


def check_projected_sgd_problem_solve_for(value: str) -> ProjectedSgdProblemSolveFor:
    if value in PROJECTED_SGD_PROBLEM_SOLVE_FOR_VALUES:
        return value
    raise TypeError(f"Unexpected value {value!r}. Expected one of {PROJECTED_SGD_PROBLEM_SOLVE_FOR_VALUES!r}")
