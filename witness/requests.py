"""The union of all requests for a simulation, distinguished by `kind`."""

from __future__ import annotations

from typing import Annotated

from typing_extensions import TypeAliasType

from epsilond.accountants.quantities import Tagged
from epsilond.witness.audits.request import AuditSimulation
from epsilond.witness.memberships.request import MembershipSimulation
from epsilond.witness.presets import PresetSimulation
from epsilond.witness.risks.request import RiskSimulation

SimulationRequest = TypeAliasType(
    "SimulationRequest",
    Annotated[RiskSimulation | AuditSimulation | MembershipSimulation | PresetSimulation, Tagged("kind")],
)
