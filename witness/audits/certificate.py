"""The certificate of an audited mechanism: the accountant's ε, computed without any sample."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from epsilond.accountants.account import account
from epsilond.accountants.specs import TruncatedDiscreteLaplace
from epsilond.calibrators.answer import Ends

if TYPE_CHECKING:
    from epsilond.simulators.audits.message import QuantizedMessage
    from epsilond.witness.audits.request import AuditSimulation


def certify(request: AuditSimulation) -> Ends:
    """Certify the ε of an audited mechanism at the δ of the audit, by theorems and without samples.

    Args:
        request: the audit, with a spec or a message.

    Returns:
        A lower and an upper bound on ε, in nats; the upper bound is infinite if no finite ε is certified.

    Raises:
        NoCertificate: no theorem covers the spec in this setting.
    """
    if request.message is not None:
        return certify_message(request.message, request.log_delta)
    assert request.spec is not None
    answer = account(request.spec, relation=request.relation, unit=request.unit, observer=request.observer)
    return Ends.of(answer.guarantee.curve.epsilon(request.log_delta))


def certify_message(message: QuantizedMessage, log_delta: float) -> Ends:
    """Bound the ε with which one quantized, noisy message of a client distinguishes two updates.

    Let u and v be the updates and s the number of quantization levels. If both are rounded with the same uniform
    numbers, coordinate j of the rounded updates differs by at most ⌈s|u_j − v_j|⌉. By joint convexity, the messages are
    at most as distinguishable as two integer vectors with these differences, to which the noise is added.

    Args:
        message: the two updates, with their quantization and noise.
        log_delta: natural logarithm of δ.

    Returns:
        The certified upper bound, with the trivial lower bound 0.
    """
    distances = message.distances
    if not any(distances):
        return Ends(0.0, 0.0)
    squared_norm = sum(distance * distance for distance in distances)
    upper_norm = math.nextafter(math.sqrt(squared_norm), math.inf)  # rounded up
    noise = TruncatedDiscreteLaplace(
        noise_levels=message.noise_levels,
        decay_rate=message.decay_rate,
        dimension=len(distances),
        l1_sensitivity=float(sum(distances)),
        linf_sensitivity=float(max(distances)),
        l2_sensitivity=upper_norm,
    )
    answer = account(noise, relation="replace-one")
    epsilon = answer.guarantee.curve.epsilon(log_delta)
    return Ends(0.0, epsilon.upper)
