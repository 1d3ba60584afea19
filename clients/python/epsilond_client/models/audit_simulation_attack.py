from typing import Literal

AuditSimulationAttack = Literal["implemented", "mathematical"]

AUDIT_SIMULATION_ATTACK_VALUES: set[AuditSimulationAttack] = {
    "implemented",
    "mathematical",
}


def check_audit_simulation_attack(value: str) -> AuditSimulationAttack:
    if value in AUDIT_SIMULATION_ATTACK_VALUES:
        return value
    raise TypeError(f"Unexpected value {value!r}. Expected one of {AUDIT_SIMULATION_ATTACK_VALUES!r}")
