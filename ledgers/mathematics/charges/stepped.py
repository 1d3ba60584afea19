"""Jobs that consist of runs of one mechanism and may be stopped between two runs.

Early stopping is free for a product of equal step profiles (docs/ledger.md, "Plans, credits and exchange"). Whether a
kind is such a product is an attribute of the kind. A mechanism with steps that share noise or a random order is one
indivisible run.
"""

from __future__ import annotations

from epsilond.accountants.errors import InvalidInput
from epsilond.accountants.specs import Repeated, Spec


def steps_of(spec: Spec) -> tuple[Spec, int]:
    """Split a job into equal steps between which it may be stopped.

    For 10 repetitions of 5 runs of a mechanism, the result is the mechanism and 50. A job that cannot be stopped is a
    single step.

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
    """Return how many steps of a job are to be run, after a check of the requested number.

    A job of a single step may be run any number of times. Of a job of several steps, each step is run at most once.

    Args:
        count: requested number of steps, or None for all steps of the job.
        steps: number of steps of the job, at least 1.

    Raises:
        InvalidInput: the number is below 1, or exceeds the number of several steps.
    """
    run_count = steps if count is None else count
    has_several_steps = steps > 1
    exceeds_job = has_several_steps and run_count > steps
    if run_count < 1 or exceeds_job:
        allowed = f"1 to {steps}" if has_several_steps else "at least 1"
        raise InvalidInput.at("/count", "is not a number of runs", allowed=allowed)
    return run_count
