"""Everything that can be simulated."""

from __future__ import annotations

from epsilond.witness.audits.audit import AUDIT
from epsilond.witness.memberships.membership import MEMBERSHIP
from epsilond.witness.presets import PRESET
from epsilond.witness.risks.measurement import RISK
from epsilond.witness.simulation import Kind

KINDS: tuple[Kind, ...] = (RISK, AUDIT, MEMBERSHIP, PRESET)
"""THE list of kinds of simulation."""
