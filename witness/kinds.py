"""The list of all kinds of simulation that a request can name."""

from __future__ import annotations

from epsilond.witness.audits.audit import AUDIT
from epsilond.witness.kind import SimulationKind
from epsilond.witness.memberships.membership import MEMBERSHIP
from epsilond.witness.presets import PRESET
from epsilond.witness.risks.measurement import RISK

KINDS: tuple[SimulationKind, ...] = (RISK, AUDIT, MEMBERSHIP, PRESET)
"""THE list of kinds of simulation."""
