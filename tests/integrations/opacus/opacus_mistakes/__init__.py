"""Programs with Opacus that lose more privacy than their record says, as users write them.

Each program is a function of an engine. `CONTRADICTED` and `DECLARED` map it to the premises that the message must name.
"""

from __future__ import annotations

from tests.integrations.opacus.opacus_mistakes import (
    accumulation,
    batches,
    clipping,
    declared,
    noise,
    record,
    rows,
    stepping,
    updating,
)

CONTRADICTED = (
    batches.MISTAKES
    | rows.MISTAKES
    | noise.MISTAKES
    | clipping.MISTAKES
    | accumulation.MISTAKES
    | stepping.MISTAKES
    | record.MISTAKES
)
"""Mistakes that an observation shows: there is no ε."""
DECLARED = declared.DECLARED | updating.DECLARED
"""Programs with an ε that rests on the caller's word."""
