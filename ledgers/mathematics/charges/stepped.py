"""Jobs that consist of runs of one mechanism and may be stopped between two runs.

Early stopping is free for a product of equal step profiles (docs/ledger.md, "Plans, credits and exchange"). Whether a
kind is such a product is an attribute of the kind. A mechanism whose steps share noise or a random order is one
indivisible run.
"""

from __future__ import annotations

from epsilond.accountants.specs import Repeated, Spec


def steps_of(spec: Spec) -> tuple[Spec, int]:
    """Return a step of a job and the number of steps: (the spec itself, 1) if the job cannot be stepped."""
    count = 1
    while isinstance(spec, Repeated) and spec.stepped:
        count *= spec.times
        spec = spec.mechanism
    return spec, count
