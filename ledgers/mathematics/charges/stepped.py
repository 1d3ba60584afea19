"""Jobs that consist of runs of one mechanism and may be stopped between two runs.

Early stopping is free for a product of equal step profiles (docs/ledger.md, "Plans, credits and exchange"). Whether a
kind is such a product is an attribute of the kind. A mechanism whose steps share noise or a random order is one
indivisible run.
"""

from __future__ import annotations

from epsilond.accountants.errors import InvalidInput
from epsilond.accountants.specs import Repeated, Spec


def steps_of(spec: Spec) -> tuple[Spec, int]:
    """Return one step of a job, and the number of steps.

    Nested repetitions are multiplied. If the job cannot be stopped between steps, the result is the job itself and 1.

    Args:
        spec: the mechanism of the job.
    """
    count = 1
    while isinstance(spec, Repeated) and spec.stepped:
        count *= spec.times
        spec = spec.mechanism
    return spec, count


def check_count(count: int | None, steps: int) -> int:
    """Return the requested number of runs. None requests all steps of the job.

    A mechanism of one step may be run any number of times. A job of several steps is run at most once.

    Args:
        count: requested number of runs.
        steps: number of steps of the job, at least 1.

    Raises:
        InvalidInput: the number is below 1 or exceeds the steps of the job.
    """
    run_count = steps if count is None else count
    exceeds_job = steps > 1 and run_count > steps
    if run_count < 1 or exceeds_job:
        allowed = f"1 to {steps}" if steps > 1 else "at least 1"
        raise InvalidInput.at("/count", "is not a number of runs", allowed=allowed)
    return run_count
