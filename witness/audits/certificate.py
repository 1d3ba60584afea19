"""What is certified of an audited mechanism: the accountant's answer, which has seen no sample."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from epsilond.accountants.account import account
from epsilond.accountants.specs import TruncatedDiscreteLaplace
from epsilond.calibrators.answer import Ends

if TYPE_CHECKING:
    from epsilond.simulators.audits.message import QuantizedMessage
    from epsilond.witness.audits.request import AuditSimulation


def certified(asked: AuditSimulation) -> Ends:
    """ε at the audit's δ.

    Raises:
        NoCertificate: no theorem covers the spec in this setting.
    """
    if asked.message is not None:
        return of_message(asked.message, asked.log_delta)
    assert asked.spec is not None
    accounted = account(asked.spec, relation=asked.relation, unit=asked.unit, observer=asked.observer)
    return Ends.of(accounted.guarantee.curve.epsilon(asked.log_delta))


def of_message(message: QuantizedMessage, log_delta: float) -> Ends:
    """ε of telling these two updates apart, 0 at least.

    Both are rounded by the same uniform numbers; then coordinate j differs by at most ⌈s|u_j − u′_j|⌉, and by joint
    convexity the messages are no easier to tell apart than integer vectors at those distances.
    """
    distances = message.distances
    if not any(distances):
        return Ends(0.0, 0.0)
    spec = TruncatedDiscreteLaplace(
        noise_levels=message.noise_levels,
        decay_rate=message.decay_rate,
        dimension=len(distances),
        l1_sensitivity=float(sum(distances)),
        linf_sensitivity=float(max(distances)),
        l2_sensitivity=math.nextafter(math.sqrt(sum(size * size for size in distances)), math.inf),
    )
    known = account(spec, relation="replace-one").guarantee.curve.epsilon(log_delta)
    return Ends(0.0, known.upper)
