"""The request of an audit: a mechanism, its neighbours, the number of runs, and the δ at which ε is bounded."""

from __future__ import annotations

from dataclasses import replace
from typing import Annotated, Literal

from epsilond.accountants.errors import Fault, InvalidInput
from epsilond.accountants.quantities import (
    DELTA,
    LOG10_DELTA,
    Epsilon,
    Quantity,
    SettingFields,
    base_unit,
    request,
)
from epsilond.accountants.specs import Spec
from epsilond.accountants.target import natural_log_delta
from epsilond.simulators.audits.build import target
from epsilond.simulators.audits.message import Message, QuantizedMessage
from epsilond.simulators.audits.worlds import Attack, AttackSetting, AuditTarget

MOST_SAMPLES = 2_000_000
LEAST_SAMPLES = 100
MOST_NUMBERS = 2e11
"""Most random numbers of an audit; they take hours."""
MOST_WORK = 1e5
"""Most random numbers of one output; a block of a few hundred outputs then takes seconds."""

SPEC = Quantity(description="mechanism that is attacked; absent if message is given")
SAMPLES = Quantity(
    description="number of runs of the mechanism on each of the two data sets", ge=LEAST_SAMPLES, le=MOST_SAMPLES
)
CONFIDENCE = Quantity(
    description="confidence level of each lower bound by itself: the probability that it holds", gt=0, lt=1
)
SEED = Quantity(description="seed of all randomness: the same seed gives the same answer", ge=0, le=2**53)
ATTACK = Quantity(
    description=(
        "program that is attacked. implemented: the exact samplers of integer noise and rounding, and "
        "draws of whole batches if population and batch_size are given. mathematical: faster samplers "
        "of the same distributions"
    )
)


@request
class AuditClaim:
    """A claimed ε, at the δ of the audit."""

    epsilon: Epsilon


@request
class AuditSimulation(SettingFields):
    """Request to attack a mechanism, or one client's message, and to derive lower bounds on ε at δ.

    Either `spec` gives the mechanism, or `message` gives two updates that the attacker, the server, tells apart. For a
    message the relation is replace-one. Exactly one of `delta` and `log10_delta` is given.
    """

    kind: Annotated[Literal["audit"], Quantity(description="name of the kind of simulation")] = "audit"
    spec: Annotated[Spec | None, SPEC] = None
    message: Annotated[
        QuantizedMessage | None,
        Quantity(description="two updates, which the attacker has to distinguish by the message that the client sends"),
    ] = None
    attack: Annotated[Attack, ATTACK] = "implemented"
    delta: Annotated[float | None, DELTA] = None
    log10_delta: Annotated[float | None, LOG10_DELTA] = None
    samples: Annotated[int, SAMPLES] = 100_000
    confidence: Annotated[float, CONFIDENCE] = 0.95
    seed: Annotated[int, SEED] = 0
    claim: Annotated[
        AuditClaim | None,
        Quantity(description="claimed ε, which is checked at the δ of the request; absent: none is checked"),
    ] = None

    def check(self) -> None:
        """Check that the request is consistent and that the audit does not take too long.

        An audit attacks either the mechanism of a spec, or one noisy message. A message is about two updates
        (replace-one), and its observer is the server.

        Raises:
            InvalidInput: δ is not given exactly once; both or neither of spec and message are given; a message has
                another relation or observer; no attack is known for the spec; or the audit would take too long.
        """
        natural_log_delta(self.delta, self.log10_delta)
        if (self.spec is None) == (self.message is None):
            raise InvalidInput.at("/spec", "give exactly one of spec and message")
        if self.message is not None and self.relation != "replace-one":
            raise InvalidInput.at("/relation", "is replace-one for the two updates of a message", allowed="replace-one")
        if self.message is not None and self.observer != "server":
            raise InvalidInput.at("/observer", "is the server, which sees the message", allowed="server")

        work = self.target().work  # of one output, in random numbers
        if work > MOST_WORK:
            message = f"takes {work:.3g} random numbers for one output; the attack mathematical draws no whole batches"
            raise InvalidInput.at("/spec", message, allowed=f"≤ {MOST_WORK:g}")
        most_samples = int(MOST_NUMBERS / (2 * work))  # for outputs on each of two data sets
        if self.samples > most_samples:
            raise InvalidInput.at("/samples", "make the audit too long", allowed=f"≤ {most_samples}")

    @property
    def log_delta(self) -> float:
        """Natural logarithm of δ."""
        return natural_log_delta(self.delta, self.log10_delta)

    def target(self) -> AuditTarget:
        """Build the attack of the audit, which draws outputs on two neighbouring data sets.

        It is either on a message, which is one client's noisy update, or on the mechanism of the spec in the requested
        setting.

        Returns:
            The attack, with the work of drawing one output.

        Raises:
            InvalidInput: no attack is known for the spec in this setting. The error points to a field of this request.
        """
        if self.message is not None:
            return Message(self.message, self.attack)
        assert self.spec is not None
        unit = base_unit(self.unit)
        setting = AttackSetting(relation=self.relation, unit=unit, observer=self.observer, attack=self.attack)
        try:
            return target(self.spec, setting)
        except InvalidInput as error:
            raise InvalidInput(*map(_point_into_request, error.faults)) from None


def _point_into_request(fault: Fault) -> Fault:
    """Replace the JSON pointer of an attack's fault, which is relative to the spec, by a pointer into the request.

    Relation and observer are fields of the request itself. All other faults get pointers below /spec.
    """
    if fault.pointer in ("/relation", "/observer"):
        return fault
    return replace(fault, pointer=f"/spec{fault.pointer}")
