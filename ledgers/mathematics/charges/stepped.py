"""Jobs that consist of runs of one mechanism and may be stopped between two runs.

Early stopping is free for a product of equal step profiles (docs/ledger.md, "Plans, credits and exchange"). Whether a
kind is such a product is an attribute of the kind. A mechanism whose steps share noise or a random order is one
indivisible run.
"""

from __future__ import annotations

from epsilond.accountants.errors import InvalidInput
from epsilond.accountants.specs import Repeated, Spec


def steps_of(spec: Spec) -> tuple[Spec, int]:
    """Split a job into equal steps between which it may be stopped: return one step and their number.

    For 10 repetitions of 5 runs of a mechanism, these are the mechanism and 50. A job that cannot be stopped is
    returned itself, with the number 1.

    Args:
        spec: the mechanism of the job.

    Returns:
        The mechanism of one step, and the number of steps, at least 1.
    """
    count = 1
    while isinstance(spec, Repeated) and spec.stepped:
        count *= spec.times
        spec = spec.mechanism
    return spec, count


def check_count(count: int | None, steps: int) -> int:
    """Return the number of steps that are requested of a job, after checking it. None requests all steps.

    A job of a single step may be run any number of times. Of a job of several steps, each step is run at most once.

    Args:
        count: requested number of runs.
        steps: number of steps of the job, at least 1.

    Returns:
        The number of steps.

    Raises:
        InvalidInput: the number is below 1 or exceeds the steps of the job.
    """
    run_count = steps if count is None else count
    has_several_steps = steps > 1
    exceeds_job = has_several_steps and run_count > steps
    if run_count < 1 or exceeds_job:
        allowed = f"1 to {steps}" if has_several_steps else "at least 1"
        raise InvalidInput.at("/count", "is not a number of runs", allowed=allowed)
    return run_count
