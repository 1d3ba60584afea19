from typing import Literal

ProjectedSgdSweepProblemSolveFor = Literal["noise_std", "participants", "step_size"]

PROJECTED_SGD_SWEEP_PROBLEM_SOLVE_FOR_VALUES: set[ProjectedSgdSweepProblemSolveFor] = {
    "noise_std",
    "participants",
    "step_size",
}


def check_projected_sgd_sweep_problem_solve_for(value: str) -> ProjectedSgdSweepProblemSolveFor:
    if value in PROJECTED_SGD_SWEEP_PROBLEM_SOLVE_FOR_VALUES:
        return value
    raise TypeError(f"Unexpected value {value!r}. Expected one of {PROJECTED_SGD_SWEEP_PROBLEM_SOLVE_FOR_VALUES!r}")
