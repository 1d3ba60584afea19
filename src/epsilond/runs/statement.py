"""The ε of a run with its status, as every host returns it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from epsilond.accountants.json_types import JsonRecord
from epsilond.accountants.quantities import Observer, ProtectedUnit, Relation
from epsilond.accountants.quantities.units import unit_json
from epsilond.runs.status import RunStatus

if TYPE_CHECKING:
    from epsilond.accountants.curve.enclosure import Interval
    from epsilond.runs.evidence import Evidence


@dataclass(frozen=True, kw_only=True)
class RunStatement:
    """Statement of the ε of a training run, with the evidence for it.

    A premise is a condition of the theorem that proves the ε. A run that contradicts one has no ε: `state_run` then
    raises `RunDiffers`.

    Attributes:
        status: `certified` or `declared`.
        epsilon: enclosure of ε [nat] at `delta`.
        delta: δ of the statement.
        relation: neighbouring relation.
        unit: the protected unit, such as a record or a client.
        observer: the adversary, that is, the party from which the data is protected.
        steps: number of recorded steps.
        shown: number of steps that were observed to fulfil each premise, by the id of the premise.
        declared: premises that the caller vouches for, because no observation shows them; empty if `certified`.
        outside: facts that no observation of a run shows. These sentences accompany a certified ε too.
    """

    status: RunStatus
    epsilon: Interval
    delta: float
    relation: Relation
    unit: ProtectedUnit
    observer: Observer
    steps: int
    shown: dict[str, int]
    declared: tuple[str, ...]
    outside: tuple[str, ...]

    def __str__(self) -> str:
        """Return the statement as lines of text: the ε with its setting, and the facts that no observation shows."""
        lower, upper = self.epsilon
        setting = f"{self.relation}, one {self.unit}, {self.observer}"
        figure = f"ε in [{lower:.6g}, {upper:.6g}] at δ = {self.delta:g}"
        lines = [f"{self.status}: {figure} after {self.steps} steps ({setting})"]
        lines += [f"  declared: {item}" for item in self.declared]
        lines += [f"  not shown by any run: {item}" for item in self.outside]
        return "\n".join(lines)

    def as_json(self) -> JsonRecord:
        """Return the statement as JSON values.

        Returns:
            The attributes by name. ε is an object with its bounds `lower` and `upper`, in nats. An infinite bound is
            the string "unbounded".
        """
        bounds = {"lower": self.epsilon.lower, "upper": self.epsilon.upper}
        epsilon = {name: "unbounded" if value == float("inf") else value for name, value in bounds.items()}
        return {
            "status": str(self.status),
            "epsilon": epsilon,
            "delta": self.delta,
            "relation": self.relation,
            "unit": unit_json(self.unit),
            "observer": self.observer,
            "steps": self.steps,
            "shown": dict(self.shown),
            "declared": list(self.declared),
            "outside": list(self.outside),
        }


def state_run(
    evidence: Evidence, epsilon: Interval, *, delta: float, relation: Relation, unit: ProtectedUnit, observer: Observer
) -> RunStatement:
    """Return a statement of the ε of a training run, with the observations of the run that support it.

    Args:
        evidence: the observations of the run.
        epsilon: enclosure of the ε [nat] of the recorded steps at `delta`.
        delta: δ at which ε is stated, in (0, 1).
        relation: neighbouring relation.
        unit: the protected unit.
        observer: the adversary.

    Returns:
        The enclosure of ε with its δ, relation, unit and observer. Also its status, `certified` or `declared`, and the
        conditions of the guarantee: those observed in the run, and those for which the caller vouches.

    Raises:
        RunDiffers: the run was observed to differ from its recorded steps.
    """
    evidence.require_consistent()
    return RunStatement(
        status=evidence.status,
        epsilon=epsilon,
        delta=delta,
        relation=relation,
        unit=unit,
        observer=observer,
        steps=evidence.steps,
        shown=dict(evidence.shown),
        declared=evidence.declared,
        outside=evidence.outside,
    )
