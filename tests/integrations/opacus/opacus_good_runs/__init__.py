"""Programs with Opacus that have a true record, as users write them.

Each program is a function of an engine and returns the steps that it took, counted by hand.
"""

from __future__ import annotations

from tests.integrations.opacus.opacus_good_runs import inputs, loops, models, resuming, schedules

PROGRAMS = schedules.PROGRAMS + models.PROGRAMS + loops.PROGRAMS + inputs.PROGRAMS + resuming.PROGRAMS
