"""Everything that can be simulated, as one union told apart by `kind`."""

from __future__ import annotations

from typing import Annotated

from typing_extensions import TypeAliasType

from accountants.quantities import Tagged
from witness.audit_request import AuditSimulation
from witness.presets import PresetSimulation
from witness.risk import RiskSimulation

SimulationRequest = TypeAliasType(
    "SimulationRequest", Annotated[RiskSimulation | AuditSimulation | PresetSimulation, Tagged("kind")]
)
